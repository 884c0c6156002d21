import { describe, expect, it } from 'vitest';
import { IMPORT_BODY_BYTES, IMPORT_LINES } from '../../../../../src/kernel/facts/limits.ts';
import {
  backToText,
  fromRows,
  type ImportLine,
  MAX_LINES,
  nextChunk,
  readLines,
  readTyped,
  toRequest,
  UnusableText,
} from './lines.ts';

const brief = ({ number, type, value, reason, problem }: ImportLine) => [number, type, value, reason, problem];

describe('pasted lines', () => {
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

  it('are numbered including empty lines', () => {
    expect(readLines('a.example\r\n\n \nb.example\rc.example').map(({ number, value }) => [number, value])).toEqual([
      [1, 'a.example'],
      [4, 'b.example'],
      [5, 'c.example'],
    ]);
  });

  it('never block a top-level domain when preceded by a type', () => {
    expect(readLines('email,jane').map(brief)).toEqual([[1, 'email', 'jane', null, null]]);
  });

  it('report problems that would fail the whole request', () => {
    const [long, wordy, fits] = readLines(
      `${'a'.repeat(1025)}\na.example,${'ä'.repeat(501)}\na.example,${'😀'.repeat(500)}`,
    );
    expect(long?.problem).toMatch(/1024/);
    expect(wordy?.problem).toMatch(/500/);
    expect(fits?.problem).toBeNull();
  });

  it('are rejected above the limit', () => {
    expect(readLines('a\n'.repeat(MAX_LINES))).toHaveLength(MAX_LINES);
    expect(() => readLines('a\n'.repeat(MAX_LINES + 1))).toThrow(UnusableText);
  });
});

describe('CSV', () => {
  it('is detected by its header, in any column order', () => {
    const lines = readTyped(`\uFEFFvalue,reason,filter_type\n"a.example","x, ""y""",domain\n\nb.example,,\n`);
    expect(lines.map(brief)).toEqual([
      [2, 'domain', 'a.example', 'x, "y"', null],
      [4, null, 'b.example', null, null],
    ]);
  });

  it('is read as exported: the apostrophe before a formula is removed', () => {
    const lines = readTyped(
      "filter_type,value,reason,created_at\r\ndomain,a.example,'=1+1,2026-11-21T00:00:00.000Z\r\ndomain,b.example,'＝1,\r\n",
    );
    expect(lines.map(brief)).toEqual([
      [2, 'domain', 'a.example', '=1+1', null],
      [3, 'domain', 'b.example', '＝1', null],
    ]);
  });

  it('may use semicolons or tabs, or have a single column', () => {
    expect(readTyped('filter_type\tvalue\ndomain\ta.example').map(brief)).toEqual([
      [2, 'domain', 'a.example', null, null],
    ]);
    expect(readTyped('value;reason\na.example;x, y').map(brief)).toEqual([[2, null, 'a.example', 'x, y', null]]);
    expect(readTyped('value\na.example').map(brief)).toEqual([[2, null, 'a.example', null, null]]);
    const rows = [{ record: ['a.example'], line: 1 }];
    expect(fromRows(rows).map(brief)).toEqual([[1, null, 'a.example', null, null]]);
  });

  it('reports an unknown type and a missing value', () => {
    const lines = readTyped('filter_type,value,reason\nhost,a.example,\n,,why');
    expect(lines.map(({ problem }) => problem)).toEqual([
      expect.stringMatching(/filter_type/),
      expect.stringMatching(/no value/),
    ]);
  });

  it('that is malformed is rejected with the line number', () => {
    expect(() => readTyped('value\n"a.example\nb.example')).toThrow(/near line 2/);
    expect(() => readTyped('value\n"a.example\nb.example')).toThrow(UnusableText);
    expect(() => readTyped('value\na.example\n"b.example"x')).toThrow(/near line 3/);
    expect(() => readTyped('value\na.example\0')).toThrow(/line 2 contains a NUL/);
  });
});

describe('parsed lines', () => {
  it('are formatted as text that parses to the same lines', () => {
    const text = 'domain,a.example,x, y\nb.example,z\nc.example';
    expect(backToText(readLines(text))).toBe(text);
  });

  it('are formatted with their columns where one does more than block', () => {
    const text = [
      'filter_type,value,reason,action,match,expires_at',
      'domain,a.example,"x, y",allow,,',
      ',b@c.example,,,mailbox,2030-01-01T00:00:00Z',
    ].join('\r\n');
    const lines = readTyped(text);
    expect(lines.map(toRequest)).toEqual([
      { filter_type: 'domain', value: 'a.example', reason: 'x, y', action: 'allow' },
      { value: 'b@c.example', match: 'mailbox', expires_at: '2030-01-01T00:00:00Z' },
    ]);
    expect(readTyped(backToText(lines)).map(toRequest)).toEqual(lines.map(toRequest));
  });

  it('never block what is to be allowed: an unknown word is a problem of its line', () => {
    const [line] = readTyped('value,action\na.example,permit');
    expect(line?.problem).toMatch(/action must be one of block, allow/);
  });

  it('are split into requests within the limits of lines and bytes, none left out', () => {
    const short = readLines(Array.from({ length: 2 * IMPORT_LINES.max + 50 }, (_, n) => `d${n}.example`).join('\n'));
    expect(chunks(short).map(({ length }) => length)).toEqual([IMPORT_LINES.max, IMPORT_LINES.max, 50]);
    const long = readLines(Array.from({ length: 300 }, (_, n) => `d${n}.example,${'😀'.repeat(500)}`).join('\n'));
    const sizes = chunks(long).map(
      (chunk) => new TextEncoder().encode(JSON.stringify({ lines: chunk.map(toRequest) })).length,
    );
    expect(sizes.length).toBeGreaterThan(2);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(IMPORT_BODY_BYTES);
    expect(chunks(long).flat()).toEqual(long);
  });
});

function chunks(lines: readonly ImportLine[]): (readonly ImportLine[])[] {
  const all: (readonly ImportLine[])[] = [];
  for (let at = 0; at < lines.length; at += all.at(-1)!.length) all.push(nextChunk(lines, at));
  return all;
}
