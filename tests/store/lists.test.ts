import { expect, it } from 'vitest';
import { LIST_CLAIMS_MAX } from '../../src/kernel/facts/limits.ts';
import { DEFAULT_PLANS, termsOf } from '../../src/kernel/facts/plans.ts';
import { listResultId, newId } from '../../src/kernel/ids.ts';
import { newBlock } from '../../src/store/lists/blocks.ts';
import { describeStores } from '../lab/stores.ts';
import { eraseAddress, member } from './cast.ts';
import { addressesOf, claimWith, found, startedList, uploadList, waitingWith } from './list-cast.ts';
import { BY } from './people.ts';

describeStores('a list of addresses', (lab) => {
  it('is refused at its end where others have filled the store of the account meanwhile', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 100, plan: 'starter' });
    const { id: account } = who.account;
    const layout = { columns: ['email'], addressColumn: 0, hasHeader: false };
    const counts = { total: 1, addresses: 1, duplicates: 0, blank: 0, unreadable: 0 };
    const row = {
      row: 1,
      addresses: [{ number: 1, column: 0, text: null }],
      cells: ['a@example.com'],
      extra: [],
      problem: null,
    };
    const block = {
      ...newBlock([row], 1, ['a@example.com'], layout),
      bytes: Math.floor(termsOf(DEFAULT_PLANS, 'starter').listBytes * 0.6),
    };
    const ids = ['lst_1', 'lst_2'];
    const list = { account, keyId: who.key.id, clientIp: null, name: 'x', level: 'mx' as const, retryMinutes: 0 };
    for (const id of ids) await store.lists.create({ ...list, id, layout });
    for (const id of ids) expect(await store.lists.append(account, id, [block])).toBe(true);
    const ended = await Promise.allSettled(ids.map((id) => store.lists.finish(account, id, counts)));
    const refused = ended.flatMap((one) => (one.status === 'rejected' ? one.reason.code : []));
    expect(refused).toEqual(['list_storage_full']);
    expect((await store.lists.list(account, { status: null, query: null, offset: 0, limit: 9 })).total).toBe(1);
  });

  it('is uploaded in blocks, held for, verified in chunks, and completed with exact sums', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 100 });
    const { id: account } = who.account;
    const emails = ['a@example.com', '', 'b@example.com', 'a@example.com', 'c@example.com'];
    const id = await uploadList(store, who, emails, { block: 2 });
    expect(await store.lists.get(account, id)).toMatchObject({
      status: 'ready',
      name: 'June.csv',
      level: 'mx',
      done: 0,
      startedAt: null,
      rows: { total: 5, addresses: 3, duplicates: 1, blank: 1, unreadable: 0 },
      credits: { price: 3, held: 0, used: 0 },
    });
    expect(await claimWith(store, who, id, 'w')).toEqual([]);
    expect(await store.lists.start(account, id, BY)).toMatchObject({
      outcome: 'done',
      list: { status: 'running', credits: { price: 3, held: 3, used: 0 } },
    });
    expect(await store.accounts.get(account)).toMatchObject({ balance: 97, locked: 3 });
    expect(await store.lists.running()).toMatchObject([{ id, account, level: 'mx', addresses: 3, done: 0 }]);
    const works = await claimWith(store, who, id, 'w', 10);
    expect(works.map(({ address, email, block }) => [address, email, block])).toEqual([
      [1, 'a@example.com', 1],
      [2, 'b@example.com', 3],
      [3, 'c@example.com', 5],
    ]);
    const [a, b, c] = works;
    if (!a || !b || !c) throw new Error('There are three addresses.');
    const bad = { status: 'bad', deliverability: 'undeliverable', reason: 'blocked_by_filter', credits: 0 } as const;
    expect(await store.lists.record(account, id, [found(a), found(b, bad)])).toEqual({
      outcome: 'recorded',
      recorded: 2,
      results: [1, 2],
      charged: 1,
    });
    expect(await store.lists.get(account, id)).toMatchObject({
      done: 2,
      waiting: 0,
      credits: { price: 3, held: 1, used: 1 },
      breakdown: { status: { good: 1, bad: 1 }, reason: { blocked_by_filter: 1 } },
    });
    // Once more, whoever brings it.
    expect(await store.lists.record(account, id, [found(a), found(b, bad)])).toMatchObject({ recorded: 0, charged: 0 });
    expect(await store.lists.record(account, id, [found(c)])).toMatchObject({ outcome: 'completed', recorded: 1 });
    expect(await store.lists.get(account, id)).toMatchObject({
      status: 'completed',
      done: 3,
      perSecond: null,
      credits: { price: 3, held: 0, used: 2 },
      breakdown: { status: { good: 2, bad: 1 }, deliverability: { unknown: 2, undeliverable: 1 } },
    });
    expect(await store.lists.record(account, id, [found(c)])).toEqual({
      outcome: 'ended',
      recorded: 0,
      results: [],
      charged: 0,
    });
    expect(await store.accounts.get(account)).toMatchObject({ balance: 98, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
    const [first, second] = [await store.lists.block(account, id, 0), await store.lists.block(account, id, 3)];
    expect(first?.rows).toMatchObject([
      { row: 1, addresses: [{ number: 1, column: 1, text: null }], cells: ['name 1', 'a@example.com'] },
      { row: 2, addresses: [] },
    ]);
    expect(first?.results.get(1)).toMatchObject({ id: listResultId(id, 1), status: 'good', attempts: 1 });
    // The block that contains row 4, a duplicate.
    expect(second?.rows.map(({ row, addresses }) => [row, addresses[0]?.number])).toEqual([
      [3, 2],
      [4, 1],
    ]);
    expect([...(second?.results.keys() ?? [])].sort()).toEqual([1, 2]);
    expect(await store.lists.block(account, id, 5)).toBeNull();
    const auditLog = await store.auditLog.list(account, { before: null, limit: 10 });
    expect(auditLog.map(({ action }) => action)).toContain('list.started');
  });

  it('keeps cells as they are, beyond the last column as well, and what was wrong with a row', async () => {
    const store = await lab.open();
    const { account, key } = await member(store);
    const layout = { columns: ['email', 'note'], addressColumn: 0, hasHeader: true };
    const id = newId('lst', Date.now());
    const level = 'mx' as const;
    const list = {
      id,
      account: account.id,
      keyId: key.id,
      clientIp: null,
      name: 'x',
      level,
      retryMinutes: 0,
      layout,
    };
    await store.lists.create(list);
    const rows = [
      {
        row: 1,
        addresses: [{ number: 1, column: 0, text: null }],
        cells: ['a@example.com', 'NUL \0, \ud800 alone, "quoted"\r\n'],
        extra: ['more'],
        problem: null,
      },
      { row: 2, addresses: [], cells: ['"broken', ''], extra: [], problem: { code: 'unclosed_quote', line: 3 } },
      {
        row: 3,
        addresses: [
          { number: 1, column: 0, text: 'a@example.com' },
          { number: 2, column: 1, text: null },
        ],
        cells: ['a@example.com; ', 'b@example.com'],
        extra: [],
        problem: null,
      },
    ];
    expect(await store.lists.append(account.id, id, [newBlock(rows, 1, ['a@example.com'], layout)])).toBe(true);
    expect(await store.lists.get(account.id, id)).toBeNull();
    await store.lists.finish(account.id, id, { total: 3, addresses: 2, duplicates: 1, blank: 0, unreadable: 1 });
    expect((await store.lists.block(account.id, id, 0))?.rows).toEqual(rows);
    expect(await store.lists.append(account.id, id, [newBlock(rows, 1, [], layout)])).toBe(false);
  });

  it('is not started beyond the balance or the budget of its key', async () => {
    const store = await lab.open();
    const poor = await member(store, { credits: 2 });
    const id = await uploadList(store, poor, addressesOf(3));
    expect(await store.lists.start(poor.account.id, id)).toMatchObject({
      outcome: 'insufficient_credits',
      needed: 3,
      available: 2,
      list: { status: 'ready' },
    });
    const error = { code: 'insufficient_credits', error: 'Not enough.' };
    await store.lists.setError(poor.account.id, id, error);
    expect(await store.lists.get(poor.account.id, id)).toMatchObject({ status: 'ready', error });
    await store.accounts.grant(poor.account.id, 1, 'more', BY);
    expect(await store.lists.start(poor.account.id, id)).toMatchObject({ outcome: 'done', list: { error: null } });
    expect(await store.lists.start(poor.account.id, id)).toMatchObject({ outcome: 'list_state' });
    const limited = await member(store, { credits: 100, budget: 2 });
    const second = await uploadList(store, limited, addressesOf(3));
    expect(await store.lists.start(limited.account.id, second)).toMatchObject({ outcome: 'key_budget_spent' });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('without addresses is not started', async () => {
    const store = await lab.open();
    const who = await member(store);
    const id = await uploadList(store, who, ['', '']);
    expect(await store.lists.start(who.account.id, id)).toMatchObject({
      outcome: 'no_addresses',
      list: { status: 'ready', startedAt: null },
    });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('is paused, resumed, cancelled and deleted where its status allows it', async () => {
    const store = await lab.open();
    const who = await member(store);
    const { id: account } = who.account;
    const id = await startedList(store, who, addressesOf(4), { block: 2 });
    const [a, b] = await claimWith(store, who, id, 'w');
    if (!a || !b) throw new Error('A chunk has two addresses.');
    expect(await store.lists.change(account, id, 'resume')).toMatchObject({ outcome: 'list_state' });
    expect(await store.lists.change(account, id, 'delete')).toMatchObject({ outcome: 'list_state' });
    expect(await store.lists.change(account, id, 'pause', BY)).toMatchObject({
      outcome: 'done',
      list: { status: 'paused' },
    });
    expect(await store.lists.running()).toEqual([]);
    expect(await claimWith(store, who, id, 'other')).toEqual([]);
    // What was under way counts.
    expect(await store.lists.record(account, id, [found(a)])).toMatchObject({ outcome: 'recorded', recorded: 1 });
    expect(await store.lists.change(account, id, 'resume', BY)).toMatchObject({ list: { status: 'running' } });
    expect(await claimWith(store, who, id, 'other')).toHaveLength(2);
    expect(await store.lists.change(account, id, 'cancel', BY)).toMatchObject({
      list: { status: 'cancelled', done: 1, credits: { price: 4, held: 0, used: 1 } },
    });
    expect(await store.lists.record(account, id, [found(b)])).toMatchObject({ outcome: 'ended', recorded: 0 });
    expect(await store.accounts.get(account)).toMatchObject({ balance: 99, locked: 0 });
    expect(await store.lists.change(account, id, 'delete', BY)).toMatchObject({ outcome: 'done' });
    expect(await store.lists.get(account, id)).toBeNull();
    expect(await store.lists.change(account, id, 'delete')).toEqual({ outcome: 'not_found' });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('belongs to one account', async () => {
    const store = await lab.open();
    const [who, other] = [await member(store), await member(store)];
    const stranger = other.account.id;
    const id = await startedList(store, who, addressesOf(2));
    const works = await claimWith(store, who, id, 'w');
    expect(await store.lists.get(stranger, id)).toBeNull();
    expect(await store.lists.block(stranger, id, 0)).toBeNull();
    expect(await store.lists.list(stranger, { status: null, query: null, offset: 0, limit: 10 })).toEqual({
      items: [],
      total: 0,
    });
    expect(await store.lists.start(stranger, id)).toEqual({ outcome: 'not_found' });
    for (const action of ['pause', 'resume', 'cancel', 'delete'] as const)
      expect(await store.lists.change(stranger, id, action)).toEqual({ outcome: 'not_found' });
    expect(await claimWith(store, other, id, 'w')).toEqual([]);
    expect(await waitingWith(store, other, id, 'w')).toEqual([]);
    expect(
      await store.lists.record(
        stranger,
        id,
        works.map((work) => found(work)),
      ),
    ).toMatchObject({ outcome: 'ended' });
    await store.lists.discard(stranger, id);
    await store.lists.remove(stranger, id);
    expect(await store.lists.get(who.account.id, id)).toMatchObject({ status: 'running', done: 0 });
  });

  it('is found by status and name, newest first, with its rate while it runs', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 5_000 });
    const { id: account } = who.account;
    const first = await startedList(store, who, addressesOf(3_000), { block: 1_000 });
    const second = await uploadList(store, who, []);
    const page = { status: null, query: null, offset: 0, limit: 10 };
    const ids = async (more: object) =>
      (await store.lists.list(account, { ...page, ...more })).items.map(({ id }) => id);
    expect(await ids({})).toEqual([second, first]);
    expect(await ids({ limit: 1, offset: 1 })).toEqual([first]);
    expect(await ids({ status: 'running' })).toEqual([first]);
    expect(await ids({ query: 'JUNE' })).toEqual([second, first]);
    expect(await ids({ query: '%' })).toEqual([]);
    lab.clock.advance(10_000);
    const works = await claimWith(store, who, first, 'w');
    expect(
      await store.lists.record(
        account,
        first,
        works.map((work) => found(work)),
      ),
    ).toMatchObject({ recorded: 1_000 });
    expect(await store.lists.get(account, first)).toMatchObject({ perSecond: 100 });
  });

  it('goes on however often its work is given back', async () => {
    const store = await lab.open();
    const who = await member(store);
    const id = await startedList(store, who, addressesOf(2));
    for (let n = 0; n <= LIST_CLAIMS_MAX; n++) {
      expect(await claimWith(store, who, id, 'w')).toHaveLength(2);
      await store.lists.release({ account: who.account.id, list: id, lease: 'w' });
    }
    expect(await store.lists.get(who.account.id, id)).toMatchObject({ status: 'running' });
  });

  it('does not wait for an address that was erased', async () => {
    const store = await lab.open();
    const who = await member(store);
    const { id: account } = who.account;
    const id = await startedList(store, who, addressesOf(2));
    const works = await claimWith(store, who, id, 'w');
    await store.lists.record(
      account,
      id,
      works.map((work) => found(work, {}, 60_000)),
    );
    expect(await store.lists.get(account, id)).toMatchObject({ waiting: 2, rows: { addresses: 2 } });
    await eraseAddress(store, account, 'a1@example.com', BY);
    expect(await store.lists.get(account, id)).toMatchObject({ waiting: 1, rows: { addresses: 1, blank: 1 } });
  });

  it('has the rate since it was resumed', async () => {
    const store = await lab.open();
    const who = await member(store);
    const { id: account } = who.account;
    const id = await startedList(store, who, addressesOf(4));
    const [first, ...others] = await claimWith(store, who, id, 'w');
    if (first === undefined) throw new Error('There are four addresses.');
    lab.clock.advance(1_000);
    await store.lists.record(account, id, [found(first)]);
    expect(await store.lists.get(account, id)).toMatchObject({ perSecond: 1 });
    await store.lists.change(account, id, 'pause');
    expect(await store.lists.get(account, id)).toMatchObject({ perSecond: null });
    lab.clock.advance(60_000);
    await store.lists.change(account, id, 'resume');
    expect(await store.lists.get(account, id)).toMatchObject({ perSecond: null });
    lab.clock.advance(4_000);
    await store.lists.record(
      account,
      id,
      others.slice(0, 2).map((work) => found(work)),
    );
    expect(await store.lists.get(account, id)).toMatchObject({ perSecond: 0.5 });
  });
});
