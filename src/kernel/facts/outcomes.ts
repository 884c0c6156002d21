/** What a verification found, as charts count it: its deliverability, and apart from it what was not asked about. */
import type { Level } from './plans.ts';
import type { Deliverability, Reason, Status } from './reasons.ts';

/** Bars stack in this order, from the bottom. */
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

/** Whether a mail server was asked about the mailbox although only the level mx is charged. */
const ASKED_IN_VAIN: Readonly<Record<Reason, boolean>> = {
  blocked_by_filter: false,
  bounced_before: false,
  invalid_format: false,
  disposable_domain: false,
  domain_not_found: false,
  no_mx_records: false,
  null_mx: false,
  mx_unusable: false,
  dns_failure: false,
  catch_all: true,
  mailbox_not_found: true,
  mailbox_full: true,
  mailbox_disabled: true,
  relay_denied: true,
  greylisted: true,
  smtp_temporary_failure: true,
  smtp_timeout: false,
  smtp_unreachable: false,
  smtp_blocked: true,
  smtp_unverifiable: false,
};

/** Whether a mail server was asked about the mailbox, by the level that was charged. */
export const wasAsked = (level: Level, reason: Reason | null): boolean =>
  level === 'smtp' || (reason !== null && ASKED_IN_VAIN[reason]);

/** How verifications came, as counters tell them apart: by calls, one address each, or by lists. */
export const USAGE_SOURCES = ['api', 'list'] as const;
export type UsageSource = (typeof USAGE_SOURCES)[number];

export const USAGE_GROUPINGS = ['day', 'key', 'reason', 'validation_type'] as const;
export type UsageGrouping = (typeof USAGE_GROUPINGS)[number];

/** What one bar of a chart covers. */
export const CHART_BUCKETS = ['hour', 'day'] as const;
export type ChartBucket = (typeof CHART_BUCKETS)[number];
