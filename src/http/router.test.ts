import { describe, expect, it } from 'vitest';
import { Router } from './router.ts';

const PATHS = [
  ['GET', '/'],
  ['GET', '/keys'],
  ['POST', '/keys'],
  ['GET', '/keys/:id'],
  ['DELETE', '/keys/:id'],
  ['POST', '/keys/import'],
  ['GET', '/keys/:id/uses/:use'],
  ['GET', '/keys.csv'],
] as const;
const router = new Router(PATHS.map(([method, path]) => ({ method, path })));

const found = (method: string, path: string) => {
  const { row, params } = router.find(method, path) ?? {};
  return row && [row.path, params];
};

describe('a path', () => {
  it.each([
    ['GET', '/', ['/', {}]],
    ['GET', '/keys', ['/keys', {}]],
    ['HEAD', '/keys', ['/keys', {}]],
    ['GET', '/keys.csv', ['/keys.csv', {}]],
    ['GET', '/%6beys', ['/keys', {}]],
    ['GET', '/keys/a%2Fb%20c', ['/keys/:id', { id: 'a/b c' }]],
    ['POST', '/keys/import', ['/keys/import', {}]],
    ['DELETE', '/keys/import', ['/keys/:id', { id: 'import' }]],
    ['GET', '/keys/1/uses/__proto__', ['/keys/:id/uses/:use', { id: '1', use: '__proto__' }]],
    ['GET', `/keys/${'x'.repeat(200)}`, ['/keys/:id', { id: 'x'.repeat(200) }]],
  ] as const)('%s %s is found', (method, path, expected) => {
    expect(found(method, path)).toEqual(expected);
  });

  it.each([
    ['GET', ''],
    ['GET', '*'],
    ['GET', '/Keys'],
    ['GET', '/keys/'],
    ['GET', '//keys'],
    ['GET', '/keys%2F1'],
    ['GET', '/keys/%ff'],
    ['GET', `/keys/${'x'.repeat(201)}`],
    ['PUT', '/keys'],
    ['constructor', '/keys'],
  ])('%s %s is not', (method, path) => {
    expect(found(method, path)).toBeUndefined();
  });

  it('takes the methods of its rows, and HEAD where it takes GET', () => {
    expect(router.methodsOf('/keys')).toEqual(['GET', 'POST', 'HEAD']);
    expect(router.methodsOf('/keys/import')).toEqual(['POST', 'GET', 'DELETE', 'HEAD']);
    expect(router.methodsOf('/nowhere')).toEqual([]);
    expect(router.methodsOf('/%ff')).toBeNull();
  });
});
