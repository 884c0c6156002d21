/** The threads for workbooks (thread.ts), from the thread that uses them. */
import { Worker } from 'node:worker_threads';
import { COSTS } from '../../kernel/costs.ts';
import type { BookFormat } from '../../kernel/facts/lists.ts';
import { FairQueue } from '../../kernel/fair-queue.ts';
import { FileError, tooLarge, unreadable } from '../problems.ts';
import type { RawBatch, RawRow } from '../rows.ts';
import type { SpooledBytes } from '../spool.ts';
import { type Order, type ReadRows, rowsOf, type SheetLimits, type WorkbookReport } from './thread-messages.ts';
import type { Written, XlsxCell, XlsxState } from './write.ts';

/** Next to this file in the sources; by its name in dist/. */
const CODE = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './xlsx-thread.js', import.meta.url);

const YOUNG_MB = 4;
/** What it takes to find the sheet, ms. */
const OPEN_MS = 120_000;
/** Of XML that a workbook with fewer bytes, unpacked, is read quickly: some 150,000 rows of five columns. */
const SMALL_BYTES = 32 << 20;
/** An idle thread ends after so long, ms. */
const IDLE_MS = 5_000;
/** Blank rows that are made at a time. */
const BLANK_ROWS = 500;

class BookThread {
  readonly #worker: Worker;
  readonly #reports: WorkbookReport[] = [];
  #waiting: PromiseWithResolvers<WorkbookReport> | null = null;
  #lost: Error | null = null;
  #idle: NodeJS.Timeout | null = null;
  readonly #heapMb: number;

  /** `heapMb`: texts of XLSX files are outside of the heap, in bounds of their own (shared-strings.ts). */
  constructor(heapMb: number) {
    this.#heapMb = heapMb;
    const resourceLimits = { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB };
    this.#worker = new Worker(CODE, { execArgv: [], resourceLimits });
    this.#worker.on('message', (report: WorkbookReport) => {
      if (this.#waiting === null) this.#reports.push(report);
      else this.#waiting.resolve(report);
      this.#waiting = null;
    });
    this.#worker.on('error', (error: Error) => this.#lose(error));
    this.#worker.once('exit', (code) => this.#lose(new Error(`The thread for workbooks ended with ${code}.`)));
  }

  get isLost(): boolean {
    return this.#lost !== null;
  }

  order(order: Order): void {
    this.#worker.postMessage(order);
  }

  /** Reports in their order. Rejects when the thread has ended. */
  next(): Promise<WorkbookReport> {
    const report = this.#reports.shift();
    if (report !== undefined) return Promise.resolve(report);
    if (this.#lost !== null) return Promise.reject(this.#lost);
    this.#waiting = Promise.withResolvers();
    return this.#waiting.promise;
  }

  /** The first report of a reading; a file that has none for long is given up, and the thread with it. */
  async opened(): Promise<WorkbookReport> {
    const timer = setTimeout(() => {
      this.#lose(unreadable('it takes too long to read; save it as a new .xlsx file, or as CSV'));
      void this.#worker.terminate();
    }, OPEN_MS);
    try {
      return await this.next();
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the reading of a file. */
  async stop(): Promise<void> {
    this.order({ kind: 'stop' });
    for (let kind: WorkbookReport['kind'] = 'rows'; kind === 'rows' || kind === 'sheet'; )
      ({ kind } = await this.next());
  }

  /** A process may end while its threads are idle. */
  rest(over: () => void): void {
    this.#worker.unref();
    this.#idle = setTimeout(() => {
      over();
      void this.#worker.terminate();
    }, IDLE_MS).unref();
  }

  wake(): void {
    this.#worker.ref();
    if (this.#idle !== null) clearTimeout(this.#idle);
  }

  #lose(error: Error & { readonly code?: unknown }): void {
    // A file that is in all other bounds and takes so much was made for it.
    this.#lost ??=
      error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge(this.#heapMb, 'MB of memory to read it') : error;
    this.#waiting?.reject(this.#lost);
    this.#waiting = null;
  }
}

/** A number of threads that is bounded; parties take turns. */
class BookThreads {
  readonly #queue: FairQueue;
  readonly #idle: BookThread[] = [];
  readonly #heapMb: number;

  constructor(most: number, heapMb: number) {
    this.#queue = new FairQueue(most);
    this.#heapMb = heapMb;
  }

  async use<T>(work: (thread: BookThread) => Promise<T>): Promise<T> {
    const { thread, give } = await this.take('');
    try {
      return await work(thread);
    } finally {
      give();
    }
  }

  async take(party: string): Promise<{ thread: BookThread; give: () => void }> {
    const leave = await this.#queue.enter(party);
    const thread = this.#woken() ?? new BookThread(this.#heapMb);
    const give = () => {
      if (!thread.isLost) this.#keep(thread);
      leave();
    };
    return { thread, give };
  }

  #woken(): BookThread | null {
    for (let thread = this.#idle.pop(); thread !== undefined; thread = this.#idle.pop()) {
      thread.wake();
      if (!thread.isLost) return thread;
    }
    return null;
  }

  #keep(thread: BookThread): void {
    this.#idle.push(thread);
    thread.rest(() => this.#idle.splice(this.#idle.indexOf(thread), 1));
  }
}

/**
 * Small workbooks have threads of their own: large ones are read for as long as their rows are stored. So have those
 * that the library holds in memory.
 */
const readers = {
  large: new BookThreads(COSTS.workbook_read.atOnce, 128),
  small: new BookThreads(COSTS.small_workbook_read.atOnce, 64),
  library: new BookThreads(COSTS.old_workbook_read.atOnce, 384),
};
/** Does a few ms at a time. */
const writer = new BookThreads(1, 128);

const readersFor = (format: BookFormat, unpacked: number): BookThreads => {
  if (format === 'xls' || format === 'xlsb') return readers.library;
  return unpacked <= SMALL_BYTES ? readers.small : readers.large;
};

interface ReadSheet {
  readonly name: string;
  /** Further visible sheets with a column of addresses. */
  readonly others: readonly string[];
  /** To be read to their end, or ended. */
  readonly batches: AsyncGenerator<RawBatch, void, undefined>;
}

interface BookChoice {
  readonly format: BookFormat;
  /** Bytes of all parts. */
  readonly unpacked: number;
  /** Name or number; null: the first visible one with addresses. */
  readonly sheet: string | null;
}

/**
 * A sheet of a workbook. The bytes have to stay where they are until it has ended. Throws FileError, as its batches do.
 */
export async function readSheet(
  source: SpooledBytes,
  { format, unpacked, sheet }: BookChoice,
  limits: SheetLimits,
): Promise<ReadSheet> {
  const { thread, give } = await readersFor(format, unpacked).take(limits.party);
  try {
    thread.order({ kind: 'read', source, format, sheet, limits });
    const report = await thread.opened();
    if (report.kind !== 'sheet') throw errorOf(report);
    const { name, others } = report;
    const batches = batchesOf(thread, give);
    // Started, so that ending it gives the thread back.
    await batches.next();
    return { name, others, batches };
  } catch (error) {
    give();
    throw error;
  }
}

async function* batchesOf(thread: BookThread, give: () => void): AsyncGenerator<RawBatch, void, undefined> {
  let isOver = false;
  try {
    yield { rows: [], bytes: 0 };
    thread.order({ kind: 'more' });
    for (let last = 0; ; ) {
      const report = await thread.next();
      isOver = report.kind !== 'rows';
      if (report.kind === 'end') return;
      if (report.kind !== 'rows') throw errorOf(report);
      // While these are used.
      thread.order({ kind: 'more' });
      yield* withBlankRows(report, last);
      last = Math.max(last, ...report.lines.slice(-1));
    }
  } finally {
    try {
      if (!isOver && !thread.isLost) await thread.stop();
    } finally {
      give();
    }
  }
}

/** Rows that the sheet leaves out are blank ones: a million of them may stand before a row. */
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

/** The next piece of a file (write.ts). Throws FileError. */
export const rowsToPiece = (state: XlsxState, rows: readonly (readonly XlsxCell[])[]): Promise<Written> =>
  writer.use(async (thread) => {
    thread.order({ kind: 'write', state, widths: rows.map(({ length }) => length), cells: rows.flat() });
    const report = await thread.next();
    if (report.kind !== 'written') throw errorOf(report);
    return report;
  });

function errorOf(report: WorkbookReport): Error {
  if (report.kind !== 'failed') return new TypeError(`A thread for workbooks reported ${report.kind}.`);
  return report.problem === null ? new Error(report.message) : new FileError(report.problem, report.message);
}
