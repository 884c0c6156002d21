import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { parse } from 'csv-parse';
import type { Report, Verifier } from '../index.ts';
import { csvLine } from '../kernel/csv.ts';
import type { Level } from '../kernel/plans.ts';
import { CommandFailure, UsageError } from './command.ts';
import { NO_VERDICT, noVerdict, verifyOrNull } from './no-verdict.ts';

interface FileCheck {
  readonly file: string;
  /** `-` is standard output. */
  readonly out: string;
  readonly column?: string;
  readonly json?: boolean;
  readonly level: Level;
  readonly timeoutMs: number;
  readonly wait: number;
}

const CONCURRENCY = 50;
/** Rows read ahead of the first unfinished one. */
const ROWS_PENDING_MAX = 5000;

interface Tally {
  rows: number;
  withoutVerdict: number;
  /** No resolver answered the latest check. */
  resolverDown: boolean;
}
const RESULT_COLUMNS = [
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
 * CSV in (RFC 4180, UTF-8, with or without a header), CSV out: the original rows with the result's columns appended; with
 * `json`, one result per line. Keeps the order of rows in bounded memory. The output file appears once it is complete.
 */
export async function verifyFile(verifier: Verifier, check: FileCheck): Promise<void> {
  const size = await stat(check.file).then(
    (s) => s.size,
    (error: NodeJS.ErrnoException) => {
      throw new UsageError(`cannot read --file ${check.file} (${error.code}).`);
    },
  );
  const bar = progress(size, check.out !== '-' || !process.stdout.isTTY);
  const part = `${check.out}.part`;
  const out: Writable = check.out === '-' ? process.stdout : createWriteStream(part, { mode: 0o600 });
  try {
    const tally: Tally = { rows: 0, withoutVerdict: 0, resolverDown: false };
    for await (const text of results(verifier, check, bar, tally)) {
      if (!out.write(text)) await once(out, 'drain');
    }
    bar.done(tally.rows);
    if (out !== process.stdout) {
      out.end();
      await once(out, 'close');
      await rename(part, check.out);
    }
    if (tally.withoutVerdict > 0) {
      throw new CommandFailure(
        `${tally.withoutVerdict} of ${tally.rows} rows have no verdict: no DNS resolver gave usable answers. Check MAILVET_DNS_SERVERS; mailvet doctor says more.`,
      );
    }
  } catch (error) {
    if (out !== process.stdout) {
      out.destroy();
      await rm(part, { force: true });
    }
    throw explainCsvError(error, check.file);
  }
}

/** Output lines in the order of the rows. A slow row delays output, not the checks of later rows. */
async function* results(verifier: Verifier, check: FileCheck, bar: Progress, tally: Tally): AsyncGenerator<string> {
  const rows = createReadStream(check.file).pipe(
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
      const result = await verifyWithRetries(verifier, email, check, tally);
      return formatRow(row, email, result, check, tally);
    } finally {
      running -= 1;
      free();
    }
  };
  let column = -1;
  const records: AsyncIterable<{ record: string[]; info: { bytes: number } }> = rows;
  for await (const { record, info } of records) {
    if (column < 0) {
      const header = headerOf(record, check.column);
      column = header.column;
      if (!check.json) {
        const names = header.isHeader ? record : record.map((_, i) => (i === column ? 'email' : `column_${i + 1}`));
        yield csvLine([...names, ...RESULT_COLUMNS]);
      }
      if (header.isHeader) continue;
    }
    while (running >= CONCURRENCY) await new Promise<void>((resolve) => (free = resolve));
    waiting.push(start(record, record[column] ?? ''));
    bar.at(info.bytes);
    while (waiting.length >= ROWS_PENDING_MAX) yield await waiting.shift()!;
  }
  for (const text of waiting) yield await text;
}

/** Null if no resolver answered, even after retries. */
async function verifyWithRetries(
  verifier: Verifier,
  email: string,
  check: FileCheck,
  tally: Tally,
): Promise<Report | null> {
  // After one row has failed, later rows are not retried until a resolver answers again.
  for (const pauseMs of tally.resolverDown ? [0] : [500, 2000, 5000, 0]) {
    const result = await verifyOrNull(verifier, email, check);
    if (result !== null) {
      tally.resolverDown = false;
      return result;
    }
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  tally.resolverDown = true;
  return null;
}

function formatRow(
  row: readonly string[],
  email: string,
  result: Report | null,
  check: FileCheck,
  tally: Tally,
): string {
  tally.rows += 1;
  if (result === null) tally.withoutVerdict += 1;
  if (check.json) return `${JSON.stringify(result ?? noVerdict(email))}\n`;
  return csvLine([
    ...row,
    ...(result === null ? RESULT_COLUMNS.map((name) => (name === 'reason' ? NO_VERDICT : '')) : resultCells(result)),
  ]);
}

/** The requested column; otherwise one named like an address; otherwise, without a header, the first with an @. */
function headerOf(first: readonly string[], wanted: string | undefined): { column: number; isHeader: boolean } {
  const names = first.map((name) => name.trim().toLowerCase());
  if (wanted !== undefined) {
    const column = names.indexOf(wanted.trim().toLowerCase());
    if (column < 0)
      throw new UsageError(`--column ${JSON.stringify(wanted)} is not in the first row: ${first.join(', ')}.`);
    return { column, isHeader: true };
  }
  const called = names.findIndex((name) => /^(e-?mail|email[ _-]?address|mail|address)$/.test(name));
  if (called >= 0) return { column: called, isHeader: true };
  const holding = first.findIndex((cell) => cell.includes('@'));
  if (holding >= 0) return { column: holding, isHeader: false };
  throw new UsageError(`no address column in the first row (${first.join(', ')}); specify it with --column.`);
}

const resultCells = (r: Report): string[] => RESULT_COLUMNS.map((name) => String(r[name] ?? ''));

interface Progress {
  at(bytes: number): void;
  done(rows: number): void;
}

/** A progress bar on standard error, if that is a terminal. */
function progress(size: number, wanted: boolean): Progress {
  if (!wanted || !process.stderr.isTTY) return { at: () => undefined, done: () => undefined };
  const width = 40;
  return {
    at(bytes) {
      const share = size === 0 ? 1 : Math.min(1, bytes / size);
      const full = Math.round(share * width);
      process.stderr.write(`\r[${'#'.repeat(full)}${' '.repeat(width - full)}] ${Math.floor(share * 100)} %`);
    },
    done: (rows) => process.stderr.write(`\r[${'#'.repeat(width)}] 100 %  ${rows} rows\n`),
  };
}

function explainCsvError(error: unknown, file: string): unknown {
  const isCsvError = error instanceof Error && 'code' in error && String(error.code).startsWith('CSV_');
  return isCsvError ? new CommandFailure(`${file} is not valid CSV: ${error.message}`) : error;
}
