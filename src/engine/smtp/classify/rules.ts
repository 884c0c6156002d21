import type { ReadBy, ReplyConfidence } from '../../../kernel/facts/checks.ts';
import type { SmtpFinding } from '../../evidence.ts';
import { SMTP_FINDINGS } from '../../findings.ts';
import type { Subject } from './clauses.ts';
import type { Segment, Slot, Statement } from './lexicon.ts';

/** What a reply is about: `recipient*` the checked address, `us_*` the client, `remote_*` a problem of the server. */
export type Meaning =
  | 'accepted'
  | 'recipient'
  | 'recipient_domain'
  | 'us_ip'
  | 'us_sender'
  | 'us_policy'
  | 'rate'
  | 'greylisted'
  | 'remote_temporary'
  | 'remote_permanent'
  | 'too_many_recipients'
  | 'tls_required'
  /** The server has rejected the protocol usage (RFC 5321 §4.2.2: 500 to 504, 555). */
  | 'protocol'
  | 'unclear';

/** Includes findings about the mailbox, and two session actions: reconnect, STARTTLS. */
export type RuleFinding = SmtpFinding | 'reconnect' | 'starttls_required';

export interface RuleReading {
  readonly meaning: Meaning;
  /**
   * `reconnect`: ask again in a new session; for the first recipient of a session it is a temporary failure.
   * `starttls_required`: ask again under TLS.
   */
  readonly finding: RuleFinding;
  /**
   * It is the id of what decided (`RULES`, or a row of data/smtp-codes.json), or `unmatched.4xx`, `unmatched.5xx`,
   * `unmatched.other`.
   */
  readonly rule: string;
  /** Says what decided: a row for the operator's own form, the rules, or the model beside them. */
  readonly readBy: ReadBy;
  /** That the mailbox cannot be reached, as the model sees it, from 0 to 1; null if it was not asked. */
  readonly probability: number | null;
  /** Says whether a rule matched; otherwise, only the reply code decided. */
  readonly matched: boolean;
  readonly confidence: ReplyConfidence;
  /** Seconds until asking again makes sense, 1 to 86,400; only from 4xx and greylisting replies that announce it. */
  readonly retryAfterSeconds: number | null;
}

interface ReplyRule {
  readonly meaning: Meaning;
  /** What a 5xx means. A 4xx is never bad: classify.ts turns it into its temporary counterpart. */
  readonly finding: RuleFinding;
  /** Of the rules that a reply's clauses and codes lead to, the highest decides. */
  readonly rank: number;
  /** Weak evidence: the decision is listed for review. */
  readonly weak?: true;
}

const rule = (rank: number, meaning: Meaning, finding: RuleFinding): ReplyRule => ({ rank, meaning, finding });
const weak = (rank: number, meaning: Meaning, finding: RuleFinding): ReplyRule => ({
  rank,
  meaning,
  finding,
  weak: true,
});

/**
 * Everything that a reply can mean. Ranks: first what the server demands and what is surely about the client; then what
 * it says of the mailbox; then what it says in general; then what it only hints at.
 */
export const RULES = {
  'accepted.2xx': rule(200, 'accepted', 'accepted'),
  'tls.required': rule(100, 'tls_required', 'starttls_required'),
  'protocol.command': rule(97, 'protocol', 'smtp_unverifiable'),
  'greylist.named': rule(96, 'greylisted', 'greylisted'),
  'us.sender': rule(90, 'us_sender', 'smtp_blocked'),
  'us.ip': rule(89, 'us_ip', 'smtp_blocked'),
  'us.blocklist': rule(88, 'us_ip', 'smtp_blocked'),
  'us.reverse-dns': rule(87, 'us_ip', 'smtp_blocked'),
  'us.mail-authentication': rule(86, 'us_sender', 'smtp_blocked'),
  'us.auth-required': rule(85, 'us_policy', 'smtp_blocked'),
  'recipients.too-many': rule(80, 'too_many_recipients', 'reconnect'),
  'session.used-up': rule(79, 'rate', 'reconnect'),
  'us.spam': rule(74.8, 'us_policy', 'smtp_blocked'),
  'rate.limited': rule(74.5, 'rate', 'smtp_temporary_failure'),
  'full.mailbox': rule(76, 'recipient', 'mailbox_full'),
  'disabled.mailbox': rule(75, 'recipient', 'mailbox_disabled'),
  'us.you': rule(74, 'us_policy', 'smtp_blocked'),
  'us.recipient-declines': rule(73, 'us_policy', 'smtp_blocked'),
  'domain.unknown': rule(72, 'recipient_domain', 'relay_denied'),
  'domain.no-mail': rule(72, 'recipient_domain', 'relay_denied'),
  'recipient.unknown': rule(71, 'recipient', 'mailbox_not_found'),
  'relay.denied': rule(72.5, 'recipient_domain', 'relay_denied'),
  'us.policy': rule(65.5, 'us_policy', 'smtp_blocked'),
  'greylist.waiting': rule(66, 'greylisted', 'greylisted'),
  'remote.later': rule(65, 'remote_temporary', 'smtp_temporary_failure'),
  'remote.passing': rule(64, 'remote_temporary', 'smtp_temporary_failure'),
  'protocol.syntax': rule(71.5, 'protocol', 'smtp_unverifiable'),
  'remote.trouble': rule(58, 'remote_temporary', 'smtp_temporary_failure'),
  'us.message-refused': rule(55, 'us_policy', 'smtp_blocked'),
  'us.demand': rule(57, 'us_policy', 'smtp_blocked'),
  'us.refused-service': rule(54, 'us_policy', 'smtp_blocked'),
  'remote.unclear': weak(1, 'unclear', 'smtp_unverifiable'),
  'us.client-rejected': weak(45, 'us_ip', 'smtp_blocked'),
  'recipient.unavailable': weak(38, 'recipient', 'mailbox_not_found'),
  'remote.unverified': weak(37, 'unclear', 'smtp_unverifiable'),
  'us.refused': weak(30, 'us_policy', 'smtp_blocked'),
  'us.recipient-rejected': weak(20, 'us_policy', 'smtp_blocked'),
  'code.no-mailbox': weak(40, 'recipient', 'mailbox_not_found'),
  'code.no-domain': weak(40, 'recipient_domain', 'relay_denied'),
  'code.disabled': weak(40, 'recipient', 'mailbox_disabled'),
  'code.full': weak(40, 'recipient', 'mailbox_full'),
  'code.sender': rule(88, 'us_sender', 'smtp_blocked'),
  'code.authentication': rule(86, 'us_sender', 'smtp_blocked'),
  'code.ip': rule(86, 'us_ip', 'smtp_blocked'),
  'code.too-many-recipients': weak(36, 'too_many_recipients', 'reconnect'),
  'remote.error': weak(41, 'remote_temporary', 'smtp_temporary_failure'),
  'code.system': weak(35, 'remote_temporary', 'smtp_temporary_failure'),
  'code.protocol': weak(15, 'protocol', 'smtp_unverifiable'),
  'code.policy': weak(25, 'us_policy', 'smtp_blocked'),
  'last.command': weak(12, 'protocol', 'smtp_unverifiable'),
  'last.auth': weak(11, 'us_policy', 'smtp_blocked'),
  'us.early': rule(58.5, 'us_policy', 'smtp_blocked'),
  'last.early-5xx': weak(10, 'us_policy', 'smtp_blocked'),
  'model.not-found': weak(0, 'recipient', 'mailbox_not_found'),
  'model.disabled': weak(0, 'recipient', 'mailbox_disabled'),
  'model.full': weak(0, 'recipient', 'mailbox_full'),
  'model.domain': weak(0, 'recipient_domain', 'relay_denied'),
  'model.blocked': weak(0, 'us_policy', 'smtp_blocked'),
  'model.rate': weak(0, 'rate', 'smtp_temporary_failure'),
  'model.temporary': weak(0, 'remote_temporary', 'smtp_temporary_failure'),
  'model.syntax': weak(0, 'protocol', 'smtp_unverifiable'),
  'model.other': weak(0, 'unclear', 'smtp_unverifiable'),
  'class.4xx': weak(5, 'remote_temporary', 'smtp_temporary_failure'),
} as const satisfies Record<string, ReplyRule>;
export type RuleId = keyof typeof RULES;
export const ruleOf = (id: RuleId): ReplyRule => RULES[id];
export const isRule = (id: string): id is RuleId => Object.hasOwn(RULES, id);

type RuleRow = Readonly<Record<Subject, RuleId | null>>;

/** A row: the rule for every subject that is not named. */
const ruleRow = (others: RuleId | null, named: Partial<Record<Subject, RuleId | null>> = {}): RuleRow => ({
  recipient: others,
  domain: others,
  sender: others,
  client: others,
  you: others,
  message: others,
  server: others,
  group: others,
  quota: others,
  count: others,
  none: others,
  ...named,
});
const US = { sender: 'us.sender', client: 'us.ip', you: 'us.you' } as const;

/** What a clause leads to. */
export const DECISIONS: Readonly<Record<Statement, RuleRow>> = {
  absent: ruleRow(null, {
    ...US,
    recipient: 'recipient.unknown',
    domain: 'domain.unknown',
    group: 'recipient.unknown',
  }),
  disabled: ruleRow(null, {
    ...US,
    recipient: 'disabled.mailbox',
    domain: 'domain.unknown',
    group: 'us.recipient-declines',
  }),
  full: ruleRow(null, {
    recipient: 'full.mailbox',
    quota: 'full.mailbox',
    none: 'full.mailbox',
    server: 'remote.trouble',
    sender: 'rate.limited',
    client: 'rate.limited',
    you: 'rate.limited',
    count: 'rate.limited',
  }),
  unavailable: ruleRow('remote.trouble', {
    ...US,
    recipient: 'recipient.unavailable',
    domain: 'recipient.unavailable',
    message: null,
    none: null,
  }),
  unverified: ruleRow(null, { ...US, recipient: 'remote.unverified' }),
  refused: ruleRow('us.message-refused', { ...US, recipient: 'us.recipient-rejected', none: 'us.refused' }),
  declines: ruleRow('us.message-refused', {
    ...US,
    recipient: 'us.recipient-declines',
    group: 'us.recipient-declines',
  }),
  demands: ruleRow('us.demand'),
  only: ruleRow('us.recipient-declines'),
  listed: ruleRow('us.blocklist'),
  forged: ruleRow('us.mail-authentication'),
  nameless: ruleRow('us.reverse-dns'),
  spam: ruleRow('us.spam'),
  policy: ruleRow('us.policy'),
  auth: ruleRow('us.auth-required'),
  tls: ruleRow('tls.required'),
  relay: ruleRow('relay.denied'),
  not_hosted: ruleRow('domain.no-mail', { ...US }),
  too_many: ruleRow('rate.limited', { recipient: 'recipients.too-many' }),
  too_fast: ruleRow('rate.limited'),
  used_up: ruleRow('session.used-up'),
  later: ruleRow('remote.later'),
  passing: ruleRow('remote.passing'),
  greylisted: ruleRow('greylist.named'),
  trouble: ruleRow('remote.trouble', { sender: 'us.sender', you: 'us.you' }),
  error: ruleRow('remote.error', { sender: 'us.sender' }),
  syntax: ruleRow('protocol.syntax'),
  sequence: ruleRow('protocol.syntax', { recipient: null }),
};

/** Whether an enhanced code is for the order or the form of commands (RFC 3463 §3.6). */
export const isOfCommand = (status: string | null): boolean => status !== null && /\.5\.[124]$/.test(status);
/** "550 5.5.4 invalid domain name" is about a command's argument, not about the recipient's domain. */
export const contradicted = (rule: RuleId, status: string | null): boolean =>
  rule === 'domain.unknown' && isOfCommand(status);

/** Whether a finding makes the address undeliverable. */
export const isBadFinding = (finding: RuleFinding): boolean =>
  finding !== 'reconnect' && finding !== 'starttls_required' && SMTP_FINDINGS[finding].check === 'fail';
/** Whether a 5xx of this rule does. */
export const isBadRule = (rule: RuleId): boolean => isBadFinding(ruleOf(rule).finding);
export const aboutRecipient = (rule: RuleId): boolean => {
  const { meaning } = ruleOf(rule);
  return meaning === 'recipient' || meaning === 'recipient_domain';
};

/**
 * Whether an enhanced code counts. It makes an address bad only with words that fit: they name a recipient, deny or
 * refuse something in the same language, and name neither the sender nor what is counted. In a 4xx, X.5 and X.7 are no
 * more than "not now", and 500 to 503 are about the command.
 */
export function mayDecide(rule: RuleId, code: number, segments: readonly Segment[]): boolean {
  if (rule === 'code.policy' || rule === 'code.protocol') return code >= 500;
  if (!isBadRule(rule)) return true;
  if (code >= 500 && code <= 503) return false;
  if (says(segments, OTHER_SLOTS) || !says(segments, SAID)) return false;
  // "the nu address": letters that happen to deny something in another language.
  const [who, said] = [languagesOf(segments, WHO), languagesOf(segments, SAID)];
  return who.has('') || [...said].some((language) => who.has(language));
}

const languagesOf = (segments: readonly Segment[], slots: ReadonlySet<Slot>): ReadonlySet<string> =>
  new Set(
    segments.flatMap(({ tokens }) =>
      tokens.flatMap((token) => (token.slots.some((slot) => slots.has(slot)) ? [token.language] : [])),
    ),
  );

const says = (segments: readonly Segment[], slots: ReadonlySet<Slot>): boolean =>
  segments.some(({ tokens }) => tokens.some((token) => token.slots.some((slot) => slots.has(slot))));

const WHO: ReadonlySet<Slot> = new Set<Slot>(['recipient', 'user', 'domain']);
const OTHER_SLOTS: ReadonlySet<Slot> = new Set<Slot>(['sender', 'you', 'count', 'group']);
const SAID: ReadonlySet<Slot> = new Set<Slot>([
  'not',
  'none',
  'such',
  'lacks',
  'failed',
  'absent',
  'unavailable',
  'refused',
  'declines',
  'disabled',
  'full',
  'exceeded',
  'quota',
  'delivers',
]);

/** Whether a word of a text denies, refuses or misses something. */
export const denies = (segments: readonly Segment[]): boolean => says(segments, SAID);

/** Refusals that do not say of whom. */
const REFUSALS_OF_NOBODY: ReadonlySet<RuleId> = new Set<RuleId>([
  'us.message-refused',
  'us.refused',
  'us.policy',
  'us.auth-required',
]);

/**
 * Takes out what is not about whom it seems to be. Relaying that is denied to an address, or for want of a log-in, says
 * nothing of the domain. In a 4xx, a refusal of nobody, beside words about a part of the server or a code for its
 * trouble (RFC 3463 §3.4, §3.5), is that trouble: "MySQL: connection refused"; so is what it says of the sender then.
 */
export function considerWhose(
  found: Set<RuleId>,
  code: number,
  named: ReadonlySet<Subject>,
  segments: readonly Segment[],
): void {
  const isAboutUs = named.has('client') || named.has('sender');
  if (isAboutUs && found.has('relay.denied')) found.add('us.you');
  if (isAboutUs || found.has('us.auth-required')) found.delete('relay.denied');
  if (code >= 500) return;
  // "451 4.3.5 Sender address rejected: Server configuration error", "454 Temporary authentication failure"
  const isFault = found.has('code.system') && (found.has('remote.trouble') || found.has('remote.error'));
  if (isFault) for (const rule of found) if (ruleOf(rule).meaning === 'us_sender') found.delete(rule);
  if (found.has('remote.passing') && !isAboutUs) found.delete('us.mail-authentication');
  if (isAboutUs || named.has('you')) return;
  // To be asked to wait is no trouble: servers that greylist refuse as well.
  const inTrouble = TROUBLE.some((rule) => found.has(rule));
  const namesParts = says(segments, PART_SLOTS);
  for (const rule of found) {
    if (!REFUSALS_OF_NOBODY.has(rule) || !(inTrouble || (namesParts && rule !== 'us.auth-required'))) continue;
    found.delete(rule);
    found.add('remote.trouble');
  }
}

/** These rules find a fault of the server. */
export const TROUBLE: readonly RuleId[] = ['remote.trouble', 'remote.error', 'code.system'];
const PART_SLOTS: ReadonlySet<Slot> = new Set<Slot>(['server', 'count', 'toward']);

/** The highest rule; a missing mailbox is not believed of a server in trouble. "Unknown or full" is unknown. */
export function settle(sorted: readonly RuleId[]): RuleId | null {
  const [top = null] = sorted;
  if (top === 'full.mailbox' && sorted.includes('recipient.unknown')) return 'recipient.unknown';
  return top === 'recipient.unknown' ? (sorted.find((rule) => PASSES.has(rule)) ?? top) : top;
}

const PASSES: ReadonlySet<RuleId> = new Set<RuleId>(['remote.later', 'remote.passing', 'remote.trouble']);

/** What the reply code alone says (RFC 5321 §4.2.2, RFC 4954 §6). */
export function ofReplyCode(code: number, found: ReadonlySet<RuleId>): RuleId | null {
  if ((code >= 500 && code <= 504) || code === 555) {
    // "HELO first" is about the order of commands, "invalid HELO" about the client.
    if (found.has('us.reverse-dns')) return code === 503 ? 'protocol.command' : 'last.command';
    return found.has('protocol.syntax') ? 'protocol.command' : 'last.command';
  }
  return code === 530 || code === 534 || code === 535 || code === 538 ? 'last.auth' : null;
}

/** Status codes that policy daemons greylist with. */
const GREYLISTING_STATUS: ReadonlySet<string> = new Set(['4.7.0', '4.7.1', '4.2.0', '4.2.1', '4.5.1', '4.0.0']);
const RULES_WITHOUT_WAIT: ReadonlySet<RuleId> = new Set<RuleId>([
  'remote.trouble',
  'remote.error',
  'rate.limited',
  'us.ip',
  'us.sender',
  'us.blocklist',
  'us.reverse-dns',
  'us.mail-authentication',
  'us.auth-required',
  'us.spam',
  'full.mailbox',
  'disabled.mailbox',
  'recipient.unavailable',
  'remote.unverified',
  'session.used-up',
  'recipients.too-many',
]);

/** A 450 or 451 that only asks to wait, and not for a server: what policy daemons say to unknown clients (RFC 6647). */
export function waiting(
  code: number,
  status: string | null,
  found: ReadonlySet<RuleId>,
  named: ReadonlySet<Subject>,
): RuleId | null {
  if ((code !== 450 && code !== 451) || !found.has('remote.later') || named.has('server')) return null;
  if (status !== null && !GREYLISTING_STATUS.has(status)) return null;
  for (const rule of found) if (RULES_WITHOUT_WAIT.has(rule)) return null;
  return 'greylist.waiting';
}
