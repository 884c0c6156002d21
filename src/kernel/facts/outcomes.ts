/** What a verification found, as charts count it: its deliverability, and apart from it what was not asked about. */
import type { Level } from './plans.ts';
import type { Deliverability, Reason, Status } from './reasons.ts';

/** In the order in which bars stack, from the bottom. */
export const OUTCOMES = ['deliverable', 'not_checked', 'unknown', 'risky', 'undeliverable'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Counters have no deliverability: reason and status determine it. */
const BY_REASON: Readonly<Record<Reason, Deliverability | Readonly<Record<Status, Deliverability>>>> = {
  blocked_by_filter: 'undeliverable',
  bounced_before: 'undeliverable',
  invalid_format: 'undeliverable',
  disposable_domain: 'risky',
  domain_not_found: 'undeliverable',
  no_mx_records: 'undeliverable',
  null_mx: 'undeliverable',
  mx_unusable: 'undeliverable',
  dns_failure: 'unknown',
  catch_all: 'risky',
  mailbox_not_found: 'undeliverable',
  mailbox_full: { good: 'risky', bad: 'undeliverable' },
  mailbox_disabled: 'undeliverable',
  relay_denied: 'undeliverable',
  greylisted: 'unknown',
  smtp_temporary_failure: 'unknown',
  smtp_timeout: 'unknown',
  smtp_unreachable: 'unknown',
  smtp_blocked: 'unknown',
  smtp_unverifiable: 'unknown',
};

/** Of counters that a later version wrote, the reason may be unknown. */
const ROWS: Readonly<Record<string, (typeof BY_REASON)[Reason] | undefined>> = BY_REASON;

/** `not_checked`: the domain accepts mail, and the mailbox was not asked about (level mx). */
export function outcomeOf(level: Level, status: Status, reason: string | null): Outcome {
  if (reason === null) return level === 'mx' ? 'not_checked' : 'deliverable';
  const row = ROWS[reason] ?? 'unknown';
  return typeof row === 'string' ? row : row[status];
}
