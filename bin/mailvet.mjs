#!/usr/bin/env node
// The command. Runs on Node 20.19 without packages: it finds Node 24 and the program, and hands over to them.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { constants, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MISSING_NODE, pinnedNode, runsOnThisNode } from './pinned-node.mjs';

const here = fileURLToPath(import.meta.url);
const root = join(dirname(here), '..');

const major = Number.parseInt(process.versions.node, 10);
/** An older Node hands over to the one of the package. */
const runsOn = Math.max(major, 24);

/**
 * For the service, in MB; a setting of the operator's comes first. Little of what a request needs outlives it, so a
 * young generation beyond 2 × 8 MB only costs memory, some 80 MB under load. The old one is far smaller than its bound,
 * but the bound decides how much garbage V8 lets gather: up to 4 times what is in use from 2 GB on, 1.6 times at 1 GB.
 * In a machine or container of less than 4 GB, V8's own bound is lower than that.
 */
const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
const HEAP = {
  '--max-semi-space-size': '=8',
  ...(memory >= 4 * 1024 ** 3 ? { '--max-old-space-size': '=1024' } : {}),
  // A task of V8 begins to mark the heap well before its limit: under load once or twice a second, and all requests
  // under way wait, which made them the slowest hundredth. Without it, marking begins at the limit. And so small a young
  // generation has too little to copy for threads that help: to start them costs more, and they take the processors
  // from those that serve. Node refuses flags that its V8 does not have, and these are not documented.
  ...(runsOn === 24 ? { '--no-incremental-marking-task': '', '--no-parallel-scavenge': '' } : {}),
};
// A service for tests is to start soon, and has no load.
const isService = process.argv[2] === 'serve' && !process.argv.includes('--test-only');
const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ').replaceAll('_', '-');
const flags = Object.entries(HEAP).flatMap(([flag, value]) =>
  isService && !given.includes(flag.replace('--no-', '-')) ? [`${flag}${value}`] : [],
);

/**
 * Of the C library: by default, each thread gets an arena, in which the pages of freed messages stay; two take 15 MB
 * less under load, at the same CPU time.
 */
if (isService) process.env.MALLOC_ARENA_MAX ??= '2';

if (runsOnThisNode) await start();
else handOver();

async function start() {
  // V8 reads its flags, and the C library its variables, when they start: this process begins again, as itself. A
  // channel to a parent would not survive that.
  const isToBegin = flags.length > 0 && process.platform !== 'win32' && process.send === undefined;
  if (isToBegin && 'execve' in process && typeof process.execve === 'function')
    process.execve(process.execPath, [process.execPath, ...process.execArgv, ...flags, here, ...process.argv.slice(2)]);
  if ('enableCompileCache' in nodeModule && typeof nodeModule.enableCompileCache === 'function')
    nodeModule.enableCompileCache();
  await import(pathToFileURL(await program()).href);
}

/** An installed package has only dist/; a clone has sources too, and dist/ counts while it is made from them. */
async function program() {
  const built = join(root, 'dist/cli.js');
  const source = join(root, 'src/cli/main.ts');
  if (!existsSync(source)) return built;
  const { isBuilt } = await import('../scripts/fresh.mjs');
  return isBuilt() ? built : source;
}

/** The same command on the Node that comes with the package; its signals and its exit status are ours. */
function handOver() {
  const node = pinnedNode(here);
  if (!node) {
    console.error(MISSING_NODE);
    process.exitCode = 1;
    return;
  }
  const child = spawn(node, [...flags, here, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      // Ctrl-C reaches the whole foreground group: a second copy would look like a second Ctrl-C.
      if (!(signal === 'SIGINT' && process.stdin.isTTY)) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    console.error(`${node} could not be started: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
}
