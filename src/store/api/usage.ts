import type { Reason, ReasonOrNone } from '../../kernel/reasons.ts';
import type { AccountId } from './accounts.ts';

export interface UsageSummary {
  readonly requests: number;
  readonly good: number;
  readonly bad: number;
  readonly credits: number;
  readonly byReason: Readonly<Partial<Record<Reason, number>>>;
}

export type UsageGrouping = 'day' | 'key' | 'reason' | 'validation_type';

export interface UsageRow {
  /** The day (`2026-11-20`, UTC), key id, reason (or `none`) or level. */
  readonly group: string;
  readonly requests: number;
  readonly good: number;
  readonly bad: number;
  readonly credits: number;
}

export interface Usage {
  summary(account: AccountId, from: number, to: number): Promise<UsageSummary>;
  series(account: AccountId, grouping: UsageGrouping, from: number, to: number): Promise<UsageRow[]>;
  reasons(account: AccountId, from: number, to: number): Promise<{ reason: ReasonOrNone; requests: number }[]>;
  /** Since when the account's counters are by the hour, ms; before, they are by the day (UTC). Null: none is. */
  hoursFrom(account: AccountId): Promise<number | null>;
  /** By hour, oldest first; hours without requests are omitted. `at`: start of the hour, ms. */
  hours(account: AccountId, from: number, to: number): Promise<(Omit<UsageRow, 'group'> & { readonly at: number })[]>;
}
