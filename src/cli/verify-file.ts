import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { parse } from 'csv-parse';
import type { Report, Verifier } from '../index.ts';
import { Failed, WrongUse } from './command.ts';
import { UNANSWERED, unanswered, verdictOf } from './unanswered.ts';

interface FileAsk {
  readonly file: string;
  /** `-` is standard output. */
  readonly out: string;
  readonly column?: string;
  readonly json?: boolean;
  readonly level: 'mx' | 'smtp';
  readonly timeoutMs: number;
  readonly wait: number;
}

const AT_ONCE = 50;
/** Rows read ahead of the first that is not done. */
const MOST_WAITING = 5000;

interface Tally {
  rows: number;
  unanswered: number;
  /** No resolver answers at the moment. */
  down: boolean;
}
const ADDED = [
  'status',
  'deliverability',
  'reason',
  'validation_type',
  'is_disposable',
  'is_role',
  'is_free',
  'did_you_mean',
  'normalized_email',
] as const;
const MAX_RECORD_BYTES = 1 << 20;

/**
 * CSV in (RFC 4180, UTF-8, with or without a header), CSV out: the rows as they were, with the result's columns after
 * them; with `json` one result per line instead. Rows keep their order and are never all in memory. The output file
 * appears when it is whole.
 */
export async function verifyFile(verifier: Verifier, ask: FileAsk): Promise<void> {
  const size = await stat(ask.file).then(
    (s) => s.size,
    (error: NodeJS.ErrnoException) => {
      throw new WrongUse(`--file ${ask.file} cannot be read (${error.code}).`);
    },
  );
  const bar = progress(size, ask.out !== '-' || !process.stdout.isTTY);
  const part = `${ask.out}.part`;
  const out: Writable = ask.out === '-' ? process.stdout : createWriteStream(part, { mode: 0o600 });
  try {
    const tally: Tally = { rows: 0, unanswered: 0, down: false };
    for await (const text of results(verifier, ask, bar, tally)) {
      if (!out.write(text)) await once(out, 'drain');
    }
    bar.done(tally.rows);
    if (out !== process.stdout) {
      out.end();
      await once(out, 'close');
      await rename(part, ask.out);
    }
    if (tally.unanswered > 0) {
      throw new Failed(
        `${tally.unanswered} of ${tally.rows} rows have no verdict: no resolver answered. Check MAILVET_DNS_SERVERS.`,
      );
    }
  } catch (error) {
    if (out !== process.stdout) {
      out.destroy();
      await rm(part, { force: true });
    }
    throw csvProblem(error, ask.file);
  }
}

/** Checks under way and done, in the order of the rows; a slow row holds up the writing, never the asking. */
async function* results(verifier: Verifier, ask: FileAsk, bar: Progress, tally: Tally): AsyncGenerator<string> {
  const rows = createReadStream(ask.file).pipe(
    parse({
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: MAX_RECORD_BYTES,
      info: true,
    }),
  );
  const waiting: Promise<string>[] = [];
  let running = 0;
  let free: () => void = () => undefined;
  const start = async (row: string[], email: string): Promise<string> => {
    running += 1;
    try {
      const result = await patientVerdict(verifier, email, ask, tally);
      return line(row, email, result, ask, tally);
    } finally {
      running -= 1;
      free();
    }
  };
  let column = -1;
  for await (const { record, info } of rows as AsyncIterable<{ record: string[]; info: { bytes: number } }>) {
    if (column < 0) {
      const header = headerOf(record, ask.column);
      column = header.column;
      if (!ask.json) {
        const names = header.isHeader ? record : record.map((_, i) => (i === column ? 'email' : `column_${i + 1}`));
        yield csvLine([...names, ...ADDED]);
      }
      if (header.isHeader) continue;
    }
    while (running >= AT_ONCE) await new Promise<void>((resolve) => (free = resolve));
    waiting.push(start(record, record[column] ?? ''));
    bar.at(info.bytes);
    while (waiting.length >= MOST_WAITING) yield await waiting.shift()!;
  }
  for (const text of waiting) yield await text;
}

/** Null when no resolver answered, although it was asked again for a while. */
async function patientVerdict(verifier: Verifier, email: string, ask: FileAsk, tally: Tally): Promise<Report | null> {
  // Once one row was given up, the others are not waited for, until an answer comes.
  for (const pauseMs of tally.down ? [0] : [500, 2000, 5000, 0]) {
    const result = await verdictOf(verifier, email, ask);
    if (result !== null) {
      tally.down = false;
      return result;
    }
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  tally.down = true;
  return null;
}

function line(row: readonly string[], email: string, result: Report | null, ask: FileAsk, tally: Tally): string {
  tally.rows += 1;
  if (result === null) tally.unanswered += 1;
  if (ask.json) return `${JSON.stringify(result ?? unanswered(email))}\n`;
  return csvLine([
    ...row,
    ...(result === null ? ADDED.map((name) => (name === 'reason' ? UNANSWERED : '')) : added(result)),
  ]);
}

/** The column named; else one called like an address; else, in a file without a header, the first that holds an @. */
function headerOf(first: readonly string[], wanted: string | undefined): { column: number; isHeader: boolean } {
  const names = first.map((name) => name.trim().toLowerCase());
  if (wanted !== undefined) {
    const column = names.indexOf(wanted.trim().toLowerCase());
    if (column < 0)
      throw new WrongUse(`--column ${JSON.stringify(wanted)} is not in the first row: ${first.join(', ')}.`);
    return { column, isHeader: true };
  }
  const called = names.findIndex((name) => /^(e-?mail|email[ _-]?address|mail|address)$/.test(name));
  if (called >= 0) return { column: called, isHeader: true };
  const holding = first.findIndex((cell) => cell.includes('@'));
  if (holding >= 0) return { column: holding, isHeader: false };
  throw new WrongUse(`no column of the first row holds addresses (${first.join(', ')}); name it with --column.`);
}

const added = (r: Report): string[] => ADDED.map((name) => String(r[name] ?? ''));

const csvLine = (cells: readonly string[]): string => `${cells.map(quoted).join(',')}\n`;
const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

interface Progress {
  at(bytes: number): void;
  done(rows: number): void;
}

/** A bar on standard error, for people only. */
function progress(size: number, wanted: boolean): Progress {
  if (!wanted || !process.stderr.isTTY) return { at: () => undefined, done: () => undefined };
  const width = 40;
  return {
    at(bytes) {
      const share = size === 0 ? 1 : Math.min(1, bytes / size);
      const full = Math.round(share * width);
      process.stderr.write(`\r[${'#'.repeat(full)}${' '.repeat(width - full)}] ${Math.floor(share * 100)} %`);
    },
    done: (rows) => process.stderr.write(`\r[${'#'.repeat(width)}] 100 %  ${rows} lines\n`),
  };
}

function csvProblem(error: unknown, file: string): unknown {
  const { code, message } = error as { code?: string; message: string };
  return code?.startsWith('CSV_') ? new Failed(`${file} is not readable as CSV: ${message}`) : error;
}
