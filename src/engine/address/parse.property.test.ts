import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress, SYNTAX_ERRORS } from './parse.ts';

/** Strings that resemble addresses more often than arbitrary ones. */
const piece = fc.oneof(
  fc.constantFrom(
    '@',
    '.',
    '"',
    '\\',
    '-',
    'xn--',
    'a',
    'Z',
    '9',
    'ä',
    'ß',
    'א',
    '١',
    '。',
    '\u200D',
    '\u0301',
    '.com',
  ),
  fc.constantFrom(
    'example.com',
    '.test',
    '[',
    '(',
    '<',
    '>',
    ' ',
    '\r\n',
    '\0',
    '\uD800',
    '\uDC00',
    '😀',
    'ﷺ',
    '+',
    '·',
  ),
  fc.string({ unit: 'binary', maxLength: 3 }),
  fc.string({ unit: 'grapheme-ascii', maxLength: 12 }),
);
const nearAddress = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''));

/** Mostly valid addresses, so that the second property below is exercised. */
const word = (letters: string) => fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 8 });
const atom = fc.oneof(
  word("abcXYZ019!#$%&'*+-/=?^_`{|}~"),
  word('äöü用户😀❤'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }),
);
const quotedText = fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`);
const localPart = fc.oneof(
  fc.array(atom, { minLength: 1, maxLength: 3 }).map((atoms) => atoms.join('.')),
  quotedText,
);
const label = fc.oneof(
  word('abcXYZ019-'),
  word('äößÉΣςçя'),
  word('אבג1'),
  word('例え日本語ー・'),
  word('ＡｂＣ１－'),
  word('नमस्ते\u200D'),
);
const domain = fc
  .tuple(
    fc.array(label, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('com', 'CO.UK', 'рф', 'xn--p1ai', 'ｄｅ', 'jp'),
  )
  .chain(([labels, tld]) => fc.constantFrom('.', '。').map((dot) => [...labels, tld].join(dot)));
const likely = fc.tuple(localPart, domain).map((parts) => parts.join('@'));

/** Any sequence of UTF-16 units, lone surrogates included. */
const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 }).map((u) => String.fromCharCode(...u));
const anyText = fc.oneof(units, fc.string({ unit: 'binary', maxLength: 80 }), nearAddress, likely);

describe('parseAddress on arbitrary text', () => {
  it('never throws; a fault has a known code and an index within the text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const parsed = parseAddress(text);
        if (parsed.ok) return;
        expect(parsed.error in SYNTAX_ERRORS).toBe(true);
        expect(parsed.index).toBeGreaterThanOrEqual(0);
        expect(parsed.index).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 3000 },
    );
  });

  it('accepts nothing with line ends, invisible characters or excess length; accepted addresses parse unchanged', () => {
    let passed = 0;
    fc.assert(
      fc.property(likely, (text) => {
        const parsed = parseAddress(text);
        if (!parsed.ok) return;
        passed++;
        const { address } = parsed;
        expect(address.normalized).not.toMatch(/[\p{Cc}\p{Cs}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u);
        if (!address.quoted) expect(address.normalized).not.toMatch(/[\s"<>]/u);
        expect(Buffer.byteLength(address.localPart)).toBeLessThanOrEqual(64);
        expect(Buffer.byteLength(address.normalized)).toBeLessThanOrEqual(254);
        expect(address.domain).toMatch(/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{1,63}$/);
        expect(address.needsSmtputf8).toBe(/[^\0-\x7F]/.test(address.localPart));
        const again = parseAddress(address.normalized);
        expect(again).toEqual({ ok: true, address: { ...address, raw: address.normalized } });
        const inUnicode = parseAddress(`${address.localPart}@${address.unicodeDomain}`);
        expect(inUnicode).toMatchObject({ ok: true, address: { domain: address.domain } });
      }),
      { numRuns: 3000 },
    );
    expect(passed).toBeGreaterThan(500);
  });

  it('takes linear time for text of any length', () => {
    const n = 200_000;
    const hostile = ['a', '.', 'a.', '"', '\\', '@', 'ä', 'xn--', 'ä.', 'ﷺ', '<', ' ', '\uD800', '\u200D', '-', 'א'];
    for (const part of hostile) {
      for (const text of [`${part.repeat(n)}@example.com`, `a@${part.repeat(n)}`, `"${part.repeat(n)}"@b.com`]) {
        expect(parseAddress(text)).toMatchObject({ ok: false });
      }
    }
  });
});
