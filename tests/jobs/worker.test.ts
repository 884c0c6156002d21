import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { type JobRunner, type JobRunners, startWorker, type Worker } from '../../src/jobs/worker.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { JOB_POLICIES, JobFailure, type JobPolicies } from '../../src/kernel/jobs.ts';
import { createLogger } from '../../src/kernel/log.ts';
import type { Store } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';

vi.setConfig({ testTimeout: 40_000 });

const quick = { attempts: 2, backoffSeconds: 1, backoffMaxSeconds: 1, leaseSeconds: 10, concurrency: 2 };
const jobPolicies: JobPolicies = {
  ...JOB_POLICIES,
  lists_update: { ...JOB_POLICIES.lists_update, ...quick },
  password_reset: { ...JOB_POLICIES.password_reset, ...quick, timeoutSeconds: 1 },
};
const NONE: JobRunners = {
  mail: null,
  alert_mail: null,
  password_reset: null,
  sign_up: null,
  low_balance: null,
  purge: null,
  account_removal: null,
  list_removal: null,
  lists_update: null,
  webhook_delivery: null,
  webhook_retry: null,
  lists_refresh: null,
  learn_hosts: null,
};
const add = (store: Store, key: string) => store.jobs.add({ kind: 'lists_update', payload: {}, key });
const open = async (store: Store): Promise<number> => (await store.jobs.list({ failed: false, limit: 1 })).total;
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

describeStores('a worker', (lab) => {
  const workers: Worker[] = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  });
  const openStore = () => lab.open({ jobPolicies, clock: systemClock, time: 'store' });
  function work(store: Store, runners: Partial<JobRunners>): Worker {
    const parts = { jobs: store.jobs, clock: systemClock, logger: createLogger('silent'), policies: jobPolicies };
    const worker = startWorker({ ...parts, runners: { ...NONE, ...runners } });
    workers.push(worker);
    return worker;
  }

  it('runs what is due, so many at once as the kind may, and kinds that others run are left', async () => {
    const store = await openStore();
    for (const key of ['a', 'b', 'c', 'd', 'e']) await add(store, key);
    await store.jobs.add({ kind: 'sign_up', payload: { name: '', email: '', password: '' } });
    let atOnce = 0;
    let most = 0;
    const ran: string[] = [];
    const lists_update: JobRunner<'lists_update'> = async ({ key }) => {
      most = Math.max(most, ++atOnce);
      await sleep(50);
      atOnce -= 1;
      ran.push(key);
      return undefined;
    };
    work(store, { lists_update });
    await expect.poll(() => open(store), { timeout: 10_000 }).toBe(1);
    expect(ran.sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(most).toBe(2);
  });

  it('retries what fails and sets it aside in the end, with a sentence that quotes nothing of a payload', async () => {
    const store = await openStore();
    const id = (await add(store, 'k'))!;
    const secret = { email: 'jane@example.com' };
    const other = (await store.jobs.add({ kind: 'password_reset', payload: secret }))!;
    let tries = 0;
    work(store, {
      async lists_update() {
        throw new Error(`no ${++tries}`);
      },
      async password_reset() {
        throw Object.assign(new Error('jane@example.com was refused'), { code: 'EENVELOPE' });
      },
    });
    await expect.poll(async () => (await store.jobs.get(id))?.state, { timeout: 15_000 }).toBe('failed');
    expect(await store.jobs.get(id)).toMatchObject({ attempts: 2, lastError: 'no 2' });
    await expect.poll(async () => (await store.jobs.get(other))?.state, { timeout: 15_000 }).toBe('failed');
    expect((await store.jobs.get(other))!.lastError).toBe('Error EENVELOPE');
  });

  it('does not retry what cannot succeed, and aborts what takes too long', async () => {
    const store = await openStore();
    const id = (await add(store, 'k'))!;
    const slow = (await store.jobs.add({ kind: 'password_reset', payload: { email: '' } }))!;
    work(store, {
      async lists_update() {
        throw new JobFailure('There is no such place.', { permanent: true });
      },
      password_reset: (_job, signal) => aborted(signal),
    });
    await expect.poll(async () => (await store.jobs.get(id))?.state, { timeout: 15_000 }).toBe('failed');
    expect(await store.jobs.get(id)).toMatchObject({ attempts: 1, lastError: 'There is no such place.' });
    await expect
      .poll(async () => (await store.jobs.get(slow))?.lastError, { timeout: 15_000 })
      .toMatch(/longer than 1 s/);
  });

  it('renews the lease of a job that takes longer, so that no other worker has it', async () => {
    const [one, two] = [await openStore(), await openStore()];
    await add(one, 'long');
    let runs = 0;
    const lists_update: JobRunner<'lists_update'> = async () => {
      runs += 1;
      await sleep(13_000);
      return undefined;
    };
    work(one, { lists_update });
    work(two, { lists_update });
    await expect.poll(() => open(one), { timeout: 20_000, interval: 200 }).toBe(0);
    expect(runs).toBe(1);
  });

  it('stops at once with a job that listens, which is given back and counts no attempt', async () => {
    const store = await openStore();
    const id = (await add(store, 'k'))!;
    const began = Promise.withResolvers<void>();
    const worker = work(store, {
      lists_update: (_job, signal) => {
        began.resolve();
        return aborted(signal);
      },
    });
    await began.promise;
    const before = performance.now();
    await worker.stop();
    expect(performance.now() - before).toBeLessThan(1_000);
    expect(await store.jobs.get(id)).toMatchObject({ state: 'waiting', lastError: null });
    const next = Promise.withResolvers<number>();
    work(store, {
      async lists_update({ attempt }) {
        next.resolve(attempt);
        return undefined;
      },
    });
    await next.promise;
    await expect.poll(() => open(store)).toBe(0);
  });

  it('stops within its bound with a job that does not listen, which keeps its lease', async () => {
    const store = await openStore();
    const id = (await add(store, 'k'))!;
    const began = Promise.withResolvers<void>();
    const end = Promise.withResolvers<undefined>();
    const worker = work(store, {
      lists_update: () => {
        began.resolve();
        return end.promise;
      },
    });
    await began.promise;
    const before = performance.now();
    await worker.stop();
    expect(performance.now() - before).toBeLessThan(4_000);
    expect(await store.jobs.get(id)).toMatchObject({ state: 'running' });
    // It ended after all, and in time: its lease is as good as before.
    end.resolve(undefined);
    await expect.poll(() => open(store)).toBe(0);
  });

  it('runs the rounds of a periodic kind once on all nodes together', async () => {
    const stores = [await openStore(), await openStore(), await openStore()];
    let rounds = 0;
    const purge: JobRunner<'purge'> = async () => {
      rounds += 1;
      return undefined;
    };
    for (const store of stores) work(store, { purge });
    await expect.poll(() => rounds, { timeout: 5_000 }).toBe(1);
    await sleep(2_000);
    expect(rounds).toBe(1);
    const { items } = await stores[0]!.jobs.list({ failed: false, limit: 10 });
    expect(items).toMatchObject([{ kind: 'purge', state: 'waiting' }]);
    expect(items[0]!.at! - systemClock.now()).toBeGreaterThan(20_000);
  });

  it('goes on when the store is back', async () => {
    const store = await openStore();
    let down = true;
    const jobs = {
      ...store.jobs,
      claim: (slots: Parameters<Store['jobs']['claim']>[0]) => {
        if (down) throw new Error('down');
        return store.jobs.claim(slots);
      },
    };
    await add(store, 'k');
    const runners = { ...NONE, lists_update: async () => undefined };
    const parts = { clock: systemClock, logger: createLogger('silent'), policies: jobPolicies };
    workers.push(startWorker({ ...parts, jobs, runners }));
    await sleep(700);
    expect(await open(store)).toBe(1);
    down = false;
    await expect.poll(() => open(store), { timeout: 5_000 }).toBe(0);
  });
});
