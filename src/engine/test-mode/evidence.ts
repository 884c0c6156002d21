/** The evidence of test mode: made up, and judged and reported like any other. */
import { trimBlanks } from '../../kernel/blanks.ts';
import type { Level } from '../../kernel/facts/plans.ts';
import { REASONS } from '../../kernel/facts/reasons.ts';
import { type Address, parseAddress } from '../address/parse.ts';
import type {
  CatchAllEvidence,
  DnsEvidence,
  DnsFinding,
  Evidence,
  SmtpEvidence,
  SmtpFinding,
  SmtpStage,
} from '../evidence.ts';
import { DNS_FINDINGS } from '../findings.ts';
import { withFilter } from '../verify.ts';
import type { Outcome } from './outcomes.ts';

/** Of documentation (RFC 5737): nothing is sent there. */
const MAIL_HOST_ADDRESS = '192.0.2.25';
const SUGGESTED_DOMAIN = 'gmail.com';
const RULE = 'test_mode';
const NOTE = { at: 0, from: 'note', text: 'Test mode: no mail server was contacted.' } as const;

/** What DNS says of the domain. */
const DNS: Readonly<Record<DnsFinding, (domain: string) => Partial<DnsEvidence>>> = {
  mx(domain) {
    const record = { host: `mx.${domain}`, priority: 10 };
    return { records: [record], hosts: [{ ...record, addresses: [MAIL_HOST_ADDRESS] }] };
  },
  implicit_mx(domain) {
    const record = { host: domain, priority: 0 };
    return { records: [record], hosts: [{ ...record, addresses: [MAIL_HOST_ADDRESS] }] };
  },
  tld_not_found: () => ({}),
  domain_not_found: () => ({}),
  no_mx_records: () => ({}),
  null_mx: () => ({ records: [{ host: '.', priority: 0 }] }),
  mx_unusable: () => ({
    records: [{ host: 'localhost', priority: 10 }],
    unusable: [{ host: 'localhost', why: 'localhost' }],
  }),
  dns_failure: () => ({ failure: 'servfail' }),
  resolver_unavailable: () => ({ failure: 'timeout' }),
};

type ServerReply = Pick<SmtpEvidence, 'stage' | 'code' | 'enhancedCode'>;
const reply = (stage: SmtpStage, code: number, enhancedCode: string): ServerReply => ({ stage, code, enhancedCode });
const noReply = (stage: SmtpStage | null): ServerReply => ({ stage, code: null, enhancedCode: null });

/** What the mail server replies, with the usual codes (RFC 5321 §4.2, RFC 3463). */
const REPLIES: Readonly<Record<SmtpFinding, ServerReply>> = {
  accepted: reply('rcpt', 250, '2.1.5'),
  mailbox_not_found: reply('rcpt', 550, '5.1.1'),
  mailbox_full: reply('rcpt', 552, '5.2.2'),
  mailbox_full_temporarily: reply('rcpt', 452, '4.2.2'),
  mailbox_disabled: reply('rcpt', 550, '5.2.1'),
  relay_denied: reply('rcpt', 550, '5.7.1'),
  greylisted: reply('rcpt', 451, '4.7.1'),
  smtp_temporary_failure: reply('rcpt', 451, '4.3.0'),
  smtp_timeout: noReply('rcpt'),
  smtp_unreachable: noReply('connect'),
  smtp_blocked: reply('banner', 554, '5.7.1'),
  smtp_unverifiable: noReply(null),
};

function dnsEvidence(finding: DnsFinding, domain: string): DnsEvidence {
  const nothing = { failure: null, records: [], hosts: [], unusable: [], provider: null };
  return { finding, ...nothing, ...DNS[finding](domain) };
}

function mailboxEvidence({ smtp: finding = 'accepted', randomRecipient = 'rejected' }: Outcome, dns: DnsEvidence) {
  const smtp: SmtpEvidence = {
    finding,
    host: dns.hosts[0]?.host ?? null,
    address: MAIL_HOST_ADDRESS,
    egress: null,
    tls: false,
    rule: RULE,
    decidedBy: REPLIES[finding].code === null ? 'dialogue' : 'server',
    readBy: REPLIES[finding].code === null ? null : 'rule',
    probability: null,
    retryAfter: finding === 'greylisted' ? REASONS.greylisted.usualRetrySeconds : null,
    transcript: { lines: [NOTE] },
    ...REPLIES[finding],
  };
  const catchAll: CatchAllEvidence =
    finding === 'accepted'
      ? { result: randomRecipient === 'accepted' ? 'fail' : 'pass', why: null, retryAfter: null, cached: false }
      : { result: 'skipped', why: null, retryAfter: null, cached: false };
  return { smtp, catchAll };
}

const NOT_CHECKED = { dns: null, smtp: null, catchAll: null } as const;

const malformed = (e: Pick<Evidence, 'requested' | 'email' | 'listVersion'>, syntax: Evidence['syntax']): Evidence => ({
  ...e,
  ...NOT_CHECKED,
  syntax,
  filter: { result: 'skipped' },
  disposable: { result: 'skipped', matched: null, by: null },
  flags: null,
  relayOperator: null,
  didYouMean: null,
});

/** Evidence with this outcome. A malformed address stays malformed, whatever it selects; any domain will do. */
export function testEvidence(email: string, requested: Level, outcome: Outcome, listVersion: string): Evidence {
  const text = trimBlanks(email);
  const begin = { requested, email, listVersion };
  const parsed = parseAddress(text, { allowReserved: true, allowUnknownTld: true });
  if (!parsed.ok)
    return malformed(begin, { result: 'fail', error: parsed.error, index: email.indexOf(text) + parsed.index });
  if (outcome.offline === 'syntax')
    return malformed(begin, { result: 'fail', error: 'invalid_character', index: email.indexOf(text) });
  return judgedLater({ ...begin, ...NOT_CHECKED }, parsed.address, outcome);
}

function judgedLater(
  begin: Pick<Evidence, 'requested' | 'email' | 'listVersion' | 'dns' | 'smtp' | 'catchAll'>,
  address: Address,
  outcome: Outcome,
): Evidence {
  const { domain, localPart, normalized } = address;
  const e: Evidence = {
    ...begin,
    syntax: { result: 'pass', address },
    filter: { result: 'pass' },
    disposable: { result: 'pass', matched: null, by: null },
    flags: { role: outcome.flag === 'role', free: outcome.flag === 'free', relay: outcome.flag === 'relay' },
    relayOperator: outcome.flag === 'relay' ? 'Example Relay' : null,
    didYouMean: outcome.suggests ? `${localPart}@${SUGGESTED_DOMAIN}` : null,
  };
  if (outcome.offline === 'filter') return withFilter(e, { id: 1, filter_type: 'email', value: normalized });
  if (outcome.offline === 'disposable') return { ...e, disposable: { result: 'fail', matched: domain, by: 'list' } };
  const dns = dnsEvidence(outcome.dns ?? 'mx', domain);
  if (e.requested === 'mx' || DNS_FINDINGS[dns.finding].mx !== 'pass') return { ...e, dns };
  return { ...e, dns, ...mailboxEvidence(outcome, dns) };
}
