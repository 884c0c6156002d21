/** The built service in a separate process, on an empty store with one account. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt, ROOT, runPinned } from '../../scripts/fresh.mjs';
import { systemClock } from '../../src/kernel/clock.ts';
import { createKey } from '../../src/service/keys.ts';
import { openStore } from '../../src/store/open.ts';
import type { AccountId, Store } from '../../src/store/store.ts';
import { freePort, keep, startPartner } from './children.ts';
import { ZONE } from './names.ts';

export const BUILT = join(ROOT, 'dist/cli.js');
export const COMMAND = join(ROOT, 'bin/mailvet.mjs');
export const SERVE = [COMMAND, 'serve'];
export const SOURCES = join(ROOT, 'src/cli/main.ts');
const FLOOR = fileURLToPath(new URL('floor-server.mjs', import.meta.url));

/** Measures the current sources. */
export function ensureBuilt(): void {
  if (!isBuilt() && !runPinned(['scripts/build.ts'])) throw new Error('npm run build failed');
}

interface Server {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

const stopper = (child: ChildProcess) => async (): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
};

/** Spawns `node ARGS` and resolves when the port accepts connections. */
async function startServer(args: readonly string[], port: number, environment = {}): Promise<Server> {
  const child = keep(
    spawn(process.execPath, args, {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_NO_WARNINGS: '1', ...environment },
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  );
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`node ${args.join(' ')} ended with ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return { pid: child.pid!, port, stop: stopper(child) };
}

export const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });

/** Bare node:http that returns `size` octets of JSON. */
export async function startFloor(size: number): Promise<Server> {
  const port = await freePort();
  return startServer([FLOOR, `${port}`, `${size}`], port);
}
export const floorArguments = (port: number, size: number): string[] => [FLOOR, `${port}`, `${size}`];

interface Ground {
  readonly store: string;
  readonly dns: number;
  /** Environment of the service process. */
  environment(port: number): Record<string, string>;
  /** Creates an Enterprise account with ample credits and rate limit; returns its ID and an API key. */
  account(): Promise<{ id: AccountId; key: string }>;
  withStore<T>(use: (store: Store) => Promise<T>): Promise<T>;
  clear(): Promise<void>;
}

/** Prepares what a service needs: a migrated store (by default SQLite in a temporary folder) and DNS. */
export async function prepareGround(url?: string): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), 'mailvet-bench-'));
  const store = url ?? `sqlite:${join(folder, 'mailvet.db')}`;
  const dns = await startPartner('dns-process.ts');
  const port = await dns.ask<number>(ZONE);
  async function withStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
    const opened = await openStore({ url: store, clock: systemClock });
    try {
      await opened.migrate();
      return await use(opened);
    } finally {
      await opened.close();
    }
  }
  return {
    store,
    dns: port,
    environment: (listen) => ({
      MAILVET_DATABASE_URL: store,
      MAILVET_PORT: `${listen}`,
      MAILVET_DRAIN_SECONDS: '0',
      MAILVET_DNS_SERVERS: `127.0.0.1:${port}`,
      MAILVET_LISTS_DIR: join(folder, 'lists'),
      MAILVET_SMTP_HELO: 'verifier.bench.example.com',
    }),
    account: () =>
      withStore(async (opened) => {
        const limits = { plan: 'enterprise', rateLimit: 1_000_000_000, credits: 1_000_000_000 } as const;
        const { id } = await opened.accounts.create({ name: 'bench', ...limits });
        const { value } = await createKey(opened, id, { name: 'bench', allowIps: [] });
        return { id, key: value };
      }),
    withStore,
    async clear() {
      await dns.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The service on `ground`, started as its operators start it. `more`: of its environment. */
export async function startService(
  ground: Ground,
  args: readonly string[] = SERVE,
  more: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const port = await freePort();
  return startServer(args, port, { ...ground.environment(port), ...more });
}

/** One verification; returns the size of the body in octets. */
export async function verifyOnce(port: number, key: string, email: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`/v1/verify answered ${response.status}: ${text}`);
  return Buffer.byteLength(text);
}
