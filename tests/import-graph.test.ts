import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { CLIENT_ENTRIES } from '../scripts/build/sdk.ts';
import { importCycles, moduleOf, namesOfSeveral, unusedExports } from './import-graph.ts';
import { allSources } from './syntax.ts';

/** The library, the client with its adapters, and what the test runner loads: their exports are for others. */
const ENTRIES = [
  'src/index.ts',
  ...CLIENT_ENTRIES.map((name) => `sdk/src/${name}.ts`),
  'tests/lab/built.ts',
  'tests/lab/stores-setup.ts',
  'tests/packages/setup.ts',
  // Loaded by the path of its bundle, in a thread.
  'web/src/first-view.tsx',
  // What the build makes the library of.
  'scripts/build/library-entry.ts',
];

describe('the sources', () => {
  const modules = allSources().map(moduleOf);

  it('have no cycles of imports', () => expect(importCycles(modules)).toEqual([]));

  it('export nothing that no other file imports', () => expect(unusedExports(modules, ENTRIES)).toEqual([]));

  it('export no name that another file exports with another meaning', () =>
    expect(namesOfSeveral(modules)).toEqual([]));
});

it('a thread of SQLite starts without Kysely, which takes over a megabyte in each thread', async () => {
  const { outputFiles, metafile } = await build({
    entryPoints: { thread: 'src/store/sqlite/thread.ts' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    outdir: '.',
    write: false,
    metafile: true,
    logLevel: 'silent',
  } as const);
  expect(outputFiles.length).toBeGreaterThan(1);
  const loaded = new Set<string>();
  const load = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const { path: next, kind } of metafile.outputs[path]?.imports ?? []) if (kind !== 'dynamic-import') load(next);
  };
  load('thread.js');
  expect(loaded).toContain('node:sqlite');
  expect(loaded).not.toContain('kysely');
});

const modulesOf = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([path, text]) => moduleOf({ path, text }));

describe('a name with several meanings is found', () => {
  it('where two files declare it', () =>
    expect(
      namesOfSeveral(modulesOf({ 'src/a.ts': 'export interface Row {}', 'src/b/c.ts': 'export const Row = 1;' })),
    ).toEqual(['Row: src/a.ts, src/b/c.ts']));

  it('but not where one file declares it twice, passes it on or keeps it to itself, or both databases have it', () =>
    expect(
      namesOfSeveral(
        modulesOf({
          'src/a.ts': 'export const Row = 1; export type Row = 1;',
          'src/b.ts': "export type { Row } from './a.ts';",
          'src/c.ts': 'type Row = 2;',
          'src/store/sqlite/a.ts': 'export const read = 1;',
          'src/store/postgres/a.ts': 'export const read = 2;',
        }),
      ),
    ).toEqual([]));
});

describe('a cycle of imports is found', () => {
  it.each([
    ['of values', "import { b } from './b.ts';", "import { a } from './a.ts';"],
    ['of types', "import type { B } from './b.ts';", "type A = import('./a.ts').A;"],
    ['of late imports', "const { b } = await import('./b.ts');", "export * from './a.ts';"],
    ['of re-exports', "export { b } from './b.ts';", "export type { A } from './a.ts';"],
  ])('%s', (_, a, b) => {
    expect(importCycles(modulesOf({ 'src/a.ts': a, 'src/b.ts': b, 'src/c.ts': "import './a.ts';" }))).toEqual([
      ['src/a.ts', 'src/b.ts'],
    ]);
  });

  it('through folders and several files', () => {
    const texts = {
      'src/a.ts': "import './x/b.ts';",
      'src/x/b.ts': "import './c.ts';",
      'src/x/c.ts': "import '../a.ts';",
    };
    expect(importCycles(modulesOf(texts))).toEqual([['src/a.ts', 'src/x/b.ts', 'src/x/c.ts']]);
  });

  it('of a file with itself', () =>
    expect(importCycles(modulesOf({ 'src/a.ts': "import './a.ts';" }))).toEqual([['src/a.ts']]));

  it('and two ways to one file are none', () => {
    const texts = { 'src/a.ts': "import './b.ts'; import './c.ts';", 'src/b.ts': "import './c.ts';", 'src/c.ts': '' };
    expect(importCycles(modulesOf(texts))).toEqual([]);
  });
});

describe('an export', () => {
  const unused = (user: string, exporter: string) =>
    unusedExports(modulesOf({ 'src/x.ts': exporter, 'src/user.ts': user }), []);

  it.each([
    ['export const a = 1; export const b = a;', ['src/x.ts: b']],
    ['export function a() {} export type B = 1; export interface C {} export class D {}', ['B', 'C', 'D']],
    ['const a = 1; const b = 2; export { a, b as c };', ['src/x.ts: c']],
    ['export const { a, d: b } = {};', ['src/x.ts: b']],
    ["export type { A } from './y.ts'; export const a = 1;", ['src/x.ts: A']],
  ])('that no other file imports is found (%#)', (exporter, found) => {
    expect(unused("import { a } from './x.ts';", exporter)).toEqual(
      found.map((name) => (name.includes(':') ? name : `src/x.ts: ${name}`)),
    );
  });

  it.each([
    ["import { a as other } from './x.ts';"],
    ["import * as x from './x.ts'; x.a();"],
    ["import * as x from './x.ts'; type T = x.a;"],
    ["import * as x from './x.ts'; Object.entries(x);"],
    ["export * from './x.ts';"],
    ["export { a as b } from './x.ts';"],
    ["const { a } = await import('./x.ts');"],
    ["import('./x.ts').then((x) => x.a);"],
    ["lazy(() => import('./x.ts'), 'a');"],
    ["type T = typeof import('./x.ts')['a'];"],
  ])('that another file imports is not: %s', (user) => {
    expect(unused(user, 'export const a = 1;')).toEqual(user.includes('as b') ? ['src/user.ts: b'] : []);
  });

  it('of an entry is for others', () =>
    expect(unusedExports(modulesOf({ 'src/x.ts': 'export const a = 1;' }), ['src/x.ts'])).toEqual([]));
});
