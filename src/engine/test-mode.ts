/**
 * Test mode: evidence that the local part of an address selects, judged and reported like any other. No DNS or SMTP
 * query is made. docs/testing.md is generated from the table.
 */
import { trimBlanks } from '../kernel/blanks.ts';
import type { Level } from '../kernel/facts/plans.ts';
import { type Deliverability, REASONS, type Reason } from '../kernel/facts/reasons.ts';
import type { ReportedOutcome } from '../kernel/facts/sent-mail.ts';
import { type Address, parseAddress } from './address/parse.ts';
import type {
  CatchAllEvidence,
  DnsEvidence,
  DnsFinding,
  Evidence,
  MatchedFilter,
  SmtpEvidence,
  SmtpFinding,
  SmtpStage,
} from './evidence.ts';
import { DNS_FINDINGS } from './findings.ts';
import { CATCH_ALL_SKIPPED } from './smtp/mailbox.ts';
import { withBounce, withFilter } from './verify.ts';

/** The address is reserved for documentation (RFC 5737): nothing is sent there. */
const MAIL_HOST_ADDRESS = '192.0.2.25';
const SUGGESTED_DOMAIN = 'gmail.com';
const TEST_MODE_RULE = 'test_mode';
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

type ServerReply = Pick<SmtpEvidence, 'stage' | 'code' | 'enhancedCode' | 'message'>;
const reply = (stage: SmtpStage, code: number, enhancedCode: string, message: string): ServerReply => ({
  stage,
  code,
  enhancedCode,
  message,
});
const noReply = (stage: SmtpStage | null): ServerReply => ({ stage, code: null, enhancedCode: null, message: null });

/** The mail server replies so, with the usual codes and words (RFC 5321 §4.2, RFC 3463). */
const TEST_REPLIES: Readonly<Record<SmtpFinding, ServerReply>> = {
  accepted: reply('rcpt', 250, '2.1.5', 'OK'),
  mailbox_not_found: reply('rcpt', 550, '5.1.1', 'User unknown'),
  mailbox_full: reply('rcpt', 552, '5.2.2', 'Mailbox full'),
  mailbox_full_temporarily: reply('rcpt', 452, '4.2.2', 'Mailbox full'),
  mailbox_disabled: reply('rcpt', 550, '5.2.1', 'Mailbox disabled'),
  relay_denied: reply('rcpt', 550, '5.7.1', 'Relaying denied'),
  greylisted: reply('rcpt', 451, '4.7.1', 'Greylisted, try again later'),
  smtp_temporary_failure: reply('rcpt', 451, '4.3.0', 'Try again later'),
  smtp_timeout: noReply('rcpt'),
  smtp_unreachable: noReply('connect'),
  smtp_blocked: reply('banner', 554, '5.7.1', 'Your address is blocked'),
  smtp_unverifiable: noReply(null),
};

function testDnsEvidence(finding: DnsFinding, domain: string): DnsEvidence {
  const nothing = { failure: null, records: [], hosts: [], unusable: [], provider: null };
  return { finding, ...nothing, ...DNS[finding](domain) };
}

function mailboxEvidence(
  { smtp: finding = 'accepted', randomRecipient = 'rejected' }: TestOutcome,
  dns: DnsEvidence,
  now: number,
) {
  const smtp: SmtpEvidence = {
    finding,
    host: dns.hosts[0]?.host ?? null,
    address: MAIL_HOST_ADDRESS,
    egress: null,
    tls: false,
    rule: TEST_MODE_RULE,
    decidedBy: TEST_REPLIES[finding].code === null ? 'dialogue' : 'server',
    readBy: TEST_REPLIES[finding].code === null ? null : 'rule',
    probability: null,
    retryAfterSeconds: finding === 'greylisted' ? REASONS.greylisted.usualRetrySeconds : null,
    attempts: [],
    transcript: { lines: [NOTE] },
    ...TEST_REPLIES[finding],
  };
  const result = randomRecipient === 'accepted' ? 'fail' : 'pass';
  const catchAll: CatchAllEvidence =
    finding === 'accepted' ? { ...CATCH_ALL_SKIPPED, result, checkedAt: now } : CATCH_ALL_SKIPPED;
  return { smtp, catchAll };
}

const NOT_CHECKED = { dns: null, smtp: null, catchAll: null } as const;

const malformedTestEvidence = (
  e: Pick<Evidence, 'requested' | 'email' | 'listVersion'>,
  syntax: Evidence['syntax'],
): Evidence => ({
  ...e,
  ...NOT_CHECKED,
  syntax,
  filter: { result: 'skipped', filter: null },
  disposable: { result: 'skipped', matched: null, by: null },
  flags: null,
  relayOperator: null,
  didYouMean: null,
});

/**
 * Evidence with this outcome. A malformed address stays malformed, whatever it selects; any domain will do. `filter`:
 * one of the account that matches; what the address selects comes before it, but for the lists.
 */
export function testEvidence(
  email: string,
  requested: Level,
  outcome: TestOutcome,
  {
    listVersion,
    now,
    filter = null,
  }: { readonly listVersion: string; readonly now: number; readonly filter?: MatchedFilter | null },
): Evidence {
  const text = trimBlanks(email);
  const begin = { requested, email, listVersion };
  const parsed = parseAddress(text, { allowReserved: true, allowUnknownTld: true });
  if (!parsed.ok)
    return malformedTestEvidence(begin, {
      result: 'fail',
      error: parsed.error,
      index: email.indexOf(text) + parsed.index,
    });
  if (outcome.offline === 'syntax')
    return malformedTestEvidence(begin, { result: 'fail', error: 'invalid_character', index: email.indexOf(text) });
  return judgedLater({ ...begin, ...NOT_CHECKED }, parsed.address, outcome, { filter, now });
}

/** Returns the mail hosts of a domain with this outcome. */
export const testMailHosts = (domain: string, { dns = 'mx' }: TestOutcome): string[] =>
  testDnsEvidence(dns, domain).records.map(({ host }) => host);

function judgedLater(
  begin: Pick<Evidence, 'requested' | 'email' | 'listVersion' | 'dns' | 'smtp' | 'catchAll'>,
  address: Address,
  outcome: TestOutcome,
  { filter, now }: { readonly filter: MatchedFilter | null; readonly now: number },
): Evidence {
  const { domain, localPart, normalized } = address;
  const e: Evidence = {
    ...begin,
    syntax: { result: 'pass', address },
    filter: { result: 'pass', filter: null },
    disposable: { result: 'pass', matched: null, by: null },
    flags: { role: outcome.flag === 'role', free: outcome.flag === 'free', relay: outcome.flag === 'relay' },
    relayOperator: outcome.flag === 'relay' ? 'Example Relay' : null,
    didYouMean: outcome.suggests ? `${localPart}@${SUGGESTED_DOMAIN}` : null,
  };
  if (outcome.offline === 'filter')
    return withFilter(e, { id: 1, action: 'block', filter_type: 'email', value: normalized });
  const filtered = filter === null ? e : withFilter(e, filter);
  const found = outcome.offline === 'bounced' ? withBounce(filtered) : filtered;
  if (found.bounced) return found;
  const dns = testDnsEvidence(outcome.dns ?? 'mx', domain);
  if (found.filter.result === 'fail') return filter?.filter_type === 'mx_host' ? { ...found, dns } : found;
  if (outcome.offline === 'disposable' && filter === null)
    return { ...found, disposable: { result: 'fail', matched: domain, by: 'list' } };
  if (e.requested === 'mx' || DNS_FINDINGS[dns.finding].mx !== 'pass') return { ...found, dns };
  return { ...found, dns, ...mailboxEvidence(outcome, dns, now) };
}

type TestFlag = keyof NonNullable<Evidence['flags']>;
/** Selectors that are neither a reason, nor a deliverability, nor a flag. */
type Special = 'mailbox_full_temporarily' | 'typo' | 'typo_alive' | 'bounced' | 'complained';
type OutcomeName = Reason | Deliverability | TestFlag | Special;

/** What is found. What a row leaves out is found as for a mailbox that exists. */
export interface TestOutcome {
  /** Decides without the network. */
  readonly offline?: 'syntax' | 'filter' | 'bounced' | 'disposable';
  readonly dns?: DnsFinding;
  /** Only at level smtp: at level mx the domain accepts mail, and the mailbox is not checked. */
  readonly smtp?: SmtpFinding;
  /** What becomes of the random recipient once the real one was accepted. */
  readonly randomRecipient?: 'accepted' | 'rejected';
  readonly flag?: TestFlag;
  /** Suggests the same local part at a domain that exists. */
  readonly suggests?: true;
  /** What becomes of mail to it: reported once it is verified, though none is sent. */
  readonly mail?: Pick<ReportedOutcome, 'outcome' | 'diagnostic'>;
}

const EXISTS: TestOutcome = {};

export const TEST_OUTCOMES: Readonly<Record<OutcomeName, TestOutcome>> = {
  deliverable: EXISTS,
  undeliverable: { dns: 'domain_not_found' },
  risky: { offline: 'disposable' },
  unknown: { dns: 'dns_failure' },
  blocked_by_filter: { offline: 'filter' },
  bounced_before: { offline: 'bounced' },
  invalid_format: { offline: 'syntax' },
  disposable_domain: { offline: 'disposable' },
  domain_not_found: { dns: 'domain_not_found' },
  no_mx_records: { dns: 'no_mx_records' },
  null_mx: { dns: 'null_mx' },
  mx_unusable: { dns: 'mx_unusable' },
  dns_failure: { dns: 'dns_failure' },
  typo: { dns: 'domain_not_found', suggests: true },
  typo_alive: { suggests: true },
  catch_all: { randomRecipient: 'accepted' },
  mailbox_not_found: { smtp: 'mailbox_not_found' },
  mailbox_full: { smtp: 'mailbox_full' },
  mailbox_full_temporarily: { smtp: 'mailbox_full_temporarily' },
  mailbox_disabled: { smtp: 'mailbox_disabled' },
  relay_denied: { smtp: 'relay_denied' },
  greylisted: { smtp: 'greylisted' },
  smtp_temporary_failure: { smtp: 'smtp_temporary_failure' },
  smtp_timeout: { smtp: 'smtp_timeout' },
  smtp_unreachable: { smtp: 'smtp_unreachable' },
  smtp_blocked: { smtp: 'smtp_blocked' },
  smtp_unverifiable: { smtp: 'smtp_unverifiable' },
  role: { flag: 'role' },
  free: { flag: 'free' },
  relay: { flag: 'relay' },
  bounced: { mail: { outcome: 'bounced', diagnostic: '550 5.1.1 User unknown' } },
  complained: { mail: { outcome: 'complained', diagnostic: null } },
};

const BY_NAME: ReadonlyMap<string, TestOutcome> = new Map(Object.entries(TEST_OUTCOMES));

/** What has not arrived when the time of the check is over. */
const OUT_OF_TIME: Readonly<Record<Level, TestOutcome>> = {
  mx: { dns: 'dns_failure' },
  smtp: { smtp: 'smtp_timeout' },
};

/** The part of a local part that selects, in lower case, and its tag. */
export interface Selector {
  readonly name: string;
  readonly tag: string | null;
}

/**
 * The text before the first `@` and `+`, and that after the `+`, without blanks around; no part of it need be valid.
 */
export function selectorOf(email: string): Selector {
  const [local = ''] = trimBlanks(email).split('@', 1);
  const plus = local.indexOf('+');
  const name = (plus < 0 ? local : local.slice(0, plus)).toLowerCase();
  return { name, tag: plus < 0 ? null : local.slice(plus + 1) };
}

export const testOutcomeOf = ({ name }: Selector): TestOutcome => BY_NAME.get(name) ?? EXISTS;

const SLOW = 'slow';

/** Reads the milliseconds until the reply from `slow+3000@…`; 0 for any other address. */
export const delayOf = ({ name, tag }: Selector): number =>
  name === SLOW && tag !== null && /^\d+$/.test(tag) ? Number(tag) : 0;

/** The outcome of a check whose delay is longer than its time. */
export const outOfTime = (level: Level): TestOutcome => OUT_OF_TIME[level];
