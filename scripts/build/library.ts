import { copyFileSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { ROOT } from '../fresh.mjs';
import { writeDeclarations } from './declarations.ts';
import { licenses } from './licenses.ts';

/** What the engine reads without a server; a file that is missing here is an error of the built library. */
const DATA = [
  'allow.txt',
  'disposable-mx.json',
  'disposable.txt',
  'free.txt',
  'free-families.json',
  'known.txt',
  'mistyped.txt',
  'mx-providers.json',
  'relays.json',
  'roles.json',
  'shared-mail-hosts.txt',
  'smtp-codes.json',
  'smtp-lexicon.json',
  'smtp-model.tsv',
  'smtp-operators.json',
  'suggest.txt',
  'tlds.txt',
  'zones.txt',
];

/**
 * library/dist: the engine as @mailvet/engine, for Node 20, as ES module and CommonJS with one copy of the data.
 * Neither minified nor with files to find at run time: stack traces are readable, and bundlers need no settings. Built
 * in a temporary folder and moved into place, like dist/.
 */
export async function buildLibrary(): Promise<void> {
  const place = join(ROOT, 'library/dist');
  const folder = join(ROOT, `.cache/library-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const metafiles = await Promise.all((['esm', 'cjs'] as const).map((format) => bundle(folder, format)));
  const files = Object.fromEntries(DATA.map((name) => [name, readFileSync(join(ROOT, 'data', name), 'utf8')]));
  writeFileSync(join(folder, 'data.cjs'), `module.exports = ${JSON.stringify(files)};\n`);
  writeDeclarations(folder, { project: ['-p', 'tsconfig.types.json'], entries: ['index'] });
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES.txt'), licenses(metafiles, []));
  for (const name of ['LICENSE', 'NOTICE']) copyFileSync(join(ROOT, name), join(folder, name));
  copyFileSync(join(ROOT, 'data/SOURCES.md'), join(folder, 'DATA-SOURCES.md'));
  cpSync(join(ROOT, 'data/LICENSES'), join(folder, 'LICENSES'), { recursive: true });
  rmSync(place, { recursive: true, force: true });
  renameSync(folder, place);
}

async function bundle(folder: string, format: 'esm' | 'cjs'): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { index: 'scripts/build/library-entry.ts' },
    outdir: folder,
    outExtension: { '.js': format === 'esm' ? '.js' : '.cjs' },
    bundle: true,
    platform: 'node',
    format,
    target: 'node20',
    external: ['./data.cjs'],
    // Only used where data is in files.
    define: { 'import.meta.url': '""' },
    plugins: format === 'esm' ? [importedBuiltins] : [],
    legalComments: 'none',
    sourcemap: true,
    metafile: true,
    logLevel: 'warning',
  });
  const imports = Object.values(metafile.outputs).flatMap((output) =>
    output.imports.filter(({ external }) => external),
  );
  const left = imports.map(({ path }) => path).filter((path) => !isBuiltin(path) && path !== './data.cjs');
  if (left.length > 0) throw new Error(`the library still needs packages: ${left.join(', ')}`);
  return metafile;
}

/** Packages in CommonJS call `require` for modules of Node, which ES modules lack: they are imported. */
const importedBuiltins: Plugin = {
  name: 'imported-builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[a-z_:/]+$/ }, ({ kind, path }) =>
      kind === 'require-call' && isBuiltin(path) ? { path, namespace: 'builtin' } : null,
    );
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `export * from '${path}'; export { default } from '${path}';`,
    }));
  },
};
