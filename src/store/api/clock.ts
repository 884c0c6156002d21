/** A look at the store's clock. */
export interface ClockReading {
  /** ms. */
  readonly now: number;
  /**
   * By how much more it has moved than time has passed since this process read it last, ms; negative: it was set back.
   * For the first reading of a process: since any process wrote down that it was seen.
   */
  readonly stepMs: number;
  /**
   * Since when it is doubted, because it moved by over CLOCK_DOUBT_HOURS more than time passed. A long downtime looks
   * the same. Nothing is purged for CLOCK_DOUBT_HOURS, unless the clock is set back before.
   */
  readonly doubtedSince: number | null;
}

/** The clock that decides about stored rows: the PostgreSQL server's, or, with SQLite, this process's. */
export interface StoreClock {
  /** Reads it, and writes down what was seen. */
  read(): Promise<ClockReading>;
  /** The same without writing, by what others wrote down. */
  peek(): Promise<ClockReading>;
}
