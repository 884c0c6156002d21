import type { AccountId } from './accounts.ts';

/** Request counts of one process since its last flush. */
export interface TrafficRow {
  readonly account: AccountId;
  /** Start of the hour, ms. */
  readonly hour: number;
  /** `status`: replies of 4xx by status; `mx`, `smtp`: verifications of that level by latency bucket. */
  readonly metric: 'status' | 'mx' | 'smtp';
  /** HTTP status, or the number of the latency bucket (kernel/latency.ts). */
  readonly bucket: number;
  readonly count: number;
}

export interface Traffic {
  /** Adds to the stored counts; counts of deleted accounts are dropped. */
  add(rows: readonly TrafficRow[]): Promise<void>;
  /** Of all accounts together, from the hour of `from` on. Gives up after `withinMs`. */
  ofAll(from: number, withinMs: number): Promise<Omit<TrafficRow, 'account'>[]>;
  /** From the hour of `from` to before `to`, oldest first. */
  list(account: AccountId, from: number, to: number): Promise<TrafficRow[]>;
}
