import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Writes more than is kept, waits for the failures, and ends by itself. */
const SCRIPT = `
  const { createLogger } = await import(${JSON.stringify(new URL('log.ts', import.meta.url).href)});
  const log = createLogger('info');
  for (let round = 0; round < 3; round += 1) {
    for (let i = 0; i < 5_000; i += 1) log.info({ i }, 'x'.repeat(100));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await new Promise((resolve) => log.flush(resolve));
  process.stderr.write('alive\\n');
`;

it.runIf(process.platform === 'linux')('a log on a full disk neither ends nor stops the process', () => {
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', SCRIPT], {
    stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    encoding: 'utf8',
    timeout: 10_000,
    killSignal: 'SIGKILL',
  });
  expect([status, stderr]).toEqual([0, 'mailvet: the log cannot be written (ENOSPC); lines may be lost.\nalive\n']);
});
