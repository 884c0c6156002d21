import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Copy, copySources } from './copy.ts';

let copy: Copy;
beforeAll(() => {
  copy = copySources();
});
afterAll(() => copy.remove());

describe('a limit that is changed in one file', () => {
  it('compiles, and the generated files follow', () => {
    copy.edit('src/kernel/facts/limits.ts', 'NAME_LENGTH = { min: 1, max: 200 }', 'NAME_LENGTH = { min: 1, max: 300 }');
    expect(copy.compile()).toEqual([]);
    expect(copy.stale()).toEqual(['docs/api.md', 'docs/openapi.json']);
    copy.generate();
    expect(copy.compile('web')).toEqual([]);
  });

  it('holds in the service: 300 characters are described and taken, 301 refused', () => {
    const { ok, output } = copy.test('tests/trials/in-the-copy/name-length.copy.ts');
    expect(ok, output).toBe(true);
    expect(output).toMatch(/Tests\s+7 passed/);
  });
});
