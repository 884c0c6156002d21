/** XLSX files, each way with an independent implementation. */
import fc from 'fast-check';
import { readSheet } from 'read-excel-file/node';
import { describe, expect, it } from 'vitest';
import writeXlsx from 'write-excel-file/node';
import { readAddressFile } from '../read-file.ts';
import { RESULT_COLUMNS } from '../result-columns.ts';
import { createResultWriter, type ResultRow } from '../write-results.ts';

async function cellsOf(bytes: Uint8Array): Promise<string[][]> {
  const file = await readAddressFile(
    (async function* () {
      yield bytes;
    })(),
  );
  const rows: string[][] = [[...file.reading.columns]];
  for await (const batch of file.batches) rows.push(...batch.rows.map(({ cells }) => [...cells]));
  return rows;
}

const rowOf = (cells: readonly string[], extra: readonly string[] = []): ResultRow => ({
  cells,
  extra,
  json: {},
  result: { status: 'good', reason: null, is_free: true, credits_used: 1 },
});

async function written(columns: readonly string[], rows: readonly ResultRow[], stops: readonly number[] = []) {
  let writer = createResultWriter('xlsx', columns);
  const pieces: Uint8Array[] = [writer.head()];
  for (let from = 0; from < rows.length; from += 7) {
    // Another process continues with what was stored as JSON.
    if (stops.includes(from))
      writer = createResultWriter('xlsx', columns, { state: JSON.parse(JSON.stringify(writer.state)) });
    pieces.push(await writer.rows(rows.slice(from, from + 7)));
  }
  return Buffer.concat([...pieces, writer.end()]);
}

/** What XML, spreadsheets and ZIP do things with. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(
    '=1+1',
    '+A1',
    '<a href="x">&amp;',
    '_x000D_',
    '_x_',
    'a\r\nb\tc',
    '  x  ',
    '\u0001\u001f',
    '\ufffe',
    '😀',
    '1e5',
    'TRUE',
  ),
);

describe('a sheet', () => {
  it('by another writer is read', async () => {
    const when = new Date('2026-11-20T10:30:00Z');
    const data = [
      ['Name', 'Contact Email', 'When', 'Day', 'Number', 'Flag'].map((value) => ({ value })),
      [
        { value: 'Jü <&> "x"\ny' },
        { value: 'a@b.de' },
        { value: when, type: Date, format: 'dd.mm.yyyy hh:mm' },
        { value: new Date('1999-12-31T00:00:00Z'), type: Date, format: 'yyyy-mm-dd' },
        { value: 0.1 + 0.2 },
        { value: true },
      ],
      [],
      [null, { value: 'c@d.de' }, null, null, { value: 1e21 }, { value: false }],
    ];
    expect(await cellsOf(await writeXlsx(data).toBuffer())).toEqual([
      ['Name', 'Contact Email', 'When', 'Day', 'Number', 'Flag'],
      ['Jü <&> "x"\ny', 'a@b.de', '2026-11-20T10:30:00', '1999-12-31', '0.3', 'TRUE'],
      ['', '', '', '', '', ''],
      ['', 'c@d.de', '', '', '1e+21', 'FALSE'],
    ]);
  });

  it('by our writer is read by another reader', async () => {
    const rows = Array.from({ length: 40 }, (_, i) => rowOf([`a${i}@b.de`, i % 2 ? '=SUM(A1)' : 'ü & <b>'], ['more']));
    const [head = [], ...data] = await readSheet(await written(['email', 'x'], rows));
    expect(head).toEqual(['email', 'x', ...RESULT_COLUMNS.map((name) => `mailvet_${name}`), null]);
    expect(data).toHaveLength(40);
    for (const [i, row] of data.entries()) {
      expect([row[0], row[1], row.at(-1)]).toEqual([`a${i}@b.de`, i % 2 ? '=SUM(A1)' : 'ü & <b>', 'more']);
      expect([row[2], row[4], row[9], row[12]]).toEqual(['good', null, true, 1]);
    }
  });

  it('comes back with every cell as it was', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(text, text), { maxLength: 20 }), async (given) => {
        const rows = given.map(([a, b]) => rowOf(['a@b.de', a, b]));
        const expected = given.map(([a, b]) => ['a@b.de', a.toWellFormed(), b.toWellFormed()]);
        const back = await cellsOf(await written(['email', 'x', 'y'], [rowOf(['a@b.de', '', '']), ...rows]));
        expect(back.slice(2)).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it('keeps the types of a workbook, where it is one', async () => {
    const cells = [
      'a@b.de',
      '12.5',
      '-3',
      '01234',
      '4930123456789',
      '2026-11-20',
      '2026-11-20T10:30:00',
      'TRUE',
      '2026-02-30',
    ];
    const write = async (isBook: boolean): Promise<Buffer> => {
      const writer = createResultWriter(
        'xlsx',
        cells.map((_, i) => `c${i}`),
        { isBook },
      );
      return Buffer.concat([writer.head(), await writer.rows([rowOf(cells, ['7'])]), writer.end()]);
    };
    const [, typed = []] = await readSheet(await write(true));
    const [day, time] = [new Date('2026-11-20T00:00:00Z'), new Date('2026-11-20T10:30:00Z')];
    expect(typed.slice(0, 9)).toEqual(['a@b.de', 12.5, -3, '01234', '4930123456789', day, time, true, '2026-02-30']);
    expect(typed.at(-1)).toBe(7);
    const [, texts = []] = await readSheet(await write(false));
    expect(texts.slice(0, 9)).toEqual(cells);
    expect((await cellsOf(await write(true)))[1]?.slice(0, 9)).toEqual(cells);
  });

  it('is the same when its writing is interrupted', async () => {
    const rows = Array.from({ length: 50 }, (_, i) => rowOf([`a${i}@b.de`]));
    expect(await written(['email'], rows, [7, 21, 49])).toEqual(await written(['email'], rows));
  });

  it('has no cell longer than the format allows', async () => {
    const [, row = []] = await cellsOf(await written(['email', 'x'], [rowOf(['a@b.de', 'x'.repeat(40_000)])]));
    expect(row[1]).toHaveLength(32_767);
  });
});
