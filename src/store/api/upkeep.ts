/** One round of the purge. */
export type PurgeRound =
  /** Nothing was deleted, because the store's clock is doubted (`ClockReading.doubtedSince`). */
  | { readonly paused: true }
  | {
      readonly paused: false;
      /** Rows deleted, by table; only tables with some. */
      readonly deleted: Readonly<Record<string, number>>;
      readonly total: number;
      /** A table had more than PURGE_ROUND_ROWS to delete; the rest is for the next round. */
      readonly full: boolean;
    };

export interface Upkeep {
  /** Releases the holds (and unfinished idempotency keys) of dead processes, and expired holds. */
  releaseDead(signal?: AbortSignal): Promise<number>;
  /**
   * Deletes what is past its time by the store's clock, in short transactions: verifications older than `keepMs` or
   * than their account's own retention, and rows of other tables as OWNED_TABLES says; of each table PURGE_ROUND_ROWS
   * at most. The ledger and hourly counters become sums of their days.
   * Adds the job of deleted accounts that have none. Ends after the transaction under way when `signal` aborts.
   */
  purge(keepMs: number, signal?: AbortSignal): Promise<PurgeRound>;
  /**
   * Deletes a deleted account and its rows, in short transactions, until `signal` aborts. False while there is
   * something left: it still holds credits, or was interrupted.
   */
  removeAccount(account: string, signal?: AbortSignal): Promise<boolean>;
}
