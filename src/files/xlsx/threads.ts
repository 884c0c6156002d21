/** The threads for XLSX files (thread.ts), from the thread that uses them. */
import { Worker } from 'node:worker_threads';
import { COSTS } from '../../kernel/costs.ts';
import { FairQueue } from '../../kernel/fair-queue.ts';
import { FileError, tooLarge } from '../problems.ts';
import type { ResultCell } from '../result-columns.ts';
import type { RawBatch, RawRow } from '../rows.ts';
import type { SharedBytes } from '../spool.ts';
import { type Order, type ReadRows, type Report, rowsOf, type SheetLimits } from './thread-messages.ts';
import type { Written, XlsxState } from './write.ts';

/** Next to this file in the sources; by its name in dist/. */
const CODE = new URL(import.meta.url.endsWith('.ts') ? './thread.ts' : './xlsx-thread.js', import.meta.url);

/** Of a heap, MB; texts of cells are outside of it, in bounds of their own (shared-strings.ts). */
const HEAP_MB = 128;
const YOUNG_MB = 4;
/** An idle thread ends after so long, ms. */
const IDLE_MS = 5_000;
/** Blank rows that are made at a time. */
const BLANK_ROWS = 500;

class XlsxThread {
  readonly #worker: Worker;
  readonly #reports: Report[] = [];
  #waiting: PromiseWithResolvers<Report> | null = null;
  #lost: Error | null = null;
  #idle: NodeJS.Timeout | null = null;

  constructor() {
    const resourceLimits = { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_MB };
    this.#worker = new Worker(CODE, { execArgv: [], resourceLimits });
    this.#worker.on('message', (report: Report) => {
      if (this.#waiting === null) this.#reports.push(report);
      else this.#waiting.resolve(report);
      this.#waiting = null;
    });
    this.#worker.on('error', (error: Error) => this.#lose(error));
    this.#worker.once('exit', (code) => this.#lose(new Error(`The thread for XLSX files ended with ${code}.`)));
  }

  get isLost(): boolean {
    return this.#lost !== null;
  }

  order(order: Order): void {
    this.#worker.postMessage(order);
  }

  /** Reports in their order. Rejects when the thread has ended. */
  next(): Promise<Report> {
    const report = this.#reports.shift();
    if (report !== undefined) return Promise.resolve(report);
    if (this.#lost !== null) return Promise.reject(this.#lost);
    this.#waiting = Promise.withResolvers();
    return this.#waiting.promise;
  }

  /** Ends the reading of a file. */
  async stop(): Promise<void> {
    this.order({ kind: 'stop' });
    while (!this.isLost && (await this.next()).kind === 'rows');
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
    this.#lost ??= error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge(HEAP_MB, 'MB of memory to read it') : error;
    this.#waiting?.reject(this.#lost);
    this.#waiting = null;
  }
}

/** A number of threads that is bounded; parties take turns. */
class XlsxThreads {
  readonly #queue: FairQueue;
  readonly #idle: XlsxThread[] = [];

  constructor(most: number) {
    this.#queue = new FairQueue(most);
  }

  async use<T>(work: (thread: XlsxThread) => Promise<T>): Promise<T> {
    const { thread, give } = await this.take('');
    try {
      return await work(thread);
    } finally {
      give();
    }
  }

  async take(party: string): Promise<{ thread: XlsxThread; give: () => void }> {
    const leave = await this.#queue.enter(party);
    const thread = this.#woken() ?? new XlsxThread();
    const give = () => {
      if (!thread.isLost) this.#keep(thread);
      leave();
    };
    return { thread, give };
  }

  #woken(): XlsxThread | null {
    for (let thread = this.#idle.pop(); thread !== undefined; thread = this.#idle.pop()) {
      thread.wake();
      if (!thread.isLost) return thread;
    }
    return null;
  }

  #keep(thread: XlsxThread): void {
    this.#idle.push(thread);
    thread.rest(() => this.#idle.splice(this.#idle.indexOf(thread), 1));
  }
}

const readers = new XlsxThreads(COSTS.xlsx_read.atOnce);
/** Does a few ms at a time. */
const writer = new XlsxThreads(1);

/** The rows of the first sheet. The bytes have to stay where they are until it has ended. Throws FileError. */
export async function* rowsInThread(
  source: SharedBytes,
  limits: SheetLimits,
): AsyncGenerator<RawBatch, void, undefined> {
  const { thread, give } = await readers.take(limits.party);
  let isOver = false;
  try {
    thread.order({ kind: 'read', source, limits });
    for (let last = 0; ; ) {
      const report = await thread.next();
      isOver = report.kind !== 'rows';
      if (report.kind === 'end') return;
      if (report.kind !== 'rows') throw errorOf(report);
      // While these are used.
      thread.order({ kind: 'more' });
      yield* withBlankRows(report, last);
      last = report.lines.at(-1) ?? last;
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
function* withBlankRows({ lines, widths, cells, bytes }: ReadRows, last: number): Generator<RawBatch> {
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
    rows.push({ line, cells: texts[i] ?? [], problem: null });
    before = line;
  }
  if (rows.length > 0) yield { rows, bytes };
}

/** The next piece of a file (write.ts). Throws FileError. */
export const rowsToPiece = (state: XlsxState, rows: readonly (readonly ResultCell[])[]): Promise<Written> =>
  writer.use(async (thread) => {
    thread.order({ kind: 'write', state, widths: rows.map(({ length }) => length), cells: rows.flat() });
    const report = await thread.next();
    if (report.kind !== 'written') throw errorOf(report);
    return report;
  });

function errorOf(report: Report): Error {
  if (report.kind !== 'failed') return new TypeError(`A thread for XLSX files reported ${report.kind}.`);
  return report.problem === null ? new Error(report.message) : new FileError(report.problem, report.message);
}
