import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HOUR_MS, systemClock } from '../../src/kernel/clock.ts';
import { createKey } from '../../src/service/keys.ts';
import { openStore } from '../../src/store/open.ts';
import type { Account, Store } from '../../src/store/store.ts';
import { type DnsLab, zone } from '../lab/dns.ts';
import { freshPostgres, stopSharedPostgres } from '../lab/postgres.ts';
import { type Running, runCli, startProcess } from '../lab/process.ts';
import { NET, request } from '../lab/service.ts';
import { type Database, runSql } from '../lab/stores.ts';
import { member, verifyNow } from '../store/cast.ts';

const ROWS = 300;
/** Longer than a service takes to start and run its first jobs, also where the machine is busy. */
const WITHIN = { timeout: 60_000, interval: 200 };

let dns: DnsLab;
beforeAll(async () => {
  dns = await zone(NET);
});
afterAll(async () => {
  await dns.close();
  await stopSharedPostgres();
});

let folder: string;
let database: Database;
let store: Store;
let account: Account;
let key: string;
let running: Running[] = [];

async function fill(opened: Database): Promise<void> {
  database = opened;
  store = await openStore({ url: database.url, clock: systemClock });
  await store.migrate();
  const who = await member(store, { credits: 1_000 });
  account = who.account;
  key = (await createKey(store, account.id, { name: 'k', allowIps: [] })).value;
  const seen = (i: number) => ({ scope: 'signup', mailbox: `u${i}@good.com`, spelling: `u${i}@good.com` });
  await Promise.all(Array.from({ length: ROWS }, (_, i) => verifyNow(store, who, {}, { seen: seen(i) })));
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mailvet-clock-'));
});
afterEach(async () => {
  await Promise.all(running.map((one) => one.end('SIGKILL')));
  running = [];
  await store.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

/** A node whose clock is off by `offset` (`+31d`), until that is set again. */
async function node(offset: string) {
  const file = join(folder, `faketime-${running.length}`);
  const set = (to: string) => {
    writeFileSync(`${file}.new`, to);
    renameSync(`${file}.new`, file);
  };
  set(offset);
  const environment = {
    MAILVET_DATABASE_URL: database.url,
    MAILVET_DNS_SERVERS: `${dns.address}:${dns.port}`,
    MAILVET_DNS_CONTROL_NAMES: 'none',
    MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    MAILVET_LOG_LEVEL: 'info',
    MAILVET_SEEN_DAYS: '30',
    LD_PRELOAD: '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  const service = await startProcess(environment);
  running.push(service);
  const ready = async () => request(service.url, 'GET', '/readyz');
  const logged = (message: RegExp) => service.printed.find((line) => message.test(line));
  return { service, environment, set, ready, logged };
}

/** Verifications, of which each has left a mailbox that is remembered for as long. */
async function rows(): Promise<number> {
  const { total } = await store.verifications.list(account.id, { offset: 0, limit: 1 });
  const [seen] = await runSql(database.url, 'SELECT count(*) AS n FROM seen');
  expect(Number(seen?.n)).toBe(total);
  return total;
}

describe('a node on PostgreSQL whose clock is 31 days ahead', () => {
  it('deletes nothing, says so, and books traffic under the hour of the store', async () => {
    await fill(await freshPostgres());
    const { service, environment, set, ready, logged } = await node('+31d');
    await expect.poll(() => logged(/purged nothing/), WITHIN).toBeDefined();
    expect(await rows()).toBe(ROWS);
    expect(logged(/clock differs from the store's/)).toMatch(/"ahead_seconds":26784\d\d/);
    const { status, json } = await ready();
    expect([status, json.status]).toEqual([503, 'not_ready']);
    expect(json.checks.clock).toMatchObject({ status: 'failing', reason: expect.stringMatching(/ahead of the store/) });

    const bad = { authorization: `Bearer ${key}` };
    expect((await request(service.url, 'POST', '/v1/verify', { email: 7 }, bad)).status).toBe(400);
    const hours = () => runSql(database.url, 'SELECT hour FROM traffic_hours');
    await expect.poll(hours, WITHIN).toHaveLength(1);
    const [{ hour } = {}] = await hours();
    expect(Math.abs(Number(hour) - systemClock.now())).toBeLessThan(2 * HOUR_MS);

    const known = { email: 'u1@good.com', scope: 'signup' };
    const sighting = (await request(service.url, 'POST', '/v1/verify', known, bad)).json.seen;
    expect(sighting).toMatchObject({ before: true, count: 2 });
    const fresh = { email: 'fresh@good.com', scope: 'signup' };
    const first = (await request(service.url, 'POST', '/v1/verify', fresh, bad)).json.seen;
    expect(Math.abs(Date.parse(first.first_at) - systemClock.now())).toBeLessThan(HOUR_MS);

    const { out } = await runCli(['doctor', '--json'], environment);
    const found = JSON.parse(out).findings.find(({ check }: { check: string }) => check === 'store');
    expect(found).toMatchObject({
      result: 'fail',
      found: expect.stringMatching(/26784\d\d s ahead of that of the store/),
    });

    set('+0');
    await expect.poll(async () => (await ready()).status, WITHIN).toBe(200);
  });
});

describe('a node on SQLite', () => {
  const sqlite = () => ({ url: `sqlite:${join(folder, 'mailvet.db')}`, drop: async () => undefined });

  it('that starts 31 days ahead of the last time the store has seen deletes nothing for a day, and says so', async () => {
    await fill(sqlite());
    await store.clock.read();
    const { ready, logged } = await node('+31d');
    await expect.poll(() => logged(/purged nothing/), WITHIN).toBeDefined();
    expect(await rows()).toBe(ROWS);
    expect(logged(/clock is ahead of the last time the store has seen/)).toMatch(/"ahead_seconds":26784\d\d/);
    const { status, json } = await ready();
    expect(status).toBe(200);
    expect(json.details.clock).toMatchObject({ doubted_since: expect.any(String) });
  });

  it('whose clock is set ahead while it runs deletes nothing, and goes on when it is set right', async () => {
    await fill(sqlite());
    const { set, ready, logged } = await node('+0');
    await expect.poll(async () => (await ready()).status, WITHIN).toBe(200);
    set('+31d');
    await expect.poll(() => logged(/purged nothing/), WITHIN).toBeDefined();
    expect(await rows()).toBe(ROWS);
    set('+0');
    await expect.poll(() => logged(/clock was set back/), WITHIN).toBeDefined();
    expect((await ready()).json.details.clock).toMatchObject({ doubted_since: null });
  });
});
