import { SMTP_FINDINGS } from '../../findings.ts';
import { type RuleFinding, type RuleId, ruleOf } from './decide.ts';
import type { Segment, Token } from './tokens.ts';

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
 * Whether an enhanced code counts. It makes no address bad where the text says nothing, or, if it is about the state of
 * a mailbox, where the text names none: `521 5.2.1 (CON:B1)`. In a 4xx, X.7 is no more than "not now".
 */
export function mayDecide(rule: RuleId, code: number, segments: readonly Segment[]): boolean {
  if (rule === 'code.policy') return code >= 500;
  if (!isBad(rule)) return true;
  if (rule === 'code.disabled' || rule === 'code.full') {
    return says(segments, ({ slots }) => slots.includes('recipient') || slots.includes('user'));
  }
  return says(segments, ({ text }) => !/^[@\d]/.test(text));
}

const says = (segments: readonly Segment[], is: (token: Token) => boolean): boolean =>
  segments.some(({ tokens }) => tokens.some(is));

/** The highest rule; a missing mailbox is not believed of a server in trouble. */
export function settle(sorted: readonly RuleId[]): RuleId | null {
  const [top] = sorted;
  if (top === undefined) return null;
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
