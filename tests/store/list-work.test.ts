import { expect, it } from 'vitest';
import { newId } from '../../src/kernel/ids.ts';
import { newBlock } from '../../src/store/lists/blocks.ts';
import { listObject } from '../../src/store/lists/object.ts';
import { describeStores } from '../lab/stores.ts';
import { eraseAddress, member, purge, removeDeleted } from './cast.ts';
import { addressesOf, claimUntilFailed, claimWith, found, LEASE_MS, startedList, waitingWith } from './list-cast.ts';
import { BY } from './people.ts';
import { create } from './webhook-cast.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describeStores('work on a list', (lab) => {
  it('goes on with another worker when a lease is not renewed, given back, or its clock was set back', async () => {
    const store = await lab.open();
    const who = await member(store);
    const id = await startedList(store, who, addressesOf(4), { block: 2 });
    expect(await claimWith(store, who, id, 'first', 2)).toHaveLength(4);
    lab.clock.advance(LEASE_MS - 1);
    expect(await claimWith(store, who, id, 'second', 2)).toEqual([]);
    await store.lists.renew('first', LEASE_MS);
    lab.clock.advance(LEASE_MS - 1);
    expect(await claimWith(store, who, id, 'second', 2)).toEqual([]);
    lab.clock.advance(1);
    const works = await claimWith(store, who, id, 'second', 1);
    expect(works).toHaveLength(2);
    await store.lists.record(
      who.account.id,
      id,
      works.slice(0, 1).map((work) => found(work)),
    );
    await store.lists.release({ account: who.account.id, list: id, lease: 'second' }, 5_000);
    expect((await claimWith(store, who, id, 'third', 2)).map(({ address }) => address)).toEqual([3, 4]);
    lab.clock.advance(5_000);
    expect((await claimWith(store, who, id, 'third', 2)).map(({ address }) => address)).toEqual([2]);
    lab.clock.step(-60 * MINUTE);
    expect((await claimWith(store, who, id, 'fourth', 1)).map(({ address }) => address)).toEqual([3, 4]);
  });

  it('fails when work on it ends without a result again and again', async () => {
    const store = await lab.open();
    const who = await member(store);
    const id = await startedList(store, who, addressesOf(2));
    await claimUntilFailed(lab, store, who, id);
    expect(await store.lists.get(who.account.id, id)).toMatchObject({
      status: 'failed',
      error: { code: 'internal_error' },
      credits: { held: 0, used: 0 },
    });
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 100, locked: 0 });
  });

  it('asks again about a deferred address, until its time for retries ends; then the last answer stands', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 1_000 });
    const { id: account } = who.account;
    const id = await startedList(store, who, addressesOf(2), { level: 'smtp', retryMinutes: 60 });
    const [a, b] = await claimWith(store, who, id, 'w');
    if (!a || !b) throw new Error('A chunk has two addresses.');
    const credits = { validationType: 'smtp', credits: 10 } as const;
    const deferred = found(a, { ...credits, deliverability: 'unknown' }, 5 * MINUTE);
    expect(await store.lists.record(account, id, [deferred, found(b, credits)])).toMatchObject({
      recorded: 1,
      charged: 10,
    });
    expect(await store.lists.get(account, id)).toMatchObject({ done: 1, waiting: 1, credits: { held: 10, used: 10 } });
    expect(Object.fromEntries((await store.lists.block(account, id, 0))?.asked ?? [])).toEqual({ 1: 1 });
    expect(await waitingWith(store, who, id, 'w')).toEqual([]);
    lab.clock.advance(5 * MINUTE);
    // When the last address gets its answer, nobody knows.
    expect(listObject((await store.lists.get(account, id))!).progress).toMatchObject({
      per_second: expect.any(Number),
      eta_seconds: null,
    });
    const [again] = await waitingWith(store, who, id, 'w');
    expect(again).toMatchObject({ address: 1, email: 'a1@example.com', attempts: 1, block: null });
    expect(await waitingWith(store, who, id, 'other')).toEqual([]);
    if (!again) throw new Error('The address is due.');
    await store.lists.record(account, id, [found(again, credits, 54 * MINUTE)]);
    expect(await store.lists.get(account, id)).toMatchObject({ done: 1, waiting: 1 });
    lab.clock.advance(54 * MINUTE);
    const [last] = await waitingWith(store, who, id, 'w');
    if (!last) throw new Error('The address is due.');
    expect(last.attempts).toBe(2);
    // Two minutes from now, the time for retries will have ended.
    const end = await store.lists.record(account, id, [found(last, credits, 2 * MINUTE)]);
    expect(end).toMatchObject({ outcome: 'completed', recorded: 1, results: [expect.any(Number)], charged: 10 });
    expect((await store.lists.block(account, id, 0))?.results.get(1)).toMatchObject({ attempts: 3 });
    expect(await store.lists.get(account, id)).toMatchObject({ done: 2, waiting: 0, credits: { held: 0, used: 20 } });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('goes on with a deferred address of a worker that is gone, while others keep their leases', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 1_000 });
    const { id: account } = who.account;
    const id = await startedList(store, who, addressesOf(2), { level: 'smtp', retryMinutes: 60 });
    const works = await claimWith(store, who, id, 'w');
    const unknown = { validationType: 'smtp', credits: 10, deliverability: 'unknown' } as const;
    await store.lists.record(
      account,
      id,
      works.map((work) => found(work, unknown, 5 * MINUTE)),
    );
    lab.clock.advance(5 * MINUTE);
    const [gone] = await waitingWith(store, who, id, 'gone', 1);
    const [kept] = await waitingWith(store, who, id, 'other', 1);
    expect([gone?.address, kept?.address].sort()).toEqual([1, 2]);
    lab.clock.advance(LEASE_MS - 1);
    await store.lists.renew('other', LEASE_MS);
    lab.clock.advance(1);
    expect(await waitingWith(store, who, id, 'third')).toMatchObject([{ address: gone?.address }]);
  });

  it('hands addresses over to the node that has their operator, without counting them as asked', async () => {
    const store = await lab.open();
    const who = await member(store);
    const { id: account } = who.account;
    const id = await startedList(store, who, addressesOf(2));
    const works = await claimWith(store, who, id, 'w');
    const handed = works.map((work) => ({ work, record: null, operator: 'mail.example', againMs: 1_000 }));
    expect(await store.lists.record(account, id, handed)).toMatchObject({ outcome: 'recorded', recorded: 0 });
    expect(await store.lists.get(account, id)).toMatchObject({ done: 0, waiting: 0, status: 'running' });
    lab.clock.advance(1_000);
    const claim = { account, list: id, lease: 'w', leaseMs: LEASE_MS, limit: 10 };
    expect(await store.lists.claimWaiting({ ...claim, notOperators: ['mail.example'] })).toEqual([]);
    const mine = await store.lists.claimWaiting({ ...claim, notOperators: ['other.example'] });
    expect(mine.map(({ attempts }) => attempts)).toEqual([0, 0]);
    await store.lists.release({ account, list: id, lease: 'w' });
    expect(await store.lists.claimWaiting(claim)).toHaveLength(2);
    const end = await store.lists.record(
      account,
      id,
      mine.map((work) => found(work)),
    );
    expect(end).toMatchObject({ outcome: 'completed', recorded: 2 });
    expect((await store.lists.block(account, id, 0))?.results.get(1)).toMatchObject({ attempts: 1 });
  });

  it('goes with its results when it is deleted or expires, and the sums still agree', async () => {
    const store = await lab.open();
    const who = await member(store);
    const { id: account } = who.account;
    const finished = await startedList(store, who, addressesOf(3));
    const works = await claimWith(store, who, finished, 'w');
    await store.lists.record(
      account,
      finished,
      works.map((work) => found(work)),
    );
    const paused = await startedList(store, who, addressesOf(3));
    await store.lists.change(account, paused, 'pause');
    const upload = newId('lst', Date.now());
    const layout = { columns: ['email'], addressColumn: 0, hasHeader: false };
    const level = 'mx' as const;
    const given = { keyId: who.key.id, clientIp: null, name: 'x', level, retryMinutes: 0, layout };
    await store.lists.create({ id: upload, account, ...given });
    await store.lists.append(account, upload, [
      newBlock([{ row: 1, addresses: [], cells: [''], extra: [], problem: null }], 1, [], layout),
    ]);
    lab.clock.advance(DAY);
    await purge(lab, store, lab.clock.now() - 2 * DAY);
    expect(await store.lists.get(account, finished)).not.toBeNull();
    expect(await lab.sql(`SELECT status FROM lists WHERE id = '${upload}'`)).toEqual([{ status: 'deleted' }]);
    await purge(lab, store, lab.clock.now() - DAY / 2);
    expect(await store.lists.get(account, finished)).toBeNull();
    expect(await store.lists.get(account, paused)).toBeNull();
    expect(await store.accounts.get(account)).toMatchObject({ locked: 0 });
    const jobs = await store.jobs.claim(new Map([['list_removal', 10]]));
    expect(jobs).toHaveLength(3);
    for (const job of jobs) {
      if (job.kind !== 'list_removal') throw new Error('Only those were claimed.');
      expect(await store.lists.remove(job.account ?? '', job.payload.list)).toBe(true);
    }
    for (const table of ['lists', 'list_blocks', 'list_files', 'list_chunks', 'list_waiting', 'verifications'])
      expect(await lab.sql(`SELECT * FROM ${table}`), table).toEqual([]);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('loses an address that is erased: its cells, its result, and what was left to do for it', async () => {
    const store = await lab.open();
    const who = await member(store);
    const { id: account } = who.account;
    const emails = ['a@example.com', 'Jane@example.com', 'b@example.com', 'jane@example.com', 'jane@example.com'];
    const id = await startedList(store, who, emails, { block: 2 });
    const [a, jane] = await claimWith(store, who, id, 'w');
    if (!a || !jane) throw new Error('A chunk has two addresses.');
    await store.lists.record(account, id, [found(jane)]);
    await eraseAddress(store, account, 'jane@example.com', BY);
    expect(await store.lists.get(account, id)).toMatchObject({ done: 1, rows: { total: 5, addresses: 3 } });
    const rows = [];
    for (const after of [0, 2, 4]) rows.push(...((await store.lists.block(account, id, after))?.rows ?? []));
    expect(rows.map(({ addresses, cells }) => [addresses[0]?.number ?? null, ...cells])).toEqual([
      [1, 'name 1', 'a@example.com'],
      [null, '', ''],
      [3, 'name 3', 'b@example.com'],
      [null, '', ''],
      [null, '', ''],
    ]);
    const left = await claimWith(store, who, id, 'w', 5);
    expect(left.map(({ email }) => email)).toEqual(['b@example.com']);
    const end = await store.lists.record(
      account,
      id,
      [a, ...left].map((work) => found(work)),
    );
    expect(end).toMatchObject({ outcome: 'completed', recorded: 2 });
    expect(await store.accounts.get(account)).toMatchObject({ balance: 97, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('keeps nothing of an address whose result is recorded while it is erased', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 1_000 });
    const { id: account } = who.account;
    const emails = ['jane@example.com', 'bo@example.com'];
    const ids: string[] = [];
    for (let i = 0; i < 30; i++) ids.push(await startedList(store, who, emails));
    const [begun = '', last = ''] = [ids[0], ids.at(-1)];
    const [jane] = await claimWith(store, who, last, 'w');
    if (!jane) throw new Error('A chunk has two addresses.');
    const erased = eraseAddress(store, account, 'jane@example.com', BY);
    await expect.poll(async () => (await store.lists.get(account, begun))?.rows.addresses, { interval: 1 }).toBe(1);
    await store.lists.record(account, last, [found(jane)]);
    await erased;
    expect(await lab.sql("SELECT id FROM verifications WHERE email = 'jane@example.com'")).toEqual([]);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('that runs for longer than results are kept loses the first ones, completes, and its sums agree', async () => {
    const store = await lab.open();
    const who = await member(store);
    const { id: account } = who.account;
    const { balance = 0 } = (await store.accounts.get(account)) ?? {};
    const id = await startedList(store, who, addressesOf(3), { block: 1 });
    const recordOne = async (lease: string) => {
      const works = await claimWith(store, who, id, lease, 1);
      return store.lists.record(
        account,
        id,
        works.map((work) => found(work)),
      );
    };
    await recordOne('w');
    lab.clock.advance(2 * DAY);
    await purge(lab, store, lab.clock.now() - DAY);
    expect((await store.lists.block(account, id, 0))?.results.size).toBe(0);
    expect(await store.lists.get(account, id)).toMatchObject({ status: 'running', done: 1, credits: { used: 1 } });
    await recordOne('w');
    expect(await recordOne('w')).toMatchObject({ outcome: 'completed' });
    expect(await store.lists.get(account, id)).toMatchObject({ done: 3, credits: { used: 3, held: 0 } });
    expect(await store.accounts.audit()).toEqual([]);
    await purge(lab, store, lab.clock.now() - DAY);
    expect(await store.lists.get(account, id)).toBeNull();
    expect(await store.accounts.get(account)).toMatchObject({ balance: balance - 3, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('is removed with its account, which gets back what is held', async () => {
    const store = await lab.open();
    const who = await member(store);
    const id = await startedList(store, who, addressesOf(3));
    const works = await claimWith(store, who, id, 'w');
    await store.accounts.remove(who.account.id);
    expect(await store.lists.running()).toEqual([]);
    expect(
      await store.lists.record(
        who.account.id,
        id,
        works.map((work) => found(work)),
      ),
    ).toMatchObject({
      outcome: 'ended',
      recorded: 0,
    });
    expect(await removeDeleted(store)).toEqual([]);
    for (const table of ['lists', 'list_blocks', 'list_chunks', 'list_waiting', 'verifications'])
      expect(await lab.sql(`SELECT * FROM ${table}`), table).toEqual([]);
  });

  it('tells webhooks how it ended, in the same transaction', async () => {
    const store = await lab.open();
    const who = await member(store);
    const { id: account } = who.account;
    const webhook = await create(store, who.account);
    const completed = await startedList(store, who, addressesOf(1));
    const works = await claimWith(store, who, completed, 'w');
    await store.lists.record(
      account,
      completed,
      works.map((work) => found(work)),
    );
    const cancelled = await startedList(store, who, addressesOf(1));
    await store.lists.change(account, cancelled, 'cancel');
    const failed = await startedList(store, who, addressesOf(1));
    await claimUntilFailed(lab, store, who, failed);
    const events = (await store.webhooks.due(webhook.id, 10)).due.map(({ body }) => JSON.parse(body));
    events.sort((a, b) => a.type.localeCompare(b.type));
    expect(events).toMatchObject([
      { type: 'list.cancelled', data: { id: cancelled, status: 'cancelled', finished_at: expect.any(String) } },
      { type: 'list.completed', data: { id: completed, status: 'completed', credits: { held: 0, used: 1 } } },
      { type: 'list.failed', data: { id: failed, status: 'failed', error: { code: 'internal_error' } } },
    ]);
  });

  it('waits while its account is suspended', async () => {
    const store = await lab.open();
    const who = await member(store);
    const id = await startedList(store, who, addressesOf(2));
    await store.accounts.set(who.account.id, { status: 'suspended' });
    expect(await store.lists.running()).toEqual([]);
    await store.accounts.set(who.account.id, { status: 'active' });
    expect(await store.lists.running()).toMatchObject([{ id }]);
  });
});
