/**
 * Builds data/ (the lists) from the pinned packages of data/sources.json and the files kept by hand.
 *
 *   npm run lists              writes
 *   npm run lists -- --check   compares byte for byte and fails on a difference. Without the tarballs (no network,
 * nothing
 *                              in node_modules/.cache) it compares the SHA-256 recorded in data/lists.json instead.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Sources, sha256 } from './lists/build.ts';
import { namesIn, UnavailableError } from './lists/packages.ts';
import { manifest, sourcesPage } from './lists/pages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dir = join(root, 'data');
const cache = join(root, 'node_modules/.cache/mailvet-lists');

function outputs(): Map<string, string> {
  const sources = JSON.parse(readFileSync(join(dir, 'sources.json'), 'utf8')) as Sources;
  const named = new Map(sources.packages.map((pack) => [pack.letter, namesIn(pack, cache)]));
  const result = build(dir, sources, named);
  return new Map([
    ...result.built,
    ['SOURCES.md', sourcesPage(sources, result)],
    ['lists.json', manifest(dir, sources, result)],
  ]);
}

const differing = (files: ReadonlyMap<string, string>): string[] =>
  [...files].filter(([name, content]) => readOr(name) !== content).map(([name]) => name);

function readOr(name: string): string | null {
  try {
    return readFileSync(join(dir, name), 'utf8');
  } catch {
    return null;
  }
}

/** Files whose SHA-256 differs from the recorded one. */
function differingFromRecord(): string[] {
  const { files } = JSON.parse(readFileSync(join(dir, 'lists.json'), 'utf8')) as {
    files: { built: Record<string, string>; kept: Record<string, string> };
  };
  const recorded = Object.entries({ ...files.built, ...files.kept });
  return recorded.filter(([name, hash]) => sha256(readOr(name) ?? '') !== hash).map(([name]) => name);
}

function check(): string[] {
  try {
    return differing(outputs());
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error;
    console.log(`${error.message}; comparing with the recorded SHA-256 instead of rebuilding.`);
    return differingFromRecord();
  }
}

if (process.argv.includes('--check')) {
  const stale = check();
  if (stale.length > 0) console.error(`stale in data/: ${stale.join(', ')}. Run \`npm run lists\`.`);
  else console.log('data/: the lists match the sources.');
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  const files = outputs();
  for (const [name, content] of files) writeFileSync(join(dir, name), content);
  console.log(JSON.parse(files.get('lists.json')!));
}
