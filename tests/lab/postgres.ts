/**
 * A private PostgreSQL server on a free loopback port, in a temporary folder, run by an unprivileged user. The tests of
 * one vitest process share it; `MAILVET_TEST_POSTGRES_URL` names an existing one (stores-setup.ts starts one for the
 * whole run).
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

const PACKAGED = '/usr/lib/postgresql';

/** The folder of the newest installed server, or null. */
function findBinaries(): string | null {
  if (!existsSync(PACKAGED)) return null;
  const versions = readdirSync(PACKAGED).sort((a, b) => Number(b) - Number(a));
  const folders = versions.map((version) => join(PACKAGED, version, 'bin'));
  return folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
}

/** Why no server can be started, or null. With MAILVET_TEST_POSTGRES=required, a reason is an error. */
export function whyNoPostgres(): string | null {
  if (process.env.MAILVET_TEST_POSTGRES_URL || findBinaries() !== null) return null;
  const reason = `no PostgreSQL server is installed (looked in ${PACKAGED})`;
  if (process.env.MAILVET_TEST_POSTGRES === 'required') throw new Error(reason);
  return reason;
}

export interface PostgresServer {
  /** URL of the maintenance database. */
  readonly url: string;
  /** `fast` ends sessions and writes everything; `immediate` is like a crash, after which the server recovers. */
  restart(how: 'fast' | 'immediate'): Promise<void>;
  stop(): Promise<void>;
}

/** PostgreSQL refuses to run as root; then it runs as the package's user, which owns only this folder. */
interface User {
  readonly uid: number;
  readonly gid: number;
  readonly prefix: readonly string[];
}
function unprivileged(): User {
  const { uid, gid } = userInfo();
  // The server ends with the test process, even if that is killed.
  if (uid !== 0) return { uid, gid, prefix: ['setpriv', '--pdeathsig', 'KILL'] };
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  const [owner, group] = [id('-u'), id('-g')];
  const change = ['--reuid', `${owner}`, '--regid', `${group}`, '--clear-groups'];
  return { uid: owner, gid: group, prefix: ['setpriv', ...change, '--pdeathsig', 'KILL'] };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('No port.');
  return address.port;
}

function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    server.stderr!.setEncoding('utf8').on('data', (text: string) => {
      if (log.length < 100_000) log += text;
      if (log.includes('ready to accept connections')) resolve();
    });
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}:\n${log}`)));
  });
}

/**
 * Starts a server. `parent`: the folder for its own; a small one gets small files. Tests need no data after a power
 * failure, so commits are not flushed to disk, unless `flush` is set, as a measurement must.
 */
export async function startPostgres({
  parent,
  flush = false,
}: {
  parent?: string;
  flush?: boolean;
} = {}): Promise<PostgresServer> {
  const binaries = findBinaries();
  if (binaries === null) throw new Error(whyNoPostgres() ?? 'PostgreSQL is not installed here.');
  const user = unprivileged();
  const folder = mkdtempSync(join(parent ?? tmpdir(), 'mailvet-postgres-'));
  chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const [program = '', ...prefix] = user.prefix;
  const initdb = [join(binaries, 'initdb'), '-D', data, '-U', 'mailvet', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
  if (parent !== undefined) initdb.push('--wal-segsize=1');
  execFileSync(program, [...prefix, ...initdb, '--locale=C.UTF-8'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: folder,
  });

  for (let tries = 1; ; tries++) {
    const port = await freePort();
    const access = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '', max_connections: 200 };
    const small = parent === undefined ? {} : { min_wal_size: '8MB', max_wal_size: '8MB' };
    const unsafe = flush ? {} : { fsync: 'off', full_page_writes: 'off' };
    const settings = { ...access, ...small, ...unsafe };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const start = () => {
      const started = spawn(program, [...prefix, join(binaries, 'postgres'), '-D', data, ...flags], {
        stdio: ['ignore', 'ignore', 'pipe'],
        cwd: folder,
      });
      // Does not keep this process alive.
      started.unref();
      return started;
    };
    let server = start();
    const end = async (signal: NodeJS.Signals) => {
      server.ref();
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill(signal);
      await ended;
    };
    try {
      await ready(server);
    } catch (error) {
      // Another process may have taken the port.
      if (tries < 3) continue;
      throw error;
    }
    const stop = async () => {
      // Its folder can be deleted only after it has stopped.
      await end('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    };
    const restart = async (how: 'fast' | 'immediate') => {
      await end(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
      server = start();
      await ready(server);
    };
    return { url: `postgres://mailvet@127.0.0.1:${port}/postgres`, restart, stop };
  }
}

let shared: Promise<PostgresServer> | null = null;

async function serverUrl(): Promise<string> {
  if (process.env.MAILVET_TEST_POSTGRES_URL) return process.env.MAILVET_TEST_POSTGRES_URL;
  shared ??= startPostgres();
  return (await shared).url;
}

/** Stops the server of this process, if any; for afterAll. */
export async function stopSharedPostgres(): Promise<void> {
  const server = shared;
  shared = null;
  await (await server)?.stop();
}

let made = 0;

/** A new database on the shared server, a copy of `template` if there is one. */
export async function freshPostgres(template: string | null = null): Promise<{ url: string; drop(): Promise<void> }> {
  const url = await serverUrl();
  const name = `test_${process.pid}_${made++}`;
  const from = template === null ? '' : ` TEMPLATE ${template} STRATEGY file_copy`;
  await runOn(url, `CREATE DATABASE ${name}${from}`);
  return { url: urlOf(url, name), drop: () => runOn(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/** A database to copy, after `fill` has filled it. Copying takes 50 ms, and all migrations of an empty one 650. */
export async function postgresTemplate(
  fill: (url: string) => Promise<void>,
): Promise<{ name: string; drop(): Promise<void> }> {
  const url = await serverUrl();
  const name = `template_${process.pid}`;
  await runOn(url, `CREATE DATABASE ${name}`);
  await fill(urlOf(url, name));
  // A database with a connection, such as that of a vacuum, cannot be copied.
  await runOn(url, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  return { name, drop: () => runOn(url, `DROP DATABASE IF EXISTS ${name}`) };
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

async function runOn(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
