import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { createKey } from '../../src/service/keys.ts';
import { openStore } from '../../src/store/open.ts';
import { backupSqlite } from '../../src/store/sqlite/backup.ts';
import type { Account, Store } from '../../src/store/store.ts';
import { type DnsLab, zone } from '../lab/dns.ts';
import { runCli, startProcess } from '../lab/process.ts';
import { NET, request } from '../lab/service.ts';
import { ENGINE, runSql } from '../lab/stores.ts';
import { startLoad } from './load.ts';

const CLI = fileURLToPath(new URL('../../bin/mailvet.mjs', import.meta.url));
/** So that the copy takes several steps, and others write between them. */
const MEGABYTES = 40;

let dns: DnsLab;
let dir: string;
let url: string;
let store: Store;
let account: Account;
let key: string;

beforeAll(async () => {
  dns = await zone(NET);
  dir = await mkdtemp(join(tmpdir(), 'mailvet-backup-'));
  url = `sqlite:${join(dir, 'live', 'mailvet.db')}`;
  store = await openStore({ url, clock: systemClock });
  await store.migrate();
  account = await store.accounts.create({ name: 'a', plan: 'enterprise', rateLimit: 1e7, credits: 1_000_000 });
  key = (await createKey(store, account.id, { name: 'k', allowIps: [] })).value;
  await runSql(
    url,
    `INSERT INTO secrets (name, value) WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MEGABYTES})
     SELECT 'ballast' || i, printf('%.1000000c', 'x') FROM n`,
  );
});
afterAll(async () => {
  await store.close();
  await dns.close();
  await rm(dir, { recursive: true });
});

const environment = (database: string) => ({
  MAILVET_DATABASE_URL: database,
  MAILVET_DNS_SERVERS: `${dns.address}:${dns.port}`,
  MAILVET_DNS_CONTROL_NAMES: 'none',
  MAILVET_DNS_TIMEOUT_MS: '10000',
  MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
});
const backup = (file: string, ...flags: string[]) =>
  runCli(['backup', file, '--json', ...flags], { MAILVET_DATABASE_URL: url });
const errorOf = ({ err }: { err: string }): string => JSON.parse(err).error;

/** An empty folder. */
function folder(name: string): string {
  const path = join(dir, name);
  mkdirSync(path);
  return path;
}

describe.runIf(ENGINE === 'sqlite')('a backup', () => {
  it('made under load is a store that agrees, and serves', { timeout: 180_000 }, async () => {
    const service = await startProcess(environment(url));
    const load = startLoad(service.url, key, { max: 1_000_000 });
    // Holds a credit until long after the backup.
    const body = { email: 'jane@silent.com', timeout_ms: 30_000 };
    const waiting = request(service.url, 'POST', '/v1/verify', body, { authorization: `Bearer ${key}` }).catch(
      () => null,
    );
    const locked = async () => expect((await store.accounts.get(account.id))!.locked).toBeGreaterThan(0);
    await vi.waitUntil(() => load.acknowledged.length > 100, { timeout: 60_000 });
    await vi.waitFor(locked, { timeout: 60_000 });
    const before = load.acknowledged.length;
    const file = join(folder('restored'), 'mailvet.db');
    const ran = await backup(file);
    const during = load.acknowledged.length - before;
    await service.end('SIGKILL');
    await load.stop();
    await waiting;

    expect(ran).toMatchObject({ code: 0, err: '' });
    const { schema_version, ...written } = JSON.parse(ran.out);
    expect(written).toEqual({ file, bytes: statSync(file).size });
    expect(schema_version).toBe(Number((await runSql(url, 'SELECT max(version) AS v FROM migrations'))[0]!.v));
    expect(readdirSync(join(dir, 'restored'))).toEqual(['mailvet.db']);
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    expect(during).toBeGreaterThan(0);

    const copy = await openStore({ url: `sqlite:${file}`, clock: systemClock });
    expect(await copy.accounts.audit()).toEqual([]);
    for (const { id } of load.acknowledged.slice(0, before)) {
      expect(await copy.verifications.get(account.id, id)).not.toBeNull();
    }
    expect((await copy.accounts.get(account.id))!.locked).toBeGreaterThan(0);
    const restored = await startProcess(environment(`sqlite:${file}`));
    // The node that held it is not among the living here.
    expect((await copy.accounts.get(account.id))!.locked).toBe(0);
    const good = { email: 'jane@good.com' };
    const reply = await request(restored.url, 'POST', '/v1/verify', good, { authorization: `Bearer ${key}` });
    expect([reply.status, reply.json.status]).toEqual([200, 'good']);
    const audit = () => runCli(['audit', '--json'], { MAILVET_DATABASE_URL: `sqlite:${file}` });
    expect(await audit()).toEqual({ code: 0, out: '{"problems":[]}\n', err: '' });
    expect(await restored.end('SIGTERM')).toBe(0);
    const { balance } = (await copy.accounts.get(account.id))!;
    await copy.close();
    await runSql(`sqlite:${file}`, 'UPDATE accounts SET balance = balance + 1');
    const sentence = `Account ${account.id}: the balance is ${balance + 1}, but its ledger entries sum to ${balance}.`;
    expect(await audit()).toEqual({ code: 1, out: `${JSON.stringify({ problems: [sentence] })}\n`, err: '' });
  });

  it('replaces no file without --force', async () => {
    const file = join(folder('twice'), 'b.db');
    writeFileSync(file, 'mine');
    const refused = await backup(file);
    expect([refused.code, errorOf(refused)]).toEqual([2, `${file} exists already; --force replaces it.`]);
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(await backup(file, '--force')).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'latin1').slice(0, 15)).toBe('SQLite format 3');
    expect(readdirSync(join(dir, 'twice'))).toEqual(['b.db']);
  });

  it('follows a link, as copying does', async () => {
    const file = join(folder('link'), 'b.db');
    writeFileSync(file, 'old');
    const link = join(dir, 'link', 'latest.db');
    symlinkSync(file, link);
    const ran = await backup(link, '--force');
    expect(ran).toMatchObject({ code: 0 });
    expect(JSON.parse(ran.out)).toMatchObject({ file });
    expect(readlinkSync(link)).toBe(file);
    expect(readFileSync(file, 'latin1').slice(0, 15)).toBe('SQLite format 3');
  });

  it('refuses places where it cannot be, with a sentence', async () => {
    const live = join(dir, 'live', 'mailvet.db');
    const text = join(folder('places'), 'text.db');
    writeFileSync(text, 'no database');
    const to = join(dir, 'places', 'b.db');
    // Stands for every device: as root, a rename would replace /dev/null.
    const pipe = join(dir, 'places', 'pipe');
    execFileSync('mkfifo', [pipe]);
    const before = statSync(live).ino;
    const request = { force: true, signal: new AbortController().signal, onProgress: () => undefined };
    const cases = [
      [url, live, /is the store itself/],
      [url, `${live}-wal`, /belongs to the store itself/],
      [url, `${live}-shm`, /belongs to the store itself/],
      [url, `${live}-node-1`, /belongs to the store itself/],
      [url, pipe, /is not a file/],
      [url, join(dir, 'live'), /is a folder/],
      [url, join(dir, 'nowhere', 'b.db'), /cannot be written: ENOENT/],
      [`sqlite:${join(dir, 'none.db')}`, to, /There is no store at/],
      [`sqlite:${text}`, to, /The backup failed: file is not a database/],
    ] as const;
    for (const [from, file, sentence] of cases)
      await expect(backupSqlite({ ...request, url: from, to: file })).rejects.toThrow(sentence);
    for (const [database, sentence] of [
      ['postgres://user:secret@127.0.0.1:1/db', /pg_dump/],
      ['sqlite::memory:', /in memory/],
    ] as const) {
      const ran = await runCli(['backup', to, '--json'], { MAILVET_DATABASE_URL: database });
      expect([ran.code, errorOf(ran)]).toEqual([2, expect.stringMatching(sentence)]);
    }
    expect(statSync(live).ino).toBe(before);
    expect(readdirSync(join(dir, 'places'))).toEqual(['pipe', 'text.db']);
    expect(statSync(pipe).isFIFO()).toBe(true);
  });

  it('that is interrupted leaves nothing behind', async () => {
    const place = folder('interrupted');
    const file = join(place, 'b.db');
    const env = { PATH: process.env.PATH ?? '', MAILVET_DATABASE_URL: url };
    const child = spawn(process.execPath, [CLI, 'backup', file], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const exited = once(child, 'exit');
    let said = '';
    child.stderr.on('data', (text) => (said += text));
    // Stopped while it copies, so that the signal does not come too late.
    while (readdirSync(place).length === 0) await after(1);
    child.kill('SIGSTOP');
    child.kill('SIGINT');
    child.kill('SIGCONT');
    expect(await exited).toEqual([1, null]);
    expect(said).toMatch(/Interrupted: no backup was written/);
    expect(readdirSync(place)).toEqual([]);
  });
});
