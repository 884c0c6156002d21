import { describe, expect, it } from 'vitest';
import { allSources } from './syntax.ts';
import { assertionsIn } from './type-assertions.ts';

/** May fall, and then falls here as well. */
const MOST = { casts: 28, nonNull: 34 };

describe('type assertions in src', () => {
  const found = assertionsIn(allSources().filter(({ path }) => path.startsWith('src/') && !path.endsWith('.test.ts')));

  it('are no more casts than there were', () =>
    expect(found.casts.length, found.casts.join('\n')).toBeLessThanOrEqual(MOST.casts));
  it('are no more `!` than there were', () =>
    expect(found.nonNull.length, found.nonNull.join('\n')).toBeLessThanOrEqual(MOST.nonNull));
});

describe('an assertion', () => {
  const found = (text: string) => assertionsIn([{ path: 'src/a.ts', text }]);

  it.each([
    'const a = b as C;',
    'const a = <C>b;',
    'f({ x: y as unknown });',
    'const a = [b as C] as const;',
  ])('is found: %s', (text) => expect(found(`\n${text}`)).toEqual({ casts: ['src/a.ts:2'], nonNull: [] }));
  it.each(['a!.b;', 'f(a[0]!);', 'const a = b!;'])('is found: %s', (text) =>
    expect(found(text)).toEqual({ casts: [], nonNull: ['src/a.ts:1'] }));
  it.each([
    "const a = ['b'] as const;",
    'const a = !b;',
    "import { a as b } from './c.ts';",
    'const a = b satisfies C;',
    "// as C, b!\nconst s = 'b as C';",
  ])('is not: %s', (text) => expect(found(text)).toEqual({ casts: [], nonNull: [] }));
});
