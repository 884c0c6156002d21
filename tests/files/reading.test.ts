/**
 * Files as people have them, and the right reading of each: `cases/` after real exports, bug reports and importers'
 * tests, `own/` of the same kinds.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileError } from '../../src/files/problems.ts';
import { type ReadOptions, readAddressFile } from '../../src/files/read-file.ts';
import { casesIn, wrongIn } from './judge.ts';

describe.each(['cases', 'own'])('%s', (name) => {
  const dir = new URL(`${name}/`, import.meta.url);
  // A blank row is read where a row of a workbook is out of order.
  const cases = casesIn(dir).filter(({ file }) => file !== 'x-rows-unordered.xlsx');
  it.each(cases)('$kind: $file', async (one) => expect(await wrongIn(one, dir)).toEqual([]));
});

async function read(bytes: Uint8Array, options: ReadOptions = {}) {
  const input = (async function* () {
    yield bytes;
  })();
  const file = await readAddressFile(input, options);
  const rows = [];
  for await (const batch of file.batches) rows.push(...batch.rows);
  return { ...file.reading, rows, ...file.summary() };
}

describe('a table that a program wrote', () => {
  const word = fc.stringMatching(/^[A-Z][a-z]{1,7}$/);
  /** What needs quotes: delimiters, quotes, line ends. */
  const text = fc.array(fc.constantFrom('a', 'Bo', ' ', ',', ';', '"', "'", '|', 'ü', '山'), {
    minLength: 1,
    maxLength: 6,
  });
  const cell = fc.oneof(
    word,
    text.map((parts) => `x${parts.join('')}x`),
  );
  const person = fc.record({ name: cell, user: fc.stringMatching(/^[a-z]{1,8}$/), note: cell });
  const dialect = fc.record({
    delimiter: fc.constantFrom(',', ';', '\t', '|', '^', '~', '||'),
    lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
    header: fc.boolean(),
    mark: fc.boolean(),
    title: fc.boolean(),
  });
  const quoted = (value: string): string => `"${value.replaceAll('"', '""')}"`;

  it('is read back, whatever its dialect is', async () => {
    const people = fc.array(person, { minLength: 4, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(people, dialect, async (given, { delimiter, lineEnd, header, mark, title }) => {
        const rows = given.map(({ name, user, note }, i) => [name, `${user}${i}@example.com`, note]);
        const lines = [...(header ? [['Name', 'E-Mail', 'Note']] : []), ...rows].map((cells) =>
          cells.map(quoted).join(delimiter),
        );
        const head = header && title ? `List of people${lineEnd}${lineEnd}` : '';
        const found = await read(Buffer.from((mark ? '\u{FEFF}' : '') + head + lines.join(lineEnd) + lineEnd));
        expect(found.delimiter).toBe(delimiter);
        expect(found.rows.map(({ cells }) => cells)).toEqual(rows);
        expect(found.rows.map(({ addresses }) => addresses)).toEqual(
          rows.map(([, address]) => [{ text: address, column: 1 }]),
        );
        expect([found.byteOrderMark, found.warnings]).toEqual([mark, []]);
        expect(found.headerRow).toBe(header ? (title ? 3 : 1) : 0);
      }),
    );
  });

  it('is read alike in every encoding that has its characters', async () => {
    const names = ['Müller', 'Grüße', 'Jäger', 'Köhler', 'Weiß'];
    const csv = `Straße;E-Mail\n${names.map((name, i) => `${name};p${i}@example.com`).join('\n')}\n`;
    for (const [encoding, bytes] of [
      ['utf-8', Buffer.from(csv)],
      ['utf-16le', Buffer.from(csv, 'utf16le')],
      ['windows-1252', Buffer.from(csv, 'latin1')],
    ] as const) {
      const found = await read(bytes);
      expect([found.encoding, found.columns, found.warnings]).toEqual([encoding, ['Straße', 'E-Mail'], []]);
      expect(found.rows.map(({ cells }) => cells[0])).toEqual(names);
    }
  });
});

/** What means something to one of the readers. */
const PARTS = [
  'a@b.de',
  '@',
  '"',
  "'",
  '""',
  ',',
  ';',
  '\t',
  '|',
  '\n',
  '\r',
  '\u0000',
  ' ',
  '<',
  '>',
  '(',
  '\\',
  '=',
  ':',
  '/',
  'é',
  '山',
  '\u200b',
  '#',
  '-----',
  '+---+',
  'email',
  'Total',
  '1',
  'mailto:',
  '&#64;',
  '%',
  '\u001a',
  '{',
  '[',
];

it('arbitrary bytes are read or refused', async () => {
  const parts = fc.constantFrom(...PARTS);
  const soup = fc.array(parts, { maxLength: 200 }).map((texts) => Buffer.from(texts.join('')));
  await fc.assert(
    fc.asyncProperty(fc.oneof(soup, fc.uint8Array({ maxLength: 300 })), async (bytes) => {
      try {
        const { rows, columns } = await read(bytes);
        for (const [i, { row, cells, addresses, problem }] of rows.entries()) {
          expect([row, cells.length]).toEqual([i + 1, columns.length]);
          if (problem !== null) expect(addresses).toEqual([]);
          for (const { text, column } of addresses) expect(text !== '' && column < columns.length).toBe(true);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(FileError);
      }
    }),
    { numRuns: 500 },
  );
});

describe('what takes long to read for a naive reader is read in bounded time', () => {
  it.each([
    ['one line of at signs', '@'.repeat(2_000_000)],
    ['a cell of brackets', `email\na@b.de\n${'<'.repeat(60_000)}@\n`],
    ['a line of addresses', 'a@b.de '.repeat(100_000)],
    ['names without an address', 'Ada Lund, '.repeat(100_000)],
    ['open quotes', `email,x\n${'a@b.de,"x""\n'.repeat(50_000)}`],
    ['blank columns', `email${','.repeat(900)}\n${`a@b.de${','.repeat(900)}\n`.repeat(2_000)}`],
    ['at signs in columns', `${'a@b.de,'.repeat(300)}x\n`.repeat(200)],
    ['quotes in a cell', `email,x\n${`a@b.de,"${'x" '.repeat(8_000)}"\n`.repeat(50)}`],
    ['labels', `email\n${`${'x:'.repeat(15_000)}a@b.de\n`.repeat(50)}`],
    ['comments', `${'# a\n'.repeat(500)}email\na@b.de\n`],
  ])('%s', async (_title, text) => {
    await read(Buffer.from(text)).catch((error: unknown) => expect(error).toBeInstanceOf(FileError));
  });

  it.each([...PARTS.filter((part) => !/[\r\n]/.test(part)), 'x', '!', '.', '-'])('long cells of %j', async (part) => {
    const long = part.repeat(60_000 / part.length);
    for (const cell of [`a@b.de ${long}x`, `x${long}x`, `${long}@`]) {
      const text = `email\n${`${cell}\n`.repeat(15)}`;
      await read(Buffer.from(text)).catch((error: unknown) => expect(error).toBeInstanceOf(FileError));
    }
  });
});

describe('what was read is said', () => {
  const warned = async (text: string | Buffer, options: ReadOptions = {}) =>
    (await read(Buffer.from(text), options)).warnings.map(({ code, message }) => `${code}: ${message}`);

  it.each([
    ['name,email\nAda,\nBo,n/a\n', 'no_address: No row has an email address.'],
    [
      'note\na@b.de\ncall him\n12\nask again\nif he is there\nb@b.de\n',
      'few_addresses: Only 2 of the 6 cells that are not blank are addresses.',
    ],
    [
      'email,private\na@b.de,c@d.de\ne@f.de,\n',
      'other_address_columns: Other columns hold addresses that are not verified: "private" (1).',
    ],
    [
      'n,email\n1,a@b.de; c@d.de\n2,e@f.de\n',
      'several_addresses: 1 of 2 rows with an address have several; each is verified.',
    ],
    [
      'name,email\nAda,a@b.de\nname,email\nBo,c@d.de\n',
      'header_repeated: The header is repeated in 1 row, which is left out.',
    ],
    ['email,n\na@b.de,1\nc@d.de,2\nTotal,3\n', 'rows_left_out: 1 row of notes or totals at the end is left out.'],
    ['email,n\na@b.de,1\nc@d.de,2,3\ne@f.de,4\n', 'uneven_rows: 1 of 3 rows have more cells than the header.'],
    [
      'firm;email\nAcme;a@b.de\nBeta; Co;c@d.de\nCorp;e@f.de\n',
      'realigned_rows: 1 row with a delimiter inside a cell was put back into the columns.',
    ],
    [
      Buffer.from('name,email\nJürgen,a@b.de\nJörg,c@d.de\nJ\u00f6rg,c@d.de\n').fill(0xf6, 24, 25),
      'invalid_encoding: 1 line is not valid UTF-8 and was read as windows-1252.',
    ],
  ])('%j', async (text, warning) => expect(await warned(text)).toContain(warning));

  it('but not where there is nothing to say', async () => {
    expect(await warned('name,email\nAda,a@b.de\nBo,\nCy,foo\nDi,c@d.de\n')).toEqual([]);
    expect(await warned('a@b.de\nc@d.de\n')).toEqual([]);
  });
});

describe('what the sender says counts', () => {
  const text = 'first,name,a@b.de\nemail,mail,other\nx@y.de,y@z.de,z@x.de\n';
  const found = async (options: ReadOptions) => {
    const { rows, columns, headerRow } = await read(Buffer.from(text), options);
    return [headerRow, columns.join(), rows.map(({ addresses }) => addresses.map((one) => one.text).join('+')).join()];
  };
  it('which row is the header', async () => {
    expect(await found({ headerRow: 2, columns: ['mail'] })).toEqual([2, 'email,mail,other', 'y@z.de']);
    expect(await found({ headerRow: 0, columns: ['3'] })).toEqual([
      0,
      'column_1,column_2,email',
      'a@b.de,other,z@x.de',
    ]);
  });
  it('which columns are verified', async () => {
    expect(await found({ columns: ['other', 'email'] })).toEqual([2, 'email,mail,other', 'x@y.de+z@x.de']);
    expect(await found({ headerRow: 2, columns: 'all' })).toEqual([2, 'email,mail,other', 'x@y.de+y@z.de+z@x.de']);
    await expect(found({ columns: ['none'] })).rejects.toThrow('There is no column "none"');
  });
  it('the encoding and the delimiter', async () => {
    const bytes = Buffer.from('name;email\nJ\xfcrg, A;a@b.de\n', 'latin1');
    expect((await read(bytes, { encoding: 'cp1251' })).rows[0]?.cells).toEqual(['Jьrg, A', 'a@b.de']);
    expect((await read(bytes, { delimiter: ',', headerRow: 0 })).rows[1]?.cells).toEqual(['Jürg', ' A;a@b.de']);
    expect((await read(bytes, { charset: 'iso-8859-5' })).rows[0]?.cells).toEqual(['Jќrg, A', 'a@b.de']);
    await expect(read(bytes, { encoding: 'klingon' })).rejects.toThrow('there is no encoding "klingon"');
  });
});
