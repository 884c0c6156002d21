import type { Level } from '../kernel/plans.ts';
import { PRICE } from '../kernel/plans.ts';
import type { Evidence, SmtpEvidence } from './evidence.ts';

export type Status = 'good' | 'bad';
export type Deliverability = 'deliverable' | 'undeliverable' | 'risky' | 'unknown';

export const REASONS = [
  'blocked_by_filter',
  'invalid_format',
  'disposable_domain',
  'domain_not_found',
  'no_mx_records',
  'null_mx',
  'mx_unusable',
  'dns_failure',
  'catch_all',
  'mailbox_not_found',
  'mailbox_full',
  'mailbox_disabled',
  'relay_denied',
  'greylisted',
  'smtp_temporary_failure',
  'smtp_timeout',
  'smtp_unreachable',
  'smtp_blocked',
  'smtp_unverifiable',
] as const;
export type Reason = (typeof REASONS)[number];

export interface Verdict {
  readonly status: Status;
  readonly deliverability: Deliverability;
  readonly reason: Reason | null;
  /** The level that gave the answer, and so the one that is billed. */
  readonly level: Level;
  readonly credits: number;
}

const verdict = (status: Status, deliverability: Deliverability, reason: Reason | null, level: Level): Verdict => ({
  status,
  deliverability,
  reason,
  level,
  credits: reason === 'blocked_by_filter' ? 0 : PRICE[level],
});

/**
 * The verdict, from evidence alone: the table of docs/verdicts.md, read from top to bottom. Answers null when there is
 * none to give, because our own resolver answers nothing for anybody; that is an outage of ours, not a finding.
 */
export function judge(e: Evidence): Verdict | null {
  if (e.syntax.result === 'fail') return verdict('bad', 'undeliverable', 'invalid_format', 'mx');
  if (e.filter.result === 'fail') return verdict('bad', 'undeliverable', 'blocked_by_filter', 'mx');
  if (e.disposable.result === 'fail') return verdict('bad', 'risky', 'disposable_domain', 'mx');

  switch (e.dns?.finding) {
    case undefined:
    case 'resolver_unavailable':
      return null;
    case 'domain_not_found':
    case 'no_mx_records':
    case 'null_mx':
    case 'mx_unusable':
      return verdict('bad', 'undeliverable', e.dns!.finding as Reason, 'mx');
    case 'dns_failure':
      return verdict('bad', 'unknown', 'dns_failure', 'mx');
    default:
      return e.smtp ? judgeMailbox(e.smtp, e) : verdict('good', 'unknown', null, 'mx');
  }
}

/**
 * The mailbox question. Whatever is the asker's fault, or nobody's, leaves the address good and is billed as `mx`:
 * the question got no answer. So is an acceptance that was never told apart from accepting everything.
 */
function judgeMailbox(smtp: SmtpEvidence, e: Evidence): Verdict {
  switch (smtp.finding) {
    case 'accepted':
      if (e.catchAll?.result === 'pass') return verdict('good', 'deliverable', null, 'smtp');
      if (e.catchAll?.result === 'fail') return verdict('good', 'risky', 'catch_all', 'smtp');
      return verdict('good', 'unknown', unanswered(e.catchAll?.why ?? null), 'mx');
    case 'mailbox_full_temporarily':
      return verdict('good', 'risky', 'mailbox_full', 'smtp');
    case 'mailbox_not_found':
    case 'mailbox_full':
    case 'mailbox_disabled':
    case 'relay_denied':
      return verdict('bad', 'undeliverable', smtp.finding, 'smtp');
    default:
      return verdict('good', 'unknown', smtp.finding, 'mx');
  }
}

const UNANSWERED: ReadonlySet<string> = new Set([
  'greylisted',
  'smtp_temporary_failure',
  'smtp_timeout',
  'smtp_unreachable',
  'smtp_blocked',
]);

/** Why the catch-all question stayed open; anything that is no reason of its own reads as "never tells". */
const unanswered = (why: string | null): Reason =>
  why !== null && UNANSWERED.has(why) ? (why as Reason) : 'smtp_unverifiable';
