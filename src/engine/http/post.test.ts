import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type DnsLab, zone } from '../../../tests/lab/dns.ts';
import { RECEIVER_NAME, type Receiver, receiverCertificate, startReceiver } from '../../../tests/lab/receiver.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createResolver, type Resolver } from '../dns/resolver.ts';
import { createPost, type HttpPost } from './post.ts';

const RESERVED = '192.0.2.1';
let dns: DnsLab;
let resolver: Resolver;
/** Of the process's own clock, so that cached answers expire when a test says so. */
let passedMs = 0;
const clock = { ...systemClock, elapsed: () => systemClock.elapsed() + passedMs };
const opened: { close(): unknown }[] = [];

beforeAll(async () => {
  dns = await zone({
    [RECEIVER_NAME]: { A: ['127.0.0.1'] },
    'other.test': { A: ['127.0.0.1'] },
    'private.test': { A: ['127.0.0.1', '10.0.0.1'], AAAA: ['::1', 'fd00::1'] },
    'closed-first.test': { A: ['127.0.0.2', '127.0.0.1'] },
    'lame.test': { fault: 'servfail' },
  });
  resolver = createResolver({ servers: dns.servers, timeoutMs: 200, clock });
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});
afterAll(async () => {
  resolver.close();
  await dns.close();
});

const receiver = async (options?: Parameters<typeof startReceiver>[0]): Promise<Receiver> => {
  const started = await startReceiver(options);
  opened.push(started);
  return started;
};
/** A server that speaks what the test writes, whatever the request. */
async function rawServer(speak: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    speak(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const post = (url: string, { allowPrivate = true, ...more }: Partial<HttpPost> & { allowPrivate?: boolean } = {}) =>
  createPost({ resolver, clock, allowPrivate, ownAddresses: new Set() })({
    url,
    headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1' },
    body: '{"ä":1}',
    timeoutMs: 20_000,
    replyBytes: 1024,
    signal: new AbortController().signal,
    ...more,
  });

describe('a POST', () => {
  it('sends its headers and body, and returns status and the start of the reply', async () => {
    const { url, received } = await receiver({ respond: (reply) => reply.writeHead(201).end('é'.repeat(800)) });
    expect(await post(`${url}/a?b=c`)).toMatchObject({ status: 201, response: 'é'.repeat(512), error: null });
    expect(received).toEqual([expect.objectContaining({ method: 'POST', path: '/a?b=c', body: '{"ä":1}' })]);
    expect(received[0]!.headers).toMatchObject({ 'webhook-id': 'msg_1', 'content-length': '8', host: url.slice(7) });
  });

  it('goes to the next address of a host that does not accept connections', async () => {
    const { port } = await receiver();
    expect(await post(`http://closed-first.test:${port}/`)).toMatchObject({ status: 200 });
  });

  it('follows no redirect', async () => {
    const inside = await receiver();
    const { url } = await receiver({
      respond: (reply) => reply.writeHead(302, { location: inside.url }).end('elsewhere'),
    });
    expect(await post(url)).toMatchObject({ status: 302, response: 'elsewhere', error: null });
    expect(inside.received).toEqual([]);
  });

  it('reads no more of an endless reply than it returns', async () => {
    let gone = false;
    const { url } = await receiver({
      respond(reply) {
        reply.on('close', () => {
          gone = true;
        });
        const more = () => {
          while (!gone && reply.write('x'.repeat(65_536)));
        };
        reply.on('drain', more);
        more();
      },
    });
    expect(await post(url)).toMatchObject({ status: 200, response: 'x'.repeat(1024), error: null });
    await expect.poll(() => gone, { timeout: 30_000 }).toBe(true);
  });

  it('does not wait for the rest of a reply whose status is there', async () => {
    const { url } = await receiver({ respond: (reply) => void reply.writeHead(200).write('start') });
    expect(await post(url)).toMatchObject({ status: 200, response: 'start', error: null });
  });

  it.each([
    ['says nothing', () => undefined],
    [
      'sends its status byte by byte',
      (socket: Socket) => {
        const timer = setInterval(() => socket.write('H'), 50);
        socket.on('close', () => clearInterval(timer));
      },
    ],
    [
      'sends one informational reply after the other',
      (socket: Socket) => {
        const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 50);
        socket.on('close', () => clearInterval(timer));
      },
    ],
  ])('gives up on a server that %s', async (_what, speak) => {
    const answer = await post(await rawServer(speak), { timeoutMs: 700 });
    expect(['timeout', 'invalid_reply']).toContain(answer.error);
  });

  it.each([
    ['closes the connection', 'connection_failed', ''],
    ['sends something else than HTTP', 'invalid_reply', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['sends endless headers', 'invalid_reply', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`],
    [
      'switches protocols',
      'invalid_reply',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    ],
  ])('fails at a server that %s', async (_what, error, bytes) => {
    const url = await rawServer((socket) => socket.end(bytes));
    expect(await post(url)).toMatchObject({ status: null, response: null, error });
  });

  it('fails where nobody listens', async () => {
    const { url, close } = await startReceiver();
    await close();
    expect(await post(url)).toMatchObject({ error: 'connection_failed' });
  });

  it('ends with the reason of its signal', async () => {
    const stop = new AbortController();
    const url = await rawServer(() => stop.abort(new Error('stopping')));
    await expect(post(url, { signal: stop.signal })).rejects.toThrow('stopping');
    await expect(post(url, { signal: stop.signal })).rejects.toThrow('stopping');
  });
});

const trusted = tls.getCACertificates('default');
afterEach(() => tls.setDefaultCACertificates(trusted));

describe('TLS', () => {
  it('is not accepted from a certificate that nobody trusts, or of another name', async () => {
    const { url, port, received } = await receiver({ tls: true });
    expect(await post(url)).toMatchObject({ error: 'certificate_untrusted' });
    tls.setDefaultCACertificates([...trusted, receiverCertificate()]);
    expect(await post(`https://other.test:${port}/`)).toMatchObject({ error: 'certificate_name_mismatch' });
    expect(await post(`https://127.0.0.1:${port}/`)).toMatchObject({ error: 'certificate_name_mismatch' });
    expect(received).toEqual([]);
    expect(await post(url)).toMatchObject({ status: 200 });
  });

  it('is not accepted from a certificate that has expired', async () => {
    const { url, received } = await receiver({ tls: true, expired: true });
    tls.setDefaultCACertificates([...trusted, receiverCertificate('expired')]);
    expect(await post(url)).toMatchObject({ error: 'certificate_expired' });
    expect(received).toEqual([]);
  });

  it('is what a server without it fails at', async () => {
    const { port } = await receiver();
    expect(await post(`https://${RECEIVER_NAME}:${port}/`)).toMatchObject({ error: 'tls_failed' });
  });
});

describe('where private addresses are not allowed, a POST', () => {
  const guarded = (url: string) => post(url, { allowPrivate: false });

  it.each([
    'https://127.0.0.1:PORT/',
    'https://0x7f.1:PORT/',
    'https://2130706433:PORT/',
    'https://0:PORT/',
    'https://[::1]:PORT/',
    'https://[::ffff:127.0.0.1]:PORT/',
    'https://[64:ff9b::7f00:1]:PORT/',
    'https://169.254.169.254/',
  ])('does not go to %s', async (url) => {
    const { port, received } = await receiver({ tls: true });
    expect(await guarded(url.replace('PORT', String(port)))).toMatchObject({ error: 'address_not_allowed' });
    expect(received).toEqual([]);
  });

  it('does not go to a name with private addresses alone, and tells it from an unknown one to nobody', async () => {
    expect(await guarded('https://private.test/')).toMatchObject({ error: 'unknown_host' });
    expect(await guarded('https://missing.test/')).toMatchObject({ error: 'unknown_host' });
    expect(await guarded('https://localhost/')).toMatchObject({ error: 'unknown_host' });
    expect(await guarded('https://lame.test/')).toMatchObject({ error: 'dns_failure' });
  });

  it('does not go to a name that turned private after it was checked', async () => {
    const { port, received } = await receiver({ tls: true });
    tls.setDefaultCACertificates([...trusted, receiverCertificate()]);
    dns.set('turning.test', { A: ['93.184.215.14'] });
    await resolver.ask('turning.test', 'A', { deadlineMs: clock.elapsed() + 5_000 });
    dns.set('turning.test', { A: ['127.0.0.1'] });
    passedMs += 3_600_000;
    expect(await guarded(`https://turning.test:${port}/`)).toMatchObject({ error: 'unknown_host' });
    expect(received).toEqual([]);
  });

  it('is https', async () => {
    const { url, received } = await receiver();
    expect(await guarded(url)).toMatchObject({ error: 'not_https' });
    expect(await guarded(`http://${RESERVED}/`)).toMatchObject({ error: 'not_https' });
    expect(received).toEqual([]);
  });
});
