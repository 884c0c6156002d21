import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import type { Report, Verifier } from '../index.ts';
import { systemClock } from '../kernel/clock.ts';
import { csvLine } from '../kernel/csv.ts';
import type { Level } from '../kernel/plans.ts';
import { CommandFailure, UsageError } from './command.ts';
import { NO_VERDICT, noVerdict, verifyOrNull } from './no-verdict.ts';
import { createProgress, rowsOf, type Tally } from './progress.ts';

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

interface Run {
  readonly verifier: Verifier;
  readonly check: FileCheck;
  readonly tally: Tally;
  /** No resolver answered the latest check. */
  resolverDown: boolean;
}

/** A row whose check has begun. */
interface Pending {
  /** Where it ends in the input. */
  readonly bytes: number;
  readonly text: Promise<string>;
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
  const input = await openInput(check.file);
  const output = await openOutput(check.out).catch((error: unknown) => {
    input.stream.destroy();
    throw error;
  });
  const run: Run = { verifier, check, tally: { good: 0, bad: 0, withoutVerdict: 0 }, resolverDown: false };
  const visible = process.stderr.isTTY && (check.out !== '-' || !process.stdout.isTTY);
  const bar = createProgress(input.size, systemClock, visible ? (text) => process.stderr.write(text) : () => undefined);
  try {
    await pipeline(results(run, input.stream, bar.at), output.stream, { end: check.out !== '-' });
    await output.keep();
  } catch (error) {
    await output.discard();
    throw explain(error, check);
  }
  bar.end(run.tally);
  const { withoutVerdict } = run.tally;
  if (withoutVerdict > 0) {
    throw new CommandFailure(
      `${withoutVerdict} of ${rowsOf(run.tally)} rows have no verdict: no DNS resolver gave usable answers. Check MAILVET_DNS_SERVERS; mailvet doctor says more.`,
    );
  }
}

async function openFile(flag: '--file' | '--out', path: string, mode: 'r' | 'w'): Promise<FileHandle> {
  const verb = mode === 'r' ? 'read' : 'write';
  const target = mode === 'r' ? path : partOf(path);
  return open(target, mode, 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot ${verb} ${flag} ${path} (${error.code}).`);
  });
}

async function openInput(path: string): Promise<{ stream: Readable; size: number }> {
  const handle = await openFile('--file', path, 'r');
  const status = await handle.stat();
  if (!status.isDirectory()) return { stream: handle.createReadStream(), size: status.size };
  await handle.close();
  throw new UsageError(`--file ${path} is a folder.`);
}

interface Output {
  readonly stream: Writable;
  /** Gives a complete file its name. */
  keep(): Promise<void>;
  discard(): Promise<void>;
}

const partOf = (path: string): string => `${path}.part`;

async function openOutput(path: string): Promise<Output> {
  const nothing = () => Promise.resolve();
  if (path === '-') return { stream: process.stdout, keep: nothing, discard: nothing };
  const isFolder = await stat(path).then(
    (status) => status.isDirectory(),
    // Whatever is wrong with the path, the next step says.
    () => false,
  );
  if (isFolder) throw new UsageError(`--out ${path} is a folder.`);
  const stream = (await openFile('--out', path, 'w')).createWriteStream();
  return {
    stream,
    keep: () => rename(partOf(path), path),
    async discard() {
      stream.destroy();
      await rm(partOf(path), { force: true });
    },
  };
}

/** Output lines in the order of the rows. A slow row delays output, not the checks of later rows. */
async function* results(run: Run, input: Readable, at: (bytes: number, tally: Tally) => void): AsyncGenerator<string> {
  const options = { bom: true, relax_column_count: true, skip_empty_lines: true, max_record_size: MAX_RECORD_BYTES };
  const parser = parse({ ...options, info: true });
  input.on('error', (error) => parser.destroy(error)).pipe(parser);
  const rows: AsyncIterable<{ record: string[]; info: { bytes: number } }> = parser;
  const waiting: Pending[] = [];
  let running = 0;
  let free: () => void = () => undefined;
  const start = async (row: string[], email: string, width: number): Promise<string> => {
    running += 1;
    try {
      return formatRow(run, row, email, width, await verifyWithRetries(run, email));
    } finally {
      running -= 1;
      free();
    }
  };
  const finish = async ({ bytes, text }: Pending): Promise<string> => {
    const line = await text;
    at(bytes, run.tally);
    return line;
  };
  let column = -1;
  let width = 0;
  for await (const { record, info } of rows) {
    if (column < 0) {
      const header = headerOf(record, run.check.column);
      column = header.column;
      width = record.length;
      if (!run.check.json) {
        const names = header.isHeader ? record : record.map((_, i) => (i === column ? 'email' : `column_${i + 1}`));
        yield csvLine([...names, ...RESULT_COLUMNS]);
      }
      if (header.isHeader) continue;
    }
    while (running >= CONCURRENCY) await new Promise<void>((resolve) => (free = resolve));
    waiting.push({ bytes: info.bytes, text: start(record, record[column] ?? '', width) });
    while (waiting.length >= ROWS_PENDING_MAX) yield await finish(waiting.shift()!);
  }
  for (const pending of waiting) yield await finish(pending);
}

/** Null if no resolver answered, even after retries. */
async function verifyWithRetries(run: Run, email: string): Promise<Report | null> {
  // After one row has failed, later rows are not retried until a resolver answers again.
  for (const pauseMs of run.resolverDown ? [0] : [500, 2000, 5000, 0]) {
    const result = await verifyOrNull(run.verifier, email, run.check);
    if (result !== null) {
      run.resolverDown = false;
      return result;
    }
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  run.resolverDown = true;
  return null;
}

/** `width`: columns of the header. Cells beyond them stand behind the results, which keep their columns. */
function formatRow({ check, tally }: Run, row: readonly string[], email: string, width: number, result: Report | null) {
  tally[result === null ? 'withoutVerdict' : result.status] += 1;
  if (check.json) return `${JSON.stringify(result ?? noVerdict(email))}\n`;
  const own = [...row.slice(0, width), ...Array<string>(Math.max(0, width - row.length)).fill('')];
  return csvLine([...own, ...resultCells(result), ...row.slice(width)]);
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

const resultCells = (result: Report | null): string[] =>
  RESULT_COLUMNS.map((name) => {
    if (result === null) return name === 'reason' ? NO_VERDICT : '';
    return String(result[name] ?? '');
  });

function explain(error: unknown, { file }: FileCheck): unknown {
  if (!(error instanceof Error) || !('code' in error)) return error;
  if (String(error.code).startsWith('CSV_')) return new CommandFailure(`${file} is not valid CSV: ${error.message}`);
  if ('syscall' in error) return new CommandFailure(`stopped while verifying ${file}: ${error.message}`);
  return error;
}
