import type { Level } from '../../kernel/facts/plans.ts';
import type { Reason, Status } from '../../kernel/facts/reasons.ts';
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

export interface UsageBucketRow {
  /** Start of the hour or day, ms. */
  readonly at: number;
  readonly level: Level;
  readonly status: Status;
  readonly reason: Reason | null;
  readonly requests: number;
  readonly credits: number;
}

export interface KeyDayRow {
  readonly keyId: string;
  /** Start of the day, ms. */
  readonly at: number;
  readonly requests: number;
}

interface Kept {
  readonly used: number;
  /** That of the account's plan. */
  readonly limit: number;
}

/** What an account keeps in the store beside its log. */
export interface AccountStorage {
  /** Lists, whatever their status, those included that are being uploaded. */
  readonly lists: number;
  /** Bytes of their rows, with LIST_RESULT_BYTES for each address. */
  readonly listBytes: Kept;
  readonly filters: Kept;
}

export interface Usage {
  storage(account: AccountId): Promise<AccountStorage>;
  summary(account: AccountId, from: number, to: number): Promise<UsageSummary>;
  series(account: AccountId, grouping: UsageGrouping, from: number, to: number): Promise<UsageRow[]>;
  /** Since when the account's counters are by the hour, ms; before, they are by the day (UTC). Null: none is. */
  hoursFrom(account: AccountId): Promise<number | null>;
  /**
   * By hour or day (UTC; `size` in ms), oldest first, and by what was found; those without requests are omitted. `key`:
   * of this one only.
   */
  buckets(account: AccountId, from: number, to: number, size: number, key?: string | null): Promise<UsageBucketRow[]>;
  /** Of each key by day (UTC); days without requests are omitted. */
  keyDays(account: AccountId, from: number, to: number): Promise<KeyDayRow[]>;
}
