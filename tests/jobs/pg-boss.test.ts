/**
 * Jobs of the version before, whose queue on PostgreSQL was pg-boss's: what it and a newer program do side by side. The
 * library is installed only for this test and for the program before in rolling-upgrade.test.ts.
 */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { getConstructionPlans, type JobWithMetadata, PgBoss } from 'pg-boss';
import { afterAll, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { JOB_KINDS, JOB_POLICIES, type JobKind } from '../../src/kernel/jobs.ts';
import type { Store } from '../../src/store/store.ts';
import { describeStores, ENGINE, type StoreLab } from '../lab/stores.ts';

const SCHEMA = 'mailvet_jobs';
const MIGRATIONS = join(import.meta.dirname, '../../migrations');
/** The migrations that the version before has. */
const older = mkdtempSync(join(tmpdir(), 'mailvet-migrations-'));
cpSync(MIGRATIONS, older, { recursive: true });
for (const engine of readdirSync(older))
  for (const file of readdirSync(join(older, engine)))
    if (file.slice(0, 4) >= '0031') rmSync(join(older, engine, file));
afterAll(() => rmSync(older, { recursive: true }));

interface Added {
  readonly key?: string;
  readonly account?: string;
  readonly delaySeconds?: number;
  readonly payload?: object;
}

/** The queue as the version before uses it. */
async function openBoss(lab: StoreLab) {
  const pool = new pg.Pool({ connectionString: lab.url });
  pool.on('error', () => undefined);
  const db = { executeSql: (text: string, values?: unknown[]) => pool.query(text, values) };
  await pool.query(getConstructionPlans(SCHEMA));
  const boss = new PgBoss({ db, schema: SCHEMA, migrate: false, supervise: false, schedule: false });
  await boss.start();
  for (const kind of JOB_KINDS) await boss.createQueue(kind, { policy: 'exclusive' });
  let keys = 0;
  return {
    boss,
    async add(kind: JobKind, { key, account, delaySeconds = 0, payload = {} }: Added = {}) {
      const policy = JOB_POLICIES[kind];
      keys += 1;
      const id = await boss.send(kind, payload, {
        retryLimit: policy.attempts - 1,
        retryBackoff: true,
        retryDelay: policy.backoffSeconds,
        retryDelayMax: policy.backoffMaxSeconds,
        heartbeatSeconds: policy.leaseSeconds,
        expireInSeconds: policy.timeoutSeconds + policy.leaseSeconds,
        deleteAfterSeconds: policy.keepFailedDays * 86_400,
        retentionSeconds: 50 * 366 * 86_400,
        singletonKey: key ?? `token ${keys}`,
        ...(account === undefined ? {} : { group: { id: account } }),
        startAfter: delaySeconds,
      });
      return id!;
    },
    fetch: (kind: JobKind): Promise<JobWithMetadata<unknown>[]> =>
      boss.fetch(kind, { batchSize: 10, includeMetadata: true }),
    left: async () => (await lab.sql(`SELECT name, state FROM ${SCHEMA}.job`)).length,
    async close() {
      await boss.stop({ close: false, graceful: false });
      await pool.end();
    },
  };
}

const claim = (store: Store, kind: JobKind) => store.jobs.claim(new Map([[kind, 10]]));
const keysOf = (claims: readonly { key: string }[]) => claims.map(({ key }) => key).sort();

describeStores(
  'jobs of the version before',
  (lab) => {
    const atTimeOfServer = { clock: systemClock, time: 'store' } as const;
    const withBoss = async (
      test: (boss: Awaited<ReturnType<typeof openBoss>>, upgrade: () => Promise<Store>) => Promise<void>,
    ) => {
      await lab.open({ ...atTimeOfServer, dir: older });
      const boss = await openBoss(lab);
      try {
        await test(boss, () => lab.open(atTimeOfServer));
      } finally {
        await boss.close();
      }
    };

    it.skipIf(ENGINE === 'sqlite')('go on in every state that they can be in', () =>
      withBoss(async ({ boss, add, fetch, left }, upgrade) => {
        const payload = { name: 'Jane', email: 'jane@example.com', password: 'hash "of" a\\b' };
        const due = await add('sign_up', { payload, account: 'acc_1', key: 'due' });
        const later = await add('sign_up', { payload, delaySeconds: 3600, key: 'later' });
        const failed = await add('password_reset', { payload: { email: 'a@example.com' }, account: 'acc_2' });
        const retried = await add('lists_update', { key: 'retried' });
        const silent = await add('list_removal', { payload: { list: 'lst_1' }, account: 'acc_3', key: 'silent' });
        const held = await add('account_removal', { account: 'acc_4', key: 'held' });
        await fetch('password_reset');
        await lab.sql(`UPDATE ${SCHEMA}.job SET retry_limit = retry_count WHERE id = '${failed}'`);
        await boss.fail('password_reset', failed, { message: 'no such mailbox' });
        await fetch('lists_update');
        await boss.fail('lists_update', retried, { message: 'not reached' });
        await fetch('list_removal');
        await lab.sql(`UPDATE ${SCHEMA}.job SET heartbeat_on = now() - interval '1 hour' WHERE id = '${silent}'`);
        await fetch('account_removal');

        const store = await upgrade();
        // Only what is held by the older program stays.
        expect(await claim(store, 'account_removal')).toEqual([]);
        expect(await left()).toBe(1);
        const get = async (id: string) => (await store.jobs.get(id))!;
        expect(await get(due)).toMatchObject({ kind: 'sign_up', account: 'acc_1', state: 'waiting', attempts: 0 });
        expect((await get(later)).at! - Date.now()).toBeGreaterThan(3_500_000);
        expect(await get(failed)).toMatchObject({
          kind: 'password_reset',
          account: 'acc_2',
          state: 'failed',
          attempts: 1,
          lastError: 'no such mailbox',
        });
        expect(await get(retried)).toMatchObject({ state: 'waiting', attempts: 1, lastError: 'not reached' });
        // Its process has ended: that attempt counts.
        expect(await get(silent)).toMatchObject({ state: 'waiting', attempts: 1, account: 'acc_3' });
        expect((await get(silent)).lastError).toMatch(/lease expired/);

        expect(await claim(store, 'sign_up')).toMatchObject([
          { id: due, key: 'due', account: 'acc_1', payload, attempt: 1 },
        ]);
        expect(await store.jobs.add({ kind: 'sign_up', payload, key: 'later' })).toBeNull();
        expect(await store.jobs.retry(failed)).toBe('done');
        expect(await claim(store, 'password_reset')).toMatchObject([{ id: failed, attempt: 2 }]);
        await lab.sql('UPDATE jobs SET due_at = 0');
        // The second attempt at an update is the last.
        const [again] = await claim(store, 'lists_update');
        expect(again).toMatchObject({ id: retried, attempt: 2 });
        expect(await store.jobs.fail(again!, 'no')).toBe('failed');

        // The older program finishes what it holds.
        expect(await boss.touch('account_removal', held)).toMatchObject({ affected: 1 });
        await boss.deleteJob('account_removal', held);
        expect(await claim(store, 'account_removal')).toEqual([]);
        expect(await left()).toBe(0);
      }),
    );

    it.skipIf(ENGINE === 'sqlite')('that it adds after the migration are run once', () =>
      withBoss(async ({ add, fetch, left }, upgrade) => {
        const [one, two] = [await upgrade(), await upgrade()];
        for (let i = 0; i < 60; i += 1) await add('mail', { key: `mail ${i}` });
        const seen: string[] = [];
        for (let round = 0; round < 60 && seen.length < 60; round += 1) {
          // The older process ends after a while.
          const olderClaims = round < 2 ? fetch('mail') : [];
          const [mine, others, olders] = await Promise.all([claim(one, 'mail'), claim(two, 'mail'), olderClaims]);
          seen.push(...mine.map(({ id }) => id), ...others.map(({ id }) => id), ...olders.map(({ id }) => id));
        }
        expect([seen.length, new Set(seen).size]).toEqual([60, 60]);
        const { total } = await one.jobs.list({ failed: false, limit: 1 });
        expect(total + (await left())).toBe(60);
      }),
    );

    it.skipIf(ENGINE === 'sqlite')('do not run while one of their key runs in the other queue, either way', () =>
      withBoss(async ({ boss, add, fetch }, upgrade) => {
        const held = await add('webhook_delivery', { key: 'wh_1', payload: { webhook: 'wh_1' } });
        expect(await fetch('webhook_delivery')).toHaveLength(1);
        const store = await upgrade();
        const ours = { kind: 'webhook_delivery', payload: { webhook: 'wh_1' } } as const;
        await store.jobs.add({ ...ours, key: 'wh_1' });
        await store.jobs.add({ ...ours, key: 'wh_2' });
        const [other] = await claim(store, 'webhook_delivery');
        expect(other).toMatchObject({ key: 'wh_2' });
        expect(await claim(store, 'webhook_delivery')).toEqual([]);
        await boss.deleteJob('webhook_delivery', held);
        const [mine] = await claim(store, 'webhook_delivery');
        expect(mine).toMatchObject({ key: 'wh_1', attempt: 1 });

        for (const key of ['wh_1', 'wh_3']) await add('webhook_delivery', { key });
        expect((await fetch('webhook_delivery')).map(({ singletonKey }) => singletonKey)).toEqual(['wh_3']);
        expect(await claim(store, 'webhook_delivery')).toEqual([]);
        await store.jobs.done(mine!);
        expect(keysOf(await claim(store, 'webhook_delivery'))).toEqual(['wh_1']);
      }),
    );

    it.skipIf(ENGINE === 'sqlite')('about a removed account go with it', () =>
      withBoss(async ({ boss, add, fetch, left }, upgrade) => {
        const store = await upgrade();
        const { id } = await store.accounts.create({ name: 'A', plan: 'starter', rateLimit: null, credits: 0 });
        await add('mail', { account: id });
        const kept = await add('mail', { account: 'acc_other' });
        const [job] = (await fetch('mail')).filter((one) => one.id !== kept);
        await store.accounts.remove(id);
        expect(await boss.touch('mail', job!.id)).toMatchObject({ affected: 0 });
        expect(await left()).toBe(1);
      }),
    );
  },
  { empty: true },
);
