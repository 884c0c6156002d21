import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Copy, copySources } from './copy.ts';

let copy: Copy;
beforeAll(() => {
  copy = copySources();
});
afterAll(() => copy.remove());

const lengthsOf = (document: string): number[] => {
  const { paths } = JSON.parse(document);
  return [
    ['/dashboard/accounts/{account}', 'patch'],
    ['/dashboard/accounts/{account}/keys', 'post'],
    ['/dashboard/accounts/{account}/keys/{id}', 'patch'],
    ['/dashboard/operator/accounts', 'post'],
    ['/dashboard/operator/accounts/{id}', 'patch'],
  ].map(([path = '', method = '']) => {
    const { schema } = paths[path][method].requestBody.content['application/json'];
    return schema.properties.name.maxLength;
  });
};

describe('a limit that is changed in one file', () => {
  it('compiles, and the generated files follow', () => {
    expect(new Set(lengthsOf(copy.read('web/openapi.json')))).toEqual(new Set([200]));
    copy.edit('src/kernel/limits.ts', 'NAME_LENGTH = { min: 1, max: 200 }', 'NAME_LENGTH = { min: 1, max: 300 }');
    expect(copy.compile()).toEqual([]);
    expect(copy.stale()).toEqual(['docs/api.md', 'docs/openapi.json', 'web/openapi.json']);
    copy.generate();
    expect(new Set(lengthsOf(copy.read('web/openapi.json')))).toEqual(new Set([300]));
    expect(copy.compile('web')).toEqual([]);
  });

  it('holds in the service: 300 characters are taken, 301 refused', () => {
    const { ok, output } = copy.test('tests/trials/in-the-copy/name-length.copy.ts');
    expect(ok, output).toBe(true);
    expect(output).toMatch(/Tests\s+2 passed/);
  });
});
