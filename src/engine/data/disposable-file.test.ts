import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256Hex } from '../../kernel/ids.ts';
import {
  allEntries,
  type DisposableEntry,
  DisposableFileError,
  entryOf,
  formatDisposable,
  isVerdict,
  parseDisposable,
} from './disposable-file.ts';

const sources = new Map([['a', 'one 1.0']]);
const entry = fc.record<DisposableEntry>({
  bits: fc.integer({ min: 1, max: 63 }),
  reason: fc.constantFrom(null, 'suffix', 'zone', 'allow'),
});
const name = fc.stringMatching(/^[a-z0-9]{1,20}\.(com|co\.uk|xn--p1ai)$/);

describe('the file of disposable domains', () => {
  it('round-trips, with tiers by the rule', () => {
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
          for (const near of [`0${n}`, `${n}.br`, n.slice(1), n.slice(0, -1)]) {
            expect(entryOf(file, near)).toEqual(entries.get(near) ?? null);
          }
        }
        const tiers = list.map(([n]) => file.tier(n));
        expect(file.verdict.size).toBe(tiers.filter((tier) => tier === 'verdict').length);
        expect(file.suspicion.size).toBe(tiers.filter((tier) => tier === 'suspicion').length);
        expect(formatDisposable('2026-11-20', file.sources, new Map([...entries].reverse()))).toBe(text);
      }),
    );
  });

  it('rejects a file truncated at any byte', () => {
    const text = formatDisposable(
      '2026-11-20',
      sources,
      new Map([
        ['one.com', { bits: 1, reason: null }],
        ['two.com', { bits: 8, reason: null }],
      ]),
    );
    for (let length = 0; length < text.length; length++) {
      expect(() => parseDisposable(text.slice(0, length)), `${length}`).toThrow(DisposableFileError);
    }
  });

  it('rejects a file whose lines do not match the digest', () => {
    const text = formatDisposable(
      '2026-11-20',
      sources,
      new Map([...'zyx'].map((letter) => [`${letter}.com`, { bits: 1, reason: null }])),
    );
    const swapped = text.replace('x.com\ta\ny.com\ta', 'y.com\ta\nx.com\ta');
    for (const changed of [swapped, text.replaceAll('\n', '\r\n'), text.replace('z.com\ta', 'z.com\tb'), `${text}\n`]) {
      expect(changed).not.toBe(text);
      expect(() => parseDisposable(changed)).toThrow(DisposableFileError);
    }
  });

  it('terminates for any text, sorted or not', () => {
    const lines = fc.array(fc.stringMatching(/^[a-c\t\n.]{0,6}$/), { maxLength: 30 });
    fc.assert(
      fc.property(lines, fc.stringMatching(/^[a-c.]{0,5}$/), (parts, asked) => {
        const body = parts.join('\n');
        const good = formatDisposable('2026-11-20', sources, new Map()).replace(/# sha256: .*\n/, '');
        const file = parseDisposable(`${good}# sha256: ${sha256Hex(body)}\n${body}`);
        expect([null, 'verdict', 'suspicion']).toContain(file.tier(asked));
        entryOf(file, asked);
      }),
    );
  });

  it.each([
    '',
    '<html></html>',
    '# version: 2026-11-20\nfoo.com\ta\n',
    '# version: x\n# entries: 0\n',
  ])('refuses %j', (text) => {
    expect(() => parseDisposable(text)).toThrow(DisposableFileError);
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
