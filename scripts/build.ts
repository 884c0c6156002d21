/**
 * `npm run build`: dist/ from the sources.
 *
 *     cli.js, *-*.js            command and service, for Node 24; lazily loaded parts in separate files
 *     first-view-thread.js      the thread that renders first views of the dashboard
 *     disposable-lists-worker.js  the worker thread that updates the lists
 *     sqlite-thread.js          the threads with the connections to a SQLite store
 *     xlsx-thread.js            the threads that read and write XLSX files
 *     web/                      the dashboard, with the API reference
 *     guide/                    the documentation, as a site and as Markdown
 *     THIRD-PARTY-LICENSES.txt  licenses of all bundled packages
 *
 * and the other published packages: library/dist/, the engine, and sdk/dist/, the client.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { buildGuide } from './build/guide.ts';
import { buildLibrary } from './build/library.ts';
import { licenses } from './build/licenses.ts';
import { buildSdk } from './build/sdk.ts';
import { buildWeb } from './build/web.ts';
import { ROOT, sourceId } from './fresh.mjs';

/** Built in a temporary folder and moved into place, so that a running service never finds half a build. */
const place = join(ROOT, 'dist');
const dist = join(ROOT, `.cache/dist-${process.pid}`);
const id = sourceId();

/** CommonJS packages expect these globals, which ES modules lack. */
const COMMONJS = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { dirname as __pathDirname } from 'node:path';",
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __fileURLToPath(import.meta.url);',
  'const __dirname = __pathDirname(__filename);',
].join('\n');

/** Optional dependencies of bundled packages: an addon of pg, colors of a debug log. */
const OPTIONAL = ['pg-native', 'supports-color'];

/** For version.ts; null without Git, as in a package. */
const COMMIT = (() => {
  const args = ['describe', '--always', '--exclude', '*', '--dirty', '--abbrev=40'];
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 && stdout.trim() !== '' ? stdout.trim() : null;
})();

/**
 * An import of node:http reads all that it exports, and so loads its WebSocket client with fetch and HTTP/2: 14 MB and
 * 50 ms of CPU time in every process.
 */
const HTTP = /^(node:)?http$/;
const withoutWebSocket: Plugin = {
  name: 'node:http without its WebSocket client',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: HTTP }, () => ({ path: 'http', namespace: 'builtin' }));
    onLoad({ filter: HTTP, namespace: 'builtin' }, () => ({
      contents: "module.exports = process.getBuiltinModule('node:http');",
    }));
  },
};

/** Source by output file in dist/, without `.js`. */
const ENTRIES = {
  cli: 'src/cli/main.ts',
  'first-view-thread': 'src/http/dashboard/first-view-thread.ts',
  'disposable-lists-worker': 'src/service/disposable-lists-worker.ts',
  'sqlite-thread': 'src/store/sqlite/thread.ts',
  'xlsx-thread': 'src/files/xlsx/thread.ts',
};

/**
 * Split at every `import()`, so that the start loads 10 % less code, and not the sign-in library. All in one folder,
 * because files are located relative to the code.
 */
async function bundle(): Promise<Metafile> {
  const options = {
    absWorkingDir: ROOT,
    entryPoints: ENTRIES,
    outdir: dist,
    splitting: true,
    chunkNames: '[name]-[hash]',
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    minifyWhitespace: true,
    legalComments: 'none',
    banner: { js: COMMONJS },
    external: OPTIONAL,
    plugins: [withoutWebSocket],
    define: COMMIT === null ? {} : { MAILVET_COMMIT: JSON.stringify(COMMIT) },
    metafile: true,
    logLevel: 'warning',
  } satisfies BuildOptions;
  const { metafile } = await build(options);
  const foreign = Object.values(metafile.outputs).flatMap((output) => output.imports.filter((i) => i.external));
  const left = foreign.map((i) => i.path).filter((path) => !isBuiltin(path) && !OPTIONAL.includes(path));
  if (left.length > 0) throw new Error(`the command still needs packages: ${[...new Set(left)].join(', ')}`);
  return metafile;
}

mkdirSync(dist, { recursive: true });
const metafile = await bundle();
const inWeb = await buildWeb(join(dist, 'web'));
const inGuide = await buildGuide(join(dist, 'guide'));
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licenses([metafile], [...inWeb, ...inGuide]));
await buildLibrary();
await buildSdk();
// Computed first, so that a source changed during the build counts as newer.
writeFileSync(join(dist, '.source-id'), id);
rmSync(place, { recursive: true, force: true });
renameSync(dist, place);
console.log('dist/, library/dist/ and sdk/dist/ are built.');
