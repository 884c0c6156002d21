/** `npm run check`: everything that can be said without running the program. All checks run; one failure fails all. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './fresh.mjs';

const bin = (name: string): string => join(ROOT, 'node_modules/.bin', name);

const CHECKS: readonly (readonly [name: string, command: string, args: readonly string[]])[] = [
  ['format and lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['promises', bin('oxlint'), ['--type-aware', '--deny-warnings', '.']],
  ['types', bin('tsc'), ['--noEmit', '-p', '.']],
  ['types of the client', bin('tsc'), ['--noEmit', '-p', 'sdk']],
  ['types of the dashboard', bin('tsc'), ['--noEmit', '-p', 'web']],
  ['rooms', bin('vitest'), ['run', '--project', 'quick', '--reporter', 'dot', 'tests/rooms.test.ts']],
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
