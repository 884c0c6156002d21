import { describe, expect, it } from 'vitest';
import { readTyped } from './csv.ts';
import {
  backToText,
  fromRows,
  type ImportLine,
  MAX_LINES,
  nextChunk,
  readLines,
  toRequest,
  UnusableText,
} from './lines.ts';

const brief = ({ number, type, value, reason, problem }: ImportLine) => [number, type, value, reason, problem];

describe('lines that are typed or pasted', () => {
  it.each<[text: string, type: string | null, value: string, reason: string | null]>([
    ['spam.example', null, 'spam.example', null],
    ['  spam.example  ', null, 'spam.example', null],
    ['spam.example, bought, twice', null, 'spam.example', 'bought, twice'],
    ['spam.example\ta tab, then a comma', null, 'spam.example', 'a tab, then a comma'],
    ['spam.example,', null, 'spam.example', null],
    ['"a,b"@example.com,quoted', null, '"a,b"@example.com', 'quoted'],
    ['"a\\",b"@example.com,quoted', null, '"a\\",b"@example.com', 'quoted'],
    ['"no end, at all', null, '"no end', 'at all'],
    ['domain,spam.example,as downloaded, here', 'domain', 'spam.example', 'as downloaded, here'],
    ['IP_Address,192.0.2.0/24', 'ip_address', '192.0.2.0/24', null],
  ])('%j', (text, type, value, reason) => {
    expect(readLines(text).map(brief)).toEqual([[1, type, value, reason, null]]);
  });

  it('are counted with the empty ones between them', () => {
    expect(readLines('a.example\r\n\n \nb.example\rc.example').map(({ number, value }) => [number, value])).toEqual([
      [1, 'a.example'],
      [4, 'b.example'],
      [5, 'c.example'],
    ]);
  });

  it('never block a top-level domain because a type was written before something else', () => {
    expect(readLines('email,jane').map(brief)).toEqual([[1, 'email', 'jane', null, null]]);
  });

  it('say what would have the whole request refused', () => {
    const [long, wordy, fits] = readLines(
      `${'a'.repeat(1025)}\na.example,${'ä'.repeat(501)}\na.example,${'😀'.repeat(500)}`,
    );
    expect(long?.problem).toMatch(/1024/);
    expect(wordy?.problem).toMatch(/500/);
    expect(fits?.problem).toBeNull();
  });

  it('are refused where they are too many', () => {
    expect(readLines('a\n'.repeat(MAX_LINES))).toHaveLength(MAX_LINES);
    expect(() => readLines('a\n'.repeat(MAX_LINES + 1))).toThrow(UnusableText);
  });
});

describe('CSV', () => {
  it('is known by its first line, whatever the order of its columns', async () => {
    const lines = await readTyped(`\uFEFFvalue,reason,filter_type\n"a.example","x, ""y""",domain\n\nb.example,,\n`);
    expect(lines.map(brief)).toEqual([
      [2, 'domain', 'a.example', 'x, "y"', null],
      [4, null, 'b.example', null, null],
    ]);
  });

  it('is taken as it was downloaded: the apostrophe before a formula comes off', async () => {
    const lines = await readTyped(
      "filter_type,value,reason,created_at\r\ndomain,a.example,'=1+1,2026-11-21T00:00:00.000Z\r\n",
    );
    expect(lines.map(brief)).toEqual([[2, 'domain', 'a.example', '=1+1', null]]);
  });

  it('may be set apart by semicolons, and may have one column', async () => {
    expect((await readTyped('value;reason\na.example;x, y')).map(brief)).toEqual([
      [2, null, 'a.example', 'x, y', null],
    ]);
    expect((await readTyped('value\na.example')).map(brief)).toEqual([[2, null, 'a.example', null, null]]);
    const rows = [{ record: ['a.example'], line: 1 }];
    expect(fromRows(rows).map(brief)).toEqual([[1, null, 'a.example', null, null]]);
  });

  it('names a type that there is not, and a line without a value', async () => {
    const lines = await readTyped('filter_type,value,reason\nhost,a.example,\n,,why');
    expect(lines.map(({ problem }) => problem)).toEqual([
      expect.stringMatching(/filter_type/),
      expect.stringMatching(/no value/),
    ]);
  });

  it('that is broken is refused with the line', async () => {
    await expect(readTyped('value\n"a.example\nb.example')).rejects.toThrow(/near line \d/);
    await expect(readTyped('value\n"a.example\nb.example')).rejects.toThrow(UnusableText);
  });
});

describe('what was read', () => {
  it('comes back as text that is read as the same', () => {
    const text = 'domain,a.example,x, y\nb.example,z\nc.example';
    expect(readLines(text).map(backToText).join('\n')).toBe(text);
  });

  it('goes out in requests of at most 200 lines and 12 KiB, none left out', () => {
    const short = readLines(Array.from({ length: 450 }, (_, n) => `d${n}.example`).join('\n'));
    expect(chunks(short).map(({ length }) => length)).toEqual([200, 200, 50]);
    const long = readLines(Array.from({ length: 90 }, (_, n) => `d${n}.example,${'ä'.repeat(400)}`).join('\n'));
    const sizes = chunks(long).map((chunk) => new TextEncoder().encode(JSON.stringify(chunk.map(toRequest))).length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(12 * 1024 + 2);
    expect(chunks(long).flat()).toEqual(long);
  });
});

function chunks(lines: readonly ImportLine[]): (readonly ImportLine[])[] {
  const all: (readonly ImportLine[])[] = [];
  for (let at = 0; at < lines.length; at += all.at(-1)!.length) all.push(nextChunk(lines, at));
  return all;
}
