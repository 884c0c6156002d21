/** The services and the scripted server of all clients' cases. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Json } from './host.mts';

/** `prepared` resolves with the values of a case by its id. For the tests of the file that calls it. */
export function stage(): { readonly prepared: (id: string) => Promise<Json> } {
  let url = '';
  const cwd = fileURLToPath(new URL('../../..', import.meta.url));
  const child = spawn(process.execPath, ['clients/server.mjs'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
  before(async () => {
    const first = once(createInterface({ input: child.stdout }), 'line');
    const [line] = await Promise.race([first, once(child, 'exit')]);
    assert.equal(typeof line, 'string', 'clients/server.mjs ended.');
    url = JSON.parse(line).url;
  });
  after(async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
  });
  return { prepared: async (id) => (await fetch(`${url}/cases/${id}`)).json() };
}
