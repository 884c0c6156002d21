/**
 * `npm run gen`: writes every generated file; with `--check`, lists stale ones and exits with 1.
 * Each file comes from a function in scripts/gen/, from the table or document that the program itself uses.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { optionsPage, sampleEnvironment } from '../src/config/help.ts';
import { ROOT, runPinned } from './fresh.mjs';
import { catalogs } from './gen/catalogs.ts';
import { clientTypes } from './gen/client-types.ts';
import { errorsPage } from './gen/errors-page.ts';
import { manPage } from './gen/man-page.ts';
import { metricsPage } from './gen/metrics-page.ts';
import { migratePages } from './gen/migrate-pages.ts';
import { openApiFiles } from './gen/openapi-files.ts';
import { PHP_FOLDERS } from './gen/php.ts';
import { syntaxErrorsPage } from './gen/syntax-errors-page.ts';
import { testingPage } from './gen/testing-page.ts';
import { verdictsPage } from './gen/verdicts-page.ts';
import { N8N, PUBLISHED, withProject } from './release/project.ts';

const check = process.argv.includes('--check');

const manifests = [...PUBLISHED, N8N].map((folder) => {
  const path = join(folder, 'package.json');
  return [path, withProject(readFileSync(join(ROOT, path), 'utf8'), folder)];
});

const files: Record<string, string> = {
  ...Object.fromEntries(manifests),
  '.env.example': sampleEnvironment(),
  'docs/options.md': optionsPage(),
  'docs/errors.md': errorsPage(),
  'docs/metrics.md': metricsPage(),
  'docs/syntax-errors.md': syntaxErrorsPage(),
  'docs/verdicts.md': verdictsPage(),
  'docs/testing.md': testingPage(),
  'man/mailvet.1': manPage(),
  ...migratePages(),
  ...(await openApiFiles()),
  ...(await clientTypes()),
  ...(await catalogs()),
};

const stale: string[] = [];
for (const [name, text] of Object.entries(files)) {
  const path = join(ROOT, name);
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  stale.push(name);
  if (check) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
// A type that is gone leaves a file.
const leftOver = PHP_FOLDERS.flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`));
for (const name of leftOver.filter((name) => files[name] === undefined)) {
  stale.push(name);
  if (!check) rmSync(join(ROOT, name));
}
// The lists have their own script, with its own output.
const listsFresh = runPinned(['scripts/lists.ts', ...(check ? ['--check'] : [])]);

const repliesFresh = runPinned(['scripts/replies.ts', check ? '--check' : '--write']);

for (const name of stale) console.log(check ? `stale: ${name}` : `written: ${name}`);
if (check && stale.length > 0) console.log('Run: npm run gen');
if (!listsFresh || !repliesFresh || (check && stale.length > 0)) process.exitCode = 1;
