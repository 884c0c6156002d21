/**
 * A worker process of its own, for tests of several and of kill -9. Usage: process.ts URL work|hang LEASE_SECONDS.
 * Prints one JSON text per line: the key of each job it claimed; `work` finishes them until its input ends, `hang`
 * holds them for ever.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LeaseLostError } from '../../src/store/jobs/queue.ts';
import { finish, openDriver } from './driver.ts';

const [url = '', mode = '', leaseSeconds = ''] = process.argv.slice(2);
const driver = await openDriver(url, Number(leaseSeconds));
process.stdout.write('ready\n');

let stopped = false;
process.stdin.on('end', () => {
  stopped = true;
});
process.stdin.resume();
while (!stopped) {
  const claims = await driver.jobs.claim(new Map([['lists_update', 5]]));
  for (const { key } of claims) process.stdout.write(`${JSON.stringify(key)}\n`);
  while (mode === 'hang' && claims.length > 0) await sleep(1000);
  await Promise.all(
    claims.map((claim) =>
      finish(driver, claim).catch((error: unknown) => {
        if (!(error instanceof LeaseLostError)) throw error;
      }),
    ),
  );
  if (claims.length === 0) await sleep(20);
}
await driver.close();
