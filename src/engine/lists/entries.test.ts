import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allEntries, type Entry, entryOf, formatDisposable, ListFileError, parseDisposable } from './entries.ts';
import { isVerdict } from './rule.ts';

const sources = new Map([['a', 'one 1.0']]);
const entry = fc.record<Entry>({
  bits: fc.integer({ min: 1, max: 63 }),
  reason: fc.constantFrom(null, 'suffix', 'zone', 'allow'),
});
const name = fc.stringMatching(/^[a-z0-9]{1,20}\.(com|co\.uk|xn--p1ai)$/);

describe('the file of disposable domains', () => {
  it('gives back what was written, and the tiers by the rule', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(name, entry), { selector: ([n]) => n, maxLength: 40 }), (list) => {
        const entries = new Map(list);
        const text = formatDisposable('2026-11-20', sources, entries);
        const file = parseDisposable(text);
        expect(allEntries(file)).toEqual(entries);
        for (const [n, { bits, reason }] of entries) {
          expect(entryOf(file, n)).toEqual({ bits, reason });
          expect(file.verdict.has(n)).toBe(reason === null && isVerdict(bits));
          expect(file.suspicion.has(n)).toBe(reason === null && !isVerdict(bits));
        }
        expect(formatDisposable('2026-11-20', file.sources, new Map([...entries].reverse()))).toBe(text);
      }),
    );
  });

  it('refuses a file that is cut short, at any byte', () => {
    const text = formatDisposable(
      '2026-11-20',
      sources,
      new Map([
        ['one.com', { bits: 1, reason: null }],
        ['two.com', { bits: 8, reason: null }],
      ]),
    );
    for (let length = 0; length < text.length; length++) {
      expect(() => parseDisposable(text.slice(0, length)), `${length}`).toThrow(ListFileError);
    }
  });

  it.each([
    '',
    '<html></html>',
    '# version: 2026-11-20\nfoo.com\ta\n',
    '# version: x\n# entries: 0\n',
  ])('refuses %j', (text) => {
    expect(() => parseDisposable(text)).toThrow(ListFileError);
  });
});

describe('the rule', () => {
  it.each([
    ['a', 1, true],
    ['b', 2, true],
    ['c alone', 4, false],
    ['c and d', 12, true],
    ['c and e', 20, true],
    ['d and e', 24, false],
    ['c, d, e, and both free lists', 60, false],
    ['a, and both free lists', 33, true],
  ])('%s', (_, bits, expected) => {
    expect(isVerdict(bits)).toBe(expected);
  });
});
