/** What a file is, is known by its content; what is in it comes out as rows. */
import { describe, expect, it } from 'vitest';
import { openFile } from '../../src/files/formats.ts';
import { LIST_BYTES, LIST_ROWS } from '../../src/kernel/facts/limits.ts';
import { CASES, type FormatCase } from '../lab/file-formats.ts';

const LIMITS = { bytes: LIST_BYTES, rows: LIST_ROWS.max, rowBytes: 65_536, columns: 200, party: '' };

async function opened({ bytes, sheet, entry }: FormatCase) {
  async function* input() {
    yield bytes;
  }
  const { source } = await openFile(input(), { claimed: null, sheet: sheet ?? null, entry: entry ?? null }, LIMITS);
  const cells: string[] = [];
  for await (const { rows } of source.batches)
    cells.push(...rows.flatMap((row) => row.cells).filter((cell) => cell.includes('@')));
  const { format, sheet: read, entry: file } = source;
  return { cells, format, sheet: read, entry: file };
}

describe.each(['workbook', 'archive', 'json', 'contacts', 'refused'] as const)('of kind %s', (kind) => {
  it.each(CASES.filter((one) => one.kind === kind).map((one) => [one.name, one] as const))('%s', async (_, one) => {
    if ('refused' in one.expect) await expect(opened(one)).rejects.toThrow(one.expect.refused);
    else expect(await opened(one)).toMatchObject(one.expect);
  });
});
