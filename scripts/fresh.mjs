// What is stale in this folder? Plain JavaScript for Node 20 without packages: `npm run up` and `npm test` begin here.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The Node that the npm package `node` brings. */
export const PINNED_NODE = join(ROOT, 'node_modules/node/bin/node');

/** What `npm run build` reads. */
const SOURCES = [
  'package.json',
  'package-lock.json',
  'scripts/build.ts',
  'scripts/build',
  'src',
  'web/index.html',
].concat(['web/vite.config.ts', 'web/package.json', 'web/public', 'web/src', 'sdk/package.json', 'sdk/src']);

/**
 * One hash over the path, size and time of every file that `npm run build` reads. By times and not by contents: it is
 * asked at every start, and takes 3 ms.
 */
export function sourceId() {
  const hash = createHash('sha256');
  for (const top of SOURCES) add(hash, top);
  return hash.digest('hex');
}

function add(hash, path) {
  const stat = statSync(join(ROOT, path));
  if (stat.isDirectory()) for (const name of readdirSync(join(ROOT, path)).sort()) add(hash, `${path}/${name}`);
  else if (!path.endsWith('.test.ts')) hash.update(`${path}\0${stat.size}\0${stat.mtimeMs}\0`);
}

/** Is dist/ made from the sources as they are now? */
export function isBuilt() {
  try {
    return readFileSync(join(ROOT, 'dist/.source-id'), 'utf8') === sourceId();
  } catch {
    return false;
  }
}

/** Does node_modules hold what package-lock.json names? npm writes its own record there when an install is complete. */
export function isInstalled() {
  try {
    const wanted = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
    const present = JSON.parse(readFileSync(join(ROOT, 'node_modules/.package-lock.json'), 'utf8')).packages;
    for (const [path, entry] of Object.entries(wanted)) {
      // Optional packages are those of other platforms; links are our own workspaces.
      if (path === '' || !path.startsWith('node_modules/') || entry.optional || entry.link) continue;
      if (present[path]?.version !== entry.version || present[path]?.integrity !== entry.integrity) return false;
    }
    return existsSync(PINNED_NODE);
  } catch {
    return false;
  }
}

/** `npm ci` where needed. Throws a sentence for the person at the terminal. */
export function ensureInstalled() {
  if (isInstalled()) return;
  console.log('Installing npm packages (npm ci) …');
  // npm deletes node_modules first, so it must not itself run on the Node in there.
  const path = process.env.PATH?.split(delimiter).filter((dir) => !dir.includes('node_modules')) ?? [];
  const env = { ...process.env, PATH: path.join(delimiter), NODE_ENV: 'development' };
  // Errors only: npm would warn of packages that want a newer Node, which is the one that it is about to install.
  const npm = spawnSync('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (npm.error) throw new Error(`npm could not be started: ${npm.error.message}`);
  if (npm.status !== 0) throw new Error('npm ci failed; its messages above say why.');
  if (!existsSync(PINNED_NODE)) throw new Error(missingNode());
}

export const missingNode = () =>
  'The npm package "node", which brings Node 24, is not complete: its install script did not run. ' +
  'Run: npm install-scripts approve node && npm rebuild node';

/** Runs a script of ours on the pinned Node; true when it exits 0. */
export function runPinned(args, env = process.env) {
  return spawnSync(PINNED_NODE, args, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}
