/** Which connections are let in, over real sockets; where they come from is told by the test. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpServer } from './server.ts';

const PER_NETWORK = 4;
const OF_STRANGERS = 40;
const PROXY = '198.51.100.1';

let server: Server;
let from: string;
const sockets: Socket[] = [];

async function listening(): Promise<void> {
  // Requests for /held are not answered.
  server = createHttpServer(
    (request, response) => {
      if (request.url !== '/held') response.end('ok');
    },
    { perNetwork: PER_NETWORK, ofRemoteHosts: OF_STRANGERS, isProxy: (ip) => ip === PROXY, ipOf: () => from },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

/** Opens a connection and sends a request for the path; null: nothing is sent. */
async function open(ip: string, path: string | null): Promise<Socket> {
  from = ip;
  const { port } = server.address() as { port: number };
  const accepted = once(server, 'connection');
  const socket = connect(port, '127.0.0.1')
    .on('error', () => undefined)
    .resume();
  sockets.push(socket);
  await accepted;
  if (path !== null) socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  return socket;
}

/** Whether a request over a new connection is answered. */
async function isServed(ip: string): Promise<boolean> {
  const socket = await open(ip, '/');
  const [first] = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [null])]);
  return String(first).startsWith('HTTP/1.1 200');
}

const stillOpen = async (some: readonly Socket[]): Promise<number> => {
  await new Promise((resolve) => setTimeout(resolve, 100));
  return some.filter(({ closed }) => !closed).length;
};

const hosts = (count: number, of: (n: number) => string): string[] => Array.from({ length: count }, (_, n) => of(n));
const hex = (n: number) => n.toString(16);

describe('connections that hold a request', () => {
  it.each([
    ['one IPv4 address', () => '192.0.2.1', PER_NETWORK],
    ['one /64', (n: number) => `2001:db8:0:1::${hex(n + 1)}`, PER_NETWORK],
    ['one /56', (n: number) => `2001:db8:0:${hex(n)}::1`, 2 * PER_NETWORK],
    ['one /48', (n: number) => `2001:db8:0:${hex(256 * n)}::1`, 4 * PER_NETWORK],
  ])('are bounded for %s', async (_what, of, most) => {
    await listening();
    const held: Socket[] = [];
    for (const ip of hosts(OF_STRANGERS + 10, of)) held.push(await open(ip, '/held'));
    expect(await stillOpen(held)).toBe(most);
    expect(await isServed('2001:db8:77::1')).toBe(true);
  });

  it('of as many strangers as there may be leave this host and proxies their places', async () => {
    await listening();
    const held: Socket[] = [];
    for (const ip of hosts(OF_STRANGERS, (n) => `2001:db8:${hex(n + 1)}::1`)) held.push(await open(ip, '/held'));
    expect(await stillOpen(held)).toBe(OF_STRANGERS);
    expect(await isServed('2001:db8:7777::1')).toBe(false);
    for (const ip of ['127.0.0.1', '::1', PROXY]) expect([ip, await isServed(ip)]).toEqual([ip, true]);
  });
});

describe('connections that hold none', () => {
  it.each(['/', null])('make room for others, those first that were idle for longest (%s)', async (path) => {
    await listening();
    const idle: Socket[] = [];
    for (const ip of hosts(OF_STRANGERS, (n) => `2001:db8:${hex(n + 1)}::1`)) idle.push(await open(ip, path));
    await stillOpen(idle);
    for (let n = 0; n < 5; n++) expect(await isServed(`2001:db8:777${n}::1`)).toBe(true);
    expect(await stillOpen(idle.slice(0, 5))).toBe(0);
    expect(await stillOpen(idle.slice(5))).toBe(OF_STRANGERS - 5);
  });

  it('make room for others of their own network', async () => {
    await listening();
    for (const ip of hosts(PER_NETWORK, () => '192.0.2.1')) await open(ip, '/');
    expect(await isServed('192.0.2.1')).toBe(true);
  });
});
