import { describe, expect, it } from 'vitest';
import { isPublicSuffix, parseDomain, registrableDomain } from './parse.ts';

describe('parseDomain', () => {
  it('reports indices in the whole text, not in the domain', () => {
    expect(parseDomain('jane@exam_ple.com', 5)).toEqual({ ok: false, error: 'invalid_character', index: 9 });
    expect(parseDomain('jane@', 5)).toEqual({ ok: false, error: 'empty_domain', index: 5 });
  });

  it('accepts an existing TLD alone only with allowTld', () => {
    expect(parseDomain('ru', 0, { allowTld: true })).toMatchObject({ ok: true, ascii: 'ru' });
    expect(parseDomain('ru')).toMatchObject({ error: 'single_label' });
    for (const name of ['localhost', 'onion', 'nosuchtld', '123']) {
      expect(parseDomain(name, 0, { allowTld: true })).toMatchObject({ error: 'single_label' });
    }
  });
});

describe('public suffix list', () => {
  const icann = { allowPrivateDomains: false };

  it('finds the registrable domain', () => {
    expect(registrableDomain('mail.example.co.uk')).toBe('example.co.uk');
    expect(registrableDomain('co.uk')).toBeNull();
    expect(registrableDomain('a.b.github.io')).toBe('b.github.io');
    expect(registrableDomain('a.b.github.io', icann)).toBe('github.io');
    expect(registrableDomain('a.xn--p1ai')).toBe('a.xn--p1ai');
    expect(registrableDomain('r3---sn-a.example.com')).toBe('example.com');
  });

  it('distinguishes suffixes from names', () => {
    expect(['com', 'co.uk', 'foo.ck', 'github.io'].map((d) => isPublicSuffix(d))).toEqual([true, true, true, true]);
    expect(isPublicSuffix('github.io', icann)).toBe(false);
    expect(['example.com', 'www.ck', 'nosuchtld', ''].map((d) => isPublicSuffix(d))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});
