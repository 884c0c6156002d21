import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, startProcess } from '../lab/process.ts';
import { openRaw } from '../lab/raw-connection.ts';

const PER_NETWORK = 60;
const MIB = 1024;
const ASSETS = 'dist/web/assets';

let folder: string;
let service: Running;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mailvet-floods-'));
  service = await startProcess({
    MAILVET_DATABASE_URL: `sqlite:${join(folder, 'store.db')}`,
    MAILVET_CONNECTIONS_PER_NETWORK: String(PER_NETWORK),
  });
});
afterAll(async () => {
  await service.end('SIGTERM');
  await rm(folder, { recursive: true, force: true });
});

/** Resident memory of the service, MiB. */
const residentMib = (): number => {
  const [, kib] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${service.child.pid}/status`, 'utf8')) ?? [];
  return Number(kib) / MIB;
};
/** What the sockets of the service are called in its list of descriptors. */
const sockets = (): string[] => {
  const folder = `/proc/${service.child.pid}/fd`;
  return readdirSync(folder)
    .map((name) => readlinkSync(join(folder, name)))
    .filter((link) => link.startsWith('socket:'));
};
const get = (path: string, headers: Record<string, string> = {}) => fetch(service.url + path, { headers });
const pipelined = (path: string, count: number): string => `GET ${path} HTTP/1.1\r\nhost: lab\r\n\r\n`.repeat(count);
/** The path of the largest script: many of it do not fit into the buffers of a connection. */
function asset(): string {
  const scripts = readdirSync(ASSETS).filter((name) => name.endsWith('.js'));
  const sized = scripts.map((name) => ({ name, size: statSync(join(ASSETS, name)).size }));
  return `/assets/${sized.sort((a, b) => b.size - a.size)[0]?.name}`;
}

/**
 * The highest memory while `act` runs, above what it was before, MiB; and the slowest request of another caller, ms.
 */
async function measure(act: () => Promise<void>) {
  for (const path of ['/openapi.json', asset()]) await (await get(path)).arrayBuffer();
  const before = residentMib();
  let [peak, slowest, done] = [0, 0, false];
  const watch = async () => {
    while (!done) {
      peak = Math.max(peak, residentMib() - before);
      const begun = performance.now();
      expect((await get('/healthz')).status).toBe(200);
      slowest = Math.max(slowest, performance.now() - begun);
      await sleep(20);
    }
  };
  const watching = watch();
  await act();
  done = true;
  await watching;
  return { peak, slowest };
}

describe('requests whose replies are not read', () => {
  it.each([
    ['800 requests for a file of the dashboard', () => pipelined(asset(), 800)],
    ['1,400 requests for the document of the API', () => pipelined('/openapi.json', 1400)],
  ])('%s on one connection cost less than 50 MiB, and others are served', { timeout: 40_000 }, async (_what, text) => {
    const { peak, slowest } = await measure(async () => {
      const connection = await openRaw(service.url, { reads: false });
      connection.socket.write(text());
      await sleep(2000);
      connection.socket.destroy();
    });
    expect(peak).toBeLessThan(50);
    expect(slowest).toBeLessThan(2000);
  });

  it('end with their connection', { timeout: 40_000 }, async () => {
    const before = sockets();
    const connection = await openRaw(service.url, { reads: false });
    connection.socket.write(pipelined(asset(), 400));
    await sleep(1000);
    const opened = sockets().filter((socket) => !before.includes(socket));
    expect(opened).toHaveLength(1);
    await expect.poll(sockets, { timeout: 30_000, interval: 500 }).not.toContain(opened[0]);
    connection.socket.destroy();
  });
});

describe('requests that are pipelined and read', () => {
  it('all get their replies, in order', { timeout: 40_000 }, async () => {
    const connection = await openRaw(service.url);
    connection.socket.write(pipelined('/sign-in', 1400));
    const end = performance.now() + 30_000;
    const count = () => connection.received().split('HTTP/1.1 200 OK').length - 1;
    while (count() < 1400 && performance.now() < end) await sleep(200);
    expect(count()).toBe(1400);
    connection.socket.destroy();
  });
});

describe('connections', () => {
  it('of one network are bounded', { timeout: 40_000 }, async () => {
    const all = await Promise.all(Array.from({ length: PER_NETWORK + 20 }, () => openRaw(service.url)));
    await sleep(500);
    const open = all.filter(({ socket }) => !socket.destroyed);
    expect(open.length).toBeGreaterThan(PER_NETWORK - 10);
    expect(open.length).toBeLessThanOrEqual(PER_NETWORK);
    for (const { socket } of all) socket.destroy();
    await sleep(200);
    expect((await get('/healthz')).status).toBe(200);
  });
});

describe('static bytes', () => {
  it('of the document are compressed and have a strong ETag', async () => {
    const path = '/openapi.json';
    const plain = await get(path, { 'accept-encoding': 'identity' });
    const [gzip, br] = [await get(path, { 'accept-encoding': 'gzip' }), await get(path, { 'accept-encoding': 'br' })];
    expect([plain, gzip, br].map(({ headers }) => headers.get('content-encoding'))).toEqual([null, 'gzip', 'br']);
    expect(await gzip.text()).toBe(await plain.clone().text());
    expect(Number(br.headers.get('content-length'))).toBeLessThan(Number(plain.headers.get('content-length')));
    const etags = [plain, gzip, br].map(({ headers }) => headers.get('etag') ?? '');
    expect(new Set(etags).size).toBe(3);
    for (const etag of etags) expect(etag).toMatch(/^"\w+"$/);
    expect(br.headers.get('vary')).toBe('accept-encoding');
    const again = await get(path, { 'accept-encoding': 'br', 'if-none-match': `"x", ${etags[2]}` });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });
});
