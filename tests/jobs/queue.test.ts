import { expect, it } from 'vitest';
import { JOB_POLICIES, type JobKind, type JobPolicies } from '../../src/kernel/jobs.ts';
import { LeaseLostError } from '../../src/store/jobs/queue.ts';
import type { Store } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { pass, payloads, rename } from './time.ts';

/** Three attempts, 10 s between them at first, leases of 10 s. */
const quick = { attempts: 3, backoffSeconds: 10, backoffMaxSeconds: 30, leaseSeconds: 10 };
const jobPolicies: JobPolicies = {
  ...JOB_POLICIES,
  lists_update: { ...JOB_POLICIES.lists_update, ...quick },
  password_reset: { ...JOB_POLICIES.password_reset, ...quick },
};

const claim = (store: Store, kind: JobKind = 'lists_update', limit = 10) => store.jobs.claim(new Map([[kind, limit]]));
const one = async (store: Store, kind: JobKind = 'lists_update') => {
  const claims = await claim(store, kind);
  expect(claims).toHaveLength(1);
  return claims[0]!;
};
const add = (store: Store, more: { key?: string; delayMs?: number; account?: string } = {}) =>
  store.jobs.add({ kind: 'lists_update', payload: {}, ...more });

describeStores('jobs', (lab) => {
  const open = () => lab.open({ jobPolicies });

  it('are added, claimed once and done; nothing of them stays', async () => {
    const store = await open();
    const payload = { email: 'jane \u0000\ud800@example.com' };
    const id = await store.jobs.add({ kind: 'password_reset', payload, account: 'acc_1' });
    expect(await store.jobs.get(id!)).toMatchObject({ id, kind: 'password_reset', account: 'acc_1', state: 'waiting' });
    expect(await claim(store)).toEqual([]);
    const held = await one(store, 'password_reset');
    expect(held).toMatchObject({ id, kind: 'password_reset', attempt: 1, account: 'acc_1' });
    // What PostgreSQL cannot keep is replaced, on either engine.
    expect(held.payload).toEqual({ email: 'jane \ufffd\ufffd@example.com' });
    expect(await store.jobs.get(id!)).toMatchObject({ state: 'running', attempts: 1, at: null });
    expect(await claim(store, 'password_reset')).toEqual([]);
    await store.jobs.done(held);
    expect(await store.jobs.get(id!)).toBeNull();
    expect(await payloads(lab)).toBe('[]');
    await expect(store.jobs.done(held)).rejects.toThrow(LeaseLostError);
  });

  it('have a key that is unique while they are open', async () => {
    const store = await open();
    const stores = [store, await open()];
    const ids = await Promise.all(Array.from({ length: 10 }, (_, i) => add(stores[i % 2]!, { key: 'k' })));
    expect(ids.filter((id) => id !== null)).toHaveLength(1);
    expect(await add(store, { key: 'other' })).not.toBeNull();
    expect(await store.jobs.add({ kind: 'purge', payload: {}, key: 'k' })).not.toBeNull();
    for (const held of await claim(store)) {
      expect(await add(store, { key: held.key })).toBeNull();
      await store.jobs.done(held);
      expect(await add(store, { key: held.key })).not.toBeNull();
    }
    // Without a key there may be any number.
    expect(await add(store)).not.toBeNull();
    expect(await add(store)).not.toBeNull();
  });

  it('wait until they are due, and go on from there when they are to run again', async () => {
    const store = await open();
    const id = await add(store, { delayMs: 60_000, key: 'round' });
    expect(await claim(store)).toEqual([]);
    pass(lab, 59_000);
    expect(await claim(store)).toEqual([]);
    pass(lab, 1_000);
    const held = await one(store);
    expect(held.id).toBe(id);
    await store.jobs.fail(held, 'no');
    pass(lab, 20_000);
    const second = await one(store);
    expect(second.attempt).toBe(2);
    await store.jobs.done(second, 30_000);
    expect(await add(store, { key: 'round' })).toBeNull();
    expect(await claim(store)).toEqual([]);
    pass(lab, 30_000);
    expect(await one(store)).toMatchObject({ attempt: 1, key: 'round' });
  });

  it('that fail are tried again, ever later, then set aside, looked at, retried and dropped', async () => {
    const store = await open();
    const id = (await add(store, { key: 'k', account: 'acc_1' }))!;
    expect(await store.jobs.fail(await one(store), 'first')).toBe('waiting');
    expect(await store.jobs.get(id)).toMatchObject({ state: 'waiting', attempts: 1, lastError: 'first' });
    pass(lab, 9_000);
    expect(await claim(store)).toEqual([]);
    pass(lab, 11_000);
    expect(await store.jobs.fail(await one(store), 'second')).toBe('waiting');
    pass(lab, 19_000);
    expect(await claim(store)).toEqual([]);
    pass(lab, 21_000);
    expect(await store.jobs.fail(await one(store), 'third')).toBe('failed');
    pass(lab, 3_600_000);
    expect(await claim(store)).toEqual([]);

    const { items, total } = await store.jobs.list({ failed: true, limit: 10 });
    expect(total).toBe(1);
    expect(items).toMatchObject([
      { id, kind: 'lists_update', account: 'acc_1', state: 'failed', attempts: 3, lastError: 'third' },
    ]);
    expect(items[0]!.at).toBeGreaterThan(items[0]!.createdAt);
    expect(await store.jobs.list({ failed: false, limit: 10 })).toEqual({ items: [], total: 0 });

    const other = (await add(store, { key: 'k' }))!;
    expect(await store.jobs.retry(id)).toBe('conflict');
    expect(await store.jobs.retry(other)).toBe('not_found');
    expect(await store.jobs.drop(other)).toBe(false);
    await store.jobs.done(await one(store));
    expect(await store.jobs.retry(id)).toBe('done');
    expect(await store.jobs.retry(id)).toBe('not_found');
    const again = await one(store);
    expect([again.id, again.attempt]).toEqual([id, 4]);
    // It has all its attempts anew.
    expect(await store.jobs.fail(again, 'fourth')).toBe('waiting');
    pass(lab, 30_000);
    expect(await store.jobs.fail(await one(store), 'for good', true)).toBe('failed');
    expect(await store.jobs.drop(id)).toBe(true);
    expect(await store.jobs.drop(id)).toBe(false);
    for (const odd of ['', 'x', "'", '\u0000', '00000000-0000-0000-0000-000000000000']) {
      expect(await store.jobs.get(odd)).toBeNull();
      expect(await store.jobs.retry(odd)).toBe('not_found');
      expect(await store.jobs.drop(odd)).toBe(false);
    }
  });

  it('that failed are deleted when they were kept long enough; those that wait are not', async () => {
    const store = await open();
    await store.jobs.add({ kind: 'password_reset', payload: { email: 'jane@example.com' } });
    await store.jobs.fail(await one(store, 'password_reset'), 'no', true);
    await add(store, { delayMs: 400 * 86_400_000 });
    await store.jobs.maintain();
    expect(await payloads(lab)).toContain('jane@example.com');
    pass(lab, 86_401_000);
    await store.jobs.maintain();
    expect(await payloads(lab)).not.toContain('jane@example.com');
    expect((await store.jobs.list({ failed: false, limit: 10 })).total).toBe(1);
  });

  it('whose worker is silent go to another when the lease ends; the first cannot finish any more', async () => {
    const [first, second] = [await open(), await open()];
    await add(first);
    const held = await one(first);
    pass(lab, 9_000);
    expect(await first.jobs.renew(held)).toBe(true);
    pass(lab, 9_000);
    expect(await claim(second)).toEqual([]);
    pass(lab, 2_000);
    // That the lease ended counts as a failed attempt: the next one waits.
    expect(await claim(second)).toEqual([]);
    expect(await first.jobs.renew(held)).toBe(false);
    pass(lab, 20_000);
    const taken = await one(second);
    expect(taken).toMatchObject({ id: held.id, attempt: 2 });
    expect(await first.jobs.renew(held)).toBe(false);
    expect(await first.jobs.fail(held, 'late')).toBe('lost');
    await first.jobs.release(held);
    await expect(first.jobs.done(held)).rejects.toThrow(LeaseLostError);
    expect(await second.jobs.renew(taken)).toBe(true);
    await second.jobs.done(taken);
  });

  it('that kill their worker every time are set aside', async () => {
    const store = await open();
    const id = (await add(store))!;
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      expect(await one(store)).toMatchObject({ attempt });
      pass(lab, 11_000);
      expect(await claim(store)).toEqual([]);
      pass(lab, 30_000);
    }
    expect(await store.jobs.get(id)).toMatchObject({ state: 'failed', attempts: 3 });
    expect((await store.jobs.get(id))!.lastError).toMatch(/lease expired/);
  });

  it('that are given back run at once, and the attempt does not count', async () => {
    const store = await open();
    const id = (await add(store))!;
    for (let turn = 0; turn < 5; turn += 1) await store.jobs.release(await one(store));
    expect(await store.jobs.get(id)).toMatchObject({ state: 'waiting' });
    expect(await store.jobs.fail(await one(store), 'no')).toBe('waiting');
  });

  it('about an account go with it, but for the kind that removes it', async () => {
    const store = await open();
    const { id } = await store.accounts.create({ name: 'A', plan: 'starter', rateLimit: null, credits: 0 });
    await add(store, { account: id, key: 'a' });
    await add(store, { account: 'acc_other', key: 'b' });
    await store.jobs.fail((await claim(store, 'lists_update', 1))[0]!, 'no', true);
    await store.accounts.remove(id);
    const left = [
      ...(await store.jobs.list({ failed: true, limit: 10 })).items,
      ...(await store.jobs.list({ failed: false, limit: 10 })).items,
    ];
    expect(left.filter(({ kind }) => kind === 'lists_update').map(({ account }) => account)).toEqual(['acc_other']);
  });

  it('of a kind that this version does not have are shown, hold up no others, and can be dropped', async () => {
    const store = await open();
    const [stuck, left] = [(await add(store, { key: 'stuck' }))!, (await add(store, { key: 'left' }))!];
    for (const held of await claim(store)) if (held.id === left) await store.jobs.fail(held, 'no', true);
    await rename(lab, 'lists_update', 'of_old');
    await add(store, { key: 'other' });
    pass(lab, 3_600_000);
    expect(await claim(store)).toMatchObject([{ key: 'other' }]);
    expect((await store.jobs.get(stuck))!).toMatchObject({ kind: 'of_old', state: 'waiting', attempts: 1 });
    const { items, total } = await store.jobs.list({ failed: true, limit: 10 });
    expect([items, total]).toMatchObject([[{ id: left, kind: 'of_old', lastError: 'no' }], 1]);
    const openJobs = await store.jobs.list({ failed: false, limit: 10 });
    expect(openJobs.items.map(({ kind }) => kind).sort()).toEqual(['lists_update', 'of_old']);
    expect(await store.jobs.retry(left)).toBe('not_found');
    await store.jobs.maintain();
    expect(await store.jobs.drop(left)).toBe(true);
  });

  it('are not taken from whoever holds them and asks for more, whatever the clock says', async () => {
    const store = await open();
    await add(store);
    const held = await one(store);
    pass(lab, 3_600_000);
    expect(await store.jobs.claim(new Map([['lists_update', 10]]), [held.id])).toEqual([]);
    expect((await store.jobs.get(held.id))!).toMatchObject({ state: 'running', attempts: 1, lastError: null });
    expect(await store.jobs.renew(held)).toBe(true);
    await store.jobs.done(held);
  });

  it('survive a clock that jumps, in either direction', async () => {
    const store = await open();
    await add(store, { delayMs: 30_000, key: 'later' });
    await add(store, { key: 'now' });
    const held = (await claim(store))[0]!;
    pass(lab, -3_600_000);
    // What was decided by the clock of before is moved along with it.
    expect(await claim(store)).toEqual([]);
    pass(lab, 30_000);
    expect((await claim(store)).map(({ key }) => key)).toContain('later');
    // A jump ahead ends leases early: another may take the job, and only one of the two can finish it.
    pass(lab, 3_600_000);
    const taken = (await claim(store)).find(({ key }) => key === 'now');
    await expect(store.jobs.done(held)).rejects.toThrow(LeaseLostError);
    await store.jobs.done(taken!);
  });
});
