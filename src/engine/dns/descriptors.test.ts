import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { zone } from '../../../tests/lab/dns.ts';

/** Exhausts all file descriptors, queries, releases them, queries again; prints both answers. */
const SCRIPT = `
import { closeSync, openSync } from 'node:fs';
import { systemClock as clock } from ${JSON.stringify(new URL('../../kernel/clock.ts', import.meta.url).href)};
import { createResolver } from ${JSON.stringify(new URL('./resolver.ts', import.meta.url).href)};
const resolver = createResolver({ servers: [{ address: '127.0.0.1', port: Number(process.argv[1]) }], timeoutMs: 500, clock });
const ask = async () => (await resolver.ask('a.test', 'A', { deadlineMs: clock.elapsed() + 5000 })).kind;
const taken = [];
try { for (;;) taken.push(openSync('/dev/null')); } catch {}
const without = await ask();
for (const fd of taken) closeSync(fd);
console.log(without, await ask());
`;

it.skipIf(process.platform === 'win32')(
  'fails while there are no descriptors, and works when there are again',
  async () => {
    const dns = await zone({ 'a.test': { A: ['192.0.2.1'] } });
    try {
      const run = promisify(execFile);
      // The resolver is not closed on purpose: it must not keep the process alive.
      const args = ['-c', 'ulimit -n 60; exec "$0" --input-type=module -e "$1" "$2"', process.execPath, SCRIPT];
      const { stdout } = await run('sh', [...args, String(dns.port)], { timeout: 10_000 });
      expect(stdout.trim()).toBe('network records');
    } finally {
      await dns.close();
    }
  },
);
