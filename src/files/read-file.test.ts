import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { zipOf } from '../../tests/lab/zip.ts';
import { FileError } from './problems.ts';
import { type Reading, type ReadOptions, readAddressFile } from './read-file.ts';
import type { FileRow } from './rows.ts';

async function* chunksOf(bytes: Uint8Array, size = 65_536) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function read(
  content: string | Uint8Array,
  options: ReadOptions = {},
): Promise<Reading & { rows: FileRow[]; addressColumn: number | undefined }> {
  const file = await readAddressFile(chunksOf(typeof content === 'string' ? Buffer.from(content) : content), options);
  const rows: FileRow[] = [];
  for await (const batch of file.batches) rows.push(...batch.rows);
  return { ...file.reading, rows, addressColumn: file.reading.addressColumns[0] };
}
const addresses = async (content: string | Uint8Array, options: ReadOptions = {}) =>
  (await read(content, options)).rows.map(({ addresses }) => addresses[0]?.text ?? null);
const problemOf = async (content: string | Uint8Array, options: ReadOptions = {}) =>
  read(content, options).then(
    () => expect.fail('it was read'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(FileError);
      return error instanceof FileError ? { ...error.problem, message: error.message } : expect.fail();
    },
  );

describe('the form of a file', () => {
  const UTF16 = Buffer.from('\u{FEFF}name,email\nJürgen,a@b.de\n', 'utf16le');
  it.each([
    ['csv', 'commas', 'email,name\na@b.de,"x;y"\n'],
    ['csv', 'semicolons', 'name;email\n"x,y";a@b.de\nDoe, Jane;a@b.de\n'],
    ['csv', 'tabs', 'name\temail\nDoe, Jane\ta@b.de\n'],
    ['csv', 'the delimiter that its first line names', 'sep=;\r\nemail;"a,b,c"\r\na@b.de;"1,2,3"\r\n'],
    ['csv', 'quoted cells of one column', '"email"\n"a@b.de"\n'],
    ['csv', 'a byte order mark', '\u{FEFF}email,x\na@b.de,1\n'],
    ['csv', 'UTF-16, little endian', UTF16],
    ['csv', 'UTF-16, big endian', Buffer.from(UTF16).swap16()],
    ['csv', 'Windows-1252', Buffer.from('name,email\nJ\xfcrgen,a@b.de\n', 'latin1')],
    ['csv', 'CR', 'name,email\rx,a@b.de\r'],
    ['text', 'an address per line', 'a@b.de\n'],
    ['ndjson', 'objects', '{"name":"x","email":"a@b.de"}\n'],
    ['json', 'addresses', ' [ "a@b.de" ] '],
    ['json', 'objects', '[{"email":"a@b.de","tags":[1]}]'],
  ])('%s: %s', async (form, _title, content) => {
    const file = await read(content);
    expect(file.format).toBe(form);
    expect(new Set(file.rows.map(({ addresses }) => addresses[0]?.text ?? null))).toEqual(new Set(['a@b.de']));
  });

  it('can be given', async () => {
    expect(await addresses('"Doe, J" <a@b.de>\nb@c.de, x\n', { form: 'text' })).toEqual(['a@b.de', 'b@c.de']);
    expect((await read('a\tb@c.de,d\n', { delimiter: '\t' })).rows[0]?.cells).toEqual(['a', 'b@c.de,d']);
    expect((await read('a,b@c.de\n', { delimiter: 'none' })).rows[0]?.cells).toEqual(['a,b@c.de']);
  });

  it('text keeps each line that is no UTF-8 as Windows-1252', async () => {
    const mixed = Buffer.concat([
      Buffer.from('name,email\nJürgen,a@b.de\n'),
      Buffer.from('J\xfcrg,c@d.de\n', 'latin1'),
    ]);
    expect((await read(mixed)).rows.map(({ cells }) => cells[0])).toEqual(['Jürgen', 'Jürg']);
  });

  it('text without line ends is never cut inside a character', async () => {
    const text = `["${'é'.repeat(20_000)}", ${Array.from({ length: 9000 }, () => '"日本@例え.jp"').join()}]`;
    for (const [size, pad] of [
      [65_536, ''],
      [32_769, ' '],
      [99_999, '  '],
    ] as const)
      expect(new Set(await addresses(pad + text).then((all) => all.slice(1))), `${size}`).toEqual(
        new Set(['日本@例え.jp']),
      );
  });

  it.each([
    ['nothing', '', /line 1: it is empty/],
    ['half an old Excel file', Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0, 0]), /save the list as \.xlsx/],
    ['binary data', Buffer.from([1, 2, 0, 3]), /binary data/],
    ['half a ZIP archive', zipOf({ 'a.txt': 'hello' }).subarray(0, 30), /damaged/],
    ['JSON that is cut off', '["a@b.de",\n"b', /line 2: the JSON is not closed/],
    ['JSON without a comma', '["a@b.de",\n"c@d.de" "e@f.de"]', /line 2: it is not valid JSON/],
    ['JSON with something behind it', '["a@b.de"]\nand more', /line 2: it is not valid JSON/],
  ])('%s is unreadable', async (_title, content, message) =>
    expect(await problemOf(content)).toMatchObject({
      code: 'unreadable_file',
      message: expect.stringMatching(message),
    }));
});

describe('the address column', () => {
  it('is that with the name also where an address stands twice in a file of few rows', async () => {
    const text = 'Name;E-Mail;Other\nAda;ada@a.de;x@a.de\nBo;;\nCy;bo@b.de;y@a.de\nCy;bo@B.de;\n';
    expect((await read(text)).addressColumns).toEqual([1]);
    const total = 'Name;E-Mail;Second\nAda;ada@a.de;x@a.de\nBo;bo@b.de;\nTotal;2;\n';
    expect((await read(total)).addressColumns).toEqual([1]);
  });

  it.each([
    'email',
    'E-Mail',
    'Contact Email',
    'user_email',
    'userEmail',
    'E-Mail-Adresse',
    'EMAIL ADDRESS (work)',
    'mail 1',
    'correo',
    'Correo electrónico',
    'Adresse e-mail',
    'courriel',
    'Indirizzo email',
    'e-mailadres',
    'E-post',
    'Sähköposti',
    'Adres e-mail',
    'E-mailová adresa',
    'Электронная почта',
    'Имейл',
    'Ηλεκτρονικό ταχυδρομείο',
    'E-posta',
    'البريد الإلكتروني',
    'דוא"ל',
    'ईमेल',
    'อีเมล',
    '邮箱',
    '電子郵件',
    'メールアドレス',
    '이메일',
    'Địa chỉ email',
  ])('is found by its name: %s', async (name) => {
    // The other column has more addresses, but no name that says so.
    const text = `note;"${name.replaceAll('"', '""')}";email status\nask x@y.de;a@b.de;ok\nask x@y.de;;ok\n`;
    expect((await read(text)).addressColumn).toBe(1);
  });

  it.each([
    ['by content, where no name is known', 'x,y\n1,a@b.de\n', 1],
    ['by content, where a name means something else', 'mail sent,contact\nyes,a@b.de\n', 1],
    ['by content, where a name promises too much', 'email,contact\nyes,a@b.de\nno,b@c.de\n', 1],
    ['by content, without a header', '1,a@b.de,x\n', 1],
    ['as the only named one, even if nothing in it is an address', 'email,name\nfoo,bar\n', 0],
  ])('is found %s', async (_title, text, column) => expect((await read(text)).addressColumn).toBe(column));

  it('can be given by name or number', async () => {
    const text = 'Email,Other Email, 3 \na@b.de,c@d.de,e@f.de\n';
    for (const [column, address] of [
      ['other email', 'c@d.de'],
      ['2', 'c@d.de'],
      ['3', 'e@f.de'],
      ['Email', 'a@b.de'],
    ] as const)
      expect(await addresses(text, { columns: [column] }), column).toEqual([address]);
    expect(await problemOf(text, { columns: ['4'] })).toMatchObject({
      code: 'no_address_column',
      columns: ['Email', 'Other Email', ' 3 '],
    });
  });

  it('is missing with the columns seen', async () => {
    const problem = await problemOf('first,last\nJane,Doe\n');
    expect(problem).toMatchObject({ code: 'no_address_column', columns: ['first', 'last'] });
    expect(problem.message).toMatch(/"first", "last"/);
  });

  it('has a header or not, as given', async () => {
    expect(await addresses('a@b.de,x\nc@d.de,y\n', { headerRow: 1 })).toEqual(['c@d.de']);
    expect(await addresses('email,x\nc@d.de,y\n', { headerRow: 0 })).toEqual(['email', 'c@d.de']);
    expect(await addresses('email\nc@d.de\n')).toEqual(['c@d.de']);
    expect(await addresses('email\na..b@c.de\nc@d.de\n')).toEqual(['a..b@c.de', 'c@d.de']);
    expect(await addresses('not.an.address\nc@d.de\n')).toEqual(['not.an.address', 'c@d.de']);
  });
});

describe('a row', () => {
  it('is padded, never shifted, and keeps its place and its cells', async () => {
    const { rows, columns } = await read(
      'name,email,x\n a ,  Ada <ada@b.de> ,\n\n"b\nc",mailto:b@c.de?subject=x,1,2,3\nd\n',
    );
    expect(columns).toEqual(['name', 'email', 'x']);
    expect(
      rows.map(({ row, line, cells, extra, addresses }) => [row, line, cells, extra, addresses[0]?.text ?? null]),
    ).toEqual([
      [1, 2, [' a ', '  Ada <ada@b.de> ', ''], [], 'ada@b.de'],
      [2, 3, ['', '', ''], [], null],
      [3, 4, ['b\nc', 'mailto:b@c.de?subject=x', '1'], ['2', '3'], 'b@c.de'],
      [4, 6, ['d', '', ''], [], null],
    ]);
  });

  it('has no results of an earlier run', async () => {
    const { rows, columns, addressColumn } = await read(
      'x,mailvet_status,email,Mailvet_Reason\n1,good,a@b.de,\n2,bad,b@c.de,no,5\n',
    );
    expect([columns, addressColumn]).toEqual([['x', 'email'], 1]);
    expect(rows.map(({ cells, extra }) => [...cells, ...extra])).toEqual([
      ['1', 'a@b.de'],
      ['2', 'b@c.de', '5'],
    ]);
  });

  it('with a NUL has no address', async () => {
    const { rows } = await read(`email,x\n${'a@b.de,1\n'.repeat(100)}b\0@c.de,2\nc@d.de,"\0"\n`);
    expect(rows.slice(99).map(({ addresses, problem }) => addresses[0]?.text ?? problem)).toEqual([
      'a@b.de',
      'nul',
      'nul',
    ]);
    expect(JSON.stringify(rows)).not.toContain('\\u0000');
    expect((await read('["a@b.de", "b\\u0000"]')).rows[1]).toMatchObject({ addresses: [], problem: 'nul' });
  });

  it.each([
    ['too deep', `{"email":"a@b.de","x":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, 'too_large'],
    ['too large', `{"email":"a@b.de","x":"${'x'.repeat(70_000)}"}`, 'too_large'],
    ['far too large', `{"email":"a@b.de","x":"${'x'.repeat(700_000)}"}`, 'too_large'],
    ['cut off', '{"email":', 'invalid_json'],
  ])('of JSON that is %s is unreadable, and no other', async (_title, line, problem) => {
    const text = `{"email":"a@b.de"}\n${line}\n{"email":"c@d.de"}\n`;
    const all = (await read(text)).rows.map((row) => [row.line, row.problem ?? row.addresses[0]?.text]);
    expect(all).toEqual([
      [1, 'a@b.de'],
      [2, problem],
      [3, 'c@d.de'],
    ]);
  });

  it('of JSON has the keys of all objects as columns', async () => {
    const { rows, columns } = await read('{"email":"a@b.de","n":1}\n\n{"n":null,"x":{"y":[true]},"email":"c@d.de"}\n');
    expect(columns).toEqual(['email', 'n', 'x.y']);
    expect(rows.map(({ line, cells }) => [line, ...cells])).toEqual([
      [1, 'a@b.de', '1', ''],
      [3, 'c@d.de', '', '[true]'],
    ]);
  });
});

describe('limits', () => {
  const limits = { bytes: 10_000, rows: 50, rowBytes: 500, columns: 20 };
  it.each([
    ['bytes', 'a@b.de\n'.repeat(2000), 10_000],
    ['rows', `email\n${'a@b.de\n'.repeat(51)}`, 50],
    ['columns', `email,x\n${',x'.repeat(20)}`, 20],
    ['rows', `[${Array.from({ length: 51 }, () => '"a@b.de"').join()}]`, 50],
  ])('name what is too large: %s', async (unit, content, limit) => {
    const problem = await problemOf(content, { limits });
    expect(problem).toMatchObject({ code: 'list_too_large', limit });
    expect(problem.message).toContain(` ${unit}`);
  });

  it('of columns leave further fields of JSON in the last one', async () => {
    const fields = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`k${i}`, i]));
    const { columns, rows } = await read(JSON.stringify({ email: 'a@b.de', ...fields }), { limits });
    expect(columns).toHaveLength(20);
    expect(columns.at(-1)).toBe('other_fields');
    expect(JSON.parse(rows[0]?.cells.at(-1) ?? '')).toMatchObject({ k18: '18', k29: '29' });
  });

  it('are those of the contract', async () => {
    const file = await readAddressFile(chunksOf(Buffer.from('a@b.de\n'.repeat(1_000_001))));
    let count = 0;
    const all = (async () => {
      for await (const batch of file.batches) count += batch.rows.length;
    })();
    await expect(all).rejects.toThrow(/more than 1,000,000 rows/);
    // Rows in the batch with the one too many are not returned.
    expect(count).toBeGreaterThan(999_500);
    expect(count).toBeLessThanOrEqual(1_000_000);
  });

  it('close an input that is too large', async () => {
    let isClosed = false;
    const endless = async function* () {
      try {
        for (;;) yield Buffer.from('a@b.de\n'.repeat(1000));
      } finally {
        isClosed = true;
      }
    };
    await expect(readAddressFile(endless(), { limits: { bytes: 10 } })).rejects.toThrow(FileError);
    expect(isClosed).toBe(true);
  });
});

it('cells come back as they were, whatever the delimiter', async () => {
  const cell = fc.string({ unit: 'grapheme', maxLength: 8 }).filter((text) => !text.includes('\0'));
  const rows = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(rows, fc.constantFrom(',', ';', '\t'), async (given, delimiter) => {
      const lines = [['email', 'n', 'x'], ...given.map(([a, b]) => ['a@b.de', a, b])];
      const text = lines.map((cells) => cells.map((c) => `"${c.replaceAll('"', '""')}"`).join(delimiter)).join('\n');
      expect((await read(text)).rows.map(({ cells }) => cells)).toEqual(lines.slice(1));
    }),
  );
});
