/** Whether a file was read as people mean it. */
import { readFileSync } from 'node:fs';
import { FileError } from '../../src/files/problems.ts';
import { type ReadOptions, readAddressFile } from '../../src/files/read-file.ts';

interface FileCase {
  readonly file: string;
  readonly kind: string;
  readonly what?: string;
  readonly expect: {
    readonly addresses?: readonly string[];
    readonly rows?: number;
    /** Numbers of rows, from 1. */
    readonly rows_without_address?: readonly number[];
    readonly refused_with?: string;
    readonly or_refused_with?: string;
    /** What the text is, decoded. */
    readonly text?: string;
    readonly no_address?: boolean;
  };
}

export const casesIn = (dir: URL): FileCase[] => JSON.parse(readFileSync(new URL('manifest.json', dir), 'utf8'));

async function read(bytes: Uint8Array, options: ReadOptions) {
  const input = (async function* () {
    for (let at = 0; at < bytes.length; at += 10_000) yield bytes.subarray(at, at + 10_000);
  })();
  const file = await readAddressFile(input, options);
  const rows = [];
  for await (const batch of file.batches) rows.push(...batch.rows);
  return { reading: file.reading, rows, summary: file.summary() };
}

/** What is wrong with how it was read; nothing if it was read right. */
export async function wrongIn(
  { file, kind, expect }: FileCase,
  dir: URL,
  options: ReadOptions = {},
): Promise<string[]> {
  const bytes = readFileSync(new URL(file, dir));
  try {
    const { reading, rows, summary } = await read(bytes, options);
    if (expect.refused_with !== undefined && expect.addresses === undefined) {
      return summary.warnings.some(({ code }) => code === 'no_address') ? [] : ['it is not refused'];
    }
    if (expect.no_address)
      return summary.warnings.some(({ code }) => code === 'no_address') ? [] : ['no word about no address'];
    const wrong: string[] = [];
    const found = rows.flatMap(({ addresses }) => addresses.map(({ text }) => text));
    const expected = expect.addresses ?? [];
    const missing = expected.filter((address) => !found.includes(address));
    const false_ = found.filter((address) => !expected.includes(address));
    if (false_.length > 0) wrong.push(`false: ${false_.slice(0, 5).join(' | ')}`);
    if (missing.length > 0 && !(await isExcused({ kind, missing, bytes, options, expected, rows, summary })))
      wrong.push(`missing: ${missing.slice(0, 5).join(' | ')}`);
    if (expect.rows !== undefined && rows.length !== expect.rows) wrong.push(`${rows.length} rows, not ${expect.rows}`);
    const without = rows.filter(({ addresses }) => addresses.length === 0).map(({ row }) => row);
    const { rows_without_address: blank } = expect;
    if (blank !== undefined && kind !== 'shifted' && kind !== 'limit' && without.join() !== blank.join())
      wrong.push(`rows without: ${without.join()}, not ${blank.join()}`);
    if (expect.text !== undefined) {
      const [cell = ''] = rows.flatMap(({ cells }) => cells).filter((text) => /[^\0-\u007f]/.test(text));
      if (!rows.every(({ cells }) => cells.every((text) => expect.text?.includes(text))))
        wrong.push(`cells changed: ${cell} (${reading.encoding})`);
    }
    return wrong;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const allowed = expect.refused_with ?? expect.or_refused_with;
    if (expect.no_address) return [];
    return allowed !== undefined && new RegExp(allowed, 'i').test(error.message) ? [] : [`refused: ${error.message}`];
  }
}

interface Excuse {
  readonly kind: string;
  readonly missing: readonly string[];
  readonly bytes: Uint8Array;
  readonly options: ReadOptions;
  readonly expected: readonly string[];
  readonly rows: Awaited<ReturnType<typeof read>>['rows'];
  readonly summary: Awaited<ReturnType<typeof read>>['summary'];
}

/** Addresses of other columns that a warning counts, and that are verified when asked for; rows that are set aside. */
async function isExcused({ kind, missing, bytes, options, expected, rows, summary }: Excuse): Promise<boolean> {
  if (kind === 'shifted' || kind === 'limit')
    return rows.filter(({ problem }) => problem !== null).length >= missing.length;
  // Other lists of a workbook are named, and read when asked for.
  if (kind === 'xlsx-sheet' && summary.warnings.some(({ code }) => code === 'other_lists')) return true;
  const counted = summary.otherAddressColumns.reduce((sum, { addresses }) => sum + addresses, 0);
  if (!summary.warnings.some(({ code }) => code === 'other_address_columns') || counted < missing.length) return false;
  const all = await read(bytes, { ...options, columns: 'all' });
  const found = all.rows.flatMap(({ addresses }) => addresses.map(({ text }) => text));
  return expected.every((address) => found.includes(address)) && found.every((address) => expected.includes(address));
}
