import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { parse } from 'csv-parse';
import type { Report, Verifier } from '../index.ts';
import { Failed, WrongUse } from './command.ts';

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
    let total = 0;
    for await (const line of results(verifier, ask, bar)) {
      total += 1;
      if (!out.write(line)) await once(out, 'drain');
    }
    bar.done(total);
    if (out !== process.stdout) {
      out.end();
      await once(out, 'close');
      await rename(part, ask.out);
    }
  } catch (error) {
    if (out !== process.stdout) {
      out.destroy();
      await rm(part, { force: true });
    }
    throw csvProblem(error, ask.file);
  }
}

async function* results(verifier: Verifier, ask: FileAsk, bar: Progress): AsyncGenerator<string> {
  const rows = createReadStream(ask.file).pipe(
    parse({
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: MAX_RECORD_BYTES,
      info: true,
    }),
  );
  let column = -1;
  let batch: string[][] = [];
  const flush = async () => {
    const found = await Promise.all(batch.map((row) => verifier.verify(row[column] ?? '', ask)));
    const lines = found.map((result, i) =>
      ask.json ? `${JSON.stringify(result)}\n` : csvLine([...batch[i]!, ...added(result)]),
    );
    batch = [];
    return lines;
  };
  for await (const { record, info } of rows as AsyncIterable<{ record: string[]; info: { bytes: number } }>) {
    if (column < 0) {
      const header = headerOf(record, ask.column);
      column = header.column;
      if (header.isHeader) {
        if (!ask.json) yield csvLine([...record, ...ADDED]);
        continue;
      }
      if (!ask.json) yield csvLine([...record.map((_, i) => (i === column ? 'email' : `column_${i + 1}`)), ...ADDED]);
    }
    batch.push(record);
    if (batch.length === AT_ONCE) {
      yield* await flush();
      bar.at(info.bytes);
    }
  }
  yield* await flush();
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
