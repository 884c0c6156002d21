/**
 * `npm run build`: dist/ from the sources.
 *
 *     cli.js, *-*.js            the command and the service, for Node 24; what is not needed at once in files of its own
 *     lists-worker.js           the thread that updates the lists
 *     index.js, types/          the library, for Node 20, and its declarations
 *     web/                      the dashboard
 *     scalar.js                 the script of the API reference page, served from our own origin
 *     THIRD-PARTY-LICENSES.txt  of everything that stands in these files
 *
 * and sdk/dist/, the published client.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { apiReferenceScript } from './build/api-reference.ts';
import { writeDeclarations } from './build/declarations.ts';
import { licences } from './build/licences.ts';
import { buildSdk } from './build/sdk.ts';
import { buildWeb } from './build/web.ts';
import { ROOT, sourceId } from './fresh.mjs';

/** Made beside and put in place whole: whoever runs what is built meanwhile never finds half of it. */
const place = join(ROOT, 'dist');
const dist = join(ROOT, `.cache/dist-${process.pid}`);
const id = sourceId();

/** Packages written as CommonJS look for these names, which an ES module does not have. */
const COMMONJS = [
  "import { createRequire as __createRequire } from 'node:module';",
  "import { dirname as __pathDirname } from 'node:path';",
  "import { fileURLToPath as __fileURLToPath } from 'node:url';",
  'const require = __createRequire(import.meta.url);',
  'const __filename = __fileURLToPath(import.meta.url);',
  'const __dirname = __pathDirname(__filename);',
].join('\n');

/** Packages that others look for and do without: an addon of pg, colours of a debug log. */
const OPTIONAL = ['pg-native', 'supports-color'];

/** Addons cannot stand in a bundle: these are dependencies of the published package. */
const ADDONS = ['@node-rs/argon2'];

interface Bundle {
  /** Sources by the name of their file in dist/, without `.js`. */
  readonly entries: Readonly<Record<string, string>>;
  readonly target: string;
  readonly addons: readonly string[];
}

/**
 * Split at every `import()`: the start then reads and compiles a tenth less, and the sign-in library not at all. All in
 * one folder, as files are found from where the code stands.
 */
async function bundle({ entries, target, addons }: Bundle): Promise<Metafile> {
  const allowed = [...OPTIONAL, ...addons];
  const options = {
    absWorkingDir: ROOT,
    entryPoints: { ...entries },
    outdir: dist,
    splitting: true,
    chunkNames: '[name]-[hash]',
    bundle: true,
    platform: 'node',
    format: 'esm',
    target,
    minifyWhitespace: true,
    legalComments: 'none',
    banner: { js: COMMONJS },
    external: allowed,
    metafile: true,
    logLevel: 'warning',
  } satisfies BuildOptions;
  const { metafile } = await build(options);
  const foreign = Object.values(metafile.outputs).flatMap((output) => output.imports.filter((i) => i.external));
  const left = foreign.map((i) => i.path).filter((path) => !isBuiltin(path) && !allowed.includes(path));
  if (left.length > 0)
    throw new Error(`${Object.keys(entries)[0]}.js still needs packages: ${[...new Set(left)].join(', ')}`);
  return metafile;
}

mkdirSync(dist, { recursive: true });
const metafiles = await Promise.all([
  bundle({
    entries: { cli: 'src/cli/main.ts', 'lists-worker': 'src/service/lists-worker.ts' },
    target: 'node24',
    addons: ADDONS,
  }),
  bundle({ entries: { index: 'src/index.ts' }, target: 'node20', addons: [] }),
]);
writeFileSync(join(dist, 'scalar.js'), await apiReferenceScript());
const inWeb = await buildWeb(join(dist, 'web'));
const alsoIn = ['@scalar/fastify-api-reference', ...inWeb];
writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licences(metafiles, alsoIn));
writeDeclarations(join(dist, 'types'));
await buildSdk();
// Taken first, so that a source changed meanwhile counts as newer.
writeFileSync(join(dist, '.source-id'), id);
rmSync(place, { recursive: true, force: true });
renameSync(dist, place);
console.log('dist/ and sdk/dist/ are built.');
