/** The threads for workbooks (thread.ts), from the thread that uses them. */
import { ReadableStream, type ReadableStreamDefaultReader } from 'node:stream/web';
import { COSTS } from '../../kernel/costs.ts';
import type { BookFormat } from '../../kernel/facts/lists.ts';
import { FairQueue } from '../../kernel/fair-queue.ts';
import { Thread, ThreadEndedError, threadCode } from '../../kernel/thread.ts';
import { FileError, tooLarge, unreadable } from '../problems.ts';
import type { RawBatch, RawRow } from '../rows.ts';
import type { SpooledBytes } from '../spool.ts';
import {
  type ReadOrder,
  type ReadRows,
  rowsOf,
  type SheetLimits,
  type SheetPiece,
  type Unreadable,
  type WriteOrder,
} from './thread-messages.ts';
import type { Written, XlsxCell, XlsxState } from './write.ts';

const READER_YOUNG_MB = 4;
/** What it takes to find the sheet, ms. */
const OPEN_MS = 120_000;
/** Of XML that a workbook with fewer bytes, unpacked, is read quickly: some 150,000 rows of five columns. */
const SMALL_WORKBOOK_BYTES = 32 << 20;
/** An idle thread ends after this time. */
const THREAD_IDLE_MS = 5_000;
/** Blank rows that are made at a time. */
const BLANK_ROWS = 500;

type ReaderThread = Thread<ReadOrder, Unreadable | null, SheetPiece, boolean>;

/** `heapMb`: texts of XLSX files are outside of the heap, in bounds of their own (workbook.ts). */
const bookThread = <Order, Answer>(heapMb: number): Thread<Order, Answer, SheetPiece, boolean> =>
  new Thread({
    code: threadCode(import.meta.url, './thread.ts', './xlsx-thread.js'),
    limits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: READER_YOUNG_MB },
    idleMs: THREAD_IDLE_MS,
    cancelMs: 0,
  });

/** A number of threads that is bounded, each with one file at a time; parties take turns. */
class ReaderThreads {
  readonly heapMb: number;
  readonly #queue: FairQueue;
  /** Those that were used last are used first, so that the others become idle. */
  readonly #free: ReaderThread[];

  constructor(most: number, heapMb: number) {
    this.heapMb = heapMb;
    this.#queue = new FairQueue(most);
    this.#free = Array.from({ length: most }, () => bookThread(heapMb));
  }

  async take(party: string): Promise<{ thread: ReaderThread; give: () => void }> {
    const leave = await this.#queue.enter(party);
    const thread = this.#free.pop() ?? bookThread(this.heapMb);
    const give = () => {
      this.#free.push(thread);
      leave();
    };
    return { thread, give };
  }
}

/**
 * Small workbooks have threads of their own: large ones are read for as long as their rows are stored. So have those
 * that the library holds in memory.
 */
const readers = {
  large: new ReaderThreads(COSTS.workbook_read.atOnce, 128),
  small: new ReaderThreads(COSTS.small_workbook_read.atOnce, 64),
  library: new ReaderThreads(COSTS.old_workbook_read.atOnce, 384),
};
/** One for all files, a few ms at a time. */
const writer = bookThread<WriteOrder, Unreadable | Written>(128);

const readersFor = (format: BookFormat, unpackedBytes: number): ReaderThreads => {
  if (format === 'xls' || format === 'xlsb') return readers.library;
  return unpackedBytes <= SMALL_WORKBOOK_BYTES ? readers.small : readers.large;
};

interface ReadSheet {
  readonly name: string;
  /** Names further visible sheets with a column of addresses. */
  readonly others: readonly string[];
  /** To be read to their end, or ended. */
  readonly batches: AsyncGenerator<RawBatch, void, undefined>;
}

interface BookChoice {
  readonly format: BookFormat;
  /** Counts the bytes of all parts. */
  readonly unpackedBytes: number;
  /** The sheet is given by its name or number; null means the first visible one with addresses. */
  readonly sheet: string | null;
}

/**
 * A sheet of a workbook. The bytes have to stay where they are until it has ended. Throws FileError, as its batches do.
 */
export async function readSheet(
  source: SpooledBytes,
  { format, unpackedBytes, sheet }: BookChoice,
  limits: SheetLimits,
): Promise<ReadSheet> {
  const threads = readersFor(format, unpackedBytes);
  const { thread, give } = await threads.take(limits.party);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void thread.close();
  }, OPEN_MS);
  try {
    const pieces = sheetPieces(thread, { kind: 'read', source, format, sheet, limits }, give).getReader();
    const { value: found } = await pieces.read();
    if (found?.kind !== 'sheet') throw new TypeError('A thread for workbooks found no sheet.');
    const batches = pieceBatches(pieces);
    // Started, so that ending it gives the thread back.
    await batches.next();
    return { name: found.name, others: found.others, batches };
  } catch (error) {
    if (isLate) throw unreadable('it takes too long to read; save it as a new .xlsx file, or as CSV');
    // A file that is in all other bounds and takes so much was made for it.
    throw isOutOfMemory(error) ? tooLarge(threads.heapMb, 'MB of memory to read it') : error;
  } finally {
    clearTimeout(timer);
  }
}

/** The thread looks for the next piece while one is used. `over`: it has ended with the sheet. */
function sheetPieces(thread: ReaderThread, order: ReadOrder, over: () => void): ReadableStream<SheetPiece> {
  let isWanted = true;
  let goOn: (isWanted: boolean) => void = () => undefined;
  let reading: Promise<void>;
  return new ReadableStream<SheetPiece>({
    start(controller) {
      const reply = (piece: SheetPiece): Promise<boolean> => {
        const next = Promise.withResolvers<boolean>();
        if (!isWanted) return Promise.resolve(false);
        goOn = next.resolve;
        controller.enqueue(piece);
        return next.promise;
      };
      const end = (problem: Unreadable | null) => {
        if (problem !== null) throw fileErrorFrom(problem);
        if (isWanted) controller.close();
      };
      reading = thread
        .call(order, { reply })
        .then(end)
        .catch((error: unknown) => controller.error(error))
        .finally(over);
    },
    pull: () => goOn(true),
    cancel() {
      isWanted = false;
      goOn(false);
      return reading;
    },
  });
}

async function* pieceBatches(
  pieces: ReadableStreamDefaultReader<SheetPiece>,
): AsyncGenerator<RawBatch, void, undefined> {
  try {
    yield { rows: [], bytes: 0 };
    for (let last = 0; ; ) {
      const { value: piece } = await pieces.read();
      if (piece?.kind !== 'rows') return;
      yield* withBlankRows(piece, last);
      last = Math.max(last, ...piece.lines.slice(-1));
    }
  } finally {
    await pieces.cancel();
  }
}

/** Rows that the sheet leaves out are blank ones: a million of them may be before a row. */
function* withBlankRows({ lines, widths, cells, tooLarge: large, bytes }: ReadRows, last: number): Generator<RawBatch> {
  let rows: RawRow[] = [];
  let before = last;
  const texts = rowsOf(widths, cells);
  for (const [i, line] of lines.entries()) {
    while (before + 1 < line) {
      before += 1;
      rows.push({ line: before, cells: [''], problem: null });
      if (rows.length < BLANK_ROWS) continue;
      yield { rows, bytes };
      rows = [];
    }
    rows.push({ line, cells: texts[i] ?? [], problem: large.includes(line) ? 'too_large' : null });
    before = Math.max(before, line);
  }
  if (rows.length > 0) yield { rows, bytes };
}

/** Returns the next piece of a file (write.ts). Throws FileError. */
export async function rowsToPiece(state: XlsxState, rows: readonly (readonly XlsxCell[])[]): Promise<Written> {
  const widths = rows.map(({ length }) => length);
  const written = await writer.call({ kind: 'write', state, widths, cells: rows.flat() });
  if ('problem' in written) throw fileErrorFrom(written);
  return written;
}

const fileErrorFrom = ({ problem, message }: Unreadable): FileError => new FileError(problem, message);

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof ThreadEndedError &&
  error.cause instanceof Error &&
  'code' in error.cause &&
  error.cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
