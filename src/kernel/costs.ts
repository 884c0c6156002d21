/**
 * What a request may cost after it has arrived, wherever that is much: the one table of places, pace and turns. Each
 * row is bounded for an account, whose live and test data count together, and in a process. A route that reads a body
 * as it arrives, sends a reply piece by piece, or has a query names its row.
 */

/** A client has to send or take at least this many bytes in each period of this many seconds. */
export interface Pace {
  readonly seconds: number;
  readonly bytes: number;
}

/** Places that are held while a client sends or takes; whoever is slower than `pace` is ended. */
interface HeldPlaces {
  /** How many one account may have at once. */
  readonly perAccount: number;
  /** How many the process may have at once. */
  readonly atOnce: number;
  /**
   * Besides those, so many are for accounts that have none; beyond it, such an account gets the place of the slowest
   * (fair-queue.ts).
   */
  readonly forFirst: number;
  readonly pace: Pace;
}
/** A body that is read as it arrives. */
interface BodyCost extends HeldPlaces {
  readonly kind: 'body';
  /** All of it has to arrive within this time. */
  readonly withinSeconds: number;
}
/** A reply that is made piece by piece, each in its account's turn, as the client takes it. */
interface ReaderCost extends HeldPlaces {
  readonly kind: 'reader';
}
/** Work for which accounts take turns. */
interface TurnCost {
  readonly kind: 'turn';
  /** A process has so many at once; an account gets a share of it. */
  readonly atOnce: number;
  /** One account may have so many waiting; further ones are refused. */
  readonly waiting: number;
}

const READER_PACE: Pace = { seconds: 20, bytes: 160 * 1024 };

export const COSTS = {
  /** This covers uploads of lists and copies of them. */
  list_upload: {
    kind: 'body',
    perAccount: 2,
    atOnce: 16,
    forFirst: 8,
    pace: { seconds: 20, bytes: 40 * 1024 },
    withinSeconds: 900,
  },
  /** What became of mail. */
  report: {
    kind: 'body',
    perAccount: 16,
    atOnce: 32,
    forFirst: 16,
    pace: { seconds: 20, bytes: 40 * 1024 },
    withinSeconds: 120,
  },
  /** Results of a list as a file. */
  list_download: { kind: 'reader', perAccount: 4, atOnce: 40, forFirst: 16, pace: READER_PACE },
  /** This covers the log, filters, ledger and audit log as files. */
  export: { kind: 'reader', perAccount: 4, atOnce: 20, forFirst: 8, pace: READER_PACE },
  /** Queries that look through many rows or add them up, and the pieces of readers. */
  query: { kind: 'turn', atOnce: 2, waiting: 20 },
  /** Parsing and checking a message at `/mcp` that is larger than the body of any other call. */
  mcp_message: { kind: 'turn', atOnce: 2, waiting: 8 },
  /** A large workbook that a thread reads; as many wait as there are uploads. */
  workbook_read: { kind: 'turn', atOnce: 3, waiting: Number.POSITIVE_INFINITY },
  /** Such a workbook has at most 32 MB when unpacked. */
  small_workbook_read: { kind: 'turn', atOnce: 3, waiting: Number.POSITIVE_INFINITY },
  /** One of an old or binary format, which is held in memory. */
  old_workbook_read: { kind: 'turn', atOnce: 2, waiting: Number.POSITIVE_INFINITY },
} as const satisfies Readonly<Record<string, BodyCost | ReaderCost | TurnCost>>;

type CostName = keyof typeof COSTS;
type CostOfKind<K extends string> = { [N in CostName]: (typeof COSTS)[N]['kind'] extends K ? N : never }[CostName];
export type BodyCostName = CostOfKind<'body'>;
export type ReaderCostName = CostOfKind<'reader'>;
/** Turns of requests; the threads for workbooks have queues of their own. */
export type TurnCostName = Exclude<CostOfKind<'turn'>, `${string}workbook_read`>;
