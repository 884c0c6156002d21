import { expect, it } from 'vitest';
import { HOUR_MS } from '../../src/kernel/clock.ts';
import { DEFAULT_PLANS, termsOf } from '../../src/kernel/facts/plans.ts';
import { describeStores } from '../lab/stores.ts';
import { hold, member, verifyNow } from './cast.ts';
import { BY, person } from './people.ts';

describeStores('accounts', (lab) => {
  it('are made with their credits as a ledger row', async () => {
    const store = await lab.open();
    const account = await store.accounts.create({ name: 'Ex\0ample', plan: 'starter', rateLimit: null, credits: 50 });
    expect(account).toEqual({
      id: expect.stringMatching(/^acc_/),
      name: 'Ex\uFFFDample',
      plan: 'starter',
      rateLimit: 60,
      rateLimitSet: false,
      status: 'active',
      allowance: 0,
      terms: termsOf(DEFAULT_PLANS, 'starter'),
      testOf: null,
      trustBouncesDays: null,
      externalId: null,
      operatorEvents: false,
      balance: 50,
      locked: 0,
      retentionDays: null,
      lowBalance: null,
      secondFactorRequired: false,
      createdAt: lab.clock.now(),
    });
    expect(await store.accounts.get(account.id)).toEqual(account);
    expect((await store.accounts.ledger(account.id, 10)).rows).toMatchObject([
      { kind: 'grant', amount: 50, charged: 0, verificationId: null, createdAt: lab.clock.now() },
    ]);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('are listed in the order of their making, and counted', async () => {
    const store = await lab.open();
    expect(await store.accounts.count()).toBe(0);
    const names = ['c', 'a', 'b'];
    for (const name of names) {
      lab.clock.advance(1);
      await store.accounts.create({ name, plan: 'premium', rateLimit: null, credits: 0 });
    }
    expect((await store.accounts.list()).map((account) => account.name)).toEqual(names);
    expect(await store.accounts.count()).toBe(3);
  });

  it('are changed field by field', async () => {
    const store = await lab.open();
    const { account } = await member(store, { plan: 'starter', rateLimit: null });
    expect(await store.accounts.set(account.id, { plan: 'premium' })).toMatchObject({
      plan: 'premium',
      rateLimit: 300,
    });
    expect(await store.accounts.set(account.id, { rateLimit: 7 })).toMatchObject({ rateLimit: 7, rateLimitSet: true });
    expect(await store.accounts.set(account.id, { rateLimit: null })).toMatchObject({
      rateLimit: 300,
      rateLimitSet: false,
    });
    expect(await store.accounts.set(account.id, { name: 'New' })).toMatchObject({ name: 'New', plan: 'premium' });
    expect(await store.accounts.set(account.id, {})).toMatchObject({ name: 'New' });
    expect(await store.accounts.set('acc_none' as typeof account.id, { name: 'x' })).toBeNull();
    expect(await store.accounts.set('acc_none' as typeof account.id, {})).toBeNull();
    expect(await store.accounts.get('acc_none')).toBeNull();
  });

  it('that are suspended look like an unknown key', async () => {
    const store = await lab.open();
    const who = await member(store);
    await store.accounts.set(who.account.id, { status: 'suspended' });
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'refused', code: 'invalid_api_key', caller: null });
    await store.accounts.set(who.account.id, { status: 'active' });
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
  });

  it('get credits, and give back no more than they have', async () => {
    const store = await lab.open();
    const { account } = await member(store, { credits: 10 });
    expect(await store.accounts.grant(account.id, 5, 'more')).toMatchObject({ balance: 15 });
    expect(await store.accounts.grant(account.id, -16, 'too much')).toBeNull();
    expect(await store.accounts.grant(account.id, -15, 'all')).toMatchObject({ balance: 0 });
    expect(await store.accounts.grant('acc_none' as typeof account.id, 1, 'nobody')).toBeNull();
    await expect(store.accounts.grant(account.id, 0.5, 'half')).rejects.toThrow(RangeError);
    expect((await store.accounts.ledger(account.id, 2)).rows.map((row) => [row.amount, row.note])).toEqual([
      [-15, 'all'],
      [5, 'more'],
    ]);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('never go below zero however many take back at once', async () => {
    const store = await lab.open();
    const { account } = await member(store, { credits: 10 });
    const takes = Array.from({ length: 20 }, () => store.accounts.grant(account.id, -1, 'take'));
    expect((await Promise.all(takes)).filter((taken) => taken !== null)).toHaveLength(10);
    expect(await store.accounts.get(account.id)).toMatchObject({ balance: 0 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('keep their sums while grants and charges run against each other', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 40 });
    const work = Array.from({ length: 40 }, (_, i) =>
      i % 4 === 0 ? store.accounts.grant(who.account.id, 3, 'more') : verifyNow(store, who),
    );
    await Promise.all(work);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 40 + 30 - 30, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('show their rate window without counting', async () => {
    const store = await lab.open();
    const who = await member(store, { rateLimit: 3 });
    const resetAt = lab.clock.now() + 300_000;
    expect(await store.accounts.window(who.account.id)).toEqual({ limit: 3, remaining: 3, resetAt });
    await verifyNow(store, who);
    expect(await store.accounts.window(who.account.id)).toEqual({ limit: 3, remaining: 2, resetAt });
    expect(await store.accounts.window(who.account.id)).toEqual({ limit: 3, remaining: 2, resetAt });
    expect(await store.accounts.window('acc_none' as typeof who.account.id)).toBeNull();
  });

  it('are audited: each sum that does not agree is named', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 20 });
    await verifyNow(store, who);
    await hold(store, who);
    expect(await store.accounts.audit()).toEqual([]);
    await lab.sql('UPDATE accounts SET balance = balance + 1');
    expect(await store.accounts.audit()).toEqual([
      expect.stringContaining('the balance is 19, but its ledger entries sum to 18'),
    ]);
    await lab.sql('UPDATE accounts SET balance = balance - 1, locked = 0');
    expect(await store.accounts.audit()).toEqual([
      expect.stringContaining('what is locked is 0, but its holds sum to 1'),
    ]);
    await lab.sql('UPDATE accounts SET locked = 1');
    await lab.sql('UPDATE usage_hours SET requests = requests - 1');
    expect(await store.accounts.audit()).toEqual([
      expect.stringContaining('the log has 1 verification, but its usage counters sum to 0 requests'),
    ]);
    await lab.sql("UPDATE usage_hours SET requests = 2, account_id = 'acc_gone'");
    expect(await store.accounts.audit()).toEqual([
      expect.stringContaining('its usage counters sum to 0'),
      expect.stringContaining('its usage counters sum to 0'),
      'Account acc_gone: it has entries, but there is no such account.',
    ]);
    await lab.sql(`UPDATE usage_hours SET account_id = '${who.account.id}'`);
    expect(await store.accounts.audit()).toEqual([]);
    await lab.sql('DELETE FROM verifications');
    expect(await store.accounts.audit()).toEqual([expect.stringContaining('its verifications sum to 0')]);
  });

  it('keep a retention and a line of their own', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const set = await store.accounts.set(account.id, { retentionDays: 30, lowBalance: 500 });
    expect(set).toMatchObject({ retentionDays: 30, lowBalance: 500 });
    expect(await store.accounts.set(account.id, { lowBalance: null })).toMatchObject({
      retentionDays: 30,
      lowBalance: null,
    });
    expect(await store.accounts.set(account.id, { retentionDays: null })).toMatchObject({ retentionDays: null });
  });

  it('show their ledger page by page', async () => {
    const store = await lab.open();
    const { account } = await member(store, { credits: 1 });
    const stranger = await member(store, { credits: 9 });
    for (const credits of [2, 3, 4]) await store.accounts.grant(account.id, credits, 'more');
    const first = await store.accounts.ledger(account.id, 2);
    expect(first.rows.map((row) => row.amount)).toEqual([4, 3]);
    const second = await store.accounts.ledger(account.id, 2, first.next);
    expect(second.rows.map((row) => row.amount)).toEqual([2, 1]);
    expect(second.next).toBeNull();
    expect((await store.accounts.ledger(stranger.account.id, 2, null)).rows.map((row) => row.amount)).toEqual([9]);
  });

  it.each([
    [null, ['Zoë GmbH', '100%', 'Ärzte e.V.', 'Example Ltd']],
    ['', ['Zoë GmbH', '100%', 'Ärzte e.V.', 'Example Ltd']],
    ['EXAMPLE', ['Example Ltd']],
    ['ärzte', ['Ärzte e.V.']],
    ['zoË', ['Zoë GmbH']],
    ['%', ['100%']],
    ['_', ['Zoë GmbH', '100%', 'Ärzte e.V.', 'Example Ltd']],
    ['ACC_', ['Zoë GmbH', '100%', 'Ärzte e.V.', 'Example Ltd']],
    ['m_L', []],
    ["'", []],
    ['\0', []],
  ])('are searched in id and name, newest first: %j', async (query, names) => {
    const store = await lab.open();
    for (const name of ['Example Ltd', 'Ärzte e.V.', '100%', 'Zoë GmbH']) {
      lab.clock.advance(1);
      await store.accounts.create({ name, plan: 'premium', rateLimit: null, credits: 0 });
    }
    const page = await store.accounts.search({ query, offset: 0, limit: 10 });
    expect(page.items.map((account) => account.name)).toEqual(names);
    expect(page.total).toBe(names.length);
    const second = await store.accounts.search({ query, offset: 1, limit: 1 });
    expect(second.items.map((account) => account.name)).toEqual(names.slice(1, 2));
    expect(second.total).toBe(names.length);
  });

  it('are found with how many members and keys they have', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    await store.keys.create(account.id, { name: 'b', hash: 'b', lastFour: 'abcd', allowIps: [] });
    const jane = await person(store, 'jane@example.com');
    await store.members.add(account.id, jane, 'owner', BY);
    const empty = await store.accounts.create({ name: 'Empty', plan: 'starter', rateLimit: null, credits: 0 });
    const { items } = await store.accounts.search({ query: account.id, offset: 0, limit: 10 });
    expect(items).toEqual([{ ...account, members: 1, keys: 2, spent: 0, usedAt: null }]);
    const none = await store.accounts.search({ query: 'empty', offset: 0, limit: 10 });
    expect(none.items).toEqual([{ ...empty, members: 0, keys: 0, spent: 0, usedAt: null }]);
  });

  it('are sorted by what they spent, and by when they were used last', async () => {
    const store = await lab.open();
    const [busy, early] = [await member(store), await member(store)];
    const hour = () => Math.floor(lab.clock.now() / HOUR_MS) * HOUR_MS;
    await verifyNow(store, early);
    const first = hour();
    lab.clock.advance(2 * HOUR_MS);
    for (const _ of [1, 2]) await verifyNow(store, busy);
    const second = hour();
    const by = async (sort: 'spent' | 'used', descending: boolean) =>
      (await store.accounts.search({ query: null, sort: { by: sort, descending }, offset: 0, limit: 10 })).items;
    expect((await by('spent', true)).map(({ id, spent }) => [id, spent])).toEqual([
      [busy.account.id, 2],
      [early.account.id, 1],
    ]);
    expect((await by('used', false)).map(({ id, usedAt }) => [id, usedAt])).toEqual([
      [early.account.id, first],
      [busy.account.id, second],
    ]);
  });
});
