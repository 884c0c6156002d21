import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalDomain, canonicalEmail, parentDomains } from './parse.ts';

const email = (text: string) => {
  const found = canonicalEmail(text);
  return found.ok ? found.value : found.error;
};
const domain = (text: string) => {
  const found = canonicalDomain(text);
  return found.ok ? found.value : found.error;
};

describe('canonicalEmail', () => {
  it.each([
    ['Jane.DOE+News@EXÄMPLE.com', 'jane.doe+news@xn--exmple-cua.com'],
    ['JO\u0308RG@example.com', 'jörg@example.com'],
    ['"Jane"@example.com', 'jane@example.com'],
    ['"j\\ane"@example.com', 'jane@example.com'],
    ['"Jane Doe"@example.com', '"jane doe"@example.com'],
    ['"a\\"\\\\\\b"@example.com', '"a\\"\\\\b"@example.com'],
    ['"a..b"@example.com', '"a..b"@example.com'],
    ['""@example.com', '""@example.com'],
    ['jane', 'missing_at'],
    ['jane@example.com ', 'whitespace'],
    ['jane@foo.test', 'reserved_tld'],
  ])('%j → %s', (text, expected) => expect(email(text)).toBe(expected));

  it('is idempotent', () => {
    const local = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(local, fc.boolean(), (text, quoted) => {
        const first = canonicalEmail(quoted ? `"${text}"@example.com` : `${text}@example.com`);
        if (!first.ok || Buffer.byteLength(first.value) > 76) return;
        expect(canonicalEmail(first.value)).toEqual(first);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('canonicalDomain', () => {
  it.each([
    ['Example.COM', 'example.com'],
    ['exämple.com', 'xn--exmple-cua.com'],
    ['example。com', 'example.com'],
    ['co.uk', 'co.uk'],
    ['RU', 'ru'],
    ['рф', 'xn--p1ai'],
    ['', 'empty_domain'],
    ['localhost', 'single_label'],
    ['mailer', 'single_label'],
    ['example.con', 'unknown_tld'],
    ['foo.test', 'reserved_tld'],
    ['@example.com', 'multiple_at'],
    ['*.example.com', 'invalid_character'],
    ['example.com.', 'trailing_dot'],
    ['https://example.com/', 'invalid_character'],
    ['192.0.2.1', 'numeric_tld'],
  ])('%j → %s', (text, expected) => expect(domain(text)).toBe(expected));

  it('accepts a name under an unknown TLD where that is asked for, but not the TLD alone', () => {
    const options = { allowUnknownTld: true };
    expect(canonicalDomain('Example.NewTLD', options)).toEqual({ ok: true, value: 'example.newtld' });
    expect(canonicalDomain('newtld', options)).toMatchObject({ error: 'single_label' });
  });

  it('accepts special-use names in test setups', () => {
    expect(canonicalDomain('foo.test', { allowReserved: true })).toEqual({ ok: true, value: 'foo.test' });
  });
});

describe('parentDomains', () => {
  it('goes from the domain up to the TLD', () => {
    expect(parentDomains('a.b.co.uk')).toEqual(['a.b.co.uk', 'b.co.uk', 'co.uk', 'uk']);
    expect(parentDomains('ru')).toEqual(['ru']);
  });
});
