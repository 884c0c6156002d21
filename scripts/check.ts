/** `npm run check`: all static checks. Runs all of them, and fails if any fails. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './fresh.mjs';

const bin = (name: string): string => join(ROOT, 'node_modules/.bin', name);

/** Tests of the sources themselves. */
const SOURCE_TESTS = readdirSync(join(ROOT, 'tests'))
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `tests/${name}`);

/**
 * Each thread of the compiler repeats work of the others: on two cores, one takes as long as several, in half the
 * memory.
 */
const TSC = availableParallelism() > 2 ? ['--noEmit'] : ['--noEmit', '--singleThreaded'];

const CHECKS: readonly (readonly [name: string, command: string, args: readonly string[]])[] = [
  ['format and lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['lint with types', bin('oxlint'), ['--type-aware', '--deny-warnings', '.']],
  ['types', bin('tsc'), [...TSC, '-p', '.']],
  ['types on the oldest Node', bin('tsc'), [...TSC, '-p', 'tsconfig.node20.json']],
  ['types of the client', bin('tsc'), [...TSC, '-p', 'sdk']],
  ['types of the dashboard', bin('tsc'), [...TSC, '-p', 'web']],
  ['sources', bin('vitest'), ['run', '--project', 'quick', '--reporter', 'dot', ...SOURCE_TESTS]],
  ['generated files', process.execPath, ['scripts/gen.ts', '--check']],
];

const lines: string[] = [];
for (const [name, command, args] of CHECKS) {
  console.log(`\n── ${name}`);
  const began = performance.now();
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  lines.push(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} ${seconds} s`);
  if (status !== 0) process.exitCode = 1;
}
console.log(`\n${lines.join('\n')}`);
