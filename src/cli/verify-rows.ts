/** Runs the checks of many rows at once and returns them in their order. */
import type { RowBatch } from '../files/read-file.ts';
import type { FileRow, RowAddress } from '../files/rows.ts';
import type { Report } from '../index.ts';

/** Has its number among the distinct addresses or mailboxes of the file, from 1. */
export interface NumberedAddress extends RowAddress {
  readonly number: number;
  /** False: an earlier one has the same number. */
  readonly isFirst: boolean;
}
export type NumberedRow = Omit<FileRow, 'addresses'> & { readonly addresses: readonly NumberedAddress[] };
type NumberedBatch = Omit<RowBatch, 'rows'> & { readonly rows: readonly NumberedRow[] };

/** Of each address of the row; a report is null if no resolver answered. */
type RowReports = readonly (Report | null)[];

export interface FinishedRow {
  readonly row: NumberedRow;
  /** Counts the bytes of the input up to its end, roughly. */
  readonly bytes: number;
  readonly outcome: RowReports;
}

interface RowRun {
  /** Runs in the order of the file. Null means that no resolver answered. */
  verify(address: NumberedAddress): Promise<Report | null>;
  readonly concurrency: number;
  /** Ends the run with the rows finished before it. */
  readonly signal: AbortSignal;
}

/** Rows read ahead of the first unfinished one. */
const ROWS_PENDING_MAX = 4_000;
/** Rows are passed on when there are this many, or some have waited so long. */
const GROUP_ROWS = 500;
const GROUP_WAIT_MS = 200;

interface Pending {
  readonly row: NumberedRow;
  readonly bytes: number;
  readonly reports: (Report | null)[];
  /** Addresses that are not done. */
  open: number;
}

/** A slow row delays the output, not the checks of the rows behind it. */
export async function* verifyRows(
  batches: AsyncIterable<NumberedBatch>,
  run: RowRun,
): AsyncGenerator<FinishedRow[], void, undefined> {
  const pending: Pending[] = [];
  let running = 0;
  let ready = 0;
  let isFed = false;
  let isDue = false;
  let isAbandoned = false;
  const failures: unknown[] = [];
  let change = Promise.withResolvers<void>();
  const changed = (): void => {
    change.resolve();
    change = Promise.withResolvers();
  };
  const isEnded = (): boolean => isAbandoned || run.signal.aborted;
  const start = async (slot: Pending, index: number, address: NumberedAddress): Promise<void> => {
    running += 1;
    try {
      const report = await run.verify(address);
      // What a check says that was ended early is no verdict.
      if (run.signal.aborted) return;
      slot.reports[index] = report;
      slot.open -= 1;
    } catch (error) {
      failures.push(error);
    } finally {
      running -= 1;
      changed();
    }
  };
  const feed = async (): Promise<void> => {
    try {
      for await (const { rows, bytes } of batches) {
        for (const row of rows) {
          while (!isEnded() && (running >= run.concurrency || pending.length >= ROWS_PENDING_MAX)) await change.promise;
          if (isEnded()) return;
          const slot: Pending = { row, bytes, reports: [], open: row.addresses.length };
          pending.push(slot);
          for (const [index, address] of row.addresses.entries()) {
            while (!isEnded() && index > 0 && running >= run.concurrency) await change.promise;
            if (isEnded()) return;
            void start(slot, index, address);
          }
        }
        changed();
      }
    } catch (error) {
      failures.push(error);
    } finally {
      isFed = true;
      changed();
    }
  };
  run.signal.addEventListener('abort', changed);
  void feed();
  let timer: NodeJS.Timeout | null = null;
  try {
    for (;;) {
      while (ready < pending.length && pending[ready]?.open === 0) ready += 1;
      const isLast = run.signal.aborted || failures.length > 0 || (isFed && ready === pending.length);
      if (ready >= GROUP_ROWS || (ready > 0 && (isLast || isDue))) {
        if (timer !== null) clearTimeout(timer);
        timer = null;
        isDue = false;
        const group = pending.splice(0, ready);
        ready = 0;
        changed();
        yield group.map(({ row, bytes, reports }) => ({ row, bytes, outcome: reports }));
        continue;
      }
      if (run.signal.aborted) return;
      if (failures.length > 0) throw failures[0];
      if (isLast) return;
      if (ready > 0)
        timer ??= setTimeout(() => {
          isDue = true;
          changed();
        }, GROUP_WAIT_MS);
      await change.promise;
    }
  } finally {
    if (timer !== null) clearTimeout(timer);
    isAbandoned = true;
    changed();
    run.signal.removeEventListener('abort', changed);
  }
}
