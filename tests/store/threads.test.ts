/** The threads of a SQLite store: what does not wait for what, and what happens when one ends. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { DEFAULT_PLANS } from '../../src/kernel/facts/plans.ts';
import { JOB_POLICIES } from '../../src/kernel/jobs.ts';
import type { StorageDriver } from '../../src/store/driver.ts';
import { migrationsFolder } from '../../src/store/migrations.ts';
import { openSqlite } from '../../src/store/sqlite/driver.ts';
import type { Store, StoreEvent } from '../../src/store/store.ts';
import { describeStores, ENGINE } from '../lab/stores.ts';
import { type Member, member, newVerificationId, verifyNow } from './cast.ts';

const UNAVAILABLE = { code: 'verification_unavailable', details: { retry_after: 5 } };

const WITHIN = { timeout: 30_000 };

let workers: Worker[];
const note = (message: unknown): void => {
  workers.push((message as { worker: Worker }).worker);
};
beforeEach(() => {
  workers = [];
  subscribe('worker_threads', note);
});
afterEach(() => {
  unsubscribe('worker_threads', note);
});

const onSqlite = it.skipIf(ENGINE !== 'sqlite');

describeStores('a long read', (lab) => {
  onSqlite('delays no charge', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 100 });
    await verifyNow(store, who);
    const driver = await sameFile(lab.url);
    const rows = 3_000_000;
    let ended = false;
    const read = sql<{ n: number }>`SELECT count(*) AS n FROM (
      WITH RECURSIVE t (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t WHERE i < ${rows}) SELECT i FROM t)`
      .execute(driver.db)
      .finally(() => {
        ended = true;
      });
    for (let i = 0; i < 3; i += 1) await verifyNow(store, who);
    expect(ended).toBe(false);
    expect((await read).rows).toEqual([{ n: rows }]);
    await driver.close();
  });
});

describeStores('a store whose thread ends', (lab) => {
  const recorded = async (store: Store, { account }: Member) => {
    const { items } = await store.verifications.list(account.id, { offset: 0, limit: 10_000 });
    return new Set(items.map(({ id }) => id));
  };

  onSqlite('under load answers each request whole or not at all, and goes on with another thread', async () => {
    const events: StoreEvent[] = [];
    const store = await lab.open({ onEvent: (event) => events.push(event) });
    const who = await member(store, { credits: 100_000 });
    await verifyNow(store, who);
    // The one that writes, and the one that reads.
    await expect.poll(() => workers.length, WITHIN).toBe(2);
    const settled: string[] = [];
    const others: unknown[] = [];
    let ends = 0;
    const ask = async () => {
      const id = newVerificationId();
      await verifyNow(store, who, { body: 'x'.repeat(2_000) }, { id }).then(
        () => settled.push(id),
        (error: unknown) => others.push(error),
      );
    };
    const client = async () => {
      while (ends < 5) await ask();
    };
    const clients = Array.from({ length: 32 }, client);
    for (let writer = workers[0]; ends < 5; ends += 1) {
      const before = settled.length;
      await expect.poll(() => settled.length, WITHIN).toBeGreaterThan(before + 50);
      await writer?.terminate();
      await expect.poll(() => workers.length, WITHIN).toBe(3 + ends);
      writer = workers.at(-1);
    }
    await Promise.all(clients);
    await ask();
    expect(others.length).toBeGreaterThan(0);
    for (const error of others) expect(error).toMatchObject(UNAVAILABLE);
    const inLog = await recorded(store, who);
    expect(settled.filter((id) => !inLog.has(id))).toEqual([]);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 100_000 - inLog.size, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
    expect(events.filter(({ kind }) => kind === 'thread_lost').length).toBeGreaterThanOrEqual(5);
  });

  onSqlite('in a transaction leaves nothing of it, and lets nothing more into it', async () => {
    const store = await lab.open();
    await member(store);
    const driver = await sameFile(lab.url);
    const add = (subject: string) => ({ subject, count: 1, ends_at: 0 });
    const begun = driver.transaction(async (trx) => {
      await trx.insertInto('attempts').values(add('first')).execute();
      await workers[0]?.terminate();
      await trx.insertInto('attempts').values(add('second')).execute();
    });
    await expect(begun).rejects.toMatchObject({
      code: 'verification_unavailable',
      cause: { message: expect.stringMatching(/thread ended before it answered/) },
    });
    expect(await driver.db.selectFrom('attempts').selectAll().execute()).toEqual([]);
    await driver.transaction((trx) => trx.insertInto('attempts').values(add('third')).execute());
    expect(await driver.db.selectFrom('attempts').select('subject').execute()).toEqual([{ subject: 'third' }]);
    await driver.close();
  });
});

/** Shares the threads of the stores on this file. */
const sameFile = (url: string): Promise<StorageDriver> =>
  openSqlite({
    url,
    clock: systemClock,
    migrations: migrationsFolder(),
    time: 'store',
    jobPolicies: JOB_POLICIES,
    onEvent: () => undefined,
    retentionDays: 30,
    remembers: true,
    plans: DEFAULT_PLANS,
    sendsMail: false,
  });
