/**
 * `npm run build`: dist/ from the sources.
 *
 *     cli.js                    the command and the service in one file, for Node 24
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

async function bundle(entry: string, outfile: string, target: string): Promise<Metafile> {
  const options = {
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile: join(dist, outfile),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target,
    minifyWhitespace: true,
    legalComments: 'none',
    banner: { js: COMMONJS },
    external: OPTIONAL,
    metafile: true,
    logLevel: 'warning',
  } satisfies BuildOptions;
  const { metafile } = await build(options);
  const foreign = Object.values(metafile.outputs).flatMap((output) => output.imports.filter((i) => i.external));
  const left = foreign.map((i) => i.path).filter((path) => !isBuiltin(path) && !OPTIONAL.includes(path));
  if (left.length > 0) throw new Error(`${outfile} still needs packages: ${[...new Set(left)].join(', ')}`);
  return metafile;
}

mkdirSync(dist, { recursive: true });
const metafiles = await Promise.all([
  bundle('src/cli/main.ts', 'cli.js', 'node24'),
  bundle('src/index.ts', 'index.js', 'node20'),
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
