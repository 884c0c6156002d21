import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { listenForMetrics } from './port.ts';
import { createMetrics } from './registry.ts';

it('the metrics port makes one text for all scrapes of a second, and refuses an ambiguous Host', async () => {
  let made = 0;
  const server = await listenForMetrics({ text: async () => `up ${++made}\n` }, '127.0.0.1', 0);
  const { port } = server.address() as AddressInfo;
  const scrape = async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  try {
    const texts = await Promise.all(Array.from({ length: 40 }, scrape));
    expect(made).toBeLessThan(texts.length);
    await expect.poll(scrape).not.toBe('up 1\n');
    const socket = connect(port, '127.0.0.1');
    socket.end('GET /metrics HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n');
    const [head] = await once(socket, 'data');
    expect(String(head)).toMatch(/^HTTP\/1\.1 400 /);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

it('the metrics port holds few connections of one client, and serves again when they have gone', async () => {
  const server = await listenForMetrics(createMetrics(), '127.0.0.1', 0);
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  try {
    for (let i = 0; i < 80; i += 1) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      sockets.push(socket);
      await once(socket, 'connect');
    }
    const open = () => sockets.filter((socket) => !socket.closed && !socket.readableEnded).length;
    for (const socket of sockets) socket.resume();
    await expect.poll(open).toBe(50);
    for (const socket of sockets) socket.destroy();
    await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  }
});
