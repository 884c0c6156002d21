import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RowSplitter } from '../kernel/csv.ts';
import { boundsOf } from './rows.ts';

const LIMITS = { rowBytes: 1000, columns: 50 };
const split = (blocks: readonly string[], delimiter: ',' | ';' | '\t' | 'none' = ',') => {
  const splitter = new RowSplitter(delimiter, boundsOf(LIMITS));
  return [...blocks.flatMap((block) => splitter.push(block, false)), ...splitter.push('', true)];
};
const cellsOf = (text: string) => split([text]).map(({ cells }) => cells);

/** Text in which everything that matters to a reader is frequent. */
const soup = fc.array(fc.constantFrom('a', '"', '""', ',', ';', '\n', '\r\n', '\r', ' ', '\t', 'é', '\0', '@'), {
  maxLength: 60,
});
const cell = fc.array(fc.constantFrom('a', '"', ',', '\n', '\r\n', '\r', ' ', 'ü', '@', "'"), { maxLength: 6 });
const cells = fc.array(
  fc.array(
    cell.map((parts) => parts.join('')),
    { minLength: 2, maxLength: 5 },
  ),
  { minLength: 1 },
);
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

describe('rows of delimited text', () => {
  it('are the same however the text arrives', () => {
    fc.assert(
      fc.property(soup, fc.constantFrom(',', 'none'), (parts, delimiter) => {
        const text = parts.join('');
        const whole = split([text], delimiter);
        expect(split([...text], delimiter)).toEqual(whole);
        expect(split(parts, delimiter)).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });

  it('have the cells that were written, whatever is in them', () => {
    fc.assert(
      fc.property(cells, fc.constantFrom('\n', '\r\n', '\r'), (rows, end) => {
        const text = rows.map((row) => row.map(quoted).join(',') + end).join('');
        expect(cellsOf(text)).toEqual(rows);
      }),
    );
  });

  it('have the cells that csv-parse reads', () => {
    const plain = fc.array(fc.constantFrom('a', ',', '\n', '"b"', '"c,d"', '"e\nf"', '"g""h"', ' ', 'é'), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(plain, (parts) => {
        const text = parts.join('');
        const rows = split([text]);
        fc.pre(rows.every(({ problem }) => problem === null) && !/[^,\n]"|"[^",\n]/.test(text.replaceAll('""', '')));
        expect(rows.map((row) => row.cells)).toEqual(
          parse(text, { relax_column_count: true, skip_empty_lines: false }),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('lose one line to a broken quote', () => {
    const text = 'a,b\n1,"open\n2,x\n3,"ok"\n4,"x"y\n5,y\n"6\n7,z';
    expect(split([text]).map(({ line, cells, problem }) => [line, problem ?? cells.join('|')])).toEqual([
      [1, 'a|b'],
      [2, 'text_after_quote'],
      [3, '2|x'],
      [4, '3|ok'],
      [5, 'text_after_quote'],
      [6, '5|y'],
      [7, 'unclosed_quote'],
      [8, '7|z'],
    ]);
  });

  it('count lines inside quoted cells', () =>
    expect(split(['"a\r\nb\nc",1\r\rd,2\n']).map(({ line }) => line)).toEqual([1, 4, 5]));

  it('find an unclosed quote within the length of a row', () => {
    const text = `a,"${'x'.repeat(500)}\n${'y,z\n'.repeat(1000)}`;
    const rows = split(
      Array.from({ length: 50 }, (_, i) => text.slice(i * 100, (i + 1) * 100)).concat(text.slice(5000)),
    );
    expect([rows.length, rows[0]?.problem, rows[1]?.cells]).toEqual([1001, 'unclosed_quote', ['y', 'z']]);
  });

  it.each([
    ['a row', `a\n${'x'.repeat(1001)}`, /more than 1,000 bytes in a row, line 2/],
    ['a row of letters with several bytes', 'é'.repeat(501), /more than 1,000 bytes in a row, line 1/],
    ['columns', `a\nb\n${','.repeat(50)}`, /more than 50 columns, line 3/],
  ])('are limited: %s', (_title, text, message) => expect(() => split([text])).toThrow(message));

  it.each(['\n', '\r\n', '\r', ''])('are measured without their line end: %j', (lineEnd) => {
    for (const [before, after] of [
      ['a,', ''],
      ['a,"', '"'],
    ] as const) {
      const row = (bytes: number) => before + 'x'.repeat(bytes - before.length - after.length) + after;
      expect(split([`${row(1000)}${lineEnd}`]).map(({ problem }) => problem)).toEqual([null]);
      expect(() => split([`${row(1001)}${lineEnd}`])).toThrow('more than 1,000 bytes in a row');
    }
  });
});
