// Detects stale builds and installs. Plain JavaScript for Node 20 without packages, because `npm run up` and `npm test`
// start here.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MISSING_NODE, pinnedNode, runsOnThisNode } from '../bin/pinned-node.mjs';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The Node 24 to run our scripts on: this one if it is new enough, otherwise the one that npm installed; else null. */
const node24 = () => (runsOnThisNode ? process.execPath : pinnedNode(import.meta.url));

/** The lists, which are part of the library. A store may be beside them. */
const dataFiles = () => readdirSync(join(ROOT, 'data')).filter((name) => /\.(txt|json)$/.test(name));

/** What `npm run build` reads. */
const SOURCES = [
  'package.json',
  'package-lock.json',
  'scripts/build.ts',
  'scripts/build',
  'src',
  'web/index.html',
  'web/vite.config.ts',
  'web/fact-texts.ts',
  'web/lingui.ts',
  'web/package.json',
  'web/public',
  'web/src',
  'sdk/package.json',
  'sdk/src',
  'library/package.json',
  // The guide.
  'docs',
  'sdk/README.md',
  'SECURITY.md',
  'SUPPORT.md',
  'CONTRIBUTING.md',
];

/**
 * A hash over the path, size and modification time of every file that `npm run build` reads. Not over contents: it is
 * computed at every start and takes 3 ms.
 */
export function sourceId() {
  const hash = createHash('sha256');
  for (const top of SOURCES) add(hash, top);
  for (const name of dataFiles()) add(hash, `data/${name}`);
  return hash.digest('hex');
}

function add(hash, path) {
  const stat = statSync(join(ROOT, path));
  if (stat.isDirectory()) for (const name of readdirSync(join(ROOT, path)).sort()) add(hash, `${path}/${name}`);
  else if (!path.endsWith('.test.ts')) hash.update(`${path}\0${stat.size}\0${stat.mtimeMs}\0`);
}

/** Whether dist/ was built from the current sources. */
export function isBuilt() {
  try {
    return readFileSync(join(ROOT, 'dist/.source-id'), 'utf8') === sourceId();
  } catch {
    return false;
  }
}

/** Whether node_modules matches package-lock.json. npm writes its own record there once an install is complete. */
export function isInstalled() {
  try {
    const wanted = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages;
    const present = JSON.parse(readFileSync(join(ROOT, 'node_modules/.package-lock.json'), 'utf8')).packages;
    for (const [path, entry] of Object.entries(wanted)) {
      // Links are our own workspaces.
      if (!path.startsWith('node_modules/') || entry.link) continue;
      // Optional packages may be for other platforms.
      if (entry.optional && present[path] === undefined) continue;
      if (present[path]?.version !== entry.version || present[path]?.integrity !== entry.integrity) return false;
    }
    return node24() !== null;
  } catch {
    return false;
  }
}

/** Runs `npm ci` if needed. Throws an Error with a message for the user. */
export function ensureInstalled() {
  if (isInstalled()) return;
  console.log('Installing npm packages (npm ci) …');
  // npm deletes node_modules first, so it must not run on the Node in there.
  const path = process.env.PATH?.split(delimiter).filter((dir) => !dir.includes('node_modules')) ?? [];
  const env = { ...process.env, PATH: path.join(delimiter), NODE_ENV: 'development' };
  // Errors only: npm would warn about packages that require the newer Node that it is about to install.
  const npm = spawnSync(
    'npm',
    ['ci', '--prefer-offline', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
      shell: process.platform === 'win32',
    },
  );
  if (npm.error) throw new Error(`npm could not be started: ${npm.error.message}`);
  if (npm.status !== 0) throw new Error('npm ci failed; its messages above say why.');
  // It comes first on the PATH of npm scripts, and would hide the system's where it does not run.
  if (pinnedNode(import.meta.url) === null) rmSync(join(ROOT, 'node_modules/.bin/node'), { force: true });
  if (node24() === null) throw new Error(MISSING_NODE);
}

/** The path of the pinned Node. */
export function pinnedPath() {
  const node = node24();
  if (node === null) throw new Error(MISSING_NODE);
  return node;
}

/** Runs one of our scripts on the pinned Node; true if it exits with 0. */
export const runPinned = (args, env = process.env) => failureOf(args, env) === null;

/** Runs one of our scripts on the pinned Node; null if it exits with 0, otherwise a sentence that says how it ended. */
export function failureOf(args, env = process.env) {
  const path = pinnedPath();
  const { status, signal, error } = spawnSync(path, args, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status === 0) return null;
  if (error) return `${path} could not be started: ${error.message}`;
  if (signal === 'SIGKILL') return 'Something killed it, as Linux does when memory runs out: it needs about 1 GB.';
  return signal ? `It was ended by ${signal}.` : 'Its messages above say why.';
}
