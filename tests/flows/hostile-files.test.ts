/**
 * Files that are made to break their reader. Each is read, or rejected with a FileError; neither takes more than its
 * bounds, and nothing is left behind. `MAILVET_TEST_ROUNDS=100` makes it 100,000 files.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileError } from '../../src/files/problems.ts';
import { type ReadOptions, readAddressFile } from '../../src/files/read-file.ts';
import { workbookOf, zipOf } from '../lab/zip.ts';

const CASES = Number(process.env.MAILVET_TEST_ROUNDS ?? 1) * 1_000;
/** Files that are read at the same time. */
const LANES = 7;
/** Small, so that small files reach them. */
const LIMITS = { bytes: 400_000, rows: 500, rowBytes: 2_000, columns: 30 };
const MiB = 1 << 20;

let dir: string;
const before = process.env.TMPDIR;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'mailvet-hostile-'));
  process.env.TMPDIR = dir;
});
afterAll(() => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  rmSync(dir, { recursive: true, force: true });
});

const openFiles = (): number => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);

/** Rows, or the code of the problem. Anything else fails. */
async function outcome(bytes: Uint8Array, chunk: number, options: ReadOptions): Promise<number | string> {
  let isClosed = false;
  async function* input() {
    try {
      for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
    } finally {
      isClosed = true;
    }
  }
  try {
    const file = await readAddressFile(input(), options);
    const limits = { ...LIMITS, ...options.limits };
    let rows = 0;
    let line = 0;
    for await (const batch of file.batches) {
      for (const row of batch.rows) {
        rows += 1;
        const { cells, extra } = row;
        const isSound =
          row.row === rows &&
          row.line >= line &&
          cells.length === file.reading.columns.length &&
          cells.length + extra.length <= limits.columns &&
          (row.problem === null || row.addresses.length === 0) &&
          !cells.concat(extra).join('').includes('\0');
        // A million expectations would take minutes.
        if (!isSound) expect.fail(`${rows}, line ${line}: ${JSON.stringify(row)}`);
        line = row.line;
      }
    }
    expect(rows).toBeLessThanOrEqual(limits.rows);
    return rows;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    expect(error.message).toMatch(/^.+\.$/s);
    return error.problem.code;
  } finally {
    // A file without a byte is not opened.
    expect(isClosed || bytes.length === 0).toBe(true);
  }
}

/** Mulberry32: the same files in every run. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

interface Dice {
  below(n: number): number;
  pick<T>(items: readonly T[]): T;
  text(parts: readonly string[], most: number): string;
}
function diceOf(seed: number): Dice {
  const random = randomOf(seed);
  const below = (n: number) => Math.floor(random() * n);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  return { below, pick, text: (parts, most) => Array.from({ length: below(most) }, () => pick(parts)).join('') };
}

const CSV = [
  '"',
  '""',
  ',',
  ';',
  '\t',
  '\n',
  '\r',
  '\r\n',
  '\0',
  'a@b.de',
  'email',
  ' ',
  'é',
  '\u{FEFF}',
  '=1',
  'x'.repeat(300),
];
const JSON_PARTS = [
  '[',
  ']',
  '{',
  '}',
  '"',
  ',',
  ':',
  '\\',
  '\\u0000',
  '\\ud800',
  'null',
  '1e999',
  '"a@b.de"',
  '"email":',
  ' ',
  '\n',
];
const XML = [
  '<row>',
  '<row r="3">',
  '<row r="9999999999">',
  '<row r="1048576"><c r="A1"><v>1</v></c></row>',
  '</row>',
  '<c>',
  '</c>',
  '<c t="s"><v>0</v></c>',
  '<c t="s"><v>99</v></c>',
  '<c r="XFD1"><v>1</v></c>',
  '<c r="A1" t="inlineStr"><is><t>',
  '</t></is></c>',
  '<c t="str"><v>a@b.de</v></c>',
  '<v>',
  '</v>',
  '&#0;',
  '&#x110000;',
  '&amp',
  '&lol;',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<?',
  '?>',
  '<!DOCTYPE x>',
  '<',
  '>',
  '"',
  "'",
  'a="',
  '\0',
  'x'.repeat(1500),
  '<x:row>',
  '<c s="1"><v>45000.5</v></c>',
  '<c><v>1e400</v></c>',
];
const SHEET =
  '<worksheet><sheetData><row r="1"><c t="s"><v>0</v></c></row><row r="2"><c t="s"><v>1</v></c></row></sheetData></worksheet>';
const STRINGS = '<sst><si><t>email</t></si><si><t>a@b.de</t></si></sst>';
const GOOD_CSV = Buffer.from(`name;email;x\n${'"Doe; J";a@b.de;1\nJürgen;b@c.de;"a\nb"\n'.repeat(20)}`);
const GOOD_XLSX = workbookOf(SHEET, STRINGS);
const OFFICE = 'urn:oasis:names:tc:opendocument:xmlns:office:1.0';
const ods = (rows: string): Buffer =>
  zipOf({
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content xmlns:office="${OFFICE}"><table:table table:name="A">${rows}</table:table></office:document-content>`,
  });
const xlsb = (parts: Parameters<typeof zipOf>[0]): Buffer =>
  zipOf({ '[Content_Types].xml': '<Types/>', 'xl/workbook.bin': '', ...parts });

/** Bytes changed, removed, doubled, or cut off. */
function damaged(bytes: Buffer, dice: Dice): Buffer {
  let result = Buffer.from(bytes);
  for (let n = 1 + dice.below(4); n > 0; n--) {
    const at = dice.below(result.length);
    const kind = dice.below(5);
    if (kind === 0) result[at] = dice.below(256);
    else if (kind === 1) result = result.subarray(0, at);
    else if (kind === 2) result = Buffer.concat([result.subarray(0, at), result.subarray(at + dice.below(20))]);
    else if (kind === 3) result = Buffer.concat([result.subarray(0, at), result.subarray(dice.below(at + 1))]);
    else if (at + 4 <= result.length) result.writeUInt32LE(dice.pick([0, 0xffffffff, 0x7fffffff, 65_536, 1]), at);
  }
  return result;
}

const KINDS: readonly ((dice: Dice) => Buffer)[] = [
  (dice) => Buffer.from(dice.text(CSV, 200)),
  (dice) => Buffer.from(dice.text(CSV, 200), 'latin1'),
  (dice) =>
    Buffer.concat([
      dice.pick([Buffer.from([0xff, 0xfe]), Buffer.alloc(0)]),
      Buffer.from(dice.text(CSV, 100), 'utf16le'),
    ]),
  (dice) =>
    Buffer.concat([
      Buffer.from(dice.text(CSV, 50)),
      Buffer.from(dice.text(CSV, 50), 'latin1'),
      Buffer.from(dice.text(CSV, 50), 'utf16le'),
    ]),
  (dice) => Buffer.from(Array.from({ length: dice.below(300) }, () => dice.below(256))),
  (dice) => Buffer.from(dice.pick(['[', '{"email":', '']) + dice.text(JSON_PARTS, 60)),
  (dice) => damaged(GOOD_CSV, dice),
  (dice) => damaged(GOOD_XLSX, dice),
  (dice) => workbookOf(`<sheetData>${dice.text(XML, 40)}`, dice.pick([STRINGS, dice.text(XML, 20)])),
  (dice) =>
    workbookOf(SHEET, STRINGS, { size: dice.below(9) - 4, crc: dice.below(2), method: dice.pick([0, 8, 8, 99]) }),
];

it(`${CASES.toLocaleString('en-US')} files are read or rejected`, { timeout: 1_200_000 }, async () => {
  // Threads stay for a while, with files of their own.
  await Promise.all(Array.from({ length: LANES }, () => outcome(GOOD_XLSX, 1000, {})));
  const files = openFiles();
  const seen = new Map<number | string, number>();
  async function tryFile(seed: number): Promise<void> {
    const dice = diceOf(seed);
    const bytes = (KINDS[seed % KINDS.length] ?? expect.fail())(dice);
    const headerRow = dice.pick([null, null, 1, 0]);
    const columns = dice.pick([null, null, ['1'], ['email'], 'all'] as const);
    try {
      const found = await outcome(bytes, 1 + dice.below(1000), { headerRow, columns, limits: LIMITS });
      const kind = typeof found === 'number' ? 'read' : found;
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
    } catch (error) {
      throw new Error(`seed ${seed}: ${JSON.stringify(bytes.toString('latin1').slice(0, 500))}`, { cause: error });
    }
  }
  // Side by side, because much of a file's time goes by between threads.
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    for (let seed = lane; seed < CASES; seed += LANES) await tryFile(seed);
  });
  await Promise.all(lanes);
  // The files are hostile in many ways, and many of them are still files.
  for (const kind of ['read', 'list_too_large', 'unreadable_file', 'no_address_column'])
    expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(CASES / 100);
  // One for large workbooks may have started meanwhile.
  await expect.poll(openFiles, { timeout: 120_000 }).toBeLessThanOrEqual(files);
  expect(readdirSync(dir)).toEqual([]);
});

describe('a bomb is defused', () => {
  const [before, after] = ['<worksheet><sheetData>', '</sheetData></worksheet>'];
  const sheet = (body: string) => before + body + after;
  /** 200 MB of text, with so much of it. */
  const much = (text: string) => ({ text: text.repeat(MiB / text.length), times: 200 });
  it.each([
    ['200 MB of spaces in a sheet', () => workbookOf(much(' ')), 'list_too_large'],
    [
      '200 MB in one cell',
      () => workbookOf({ before: `${before}<row><c t="str"><v>`, ...much('x'), after }),
      'list_too_large',
    ],
    ['200 MB in one tag', () => workbookOf({ before: '<row ', ...much('x') }), 'list_too_large'],
    ['1 MB in one tag', () => workbookOf(`<row ${'x'.repeat(MiB)}`), 'unreadable_file'],
    [
      '200 MB of shared texts',
      () => workbookOf(sheet(''), { text: `<si><t>${'x'.repeat(60_000)}</t></si>`, times: 3_400 }),
      'list_too_large',
    ],
    [
      'rows without end',
      () => workbookOf({ before, text: '<row><c t="str"><v>a@b.de</v></c></row>'.repeat(100), times: 10_001, after }),
      'list_too_large',
    ],
    ['a row far down', () => workbookOf(sheet('<row r="999999999"><c><v>1</v></c></row>')), 'list_too_large'],
    ['a size that is a lie', () => workbookOf(sheet(''), STRINGS, { size: 2 ** 30 }), 'list_too_large'],
    ['entities', () => workbookOf(`<!DOCTYPE x [<!ENTITY a "${'x'.repeat(1000)}">]>${sheet('')}`), 'unreadable_file'],
    ['a million columns', () => Buffer.from(`email${',x'.repeat(1_000_000)}\n`), 'no_address_column'],
    ['20 MB in one cell of text', () => Buffer.alloc(20 * MiB, 'x'), 'no_address_column'],
    ['gzip that unpacks to far more', () => gzipSync(Buffer.alloc(64 * MiB, 'a@b.de\n')), 'list_too_large'],
    [
      'a ZIP archive that does',
      () => zipOf({ 'a.csv': { text: 'a@b.de\n'.repeat(MiB / 7), times: 200 } }),
      'list_too_large',
    ],
    [
      'an entry that is longer than its size',
      () => zipOf({ 'a.csv': 'a@b.de\n'.repeat(9_000) }, { size: -40_000 }),
      'unreadable_file',
    ],
    [
      'a binary workbook that unpacks to far more',
      () => xlsb({ 'xl/worksheets/sheet1.bin': much('x') }),
      'list_too_large',
    ],
    [
      'a million equal rows of OpenDocument',
      () =>
        ods(
          '<table:table-row table:number-rows-repeated="1000000000"><table:table-cell><text:p>a@b.de</text:p></table:table-cell></table:table-row>',
        ),
      'list_too_large',
    ],
    [
      'a billion equal cells of OpenDocument',
      () =>
        ods(
          '<table:table-row><table:table-cell table:number-columns-repeated="1000000000"><text:p>a@b.de</text:p></table:table-cell></table:table-row>',
        ),
      'list_too_large',
    ],
    ['tables in tables', () => Buffer.from('<html><table><tr><td>a@b.de'.repeat(100_000)), 'list_too_large'],
    [
      'entities in XML of Excel 2003',
      () =>
        Buffer.from(
          `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "x">]><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"></Workbook>`,
        ),
      'unreadable_file',
    ],
    ['deep JSON under a key', () => Buffer.from(`{"users":${'['.repeat(100_000)}"a@b.de"${']'.repeat(100_000)}}`), 1],
    ['100 MB in one text of JSON', () => Buffer.from(`["${'x\\"'.repeat(25 * MiB)}"]`), 1],
    ['objects that are never closed', () => Buffer.from('{"a":'.repeat(100_000)), 'unreadable_file'],
    ['a vCard without end', () => Buffer.from(`BEGIN:VCARD\n${'EMAIL:a@b.de\n'.repeat(500_000)}`), 'unreadable_file'],
    ['a deep JSON array', () => Buffer.from('['.repeat(10 * MiB)), 'unreadable_file'],
  ] as const)('%s', async (_title, make, found) => {
    expect(await outcome(make(), 65_536, {})).toBe(found);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('20 MB of quotes that are never closed cost their lines', async () => {
    const bytes = Buffer.from(`email,x\n${'a@b.de,"x\n'.repeat(500_000)}`);
    expect(await outcome(bytes, 65_536, { limits: { rows: 500_000 } })).toBe(500_000);
  });
});
