/** `mailvet relay` as a process: mail servers behind it, clients that use it, and clients that abuse it. */
import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { SocksClient } from 'socks';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../../scripts/fresh.mjs';
import { unknownVariables } from '../../src/config/read.ts';
import { RELAY_FAILED_LOGINS } from '../../src/kernel/facts/limits.ts';
import { type FrameKind, FrameReader, FrameWriter, SOCKS_METHODS } from '../../src/kernel/socks.ts';
import { RELAY_OUTCOMES } from '../../src/relay/socks.ts';
import type { Zone } from '../lab/dns.ts';
import { runCli, spawnCli, startProcess } from '../lab/process.ts';
import { samplesOf } from '../lab/samples.ts';
import { startSmtp } from '../lab/smtp.ts';
import { openSetting } from './setting.ts';

vi.setConfig({ testTimeout: 120_000 });

const dir = mkdtempSync(join(tmpdir(), 'mailvet-relay-'));
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const TOKEN = 'correct-horse-battery-staple';
const WAIT = { timeout: 30_000, interval: 50 };
const file = (name: string, text: string): string => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};
const TOKEN_FILE = file('token', `${TOKEN}\n`);
const OTHER_KEY = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const certificate = (name: string) => join(import.meta.dirname, '../lab/certificate', name);
const TLS = ['--tls-cert', certificate('cert.pem'), '--tls-key', certificate('key.pem')];
const FROZEN_SERVER = `
  const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
`;
const LABORATORY = { MAILVET_ALLOW_PRIVATE_NETWORKS: 'true' };

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

interface RunningRelay {
  readonly port: number;
  readonly healthUrl: string;
  readonly pid: number;
  /** Of the log. */
  readonly lines: readonly Line[];
  /** Everything that was printed, log included. */
  printed(): string;
  metric(series: string): Promise<number>;
  signal(name: NodeJS.Signals): void;
  ended(): Promise<number | null>;
}

async function startRelay(
  flags: readonly string[] = ['--insecure'],
  environment: Record<string, string> = LABORATORY,
): Promise<RunningRelay> {
  const ports = ['--listen', '127.0.0.1:0', '--health-listen', '127.0.0.1:0'];
  const { child, done } = spawnCli(['relay', '--json', ...ports, '--token-file', TOKEN_FILE, ...flags], environment);
  let isKilled = false;
  open.push({
    close: async () => {
      isKilled = true;
      child.kill('SIGKILL');
      await done;
    },
  });
  const printed: string[] = [];
  const lines: Line[] = [];
  const greeting = await new Promise<{ listen: string; health_url: string; tls: boolean }>((resolve, reject) => {
    void done.then(({ code, err }) => reject(new Error(`relay ended with ${code}: ${err}`)));
    createInterface({ input: child.stdout }).on('line', (text) => {
      // Its last line may be cut off.
      if (isKilled) return;
      printed.push(text);
      const line = JSON.parse(text);
      if ('listen' in line) resolve(line);
      else lines.push(line);
    });
  });
  expect(greeting.tls).toBe(!flags.includes('--insecure'));
  const healthUrl = greeting.health_url;
  return {
    port: Number(greeting.listen.split(':')[1]),
    healthUrl,
    pid: child.pid ?? 0,
    lines,
    printed: () => printed.join('\n'),
    async metric(series) {
      const text = await (await fetch(`${healthUrl}/metrics`)).text();
      const found = text.split('\n').find((line) => line.startsWith(`${series} `));
      return found === undefined ? Number.NaN : Number(found.split(' ').at(-1));
    },
    signal: (name) => void child.kill(name),
    ended: async () => (await done).code,
  };
}

/** A client that sends bytes as they are. Each `from` is a network of its own. */
interface RawClient {
  readonly socket: Socket;
  send(...bytes: number[]): void;
  /** The next bytes that arrive; fewer at the end. */
  next(count: number): Promise<number[]>;
  /** Resolves when the relay has closed the connection, with everything that was not taken. */
  readonly closed: Promise<number[]>;
}

async function openClient({ port }: Pick<RunningRelay, 'port'>, from = '127.0.0.1'): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  open.push({ close: () => socket.destroy() });
  let received: number[] = [];
  socket.on('data', (chunk: Buffer) => received.push(...chunk));
  // A relay that closes while we send resets the connection: an end like any other.
  socket.on('error', () => undefined);
  const closed = new Promise<number[]>((resolve) => void socket.on('close', () => resolve(received)));
  await once(socket, 'connect');
  return {
    socket,
    send: (...bytes) => void socket.write(Buffer.from(bytes)),
    async next(count) {
      while (received.length < count && !socket.destroyed) await sleep(2);
      const taken = received.slice(0, count);
      received = received.slice(count);
      return taken;
    },
    closed,
  };
}

const GREETING = [5, 1, 2];
const login = (token: string): number[] => [1, 4, ...Buffer.from('user'), token.length, ...Buffer.from(token)];
const v4 = (address: string): number[] => [1, ...address.split('.').map(Number)];
/** Eight groups. */
const v6 = (groups: string): number[] => [
  4,
  ...groups.split(':').flatMap((g) => [...Buffer.from(g.padStart(4, '0'), 'hex')]),
];
const name = (text: string): number[] => [3, text.length, ...Buffer.from(text)];
const portBytes = (port: number): number[] => [port >> 8, port & 0xff];
const request = (address: readonly number[], port: number, command = 1): number[] => [
  5,
  command,
  0,
  ...address,
  ...portBytes(port),
];

async function signedIn(relay: RunningRelay, from?: string): Promise<RawClient> {
  const client = await openClient(relay, from);
  client.send(...GREETING);
  expect(await client.next(2)).toEqual([5, 2]);
  client.send(...login(TOKEN));
  expect(await client.next(2)).toEqual([1, 0]);
  return client;
}

/** The code of the reply to a request (RFC 1928 §6), after which the relay closes. */
async function refusal(relay: RunningRelay, bytes: readonly number[]): Promise<number | undefined> {
  const client = await signedIn(relay);
  client.send(...bytes);
  const reply = await client.closed;
  expect(reply).toEqual([5, reply[1], 0, 1, 0, 0, 0, 0, 0, 0]);
  return reply[1];
}

/** A server on loopback whose connections are the test's. */
async function startServer(serve: (socket: Socket) => void): Promise<{ port: number; server: Server }> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  });
  return { port: (server.address() as AddressInfo).port, server };
}

/** A dialogue over `socket`, with `afterBanner` in it; returns the replies. */
async function ask(socket: Socket, afterBanner?: () => Promise<void>): Promise<string[]> {
  const replies: string[] = [];
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  const reply = async (): Promise<void> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done) throw new Error(`no reply; before: ${replies}`);
      if (/^\d{3} /.test(value)) return void replies.push(value.slice(0, 3));
    }
  };
  await reply();
  await afterBanner?.();
  for (const command of [
    'EHLO probe.example.com',
    'MAIL FROM:<>',
    'RCPT TO:<good@lab.test>',
    'RCPT TO:<bad@lab.test>',
    'QUIT',
  ]) {
    socket.write(`${command}\r\n`);
    await reply();
  }
  return replies;
}
const DIALOGUE = ['220', '250', '250', '250', '550', '221'];

const viaSocks = (
  { port }: RunningRelay,
  destination: { host: string; port: number },
  { password = TOKEN, existing_socket = undefined as Socket | undefined } = {},
) =>
  SocksClient.createConnection({
    proxy: { host: '127.0.0.1', port, type: 5, userId: 'mailvet', password },
    command: 'connect',
    destination,
    ...(existing_socket === undefined ? {} : { existing_socket }),
  });

async function smtpLab() {
  const lab = await startSmtp({}, { address: '127.0.8.8' });
  open.push(lab);
  return lab;
}

describe('a dialogue', () => {
  it('resumes TLS sessions of its clients', async () => {
    const { port } = await startRelay(TLS);
    const connected = async (more: { session?: Buffer } = {}) => {
      const secure = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...more });
      open.push({ close: () => secure.destroy() });
      await once(secure, 'secureConnect');
      secure.resume().write(Buffer.of(5, 1, 2));
      return secure;
    };
    const first = await connected();
    const [session] = (await once(first, 'session')) as [Buffer];
    expect([first.isSessionReused(), (await connected({ session })).isSessionReused()]).toEqual([false, true]);
  });

  it('reaches the mail server from the address of --bind', async () => {
    const lab = await smtpLab();
    const relay = await startRelay(['--insecure', '--bind', '127.0.7.7', '--ports', `25,${lab.port}`]);
    const { socket } = await viaSocks(relay, { host: lab.address, port: lab.port });
    open.push({ close: () => socket.destroy() });
    expect(await ask(socket)).toEqual(DIALOGUE);
    expect(lab.connections.map(({ from, to }) => [from, to])).toEqual([['127.0.7.7', '127.0.8.8']]);
    await lab.idle();

    await expect
      .poll(() => relay.lines.find(({ msg }) => msg === 'connection ended'), WAIT)
      .toMatchObject({
        level: 30,
        client: '127.0.0.1',
        destination: `127.0.8.8:${lab.port}`,
        outcome: 'completed',
        bytes_to_mail_server: expect.any(Number),
        bytes_to_client: expect.any(Number),
        ms: expect.any(Number),
      });
    expect(relay.printed()).not.toMatch(/lab\.test|probe\.example|RCPT|correct-horse/);
    expect(await relay.metric('mailvet_relay_connections_total{outcome="completed"}')).toBe(1);
    expect(await relay.metric('mailvet_relay_connections{state="dialogue"}')).toBe(0);
    expect(await relay.metric('mailvet_relay_bytes_total{to="mail_server"}')).toBeGreaterThan(80);
    expect(relay.lines.filter(({ level }) => level === 40).map(({ msg }) => msg)).toEqual([
      expect.stringContaining('MAILVET_ALLOW_PRIVATE_NETWORKS'),
    ]);
  });

  it('goes over TLS 1.3, and not without', async () => {
    const lab = await smtpLab();
    const relay = await startRelay([...TLS, '--ports', String(lab.port), '--idle-seconds', '2']);
    const ca = readFileSync(certificate('cert.pem'));
    const openSecure = async () => {
      const socket = connectTls({ port: relay.port, host: '127.0.0.1', servername: 'mx.lab.test', ca });
      open.push({ close: () => socket.destroy() });
      await once(socket, 'secureConnect');
      return socket;
    };
    const secure = await openSecure();
    expect([secure.authorized, secure.getProtocol()]).toEqual([true, 'TLSv1.3']);
    const { socket } = await viaSocks(relay, { host: lab.address, port: lab.port }, { existing_socket: secure });
    expect(await ask(socket)).toEqual(DIALOGUE);

    const idle = await openSecure();
    await viaSocks(relay, { host: lab.address, port: lab.port }, { existing_socket: idle });
    await once(idle.resume(), 'close');
    await lab.idle();
    const outcome = (name: string) => relay.metric(`mailvet_relay_connections_total{outcome="${name}"}`);
    expect([await outcome('completed'), await outcome('idle')]).toEqual([1, 1]);

    const plain = await openClient(relay, '127.0.40.1');
    plain.send(...GREETING, ...login(TOKEN));
    expect((await plain.closed).slice(0, 2)).not.toEqual([5, 2]);
    const old = connectTls({ port: relay.port, host: '127.0.0.1', maxVersion: 'TLSv1.2', ca });
    await expect(once(old, 'secureConnect')).rejects.toThrow();
    await expect.poll(() => outcome('no_tls'), WAIT).toBe(2);
    expect(await relay.metric('mailvet_relay_certificate_expires_seconds')).toBeGreaterThan(Date.now() / 1000);
  });

  it('passes on what a client sends ahead of the replies, and what comes after its half was closed', async () => {
    const heard: string[] = [];
    const { port } = await startServer((socket) => {
      socket.on('data', (chunk) => heard.push(chunk.toString()));
      socket.on('end', () => socket.end('221 bye\r\n'));
    });
    const relay = await startRelay(['--insecure', '--ports', String(port)]);
    const client = await openClient(relay);
    client.socket.end(
      Buffer.from([...GREETING, ...login(TOKEN), ...request(v4('127.0.0.1'), port), ...Buffer.from('QUIT\r\n')]),
    );
    const all = Buffer.from(await client.closed);
    expect([...all.subarray(0, 9)]).toEqual([5, 2, 1, 0, 5, 0, 0, 1, 127]);
    expect(all.subarray(14).toString()).toBe('221 bye\r\n');
    expect(heard.join('')).toBe('QUIT\r\n');
  });

  it('takes no more from one side than the other takes, both ways', async () => {
    let takenByServer = 0;
    const ends: Socket[] = [];
    const { port } = await startServer((socket) => ends.push(socket));
    const relay = await startRelay(['--insecure', '--ports', String(port)]);
    const residentKb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${relay.pid}/status`, 'utf8'))?.[1]);
    const client = await signedIn(relay);
    client.send(...request(v4('127.0.0.1'), port));
    expect((await client.next(10))[1]).toBe(0);
    const before = residentKb();
    /** Bytes that a socket takes until it has taken nothing for a second. */
    const flood = async (socket: Socket): Promise<number> => {
      const chunk = Buffer.alloc(64 * 1024, 120);
      let sent = 0;
      let isFull = false;
      while (!isFull && sent < 200 * 2 ** 20) {
        sent += chunk.length;
        if (socket.write(chunk)) continue;
        isFull = await Promise.race([once(socket, 'drain').then(() => false), sleep(1_000, true)]);
      }
      return sent;
    };
    client.socket.pause();
    const [toServer, toClient] = [await flood(client.socket), await flood(ends[0] as Socket)];
    // The buffers of the operating system are some MB.
    expect(toServer).toBeLessThan(100 * 2 ** 20);
    expect(toClient).toBeLessThan(100 * 2 ** 20);
    expect(residentKb() - before).toBeLessThan(64 * 1024);
    ends[0]?.on('data', (chunk: Buffer) => {
      takenByServer += chunk.length;
    });
    await expect.poll(() => takenByServer, WAIT).toBe(toServer);
  });

  it.each([
    ['the mail server resets its connection', (server: Socket) => server.resetAndDestroy()],
    ['the client resets its connection', (_: Socket, client: Socket) => client.resetAndDestroy()],
  ])('ends on both sides when %s', async (_, breakOff) => {
    const ends: Socket[] = [];
    const { port } = await startServer((socket) => ends.push(socket));
    const relay = await startRelay(['--insecure', '--ports', String(port)]);
    const client = await signedIn(relay);
    client.send(...request(v4('127.0.0.1'), port));
    await client.next(10);
    await vi.waitFor(() => expect(ends).toHaveLength(1), WAIT);
    const server = ends[0] as Socket;
    server.resume();
    server.write('220 half a re');
    await client.next(13);
    const serverClosed = once(server, 'close');
    server.on('end', () => server.end());
    breakOff(server, client.socket);
    await Promise.all([client.closed, serverClosed]);
    await expect.poll(() => relay.metric('mailvet_relay_connections_total{outcome="broken"}'), WAIT).toBe(1);
    expect(await relay.metric('mailvet_relay_connections{state="dialogue"}')).toBe(0);
  });

  it('is closed when it idles, when it lasts too long, and when the client does not close after the server', async () => {
    const { port } = await startServer((socket) => {
      socket.on('data', (chunk) => (chunk.toString() === 'end' ? socket.end() : socket.write('.')));
      socket.on('end', () => socket.end());
    });
    const relay = await startRelay([
      '--insecure',
      '--ports',
      String(port),
      '--idle-seconds',
      '1',
      '--total-seconds',
      '4',
    ]);
    const begin = async () => {
      const client = await signedIn(relay);
      client.send(...request(v4('127.0.0.1'), port));
      await client.next(10);
      return client;
    };
    const [idle, talker, lingerer] = await Promise.all([begin(), begin(), begin()]);
    const talk = setInterval(() => talker.send(46), 200);
    lingerer.socket.removeAllListeners('end');
    lingerer.socket.allowHalfOpen = true;
    lingerer.send(...Buffer.from('end'));
    await idle.closed;
    // What has ended on one side already has no second end to tell the client.
    await expect.poll(() => relay.metric('mailvet_relay_connections_total{outcome="completed"}'), WAIT).toBe(1);
    expect(talker.socket.destroyed).toBe(false);
    await talker.closed;
    clearInterval(talk);
    await expect
      .poll(
        () =>
          relay.lines
            .filter(({ msg }) => msg === 'connection ended')
            .map(({ outcome }) => outcome)
            .sort(),
        WAIT,
      )
      .toEqual(['completed', 'idle', 'too_long']);
  });
});

describe('requests', () => {
  it('may name only public addresses, only the ports that are allowed, and only by CONNECT', async () => {
    const relay = await startRelay(['--insecure'], {});
    const cases: [what: string, bytes: number[], code: number][] = [
      ['loopback', request(v4('127.0.0.1'), 25), 2],
      ['this host', request(v4('0.0.0.0'), 25), 2],
      ['RFC 1918', request(v4('10.1.2.3'), 25), 2],
      ['RFC 1918', request(v4('172.16.0.1'), 25), 2],
      ['RFC 1918', request(v4('192.168.1.1'), 25), 2],
      ['link local, where clouds have their metadata', request(v4('169.254.169.254'), 25), 2],
      ['shared address space', request(v4('100.64.0.1'), 25), 2],
      ['multicast', request(v4('224.0.0.1'), 25), 2],
      ['broadcast', request(v4('255.255.255.255'), 25), 2],
      ['loopback of IPv6', request(v6('0:0:0:0:0:0:0:1'), 25), 2],
      ['unique local', request(v6('fd00:0:0:0:0:0:0:1'), 25), 2],
      ['link local of IPv6', request(v6('fe80:0:0:0:0:0:0:1'), 25), 2],
      ['multicast of IPv6', request(v6('ff02:0:0:0:0:0:0:1'), 25), 2],
      ['IPv4-mapped loopback', request(v6('0:0:0:0:0:ffff:7f00:1'), 25), 2],
      ['IPv4-mapped private', request(v6('0:0:0:0:0:ffff:a00:1'), 25), 2],
      ['NAT64 of loopback', request(v6('64:ff9b:0:0:0:0:7f00:1'), 25), 2],
      ['6to4', request(v6('2002:7f00:1:0:0:0:0:1'), 25), 2],
      ['another port', request(v4('8.8.8.8'), 587), 2],
      ['HTTP', request(v4('8.8.8.8'), 80), 2],
      ['port 0', request(v4('8.8.8.8'), 0), 2],
      ['a name', request(name('localhost'), 25), 8],
      ['an address as a name', request(name('8.8.8.8'), 25), 8],
      ['a type that does not exist', request([9, 1, 2, 3, 4], 25), 8],
      ['BIND', request(v4('8.8.8.8'), 25, 2), 7],
      ['UDP ASSOCIATE', request(v4('8.8.8.8'), 25, 3), 7],
      ['RESOLVE, as Tor has it', request(name('example.com'), 0, 0xf0), 7],
    ];
    for (const [what, bytes, code] of cases) expect([what, await refusal(relay, bytes)]).toEqual([what, code]);
    const metric = (outcome: string) => relay.metric(`mailvet_relay_connections_total{outcome="${outcome}"}`);
    expect(
      await Promise.all(['address_not_allowed', 'port_not_allowed', 'address_type', 'command'].map(metric)),
    ).toEqual([17, 3, 3, 3]);
  });

  it('have a reply that says why there is no connection', async () => {
    const { port, server } = await startServer(() => undefined);
    server.close();
    const relay = await startRelay(['--insecure', '--bind', '127.0.7.8', '--ports', `25,${port}`]);
    expect(await refusal(relay, request(v4('127.0.0.1'), port))).toBe(5);
    // Limited broadcast: for TCP, the system has no way there.
    expect(await refusal(relay, request(v4('255.255.255.255'), port))).toBe(3);
    // From an address of IPv4, none of IPv6 can be reached.
    expect(await refusal(relay, request(v6('0:0:0:0:0:0:0:1'), port))).toBe(8);
    await expect(viaSocks(relay, { host: '127.0.0.1', port })).rejects.toThrow(/ConnectionRefused/);
  });

  it('to an IPv4-mapped address are connections of IPv4', async () => {
    const lab = await smtpLab();
    const relay = await startRelay(['--insecure', '--bind', '127.0.7.9', '--ports', String(lab.port)]);
    const client = await signedIn(relay);
    client.send(...request(v6('0:0:0:0:0:ffff:7f00:808'), lab.port));
    expect((await client.next(8)).slice(0, 8)).toEqual([5, 0, 0, 1, 127, 0, 7, 9]);
    expect(lab.connections.map(({ from }) => from)).toEqual(['127.0.7.9']);
  });

  it('to a host that does not answer have a reply within 20 seconds', async () => {
    // Its event loop stands still: nothing takes connections from the queue of the system, which has two places.
    const frozen = spawn(process.execPath, ['-e', FROZEN_SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
    open.push({ close: () => frozen.kill('SIGKILL') });
    const [printed] = await once(frozen.stdout, 'data');
    const port = Number(printed);
    const relay = await startRelay(['--insecure', '--ports', String(port)]);
    for (let i = 0; i < 8; i += 1) {
      const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
      open.push({ close: () => socket.destroy() });
    }
    await sleep(500);
    const started = performance.now();
    expect(await refusal(relay, request(v4('127.0.0.1'), port))).toBe(4);
    const seconds = (performance.now() - started) / 1000;
    expect(seconds).toBeGreaterThan(19.5);
    expect(seconds).toBeLessThan(40);
    const gone = await signedIn(relay);
    gone.send(...request(v4('127.0.0.1'), port));
    await expect.poll(() => relay.metric('mailvet_relay_connections{state="dialogue"}'), WAIT).toBe(1);
    gone.socket.resetAndDestroy();
    await expect.poll(() => relay.metric('mailvet_relay_connections{state="dialogue"}'), WAIT).toBe(0);
    expect(await relay.metric('mailvet_relay_connections_total{outcome="gone"}')).toBe(1);
  });

  it('beyond --max-connections are refused, and let in again when others have ended', async () => {
    const { port } = await startServer((socket) => void socket.on('end', () => socket.end()).resume());
    const relay = await startRelay(['--insecure', '--ports', String(port), '--max-connections', '2']);
    const target = request(v4('127.0.0.1'), port);
    const first = await signedIn(relay);
    first.send(...target);
    const second = await signedIn(relay);
    second.send(...target);
    expect([(await first.next(10))[1], (await second.next(10))[1]]).toEqual([0, 0]);
    expect(await refusal(relay, target)).toBe(1);
    expect(await relay.metric('mailvet_relay_connections_total{outcome="busy"}')).toBe(1);
    first.socket.end();
    await first.closed;
    await expect.poll(() => relay.metric('mailvet_relay_connections{state="dialogue"}'), WAIT).toBe(1);
    const third = await signedIn(relay);
    third.send(...target);
    expect((await third.next(10))[1]).toBe(0);
  });
});

interface Frame {
  readonly kind: FrameKind;
  readonly id: number;
  readonly payload: Buffer;
}

/** A client that has many dialogues on one connection. */
interface TrunkClient {
  readonly client: RawClient;
  readonly frames: readonly Frame[];
  send(kind: FrameKind, id: number, payload?: readonly number[] | Buffer): void;
  /** Of a stream: the code of the reply, and everything that came. */
  code(id: number): number | undefined;
  text(id: number): string;
  isClosed(id: number): boolean;
}

async function openTrunk(relay: RunningRelay, from?: string, token = TOKEN): Promise<TrunkClient> {
  const client = await openClient(relay, from);
  client.send(5, 2, SOCKS_METHODS.password, SOCKS_METHODS.streams);
  expect(await client.next(2)).toEqual([5, SOCKS_METHODS.streams]);
  client.send(...login(token));
  expect(await client.next(2)).toEqual([1, 0]);
  client.socket.removeAllListeners('data');
  const frames: Frame[] = [];
  const reader = new FrameReader();
  client.socket.on('data', (chunk: Buffer) => {
    reader.read(chunk, (kind, id, payload) => frames.push({ kind, id, payload: Buffer.from(payload) }));
  });
  const writer = new FrameWriter((bytes) => void client.socket.write(bytes));
  const of = (id: number, kind: FrameKind) => frames.filter((one) => one.id === id && one.kind === kind);
  return {
    client,
    frames,
    send: (kind, id, payload = []) => writer.add(kind, id, Buffer.from(payload)),
    code: (id) => of(id, 'reply')[0]?.payload[1],
    text: (id) => Buffer.concat(of(id, 'data').map(({ payload }) => payload)).toString(),
    isClosed: (id) => of(id, 'close').length > 0,
  };
}

describe('a connection that carries many dialogues', () => {
  const outcome = (relay: RunningRelay, name: string) =>
    relay.metric(`mailvet_relay_connections_total{outcome="${name}"}`);

  it('connects each of them, and has a line and a count for each', async () => {
    const lab = await smtpLab();
    const relay = await startRelay(['--insecure', '--bind', '127.0.7.7', '--ports', String(lab.port)]);
    const trunk = await openTrunk(relay);
    const ids = Array.from({ length: 50 }, (_, i) => i + 1);
    for (const id of ids) trunk.send('open', id, request(v4(lab.address), lab.port));
    await vi.waitFor(() => expect(ids.filter((id) => trunk.text(id).startsWith('220 '))).toHaveLength(50), WAIT);
    expect(new Set(ids.map((id) => trunk.code(id)))).toEqual(new Set([0]));
    expect(await relay.metric('mailvet_relay_connections{state="dialogue"}')).toBe(50);
    expect(await relay.metric('mailvet_relay_connections{state="trunk"}')).toBe(1);
    // One half says goodbye, the other one hangs up.
    for (const id of ids) {
      if (id % 2 === 0) trunk.send('data', id, Buffer.from('QUIT\r\n'));
      else trunk.send('close', id);
    }
    await vi.waitFor(() => expect(ids.filter((id) => trunk.isClosed(id))).toHaveLength(25), WAIT);
    expect(trunk.text(2)).toMatch(/\r\n221 /);
    await expect.poll(() => outcome(relay, 'completed'), WAIT).toBe(50);
    expect(await relay.metric('mailvet_relay_connections{state="dialogue"}')).toBe(0);
    await expect.poll(() => relay.lines.filter(({ msg }) => msg === 'connection ended').length, WAIT).toBe(50);
    expect(relay.lines.at(-1)).toMatchObject({ client: '127.0.0.1', destination: `127.0.8.8:${lab.port}` });
    expect(new Set(lab.connections.map(({ from }) => from))).toEqual(new Set(['127.0.7.7']));
    expect(await relay.metric('mailvet_relay_bytes_total{to="mail_server"}')).toBe(25 * 6);
  });

  it('has to be signed in to like any other, and allows no more than others', async () => {
    const relay = await startRelay(['--insecure'], {});
    const guesser = await openClient(relay, '127.0.51.1');
    guesser.send(5, 1, SOCKS_METHODS.streams, ...login('a-wrong-token-of-somebody'));
    expect(await guesser.closed).toEqual([5, SOCKS_METHODS.streams, 1, 1]);
    const trunk = await openTrunk(relay, '127.0.51.2');
    const cases: [bytes: number[], code: number][] = [
      [request(v4('127.0.0.1'), 25), 2],
      [request(v4('169.254.169.254'), 25), 2],
      [request(v6('0:0:0:0:0:ffff:a00:1'), 25), 2],
      [request(v4('8.8.8.8'), 587), 2],
      [request(name('localhost'), 25), 8],
      [request(v4('8.8.8.8'), 25, 2), 7],
      [request(v4('8.8.8.8'), 25, 3), 7],
    ];
    for (const [i, [bytes]] of cases.entries()) trunk.send('open', i + 1, bytes);
    const codes = () => cases.map((_, i) => trunk.code(i + 1));
    await expect.poll(codes, WAIT).toEqual(cases.map(([, code]) => code));
    // No request at all, and half of one.
    trunk.send('open', 90, []);
    trunk.send('open', 91, request(v4('8.8.8.8'), 25).slice(0, -1));
    await expect.poll(() => [trunk.isClosed(90), trunk.isClosed(91)], WAIT).toEqual([true, true]);
    expect(await outcome(relay, 'malformed')).toBe(2);
    expect(relay.lines.filter(({ level }) => level >= 50)).toEqual([]);
  });

  it('counts for --max-connections with each dialogue, and begins none twice', async () => {
    const { port } = await startServer((socket) => void socket.resume());
    const relay = await startRelay(['--insecure', '--ports', String(port), '--max-connections', '2']);
    const trunk = await openTrunk(relay);
    const target = request(v4('127.0.0.1'), port);
    for (const id of [1, 2, 3]) trunk.send('open', id, target);
    await expect.poll(() => [1, 2, 3].map((id) => trunk.code(id)), WAIT).toEqual([0, 0, 1]);
    expect(await refusal(relay, target)).toBe(1);
    trunk.send('open', 1, target);
    await expect.poll(() => trunk.isClosed(1), WAIT).toBe(true);
    trunk.send('close', 2);
    await expect.poll(() => relay.metric('mailvet_relay_connections{state="dialogue"}'), WAIT).toBe(1);
    trunk.send('open', 4, target);
    await expect.poll(() => trunk.code(4), WAIT).toBe(0);
    // Of streams that are gone, or never were.
    for (const id of [2, 3, 77]) trunk.send('data', id, Buffer.from('QUIT'));
    trunk.send('close', 77);
    trunk.client.socket.destroy();
    await expect.poll(() => outcome(relay, 'broken'), WAIT).toBe(2);
    expect(await relay.metric('mailvet_relay_connections{state="trunk"}')).toBe(0);
  });

  it.each([
    ['an unknown kind of frame', [9, 0, 0, 0, 1, 0, 0]],
    ['a frame that is too long', [2, 0, 0, 0, 1, 255, 255]],
  ])('ends with %s', async (_, bytes) => {
    const relay = await startRelay();
    const trunk = await openTrunk(relay);
    trunk.client.send(...bytes);
    await trunk.client.closed;
    expect(await outcome(relay, 'malformed')).toBe(1);
  });

  it('takes no more from one side than the other takes, both ways', async () => {
    let hasClosed = false;
    const { port } = await startServer((socket) => {
      socket.pause();
      socket.on('close', () => {
        hasClosed = true;
      });
      const chunk = Buffer.alloc(64 * 1024, 120);
      const write = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on('drain', write);
      write();
    });
    const relay = await startRelay(['--insecure', '--ports', String(port)]);
    const residentKb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${relay.pid}/status`, 'utf8'))?.[1]);
    const [reading, writing] = [await openTrunk(relay), await openTrunk(relay)];
    const before = residentKb();
    reading.client.socket.pause();
    for (let id = 1; id <= 20; id += 1) reading.send('open', id, request(v4('127.0.0.1'), port));
    await sleep(2_000);
    expect(residentKb() - before).toBeLessThan(64 * 1024);
    writing.send('open', 1, request(v4('127.0.0.1'), port));
    await expect.poll(() => writing.code(1), WAIT).toBe(0);
    hasClosed = false;
    for (let i = 0; i < 2_000; i += 1) writing.send('data', 1, Buffer.alloc(16 * 1024));
    await expect.poll(() => writing.isClosed(1), WAIT).toBe(true);
    await expect.poll(() => hasClosed, WAIT).toBe(true);
    expect(residentKb() - before).toBeLessThan(64 * 1024);
  });

  it('ends dialogues that idle or last too long, and itself when there are none', async () => {
    const { port } = await startServer((socket) => {
      socket.on('data', () => socket.write('.'));
      socket.on('end', () => socket.end());
    });
    const limits = ['--idle-seconds', '1', '--total-seconds', '4'];
    const relay = await startRelay(['--insecure', '--ports', String(port), ...limits]);
    const [trunk, unused] = [await openTrunk(relay), await openTrunk(relay)];
    for (const id of [1, 2]) trunk.send('open', id, request(v4('127.0.0.1'), port));
    const talk = setInterval(() => trunk.send('data', 2, [46]), 200);
    await expect.poll(() => trunk.isClosed(1), WAIT).toBe(true);
    expect(trunk.isClosed(2)).toBe(false);
    await unused.client.closed;
    await expect.poll(() => trunk.isClosed(2), WAIT).toBe(true);
    clearInterval(talk);
    await trunk.client.closed;
    expect([await outcome(relay, 'idle'), await outcome(relay, 'too_long')]).toEqual([3, 1]);
  });

  it('takes no more dialogues after SIGHUP, so that a token that is gone is of no more use, and after SIGTERM', async () => {
    const lab = await smtpLab();
    const token = file('revoked', `${TOKEN}\n`);
    const relay = await startRelay(['--insecure', '--ports', String(lab.port), '--token-file', token]);
    const target = request(v4(lab.address), lab.port);
    const begin = async (trunk: TrunkClient) => {
      trunk.send('open', 1, target);
      await expect.poll(() => trunk.text(1), WAIT).toMatch(/^220 /);
    };
    const endsAfter = async (trunk: TrunkClient, signal: NodeJS.Signals) => {
      relay.signal(signal);
      await expect.poll(() => trunk.frames.some(({ kind }) => kind === 'retire'), WAIT).toBe(true);
      trunk.send('open', 2, target);
      await expect.poll(() => trunk.isClosed(2), WAIT).toBe(true);
      expect(trunk.code(2)).toBeUndefined();
      trunk.send('data', 1, Buffer.from('QUIT\r\n'));
      await trunk.client.closed;
      expect(trunk.text(1)).toMatch(/\r\n221 /);
    };
    const first = await openTrunk(relay);
    await begin(first);
    writeFileSync(token, 'another-token-of-this-relay\n');
    await endsAfter(first, 'SIGHUP');
    await expect(openTrunk(relay)).rejects.toThrow();
    const second = await openTrunk(relay, '127.0.52.1', 'another-token-of-this-relay');
    await begin(second);
    await endsAfter(second, 'SIGTERM');
    expect(await relay.ended()).toBe(0);
    expect(lab.connections).toHaveLength(2);
  });
});

describe('handshakes', () => {
  it('each step has 10 seconds, however slowly bytes arrive', async () => {
    const relay = await startRelay();
    const started = performance.now();
    const silent = await openClient(relay, '127.0.41.1');
    const greeted = await openClient(relay, '127.0.41.2');
    greeted.send(...GREETING);
    const trusted = await signedIn(relay, '127.0.41.3');
    // The longest greeting there is, and a user name, byte by byte.
    const trickling = await openClient(relay, '127.0.41.4');
    trickling.send(5, 255);
    const naming = await openClient(relay, '127.0.41.5');
    naming.send(...GREETING, 1, 255);
    const trickle = setInterval(() => {
      trickling.send(0);
      naming.send(97);
    }, 100);
    const requesting = await signedIn(relay, '127.0.41.6');
    requesting.send(5, 1, 0, 1, 8);
    const all = [silent, greeted, trusted, trickling, naming, requesting];
    await Promise.all(all.map(({ closed }) => closed));
    clearInterval(trickle);
    const seconds = (performance.now() - started) / 1000;
    expect(seconds).toBeGreaterThan(9.5);
    expect(seconds).toBeLessThan(30);
    expect(await relay.metric('mailvet_relay_connections_total{outcome="slow"}')).toBe(6);
    expect(await relay.metric('mailvet_relay_connections{state="handshake"}')).toBe(0);
  });

  it('without a password, of other protocols, or that end early are closed', async () => {
    const relay = await startRelay();
    const outcomeOf = async (from: string, ...sends: number[][]) => {
      const client = await openClient(relay, from);
      for (const bytes of sends) client.send(...bytes);
      return client.closed;
    };
    expect(await outcomeOf('127.0.42.1', [5, 1, 0])).toEqual([5, 0xff]);
    expect(await outcomeOf('127.0.42.1', [5, 0])).toEqual([5, 0xff]);
    expect(await outcomeOf('127.0.42.2', [4, 1, 0, 25, 8, 8, 8, 8, 0])).toEqual([]);
    expect(await outcomeOf('127.0.42.2', [...Buffer.from('GET / HTTP/1.1\r\n\r\n')])).toEqual([]);
    expect(await outcomeOf('127.0.42.2', GREETING, [9, 9, 9])).toEqual([5, 2]);
    expect(await outcomeOf('127.0.42.3', GREETING, [1, 0, 0])).toEqual([5, 2, 1, 1]);
    const early = await openClient(relay, '127.0.42.4');
    early.send(5);
    early.socket.end();
    expect(await early.closed).toEqual([]);
    const metric = (outcome: string) => relay.metric(`mailvet_relay_connections_total{outcome="${outcome}"}`);
    expect(await Promise.all(['no_password', 'malformed', 'bad_token', 'gone'].map(metric))).toEqual([2, 3, 1, 1]);
  });

  it('that are held open do not keep others out', async () => {
    const relay = await startRelay(['--insecure', '--max-connections', '20']);
    const held: RawClient[] = [];
    for (let i = 0; i < 60; i += 1) held.push(await openClient(relay, '127.0.43.1'));
    const client = await signedIn(relay, '127.0.43.2');
    client.send(...request(v4('127.0.0.1'), 26));
    expect((await client.closed)[1]).toBe(2);
    await expect.poll(() => held.filter(({ socket }) => !socket.destroyed).length, WAIT).toBeLessThanOrEqual(20);
    expect(await relay.metric('mailvet_relay_connections_total{outcome="evicted"}')).toBeGreaterThanOrEqual(40);
  });

  it('with 1,000 wrong tokens learn nothing after the first few, and others are let in', async () => {
    const relay = await startRelay();
    const attacker = '127.0.44.1';
    const said = new Map<string, number>();
    const guess = async (i: number) => {
      const client = await openClient(relay, attacker);
      client.send(...GREETING, ...login(i === 999 ? TOKEN : `${TOKEN}-${i}`));
      const reply = (await client.closed).join(' ');
      said.set(reply, (said.get(reply) ?? 0) + 1);
    };
    for (let i = 0; i < 1_000; i += 20) await Promise.all(Array.from({ length: 20 }, (_, j) => guess(i + j)));
    // A window may end meanwhile, but the right token comes as the last one of those that are turned away.
    expect([...said.keys()].every((reply) => ['', '5 2', '5 2 1 1'].includes(reply))).toBe(true);
    const bad = await relay.metric('mailvet_relay_connections_total{outcome="bad_token"}');
    expect(bad).toBeGreaterThanOrEqual(RELAY_FAILED_LOGINS);
    expect(bad).toBeLessThanOrEqual(3 * RELAY_FAILED_LOGINS);
    expect(await relay.metric('mailvet_relay_connections_total{outcome="blocked"}')).toBe(1_000 - bad);
    await signedIn(relay, '127.0.44.2');
    const warned = () => relay.lines.filter(({ msg }) => msg.startsWith('too many failed sign-ins'));
    await expect.poll(() => warned().length, WAIT).toBeGreaterThanOrEqual(1);
    expect(warned()[0]).toMatchObject({ level: 40, client: attacker, seconds: expect.any(Number) });
    // Connections that are turned away have no line each.
    expect(relay.lines.length).toBeLessThan(100);
    expect(relay.printed()).not.toContain('correct-horse');
  });

  it('1,000 at once, of which each does something else wrong, leave a relay that works', async () => {
    const lab = await smtpLab();
    const relay = await startRelay(['--insecure', '--ports', String(lab.port)]);
    const clients = await Promise.all(
      Array.from({ length: 1_000 }, async (_, i) => {
        const client = await openClient(relay, `127.0.${60 + (i % 50)}.1`);
        const bytes = Buffer.alloc(4 + (i % 600), i % 256);
        client.socket.write(bytes);
        if (i % 3 === 0) client.socket.resetAndDestroy();
        return client;
      }),
    );
    const { socket } = await viaSocks(relay, { host: lab.address, port: lab.port });
    open.push({ close: () => socket.destroy() });
    expect(await ask(socket)).toEqual(DIALOGUE);
    for (const { socket: one } of clients) one.destroy();
    await expect.poll(() => relay.metric('mailvet_relay_connections{state="handshake"}'), WAIT).toBe(0);
    expect(relay.lines.filter(({ level }) => level >= 50)).toEqual([]);
  });
});

describe('signals', () => {
  it('SIGTERM: what is open may end, /healthz says so, nothing new is accepted, and the exit code is 0', async () => {
    const lab = await smtpLab();
    const relay = await startRelay(['--insecure', '--ports', String(lab.port)]);
    expect((await fetch(`${relay.healthUrl}/healthz`)).status).toBe(200);
    expect((await fetch(`${relay.healthUrl}/other`)).status).toBe(404);
    const half = await openClient(relay);
    half.send(5);
    const { socket } = await viaSocks(relay, { host: lab.address, port: lab.port });
    open.push({ close: () => socket.destroy() });
    const stop = async () => {
      relay.signal('SIGTERM');
      await expect.poll(async () => (await fetch(`${relay.healthUrl}/healthz`)).status, WAIT).toBe(503);
      await half.closed;
      await expect(openClient(relay)).rejects.toThrow(/ECONNREFUSED/);
    };
    expect(await ask(socket, stop)).toEqual(DIALOGUE);
    socket.destroy();
    expect(await relay.ended()).toBe(0);
  });

  it('SIGHUP: reads tokens and certificate again; with a mistake, those before stay', async () => {
    const lab = await smtpLab();
    const token = file('changing', `${TOKEN}\n`);
    const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
    copyFileSync(certificate('cert.pem'), cert);
    copyFileSync(certificate('key.pem'), key);
    const relay = await startRelay([
      '--tls-cert',
      cert,
      '--tls-key',
      key,
      '--token-file',
      token,
      '--ports',
      String(lab.port),
    ]);
    const reload = async (message: string, times: number) => {
      relay.signal('SIGHUP');
      await expect.poll(() => relay.lines.filter(({ msg }) => msg === message).length, WAIT).toBe(times);
    };
    const attempt = async (password: string) => {
      const secure = connectTls({ port: relay.port, host: '127.0.0.1', rejectUnauthorized: false });
      open.push({ close: () => secure.destroy() });
      await once(secure, 'secureConnect');
      const { valid_to: end } = secure.getPeerCertificate();
      const said = await viaSocks(
        relay,
        { host: lab.address, port: lab.port },
        { password, existing_socket: secure },
      ).then(
        () => 'connected',
        (error: Error) => error.message,
      );
      return [said, Date.parse(end) > Date.now()];
    };
    const [NEXT, REJECTED] = ['another-token-of-this-relay', expect.stringContaining('uthentication')];
    expect(await attempt(NEXT)).toEqual([REJECTED, true]);
    writeFileSync(token, `${TOKEN}\n${NEXT}\n`);
    copyFileSync(certificate('expired.pem'), cert);
    await reload('read token and certificate again', 1);
    expect(await attempt(TOKEN)).toEqual(['connected', false]);
    expect(await attempt(NEXT)).toEqual(['connected', false]);
    expect(relay.lines.some(({ msg }) => msg.startsWith('the certificate has ended'))).toBe(true);
    writeFileSync(token, 'short\n');
    await reload('token and certificate stay as they were', 1);
    expect(await attempt(NEXT)).toEqual(['connected', false]);
    writeFileSync(token, `${NEXT}\n`);
    await reload('read token and certificate again', 2);
    expect(await attempt(TOKEN)).toEqual([REJECTED, false]);
  });
});

describe('options', () => {
  const relay = (...flags: string[]) => runCli(['relay', ...flags]);

  it('all mistakes are reported at once, each with its flag and what to give instead', async () => {
    const missing = join(dir, 'missing');
    const broken = file('broken.pem', 'no certificate');
    const { code, out, err } = await relay(
      '--listen',
      'relay.example.com',
      '--token-file',
      missing,
      '--tls-cert',
      broken,
      '--tls-key',
      broken,
      '--ports',
      '0',
      '--bind',
      'nowhere',
      '--max-connections',
      '0',
      '--idle-seconds',
      'x',
      '--total-seconds',
      '0',
      '--health-listen',
      '1.2.3.4.5:1',
      '--insecure',
      'maybe',
    );
    expect([code, out]).toEqual([2, '']);
    const flags = err.split('\n').map((line) => /^mailvet: (--[a-z-]+) is .*: give /.exec(line)?.[1]);
    expect(flags.sort()).toEqual([
      '--bind',
      '--health-listen',
      '--idle-seconds',
      '--insecure',
      '--listen',
      '--max-connections',
      '--ports',
      '--tls-cert',
      '--tls-key',
      '--token-file',
      '--total-seconds',
      undefined,
    ]);
    expect(err).toContain('a file that this user may read (ENOENT)');
  });

  it('those that are missing or do not fit together', async () => {
    const none = await relay();
    expect(none.code).toBe(2);
    for (const flag of ['--token-file', '--tls-cert', '--tls-key'])
      expect(none.err).toMatch(new RegExp(`^mailvet: ${flag} \\(MAILVET_RELAY_[A-Z_]+\\) is missing: give `, 'm'));

    const token = ['--token-file', TOKEN_FILE];
    const insecure = await relay(...token, '--insecure', ...TLS, '--bind', '127.0.0.1,127.0.0.2');
    expect(insecure.err.match(/^mailvet: --(insecure|bind)/gm)).toEqual([
      'mailvet: --insecure',
      'mailvet: --insecure',
      'mailvet: --bind',
    ]);
    for (const address of ['0.0.0.0', '[::]', '8.8.8.8', '[2001:4860::1]'])
      expect((await relay(...token, '--insecure', '--listen', `${address}:1080`)).err).toMatch(
        /^mailvet: --insecure is given/,
      );
    const other = await relay(...token, '--tls-cert', TLS[1] ?? '', '--tls-key', file('other.pem', OTHER_KEY));
    expect(other.err).toMatch(/^mailvet: --tls-key is not the key of --tls-cert/);
    const short = await relay('--token-file', file('short', 'secret-pass\n'), ...TLS);
    expect(short.err).toMatch(/^mailvet: --token-file is .*: give a file with a token in each line/);
    expect(short.err).not.toContain('secret-pass');
  });

  it('ports that are taken and addresses of others prevent the start, all at once', async () => {
    const { port } = await startServer(() => undefined);
    const { code, err } = await relay(
      '--token-file',
      TOKEN_FILE,
      '--insecure',
      '--bind',
      '198.51.100.7',
      '--listen',
      `127.0.0.1:${port}`,
      '--health-listen',
      '192.0.2.1:1081',
    );
    expect(code).toBe(1);
    expect(err.trim().split('\n')).toEqual([
      `mailvet: port ${port} of 127.0.0.1 is in use: stop the process that listens there, or set --listen to another port.`,
      'mailvet: 192.0.2.1 is not an address of this machine: correct --health-listen.',
      'mailvet: 198.51.100.7 is not an address of this machine: correct --bind.',
    ]);
  });

  it('--print-egress prints the entry for the service', async () => {
    const token = file('odd', 'a+b/cd.e_f-g~h0123=\n');
    const over = await relay('--print-egress', '--token-file', token, ...TLS, '--bind', '127.0.0.1');
    expect(over.code).toBe(0);
    const [entry] = parse(over.out);
    expect(entry).toEqual({
      name: expect.any(String),
      helo: expect.stringMatching(/\./),
      via: `socks5+tls://mailvet:${encodeURIComponent('a+b/cd.e_f-g~h0123=')}@mx.lab.test:1080`,
      families: ['ipv4'],
    });
    const url = new URL(entry.via);
    expect(decodeURIComponent(url.password)).toBe('a+b/cd.e_f-g~h0123=');
    const plain = await relay(
      '--print-egress',
      '--json',
      '--token-file',
      TOKEN_FILE,
      '--insecure',
      '--listen',
      '10.0.0.5:1090',
    );
    expect(JSON.parse(plain.out)).toMatchObject({ via: `socks5://mailvet:${TOKEN}@10.0.0.5:1090` });
  });
});

it('is an egress of the service, by what it prints for it', async () => {
  const lab = await smtpLab();
  const relay = await startRelay(['--insecure', '--bind', '127.0.7.12', '--ports', String(lab.port)]);
  const listen = ['--listen', `127.0.0.1:${relay.port}`, '--insecure'];
  const printed = await runCli(['relay', '--print-egress', '--token-file', TOKEN_FILE, ...listen], LABORATORY);
  const [{ name, helo }] = parse(printed.out);
  const egressFile = join(dir, 'egress.yaml');
  writeFileSync(egressFile, printed.out);
  const net: Zone = { 'relayed.com': { MX: [[10, 'mx.relayed.com']] }, 'mx.relayed.com': { A: [lab.address] } };
  const setting = await openSetting({ credits: 100, net });
  open.push(setting);
  const service = await startProcess({
    ...setting.environment,
    MAILVET_SMTP_EGRESS_FILE: egressFile,
    MAILVET_SMTP_PORT: String(lab.port),
  });
  open.push({ close: () => service.end('SIGKILL') });
  const reply = await fetch(`${service.url}/v1/verify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${setting.key.value}` },
    body: JSON.stringify({ email: 'good@relayed.com', validation_type: 'smtp' }),
  });
  expect(await reply.json()).toMatchObject({ checks: { smtp: { result: 'pass', egress: name } } });
  expect(new Set(lab.connections.map(({ from }) => from))).toEqual(new Set(['127.0.7.12']));
  expect(lab.commands[0]?.line).toBe(`EHLO ${helo}`);
});

describe('docs/relay.md', () => {
  const samples = samplesOf('docs/relay.md').map(({ code }) => code);
  const sample = (start: string): string => {
    const found = samples.find((code) => code.startsWith(start));
    if (found === undefined) throw new Error(`docs/relay.md has no sample that begins with ${start}`);
    return found;
  };
  const own = join(dir, 'page');
  /** As on the page, but for folders, and ports that are free. */
  const here = (code: string): string =>
    code
      .replaceAll('/etc/mailvet-relay', own)
      .replaceAll('/etc/letsencrypt/live/probe1.example.com', own)
      .replaceAll(/--listen \S+/g, '--listen 127.0.0.1:0')
      .replaceAll(/^mailvet /gm, `exec '${process.execPath}' '${join(ROOT, 'bin/mailvet.mjs')}' `);

  /** Runs a sample in a shell until the relay listens; returns that line of its log. */
  async function runSample(code: string, environment: Record<string, string> = {}) {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn('bash', ['-ec', code], {
      env: { PATH, HOME, MAILVET_RELAY_HEALTH_LISTEN: '127.0.0.1:0', ...LABORATORY, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    open.push({ close: () => child.kill('SIGKILL') });
    const printed: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      printed.push(line);
      if (line.includes('"msg":"listening"')) return JSON.parse(line);
    }
    throw new Error(`ended: ${printed.join('\n')}`);
  }
  const portIn = ({ listen }: { listen: string }) => Number(listen.split(':').at(-1));

  it('works as written, from the start to the first dialogue', async () => {
    const lab = await smtpLab();
    const start = sample('npm install --global mailvet\n').replace('npm install --global mailvet\n', '');
    mkdirSync(own);
    copyFileSync(certificate('cert.pem'), join(own, 'fullchain.pem'));
    copyFileSync(certificate('key.pem'), join(own, 'privkey.pem'));
    const printed = await runSample(here(start), { MAILVET_RELAY_PORTS: String(lab.port) });
    const shown = JSON.parse(sample('{"level":30,"time":"2026-11-27T09'));
    expect([Object.keys(printed), printed.tls]).toEqual([Object.keys(shown), shown.tls]);
    expect(statSync(join(own, 'token')).mode & 0o777).toBe(0o600);

    const program = sample('import { once }')
      .replace("{ host: 'probe1.example.com', port: 1080 }", `{ host: '127.0.0.1', port: ${portIn(printed)} }`)
      .replace("{ host: '142.250.102.26', port: 25 }", `{ host: '${lab.address}', port: ${lab.port} }`)
      .replace("servername: 'probe1.example.com'", "servername: 'mx.lab.test'")
      .replace("'socks'", JSON.stringify(import.meta.resolve('socks')));
    writeFileSync(join(own, 'first.mjs'), program);
    const { stdout } = await promisify(execFile)(process.execPath, ['first.mjs'], {
      cwd: own,
      env: { NODE_EXTRA_CA_CERTS: certificate('cert.pem') },
    });
    expect(stdout.trim()).toBe('220 mx.lab.test ESMTP');
    expect(lab.connections).toHaveLength(1);

    const [entry] = parse(sample('# It has the token'));
    const egress = await runCli(['relay', '--print-egress', '--token-file', join(own, 'token'), ...TLS]);
    expect([Object.keys(parse(egress.out)[0]), egress.out.split('\n')[0]]).toEqual([
      Object.keys(entry),
      sample('# It has the token').split('\n')[0],
    ]);
    expect(entry.via).toMatch(/^socks5\+tls:\/\/mailvet:\S+@probe1\.example\.com:1080$/);

    const set = [...here(sample('# /etc/mailvet-relay.env')).matchAll(/^(\w+)=(\S+)$/gm)];
    const environment = Object.fromEntries(set.map(([, name = '', value = '']) => [name, value]));
    expect([set.length, unknownVariables(environment)]).toEqual([3, []]);
    await runSample(here('mailvet relay --listen 0.0.0.0:1080'), environment);
    expect((await runSample(here(sample('mailvet relay --listen 10.8.0.2')))).tls).toBe(false);
    expect(Object.keys(JSON.parse(sample('{"level":30,"time":"2026-11-26')))).toEqual([
      'level',
      'time',
      'client',
      'destination',
      'outcome',
      'bytes_to_mail_server',
      'bytes_to_client',
      'ms',
      'msg',
    ]);
  });

  it('explains every outcome', () => {
    const page = readFileSync(join(ROOT, 'docs/relay.md'), 'utf8');
    const explained = [...page.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, names = '']) =>
      [...names.matchAll(/`(\w+)`/g)].map(([, found]) => found),
    );
    expect(explained.sort()).toEqual([...RELAY_OUTCOMES].sort());
  });
});
