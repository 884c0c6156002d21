import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../lab/process.ts';

let proxy: Server;
let dir: string;
const asked: string[] = [];
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'mailvet-proxy-'));
  proxy = createServer();
  proxy.on('connect', ({ url }, socket) => {
    asked.push(url ?? '');
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  proxy.close();
  rmSync(dir, { recursive: true });
});

it.each([
  ['through', '', ['lists.invalid:443']],
  ['without', 'lists.invalid', []],
])('lists are downloaded %s the proxy of HTTPS_PROXY, NO_PROXY=%s', async (_, noProxy, expected) => {
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('No port.');
  asked.length = 0;
  const sources = ['DISPOSABLE', 'FAKEFILTER', 'MAILCHECKER', 'TOMPEC', 'IVOLO'];
  const urls = Object.fromEntries(sources.map((name) => [`MAILVET_LISTS_${name}_URL`, 'https://lists.invalid/list']));
  const environment = {
    ...urls,
    MAILVET_LISTS_DIR: dir,
    HTTPS_PROXY: `http://127.0.0.1:${address.port}`,
    NO_PROXY: noProxy,
  };
  await runCli(['disposable', 'update'], environment);
  expect([...new Set(asked)]).toEqual(expected);
});
