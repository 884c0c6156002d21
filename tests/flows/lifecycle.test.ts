import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { type DnsLab, zone } from '../lab/dns.ts';
import { runCli, startProcess } from '../lab/process.ts';
import { NET } from '../lab/service.ts';

const CLI = fileURLToPath(new URL('../../bin/mailvet.mjs', import.meta.url));

let dns: DnsLab;
let dir: string;
let environment: Record<string, string>;

beforeAll(async () => {
  dns = await zone(NET);
  dir = await mkdtemp(join(tmpdir(), 'mailvet-lifecycle-'));
  environment = {
    MAILVET_DATABASE_URL: `sqlite:${join(dir, 'mailvet.db')}`,
    MAILVET_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILVET_DNS_CONTROL_NAMES: 'none',
    MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    MAILVET_DRAIN_SECONDS: '0',
  };
  await runCli(['migrate'], environment);
});
afterAll(async () => {
  await dns.close();
  await rm(dir, { recursive: true, force: true });
});

/** Locks that nodes hold while they run, and the files that SQLite keeps while a database is open. */
const leftBehind = async () => (await readdir(dir)).filter((name) => /-node-|-wal$|-shm$/.test(name));

async function listening(port = 0): Promise<Server> {
  const server = createServer();
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
const portOf = (server: Server): string => String((server.address() as AddressInfo).port);
async function freePort(): Promise<string> {
  const server = await listening();
  const port = portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

const quiet = { MAILVET_HOST: '127.0.0.1', MAILVET_LOG_LEVEL: 'error' };

describe('a start that fails', () => {
  it.each([
    ['MAILVET_METRICS_PORT', 'MAILVET_PORT'],
    ['MAILVET_PORT', 'MAILVET_METRICS_PORT'],
  ])('names %s when that port is in use, exits with 1, and frees the other port and the store', async (busy, other) => {
    const taken = await listening();
    const free = await freePort();
    const ports = { [busy]: portOf(taken), [other]: free };
    const { code, out, err } = await runCli(['serve', '--json'], { ...environment, ...ports, ...quiet });
    expect(err).toContain(`port ${portOf(taken)}`);
    expect(err).toMatch(new RegExp(`\\b${busy}\\b`));
    expect(err).not.toMatch(new RegExp(`\\b${other}\\b`));
    expect(code).toBe(1);
    expect(out).toBe('');
    (await listening(Number(free))).close();
    taken.close();
    expect(await leftBehind()).toEqual([]);
  });
});

async function exitOf(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  if (child.exitCode !== null) return child.exitCode;
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  return code ?? signal;
}

describe('SIGTERM during the start', () => {
  it('ends the process soon, whenever it arrives, and leaves nothing locked', { timeout: 300_000 }, async () => {
    const begun = systemClock.elapsed();
    await (await startProcess(environment)).end('SIGTERM');
    const startMs = systemClock.elapsed() - begun;
    for (let step = 1; step <= 12; step++) {
      const child = spawn(process.execPath, [CLI, 'serve', '--json', '--port', '0'], {
        env: { PATH: process.env.PATH ?? '', MAILVET_LOG_LEVEL: 'error', ...environment },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      await after((startMs * step) / 12);
      const asked = systemClock.elapsed();
      child.kill('SIGTERM');
      // Before the program runs there is nothing to clean up, and the signal itself ends it.
      expect([0, 'SIGTERM']).toContain(await exitOf(child));
      // The bound of a stop.
      expect(systemClock.elapsed() - asked).toBeLessThan(30_000);
      expect(await leftBehind()).toEqual([]);
    }
  });
});

describe('SIGTERM while a request runs', () => {
  it('a second signal ends the process at once', { timeout: 30_000 }, async () => {
    const service = await startProcess(environment);
    const { port } = new URL(service.url);
    // A request that waits for its body holds up the drain.
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => undefined);
    const key = `mv_live_${'a'.repeat(32)}`;
    socket.write(`POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nAuthorization: Bearer ${key}\r\n\r\n{`);
    await after(200);
    const asked = systemClock.elapsed();
    const exit = exitOf(service.child);
    service.child.kill('SIGTERM');
    await after(1500);
    service.child.kill('SIGTERM');
    expect(await exit).toBe(143);
    expect(systemClock.elapsed() - asked).toBeLessThan(4000);
  });
});

describe('the memory of the process that was started', () => {
  const COLLECTOR = ['--no-incremental-marking-task', '--no-parallel-scavenge'];
  it.skipIf(process.platform !== 'linux').each([
    ['is bounded', {}, ['--max-semi-space-size=8', '--max-old-space-size=1024', ...COLLECTOR], '2'],
    [
      'has a young generation as the operator sets it',
      { NODE_OPTIONS: '--max-semi-space-size=32' },
      ['--max-old-space-size=1024', ...COLLECTOR],
      '2',
    ],
    [
      'has a heap as the operator sets it',
      { NODE_OPTIONS: '--max_old_space_size=400' },
      ['--max-semi-space-size=8', ...COLLECTOR],
      '2',
    ],
    [
      'has as many arenas as the operator sets',
      { MALLOC_ARENA_MAX: '4' },
      ['--max-semi-space-size=8', '--max-old-space-size=1024', ...COLLECTOR],
      '4',
    ],
  ])('%s', async (_, options, flags, arenas) => {
    const service = await startProcess({ ...environment, ...options });
    const command = (await readFile(`/proc/${service.child.pid}/cmdline`, 'utf8')).split('\0');
    expect(command.filter((part) => /^--(?:max|no)-/.test(part))).toEqual(flags);
    const variables = (await readFile(`/proc/${service.child.pid}/environ`, 'utf8')).split('\0');
    expect(variables.find((part) => part.startsWith('MALLOC_ARENA_MAX='))?.split('=')[1]).toBe(arenas);
    expect(await service.end('SIGTERM')).toBe(0);
  });
});
