import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import { type FileHandle, lstat, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { parseAddress } from '../engine/address/parse.ts';
import { isBookFormat } from '../files/forms.ts';
import { FileError, ROW_PROBLEMS } from '../files/problems.ts';
import { type AddressFile, type Reading, type RowBatch, readAddressFile } from '../files/read-file.ts';
import { partText } from '../files/result-columns.ts';
import type { FileRow, RowAddress } from '../files/rows.ts';
import { openNameless } from '../files/spool.ts';
import { createResultWriter, dialectOf, type ResultRow, type WriterState } from '../files/write-results.ts';
import type { Report, Verifier } from '../index.ts';
import { trimBlanks } from '../kernel/blanks.ts';
import { systemClock } from '../kernel/clock.ts';
import type { RowProblem } from '../kernel/csv.ts';
import type { Dedupe, ResultFormat } from '../kernel/facts/lists.ts';
import type { Level } from '../kernel/facts/plans.ts';
import type { Policy } from '../kernel/facts/policies.ts';
import type { Deliverability } from '../kernel/facts/reasons.ts';
import { grouped } from '../kernel/format.ts';
import { DistinctAddresses } from '../service/lists/distinct.ts';
import { CommandFailure, UsageError } from './command.ts';
import { type FilePlace, openInputFile } from './input-file.ts';
import { decidedBy, NO_VERDICT, noVerdict, verifyOrNull } from './no-verdict.ts';
import { createProgress, EMPTY_TALLY, rowCount, type Tally } from './progress.ts';
import { type readChoice, readText } from './read-options.ts';
import { neverFound } from './result-rows.ts';

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
  /** That decides from each result; null: none. */
  readonly policy: Policy | null;
  /** Ends the run with what is finished. */
  readonly signal: AbortSignal;
}

/** Stored with the output, to continue it. */
interface FileProgress {
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
/** A row that could not be read has this code in place of its reason. */
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
    const identity = await runIdentity(check, input.sizeBytes);
    const { output, stored } = await openOutput(check.out, { identity, input: input.place, resume: check.resume });
    return await verifyInto(output, verifier, check, input, stored).catch((error: unknown) => {
      throw fileFailure(error, check);
    });
  } finally {
    check.signal.removeEventListener('abort', stop);
    input.stream.destroy();
  }
}

interface InputStream {
  readonly stream: Readable;
  /** Bytes; null: a pipe, which can be read only once. */
  readonly sizeBytes: number | null;
  readonly place: FilePlace;
}

async function openInput(path: string): Promise<InputStream> {
  if (path === '-') return { stream: process.stdin, sizeBytes: null, place: fstatSync(process.stdin.fd) };
  const { handle, sizeBytes, place } = await openInputFile(path, `--file ${path}`);
  return { stream: handle.createReadStream(), sizeBytes, place };
}

/**
 * What must be the same to continue: every byte of the input, and what decides the rows that are written. Null: a pipe.
 */
async function runIdentity(
  { file, out, format, read, only, dedupe, level, policy }: FileCheck,
  sizeBytes: InputStream['sizeBytes'],
) {
  if (out === '-' || sizeBytes === null) return null;
  const hash = createHash('sha256');
  const handle = await open(file, 'r');
  for await (const chunk of handle.createReadStream()) hash.update(chunk);
  return { sha256: hash.digest('hex'), format, read, only, dedupe, level, ...(policy === null ? {} : { policy }) };
}

async function verifyInto(
  output: FileOutput,
  verifier: Verifier,
  check: FileCheck,
  { stream, sizeBytes }: InputStream,
  stored: object | null,
): Promise<string | null> {
  const { read, signal } = check;
  let progress: FileProgress = { rows: 0, tally: { ...EMPTY_TALLY }, problems: [], writer: null, ...stored };
  const visible = process.stderr.isTTY && (check.out !== '-' || !process.stdout.isTTY);
  const bar = createProgress(
    sizeBytes ?? 0,
    systemClock,
    visible ? (text) => process.stderr.write(text) : () => undefined,
  );
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
    for await (const group of verifyRows(from(progress.rows, numberedRows(file.batches, check.dedupe)), run)) {
      const finished = outage.pass(group);
      const rows = finished.flatMap((row) => resultRows(row, file.reading, check));
      if (rows.length > 0) await output.write(await writer.rows(rows));
      progress = { ...progressAfter(progress, finished), writer: writer.state };
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
      await output.write(await writer.rows(held.flatMap((row) => resultRows(row, file.reading, check))));
      progress = { ...progressAfter(progress, held), writer: writer.state };
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
  readText(
    { ...found, header_row: headerRow },
    addressColumns.map((column) => columns[column] ?? ''),
  );

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
async function* numberedRows(batches: AddressFile['batches'], dedupe: Dedupe) {
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

/** Yields the batches without the rows that are done. */
async function* from(rows: number, batches: ReturnType<typeof numberedRows>): ReturnType<typeof numberedRows> {
  for await (const batch of batches) {
    const left = batch.rows.filter(({ row }) => row > rows);
    if (left.length > 0) yield { ...batch, rows: left };
  }
}

function progressAfter(progress: FileProgress, finished: readonly FinishedRow[]): FileProgress {
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
  { only, policy }: Pick<FileCheck, 'only' | 'policy'>,
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
    const decided = decidedBy(policy, report);
    const json = { row, ...parts, ...from, ...(report ?? noVerdict(text)), ...decided, is_duplicate: !isFirst };
    const result = { ...(report ?? { reason: NO_VERDICT }), ...place, decision: decided.decision?.action ?? null };
    return [{ cells, extra, result, json }];
  });
}

/** Its calls return null if no resolver answered, even after retries. */
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
      if (pauseMs > 0) await sleep(pauseMs);
    }
    resolverDown = true;
    return null;
  };
}

/** The output is complete, but not every row of it has a result. */
function complain({ tally, problems }: FileProgress, { level, only }: FileCheck): void {
  const total = grouped(rowCount(tally));
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

function fileFailure(error: unknown, { file, read }: FileCheck): unknown {
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

// Results of the first rows of mailboxes, for their later rows. They are in a file without a name: a million of them
// would not fit in memory.

/** Null means that no resolver answered. */
type VerifyAddress = (address: NumberedAddress) => Promise<Report | null>;

const FIRST_PLACES = 4_096;
/** Reports are much alike: deflated after the first one, each takes a few hundred bytes. */
const FAST = 1;

class FirstResults {
  #file: Promise<FileHandle> | null = null;
  /** At the number of a result is its offset in octets; where its length is 0, there is none. */
  #starts = new Float64Array(FIRST_PLACES);
  #lengths = new Uint32Array(FIRST_PLACES);
  #end = 0;
  #model: Buffer | null = null;
  /** Results are open while they are under way or not written yet. */
  readonly #open = new Map<number, Promise<Report | null>>();

  /**
   * Asks about the first address of each number, and about a later one where that had no result, or an earlier run
   * asked about it.
   */
  of(verify: VerifyAddress): VerifyAddress {
    return async (address) => {
      const { number, text } = address;
      const open = this.#open.get(number);
      if (open === undefined && !this.#has(number)) return this.#ask(verify, address);
      const known = await (open ?? this.#read(number));
      return known === null ? verify(address) : reportAsSpelled(known, text);
    };
  }

  /** Others of the number find it under way at once. */
  async #ask(verify: VerifyAddress, address: NumberedAddress): Promise<Report | null> {
    const { number } = address;
    const asked = verify(address);
    // What fails is thrown to whoever asked first.
    this.#open.set(
      number,
      asked.catch(() => null),
    );
    try {
      await this.#keep(number, await asked);
    } finally {
      this.#open.delete(number);
    }
    return asked;
  }

  #has = (number: number): boolean => (this.#lengths[number] ?? 0) > 0;

  async #keep(number: number, report: Report | null): Promise<void> {
    if (report === null) return;
    this.#file ??= openNameless();
    const handle = await this.#file;
    const text = Buffer.from(JSON.stringify(report));
    this.#model ??= text;
    const bytes = deflateRawSync(text, { level: FAST, dictionary: this.#model });
    const start = this.#end;
    this.#end += bytes.length;
    for (let at = 0; at < bytes.length; )
      at += (await handle.write(bytes, at, bytes.length - at, start + at)).bytesWritten;
    this.#grow(number);
    this.#starts[number] = start;
    this.#lengths[number] = bytes.length;
  }

  async #read(number: number): Promise<Report | null> {
    const [start = 0, length = 0] = [this.#starts[number], this.#lengths[number]];
    if (this.#file === null || this.#model === null) return null;
    const handle = await this.#file;
    const { buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, start);
    return JSON.parse(inflateRawSync(buffer, { dictionary: this.#model }).toString());
  }

  #grow(number: number): void {
    let places = this.#lengths.length;
    if (number < places) return;
    while (places <= number) places *= 2;
    const [starts, lengths] = [new Float64Array(places), new Uint32Array(places)];
    starts.set(this.#starts);
    lengths.set(this.#lengths);
    this.#starts = starts;
    this.#lengths = lengths;
  }

  async close(): Promise<void> {
    await (await this.#file)?.close();
  }
}

/** The result of the mailbox, with what only its address as it is spelled here says. */
function reportAsSpelled(report: Report, email: string): Report {
  const parsed = parseAddress(trimBlanks(email), { allowReserved: true, allowUnknownTld: true });
  if (!parsed.ok) return { ...report, email };
  const { normalized, localPart, domain, tag } = parsed.address;
  return { ...report, email, normalized_email: normalized, local_part: localPart, domain, tag };
}

// Where the results of a file go: standard output, or a file that gets its name once it is complete.

interface FileOutput {
  /** Whether another run can continue what is interrupted. */
  readonly continues: boolean;
  write(bytes: Uint8Array): Promise<void>;
  /** What has been written so far belongs to this progress, which is stored from time to time. */
  progressed(progress: object): void;
  /** Ends, so that another run can continue where that is possible. */
  interrupt(): Promise<void>;
  /** Gives the complete file its name. */
  keep(): Promise<void>;
  /** Removes what has been written. */
  discard(): Promise<void>;
}

const partOf = (path: string): string => `${path}.part`;
/** How far the results in the `.part` file are, and of what. */
const progressPath = (path: string): string => `${path}.part.json`;
/** While it is written; a run that is killed may leave one. */
const nextProgressOf = (path: string): string => `${progressPath(path)}.new`;

interface Stored {
  /** Bytes of the `.part` file that belong to the progress. */
  readonly written: number;
  readonly progress: object;
}

const PROGRESS_EVERY_MS = 1_000;

interface RunRecord {
  /** Only a run with the same input and settings is continued, and none where this is null. */
  readonly identity: object | null;
  readonly input: FilePlace;
  readonly resume: boolean;
}

/** Opens the output. `stored` is the progress of the run that is continued, null without one. */
async function openOutput(
  out: string,
  { identity, input, resume }: RunRecord,
): Promise<{ output: FileOutput; stored: object | null }> {
  const path = out === '-' ? out : await behindLinks(out);
  // Whatever is wrong with the path, the next step says.
  const there = path === '-' ? null : await stat(path).catch(() => null);
  if (there?.isDirectory()) throw new UsageError(`--out ${path} is a folder: give a file.`);
  const isStream = path === '-' || there?.isFile() === false;
  if (resume && (isStream || identity === null))
    throw new UsageError('--resume needs files: --file and --out can be neither a pipe nor a device.');
  if (path === '-') return { output: resultsToStandardOutput(), stored: null };
  // Such as /dev/null, which must not be replaced by a file.
  if (isStream) return { output: streamOutput(await openToWrite(path, path, 'w')), stored: null };
  await leaveAlone(input, path);
  const stored = await readStored(path);
  if (stored === null) return { output: fileOutput(path, identity, await openPart(path, 'w'), 0), stored: null };
  if (!resume)
    throw new UsageError(
      `--out ${path} was interrupted earlier. Add --resume to continue it, or delete ${progressPath(path)} to start again.`,
    );
  if (JSON.stringify(stored.identity) !== JSON.stringify(identity))
    throw new UsageError(
      `--out ${path} cannot be continued: the input file or the flags differ. Delete ${progressPath(path)} to start again.`,
    );
  const part = await openPart(path, 'r+');
  if ((await part.stat()).size < stored.written) {
    await part.close();
    throw new UsageError(`--out ${path} cannot be continued: ${partOf(path)} is incomplete.`);
  }
  await part.truncate(stored.written);
  return { output: fileOutput(path, identity, part, stored.written), stored: stored.progress };
}

/** The file itself: the complete results replace what has this name, and a link is to stay one. */
async function behindLinks(out: string): Promise<string> {
  const isLink = await lstat(out).then(
    (status) => status.isSymbolicLink(),
    () => false,
  );
  if (!isLink) return out;
  return realpath(out).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--out ${out} is a link to nothing that can be written (${error.code}).`);
  });
}

/** The input has columns, rows and sheets that the results may lack, so it is never written to. */
async function leaveAlone(input: FilePlace, path: string): Promise<void> {
  for (const written of [path, partOf(path), progressPath(path), nextProgressOf(path)]) {
    const there = await stat(written).catch(() => null);
    if (there?.dev === input.dev && there.ino === input.ino)
      throw new UsageError(`--out would replace ${written}, which is the input: give another name.`);
  }
}

const openPart = (path: string, flags: 'w' | 'r+'): Promise<FileHandle> => openToWrite(partOf(path), path, flags);

/** `out` is what errors name. */
async function openToWrite(path: string, out: string, flags: 'w' | 'r+'): Promise<FileHandle> {
  return open(path, flags, 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot write --out ${out} (${error.code}): give a file in a folder that you may write to.`);
  });
}

async function readStored(path: string): Promise<(Stored & { readonly identity: unknown }) | null> {
  const text = await readFile(progressPath(path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw new UsageError(`cannot read ${progressPath(path)} (${error.code}).`);
  });
  return text === null ? null : JSON.parse(text);
}

function fileOutput(path: string, identity: object | null, file: FileHandle, start: number): FileOutput {
  let written = start;
  let latest: Stored | null = null;
  let storing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;

  /** A crash leaves the old progress or the new one; the bytes of both are on disk. */
  async function store(): Promise<void> {
    if (latest === null || identity === null) return;
    const text = JSON.stringify({ identity, ...latest });
    await file.datasync();
    const next = await open(nextProgressOf(path), 'w', 0o600);
    try {
      await next.writeFile(text);
      await next.datasync();
    } finally {
      await next.close();
    }
    await rename(nextProgressOf(path), progressPath(path));
  }

  function storeSoon(): void {
    timer ??= setTimeout(() => {
      timer = null;
      storing = storing.then(store);
      // The next step reports it.
      storing.catch(() => undefined);
    }, PROGRESS_EVERY_MS);
  }

  async function forget(): Promise<void> {
    await rm(progressPath(path), { force: true });
    await rm(nextProgressOf(path), { force: true });
  }

  async function stop(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    await storing;
  }

  return {
    continues: identity !== null,
    async write(bytes) {
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, at, bytes.length - at, written);
        at += bytesWritten;
        written += bytesWritten;
      }
    },
    progressed(progress) {
      latest = { written, progress };
      storeSoon();
    },
    async interrupt() {
      try {
        await stop();
        await store();
      } finally {
        await file.close();
      }
    },
    async keep() {
      await stop();
      await file.datasync();
      await file.close();
      await rename(partOf(path), path);
      await forget();
    },
    async discard() {
      await stop().catch(() => undefined);
      await file.close();
      await forget();
      await rm(partOf(path), { force: true });
    },
  };
}

const resultsToStandardOutput = (): FileOutput =>
  unseekable(async (bytes) => {
    if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
  });

const streamOutput = (file: FileHandle): FileOutput =>
  unseekable(
    (bytes) => file.writeFile(bytes),
    () => file.close(),
  );

const unseekable = (write: FileOutput['write'], close = () => Promise.resolve()): FileOutput => ({
  continues: false,
  write,
  progressed: () => undefined,
  interrupt: close,
  keep: close,
  discard: close,
});

// Runs the checks of many rows at once and returns them in their order.

/** Has its number among the distinct addresses or mailboxes of the file, from 1. */
interface NumberedAddress extends RowAddress {
  readonly number: number;
  /** False: an earlier one has the same number. */
  readonly isFirst: boolean;
}
type NumberedRow = Omit<FileRow, 'addresses'> & { readonly addresses: readonly NumberedAddress[] };
type NumberedBatch = Omit<RowBatch, 'rows'> & { readonly rows: readonly NumberedRow[] };

/** Reports are in the order of the row's addresses; one is null if no resolver answered. */
type RowReports = readonly (Report | null)[];

interface FinishedRow {
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
async function* verifyRows(
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
