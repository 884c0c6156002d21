import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvDialect, LINES, RowSplitter } from '../kernel/csv.ts';
import { boundsOf } from './rows.ts';

/** A cell may have 1,000 bytes, and a row 8,000. */
const LIMITS = { rowBytes: 1000, columns: 50 };
const split = (blocks: readonly string[], delimiter: ',' | ';' | '\t' | 'none' = ',') => {
  const splitter = new RowSplitter(delimiter === 'none' ? LINES : csvDialect(delimiter), boundsOf(LIMITS));
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
    const text = `a,"${'x'.repeat(500)}\n${'y,z\n'.repeat(3000)}`;
    const rows = split(
      Array.from({ length: 50 }, (_, i) => text.slice(i * 100, (i + 1) * 100)).concat(text.slice(5000)),
    );
    expect([rows.length, rows[0]?.problem, rows[1]?.cells]).toEqual([3001, 'unclosed_quote', ['y', 'z']]);
  });

  it.each([
    ['a cell', `a,b\n1,${'x'.repeat(1001)}\n2,y\n`],
    ['a cell in quotes with line ends', `a,b\n1,"${'x\n'.repeat(501)}"\n2,y\n`],
    ['a cell of letters with several bytes', `a,b\n1,${'é'.repeat(501)}\n2,y\n`],
    ['a row', `a,b\n${'1,'.repeat(4001)}\n2,y\n`],
    ['a row without end', `a,b\n${'x'.repeat(100_000)}\n2,y\n`],
    ['a quoted cell without end', `a,b\n1,"${'x'.repeat(100_000)}\n2,y\n`],
  ])('are set aside where they are too large: %s', (_title, text) => {
    for (const blocks of [[text], text.match(/[\s\S]{1,777}/g) ?? []]) {
      const rows = split(blocks);
      expect(rows.map(({ problem }) => problem)).toEqual([null, 'too_large', null]);
      expect(rows[1]?.cells[0]?.length).toBeLessThan(300);
      expect(rows[2]?.cells).toEqual(['2', 'y']);
    }
  });

  it('have at most so many columns, blank ones at the end not counted', () => {
    expect(split([`a\nb${','.repeat(500)}\n`])).toHaveLength(2);
    expect(() => split([`a\nb\n${','.repeat(50)}x`])).toThrow(/more than 50 columns, line 3/);
  });

  it.each(['\n', '\r\n', '\r', ''])('are measured without their line end: %j', (lineEnd) => {
    for (const [before, after] of [
      ['a,', ''],
      ['a,"', '"'],
    ] as const) {
      const row = (bytes: number) => before + 'x'.repeat(bytes) + after;
      expect(split([`${row(1000)}${lineEnd}`]).map(({ problem }) => problem)).toEqual([null]);
      expect(split([`${row(1001)}${lineEnd}`]).map(({ problem }) => problem)).toEqual(['too_large']);
    }
  });

  it('may end twice converted', () => {
    expect(cellsOf('a\r\r\nb\r\r\nc')).toEqual([['a'], ['b'], ['c']]);
    expect(cellsOf('a\n\rb\n\rc')).toEqual([['a'], ['b'], ['c']]);
    expect(cellsOf('a\r\rb\n\nc')).toEqual([['a'], [''], ['b'], [''], ['c']]);
  });

  it.each([
    ['a blank before a quote', 'a, "b,c" ,d', ['a', 'b,c', 'd']],
    ['a quote that was not doubled', '1,"Ada "the" Lund",x', ['1', 'Ada "the" Lund', 'x']],
    ['an inch', '"5" disk","x"', ['5" disk', 'x']],
    ['a backslash before the last quote', '"C:\\a\\",x', ['C:\\a\\', 'x']],
    ['a blank before a quote that is none', 'a, "b" c,d', ['a', ' "b" c', 'd']],
  ])('are lenient: %s', (_title, text, row) => expect(cellsOf(`${text}\n`)).toEqual([row]));

  it('take quotes and delimiters of any kind', () => {
    const read = (text: string, delimiter: string, quote: { open: string; close: string }, escapes = false) =>
      new RowSplitter({ delimiter, quote, escape: escapes }, boundsOf(LIMITS)).push(text, true).map((row) => row.cells);
    expect(read("'a||b'||'it''s'\n", '||', { open: "'", close: "'" })).toEqual([['a||b', "it's"]]);
    expect(read('“a,b”,c\n', ',', { open: '“', close: '”' })).toEqual([['a,b', 'c']]);
    expect(read('"a \\"b, c\\"",d\n', ',', { open: '"', close: '"' }, true)).toEqual([['a "b, c"', 'd']]);
  });

  it('are found in time where every quote is open', () => {
    const text = '"a""b\n'.repeat(200_000);
    const from = performance.now();
    expect(split([text])).toHaveLength(200_000);
    expect(performance.now() - from).toBeLessThan(10_000);
  });
});
