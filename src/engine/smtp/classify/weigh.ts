import { SMTP_FINDINGS } from '../../findings.ts';
import type { Clause } from './clauses.ts';
import { type RuleFinding, type RuleId, ruleOf } from './decide.ts';
import type { Subject } from './predicates.ts';
import type { Slot } from './slots.ts';
import type { Segment } from './tokens.ts';

/** "550 5.5.4 invalid domain name" is about a command's argument, not about the recipient's domain. */
export const contradicted = (rule: RuleId, status: string | null): boolean =>
  rule === 'domain.unknown' && status !== null && /\.5\.[124]$/.test(status);

/** Whether a finding makes the address undeliverable. */
export const isBadFinding = (finding: RuleFinding): boolean =>
  finding !== 'reconnect' && finding !== 'starttls_required' && SMTP_FINDINGS[finding].check === 'fail';
/** Whether a 5xx of this rule does. */
export const isBad = (rule: RuleId): boolean => isBadFinding(ruleOf(rule).finding);
export const aboutRecipient = (rule: RuleId): boolean => {
  const { meaning } = ruleOf(rule);
  return meaning === 'recipient' || meaning === 'recipient_domain';
};

/**
 * Whether an enhanced code counts. It makes an address bad only with words that fit: they name a recipient, deny or
 * refuse something, and name neither the sender nor what is counted. In a 4xx, X.7 is no more than "not now", and
 * 500 to 503 are about the command.
 */
export function mayDecide(
  rule: RuleId,
  code: number,
  segments: readonly Segment[],
  clauses: readonly Clause[],
): boolean {
  if (rule === 'code.policy') return code >= 500;
  if (!isBad(rule)) return true;
  if (code >= 500 && code <= 503) return false;
  const isAbsent = clauses.some(({ subject, predicate }) => predicate === 'absent' && subject === 'none');
  return (says(segments, WHO) || isAbsent) && says(segments, SAID) && !says(segments, OTHERS);
}

const says = (segments: readonly Segment[], slots: ReadonlySet<Slot>): boolean =>
  segments.some(({ tokens }) => tokens.some((token) => token.slots.some((slot) => slots.has(slot))));

const WHO: ReadonlySet<Slot> = new Set<Slot>(['recipient', 'user', 'domain']);
const OTHERS: ReadonlySet<Slot> = new Set<Slot>(['sender', 'you', 'count', 'group']);
const SAID: ReadonlySet<Slot> = new Set<Slot>([
  ...(['not', 'none', 'such', 'lacks', 'failed', 'absent', 'unavailable', 'refused', 'declines'] as const),
  ...(['disabled', 'full', 'exceeded', 'quota', 'delivers'] as const),
]);

/** Whether a word of a text denies, refuses or misses something. */
export const denies = (segments: readonly Segment[]): boolean => says(segments, SAID);

/** Refusals that do not say of whom. */
const OF_NOBODY: ReadonlySet<RuleId> = new Set<RuleId>([
  'us.message-refused',
  'us.refused',
  'us.policy',
  'us.auth-required',
]);

/**
 * Takes out what is not about whom it seems to be. Relaying that is denied to an address, or for want of a log-in, says
 * nothing of the domain. In a 4xx, a refusal of nobody, beside words about a part of the server or a code for its
 * trouble (RFC 3463 §3.4, §3.5), is that trouble: "MySQL: connection refused".
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
  if (code >= 500 || isAboutUs || named.has('you')) return;
  // To be asked to wait is no trouble: servers that greylist refuse as well.
  const inTrouble = TROUBLE.some((rule) => found.has(rule));
  const namesParts = says(segments, PARTS);
  for (const rule of found) {
    if (!OF_NOBODY.has(rule) || !(inTrouble || (namesParts && rule !== 'us.auth-required'))) continue;
    found.delete(rule);
    found.add('remote.trouble');
  }
}
const TROUBLE: readonly RuleId[] = ['remote.trouble', 'remote.error', 'code.system'];
const PARTS: ReadonlySet<Slot> = new Set<Slot>(['server', 'count', 'toward']);

/** The highest rule; a missing mailbox is not believed of a server in trouble. "Unknown or full" is unknown. */
export function settle(sorted: readonly RuleId[]): RuleId | null {
  const [top] = sorted;
  if (top === undefined) return null;
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
const NOT_WAITING: ReadonlySet<RuleId> = new Set<RuleId>([
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

/** A 450 or 451 that only asks to wait: what policy daemons say to unknown clients (RFC 6647). */
export function waiting(code: number, status: string | null, found: ReadonlySet<RuleId>): RuleId | null {
  if ((code !== 450 && code !== 451) || !found.has('remote.later')) return null;
  if (status !== null && !GREYLISTING_STATUS.has(status)) return null;
  for (const rule of found) if (NOT_WAITING.has(rule)) return null;
  return 'greylist.waiting';
}
