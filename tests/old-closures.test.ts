import { describe, expect, it } from 'vitest';
import { oldClosuresIn } from './old-closures.ts';
import { allSources } from './syntax.ts';

/** Files whose functions of this kind are made once, or live as long as their connection. */
const ALLOWED = new Set([
  'src/engine/data/domain-data.ts',
  'src/files/write-results.ts',
  'src/http/server.ts',
  'src/main/services.ts',
  'src/service/verify.ts',
  'src/store/clock.ts',
]);

describe('functions that keep what they refer to in memory', () => {
  const sources = allSources().filter(({ path }) => path.startsWith('src/') && !path.endsWith('.test.ts'));

  it('are nowhere in src, but where they are few', () =>
    expect(oldClosuresIn(sources.filter(({ path }) => !ALLOWED.has(path)))).toEqual([]));
  it('are still where they are allowed', () => {
    const places = oldClosuresIn(sources.filter(({ path }) => ALLOWED.has(path)));
    expect(new Set(places.map((place) => place.split(':')[0]))).toEqual(ALLOWED);
  });
});

describe('such a function', () => {
  const found = (text: string) => oldClosuresIn([{ path: 'src/a.ts', text }]);

  it.each([
    'a.b = () => c;',
    'a[b] = function () {};',
    'this.#a = (b) => b;',
    'a.b ??= async () => c;',
    'a.b = (() => c) as D;',
    'const a = { get b() { return c; } };',
    'const a = { set b(c) {} };',
  ])('is found: %s', (text) => expect(found(`\n${text}`)).toEqual(['src/a.ts:2']));
  it.each([
    'const b = () => c; a.b = b;',
    'let a; a = () => c;',
    'const a = { b: () => c, d() {} };',
    'class A { b = () => c; get d() { return e; } }',
    'a.b = c ? () => d : null;',
    'a.b = c(() => d);',
  ])('is not: %s', (text) => expect(found(text)).toEqual([]));
});
