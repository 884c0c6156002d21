import { createHash } from 'node:crypto';
import { fstatSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { isBookFormat } from '../files/forms.ts';
import { FileError, ROW_PROBLEMS } from '../files/problems.ts';
import { type AddressFile, type Reading, readAddressFile } from '../files/read-file.ts';
import { partText } from '../files/result-columns.ts';
import type { RowAddress } from '../files/rows.ts';
import { createResultWriter, dialectOf, type ResultRow, type WriterState } from '../files/write-results.ts';
import type { Verifier } from '../index.ts';
import { systemClock } from '../kernel/clock.ts';
import type { RowProblem } from '../kernel/csv.ts';
import type { Dedupe, ResultFormat } from '../kernel/facts/lists.ts';
import type { Level } from '../kernel/facts/plans.ts';
import type { Deliverability } from '../kernel/facts/reasons.ts';
import { grouped } from '../kernel/format.ts';
import { DistinctAddresses } from '../service/lists/distinct.ts';
import { CommandFailure, UsageError } from './command.ts';
import { type FileOutput, openOutput } from './file-output.ts';
import { FirstResults, type VerifyAddress } from './first-results.ts';
import { type FilePlace, openInputFile } from './input-file.ts';
import { NO_VERDICT, noVerdict, verifyOrNull } from './no-verdict.ts';
import { createProgress, EMPTY_TALLY, rowsOf, type Tally } from './progress.ts';
import { type readChoice, readText } from './read-options.ts';
import { neverFound } from './result-rows.ts';
import { type FinishedRow, type NumberedAddress, type NumberedRow, verifyRows } from './verify-rows.ts';

interface FileCheck {
  /** `-` is standard input. */
  readonly file: string;
  /** `-` is standard output. */
  readonly out: string;
  readonly format: ResultFormat;
  readonly read: ReturnType<typeof readChoice>;
  /** The results that are written; null: all rows. */
  readonly only: readonly Deliverability[] | null;
  readonly dedupe: Dedupe;
  readonly resume: boolean;
  readonly concurrency: number;
  readonly level: Level;
  readonly timeoutMs: number;
  readonly wait: number;
  readonly evidence: boolean;
  /** Ends the run with what is finished. */
  readonly signal: AbortSignal;
}

/** Stored with the output, to continue it. */
interface Progress {
  /** Rows of the input that are done. */
  readonly rows: number;
  readonly tally: Tally;
  readonly problems: readonly BrokenRow[];
  readonly writer: WriterState;
}

interface BrokenRow {
  readonly line: number;
  readonly problem: RowProblem;
}

/** As many are named. */
const PROBLEMS_NAMED = 5;
/** In place of the reason of a row that could not be read. */
const UNREADABLE_ROW = 'unreadable_row';

/**
 * Verifies the addresses of a file: the original rows with the columns of the results, in their order, in bounded
 * memory. Returns the summary if the signal ended the run, otherwise null. A later run with `resume` continues what was
 * interrupted, by the signal or a crash, if the input file and the settings are the same.
 */
export async function verifyFile(verifier: Verifier, check: FileCheck): Promise<string | null> {
  const input = await openInput(check.file);
  const stop = () => input.stream.destroy();
  check.signal.addEventListener('abort', stop);
  try {
    const identity = await identityOf(check, input.size);
    const { output, stored } = await openOutput(check.out, { identity, input: input.place, resume: check.resume });
    return await verifyInto(output, verifier, check, input, stored).catch((error: unknown) => {
      throw explain(error, check);
    });
  } finally {
    check.signal.removeEventListener('abort', stop);
    input.stream.destroy();
  }
}

interface Input {
  readonly stream: Readable;
  /** Bytes; null: a pipe, which can be read only once. */
  readonly size: number | null;
  readonly place: FilePlace;
}

async function openInput(path: string): Promise<Input> {
  if (path === '-') return { stream: process.stdin, size: null, place: fstatSync(process.stdin.fd) };
  const { handle, size, place } = await openInputFile(path, `--file ${path}`);
  return { stream: handle.createReadStream(), size, place };
}

/**
 * What must be the same to continue: every byte of the input, and what decides the rows that are written. Null: a pipe.
 */
async function identityOf({ file, out, format, read, only, dedupe, level }: FileCheck, size: Input['size']) {
  if (out === '-' || size === null) return null;
  const hash = createHash('sha256');
  const handle = await open(file, 'r');
  for await (const chunk of handle.createReadStream()) hash.update(chunk);
  return { sha256: hash.digest('hex'), format, read, only, dedupe, level };
}

async function verifyInto(
  output: FileOutput,
  verifier: Verifier,
  check: FileCheck,
  { stream, size }: Input,
  stored: object | null,
): Promise<string | null> {
  const { read, signal } = check;
  let progress: Progress = { rows: 0, tally: { ...EMPTY_TALLY }, problems: [], writer: null, ...stored };
  const visible = process.stderr.isTTY && (check.out !== '-' || !process.stdout.isTTY);
  const bar = createProgress(size ?? 0, systemClock, visible ? (text) => process.stderr.write(text) : () => undefined);
  let opened: AddressFile | null = null;
  const first = check.dedupe === 'mailbox' ? new FirstResults() : null;
  try {
    const file = await readAddressFile(stream, read);
    opened = file;
    if (process.stderr.isTTY) say(readTextOf(file.reading));
    const dialect = dialectOf(file.reading) ?? undefined;
    const writer = createResultWriter(check.format, file.reading.columns, {
      ...(dialect === undefined ? {} : { dialect }),
      state: progress.writer,
      isBook: isBookFormat(file.reading.format),
    });
    if (stored === null) await output.write(writer.head());
    const verify = rowVerifier(verifier, check);
    const run = { verify: first?.of(verify) ?? verify, concurrency: check.concurrency, signal };
    const outage = new Outage();
    for await (const group of verifyRows(from(progress.rows, numbered(file.batches, check.dedupe)), run)) {
      const finished = outage.pass(group);
      const rows = finished.flatMap((row) => resultRows(row, file.reading, check.only));
      if (rows.length > 0) await output.write(await writer.rows(rows));
      progress = { ...after(progress, finished), writer: writer.state };
      bar.at(finished.at(-1)?.bytes ?? 0, progress.tally);
      output.progressed(progress);
      if (outage.isOver) break;
    }
    if (outage.isOver) {
      await output.interrupt();
      throw noResolver(output);
    }
    if (!signal.aborted) {
      const held = outage.rest();
      await output.write(await writer.rows(held.flatMap((row) => resultRows(row, file.reading, check.only))));
      progress = { ...after(progress, held), writer: writer.state };
      await output.write(writer.end());
      await output.keep();
      const { warnings } = file.summary();
      // On a terminal it was said at the beginning.
      if (warnings.length > 0 && !process.stderr.isTTY) say(readTextOf(file.reading));
      for (const { message } of warnings) say(message);
    }
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    // What is wrong with the input will be wrong again; a full disk will not.
    if (!signal.aborted && (error instanceof FileError || progress.rows === 0)) await output.discard();
    else await output.interrupt();
    if (!signal.aborted) throw error;
    return interrupted(bar.summary(progress.tally), output);
  } finally {
    await opened?.close();
    await first?.close();
  }
  if (signal.aborted) {
    await output.interrupt();
    return interrupted(bar.summary(progress.tally), output);
  }
  bar.end(progress.tally);
  complain(progress, check);
  return null;
}

const say = (text: string): void => void process.stderr.write(`mailvet: ${text}\n`);

const readTextOf = ({ headerRow, addressColumns, columns, ...found }: Reading): string =>
  readText({ ...found, header_row: headerRow, columns: addressColumns.map((column) => columns[column] ?? '') });

/** Rows without a verdict after which a run ends: nothing better is to be expected of those behind them. */
const OUTAGE_ROWS = 100;

/**
 * Holds rows back that have no verdict because no resolver answers, until one behind them has one that needed a
 * resolver, so that a later run verifies them.
 */
class Outage {
  #held: FinishedRow[] = [];
  #missing = 0;

  get isOver(): boolean {
    return this.#missing >= OUTAGE_ROWS;
  }

  /** What may be written: the rows up to the last one of which a resolver knew something. */
  pass(group: readonly FinishedRow[]): FinishedRow[] {
    const passed: FinishedRow[] = [];
    for (const finished of group) {
      if (finished.outcome.includes(null)) this.#missing += 1;
      else if (finished.outcome.some((report) => report !== null && report.checks.domain.result !== 'skipped'))
        passed.push(...this.rest());
      if (this.#missing === 0) passed.push(finished);
      else this.#held.push(finished);
      if (this.isOver) break;
    }
    return passed;
  }

  /** What is held back, which is none then. */
  rest(): FinishedRow[] {
    this.#missing = 0;
    return this.#held.splice(0);
  }
}

const noResolver = ({ continues }: FileOutput): CommandFailure =>
  new CommandFailure(
    `stopped: ${OUTAGE_ROWS} rows have no verdict, as no DNS resolver gave usable answers. Check MAILVET_DNS_SERVERS; mailvet doctor says more.${
      continues ? ' The same command with --resume continues.' : ''
    }`,
  );

const interrupted = (summary: string, { continues }: FileOutput): string =>
  `Stopped after ${summary}.${continues ? ' The same command with --resume continues.' : ''}`;

/** Those of the same number are duplicates, also of rows that are done. */
async function* numbered(batches: AddressFile['batches'], dedupe: Dedupe) {
  const distinct = new DistinctAddresses(dedupe);
  const withNumber = (address: RowAddress): NumberedAddress => {
    const before = distinct.count;
    const number = distinct.number(address.text);
    return { ...address, number, isFirst: number > before };
  };
  for await (const { rows, bytes } of batches) {
    const numbered: NumberedRow[] = rows.map((row) => ({ ...row, addresses: row.addresses.map(withNumber) }));
    yield { rows: numbered, bytes };
  }
}

/** The batches without the rows that are done. */
async function* from(rows: number, batches: ReturnType<typeof numbered>): ReturnType<typeof numbered> {
  for await (const batch of batches) {
    const left = batch.rows.filter(({ row }) => row > rows);
    if (left.length > 0) yield { ...batch, rows: left };
  }
}

function after(progress: Progress, finished: readonly FinishedRow[]): Progress {
  const tally = { ...progress.tally };
  const problems = [...progress.problems];
  let { rows } = progress;
  for (const { row, outcome } of finished) {
    rows = row.row;
    if (row.problem !== null) {
      tally.unreadable += 1;
      if (problems.length < PROBLEMS_NAMED) problems.push({ line: row.line, problem: row.problem });
    } else if (outcome.length === 0) tally.blank += 1;
    for (const report of outcome) tally[report === null ? 'withoutVerdict' : report.status] += 1;
  }
  return { ...progress, rows, tally, problems };
}

/** One for each address of the row, as far as they are wanted. */
function resultRows(
  { row: { row, cells, extra, addresses, problem, line }, outcome }: FinishedRow,
  { columns, addressColumns: [main] }: Reading,
  only: FileCheck['only'],
): ResultRow[] {
  if (addresses.length === 0 && only !== null) return [];
  if (problem !== null) {
    const json = { row, email: null, status: null, reason: UNREADABLE_ROW, line, problem };
    return [{ cells, extra, result: { reason: UNREADABLE_ROW }, json }];
  }
  if (addresses.length === 0) return [{ cells, extra, result: null, json: { row, email: null, status: null } }];
  return addresses.flatMap(({ text, column, isFirst }, index): ResultRow[] => {
    const report = outcome[index] ?? null;
    if (only !== null && (report === null || !only.includes(report.deliverability))) return [];
    const parts = addresses.length > 1 ? { part: index + 1, parts: addresses.length } : {};
    const from = column === main ? {} : { column: columns[column] ?? '' };
    const place = {
      email: text,
      part: partText(index + 1, addresses.length),
      column: from.column ?? null,
      is_duplicate: !isFirst,
    };
    const json = { row, ...parts, ...from, ...(report ?? noVerdict(text)), is_duplicate: !isFirst };
    return [{ cells, extra, result: { ...(report ?? { reason: NO_VERDICT }), ...place }, json }];
  });
}

/** Null if no resolver answered, even after retries. */
function rowVerifier(verifier: Verifier, check: FileCheck): VerifyAddress {
  const { level, timeoutMs, wait, evidence, signal } = check;
  let resolverDown = false;
  return async ({ text: email }) => {
    // After one row has failed, later rows are not retried until a resolver answers again.
    for (const pauseMs of resolverDown ? [0] : [500, 2000, 5000, 0]) {
      const result = await verifyOrNull(verifier, email, { level, timeoutMs, wait, evidence, signal });
      if (result !== null) {
        resolverDown = false;
        return result;
      }
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    resolverDown = true;
    return null;
  };
}

/** The output is complete, but not every row of it has a result. */
function complain({ tally, problems }: Progress, { level, only }: FileCheck): void {
  const total = grouped(rowsOf(tally));
  const complaints: string[] = [];
  const never = only && neverFound(level, only);
  if (never !== null) say(never);
  if (tally.good + tally.bad + tally.withoutVerdict === 0) complaints.push('no row of the file has an address.');
  if (tally.unreadable > 0) {
    const named = problems.map(({ line, problem }) => `line ${grouped(line)}: ${ROW_PROBLEMS[problem]}`);
    if (tally.unreadable > problems.length) named.push('…');
    complaints.push(`${grouped(tally.unreadable)} of ${total} rows cannot be read (${named.join('; ')}).`);
  }
  if (tally.withoutVerdict > 0)
    complaints.push(
      `${grouped(tally.withoutVerdict)} of ${total} rows have no verdict: no DNS resolver gave usable answers. Check MAILVET_DNS_SERVERS; mailvet doctor says more.`,
    );
  if (complaints.length > 0) throw new CommandFailure(complaints.join('\n'));
}

function explain(error: unknown, { file, read }: FileCheck): unknown {
  if (error instanceof FileError) {
    const { problem } = error;
    if (problem.code !== 'no_address_column') return new CommandFailure(`${file}: ${error.message}`);
    const columns = problem.columns.join(', ');
    if (read.columns === null)
      return new UsageError(`no address column in the first row (${columns}); specify it with --columns.`);
    return new UsageError(`--columns ${JSON.stringify(String(read.columns))} is not in the first row: ${columns}.`);
  }
  if (error instanceof Error && 'syscall' in error)
    return new CommandFailure(`stopped while verifying ${file}: ${error.message}`);
  return error;
}
