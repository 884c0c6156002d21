/** The processes that share the store. */
export interface NodeRow {
  readonly id: string;
  /** Host and process, such as `web-1/4711`. */
  readonly label: string;
  /** Of its program; null: it has not said so yet. */
  readonly version: string | null;
  readonly startedAt: number;
  /** By the store's clock; null: never. */
  readonly seenAt: number | null;
}

export interface Nodes {
  /** Says that this process runs, with the version of its program. */
  report(version: string): Promise<void>;
  /**
   * Whose rows are there, the newest first, at most `limit`. A dead one is there until it is swept. Gives up after
   * `withinMs`.
   */
  list(limit: number, withinMs: number): Promise<readonly NodeRow[]>;
  /** The id of this process; null before it has charged or reported. */
  readonly current: string | null;
}
