export interface Upkeep {
  /** Releases the holds (and unfinished idempotency keys) of dead processes, and expired holds. */
  releaseDead(signal?: AbortSignal): Promise<number>;
  /**
   * Deletes what is past its time, in short transactions: verifications older than `before` or than their account's own
   * retention, and rows of other tables as OWNED_TABLES says. Adds the job of deleted accounts that have none. Ends after
   * the transaction under way when `signal` aborts. Returns how many rows were deleted.
   */
  purge(before: number, signal?: AbortSignal): Promise<number>;
  /**
   * Deletes a deleted account and its rows, in short transactions, until `signal` aborts. False while there is something
   * left: it still holds credits, or was interrupted.
   */
  removeAccount(account: string, signal?: AbortSignal): Promise<boolean>;
}
