import { expect, it } from 'vitest';
import { TEST_CREDITS } from '../../src/kernel/facts/plans.ts';
import { hashApiKey, newApiKey } from '../../src/kernel/ids.ts';
import type { Account, AccountId, Store } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { asking, BLOCKS, member, removeDeleted, verdict, verifyNow } from './cast.ts';
import { BY, person } from './people.ts';

async function testKey(store: Store, live: AccountId): Promise<{ account: Account; hash: string; test: true }> {
  const account = await store.accounts.testAccount(live);
  const hash = hashApiKey(newApiKey('test'));
  await store.keys.create(account.id, { name: 'test', hash, lastFour: 'abcd', allowIps: [] });
  return { account, hash, test: true };
}

const free = { credits: 0 };

describeStores('test accounts', (lab) => {
  it('are one for each live account, however many ask for it', async () => {
    const [store, node] = [await lab.open(), await lab.open()];
    const { account } = await member(store);
    const asked = await Promise.all([store, node, store, node].map((by) => by.accounts.testAccount(account.id)));
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
    const [test] = asked;
    expect(test).toMatchObject({ testOf: account.id, plan: 'premium', balance: TEST_CREDITS, name: account.name });
    expect(await store.accounts.audit()).toEqual([]);
    await expect(store.accounts.testAccount(test!.id)).rejects.toThrow(TypeError);
    await expect(store.accounts.testAccount('acc_none' as AccountId)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are what their live account is, whatever changes it', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const test = await store.accounts.testAccount(account.id);
    const change = {
      name: 'New',
      plan: 'enterprise',
      rateLimit: 7,
      retentionDays: 3,
      secondFactorRequired: true,
    } as const;
    await store.accounts.set(account.id, change);
    expect(await store.accounts.get(test.id)).toMatchObject(change);
    // As a program does that knows nothing of test accounts.
    await lab.sql(`UPDATE accounts SET status = 'suspended', plan = 'starter' WHERE id = '${account.id}'`);
    expect(await store.accounts.get(test.id)).toMatchObject({ status: 'suspended', plan: 'starter' });
  });

  it('are no accounts to operators: neither listed nor counted, changed, granted credits or removed', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const { id } = await store.accounts.testAccount(account.id);
    expect(await store.accounts.list()).toMatchObject([{ id: account.id }]);
    expect(await store.accounts.count()).toBe(1);
    expect(await store.accounts.search({ query: null, offset: 0, limit: 9 })).toMatchObject({
      total: 1,
      items: [{ id: account.id, keys: 1 }],
    });
    expect(await store.accounts.summary(id)).toBeNull();
    expect(await store.accounts.set(id, { plan: 'starter' })).toBeNull();
    expect(await store.accounts.grant(id, 5, 'no', BY)).toBeNull();
    expect(await store.accounts.remove(id)).toBe(false);
    expect(await store.accounts.get(id)).toMatchObject({ plan: 'premium', balance: TEST_CREDITS, status: 'active' });
  });

  it('are charged nothing, by one statement or under a lock, on every node', async () => {
    const [store, node] = [await lab.open(), await lab.open()];
    const live = await member(store, { credits: 5 });
    const test = await testKey(store, live.account.id);
    // The first is judged under a lock, later ones by what the node remembers.
    for (const by of [store, store, store, node, node])
      expect(await verifyNow(by, test, free, { level: 'smtp' })).toMatchObject({
        outcome: 'settled',
        balance: TEST_CREDITS,
        caller: { test: true, accountId: test.account.id },
      });
    expect(await verifyNow(store, live)).toMatchObject({ outcome: 'settled', balance: 4, caller: { test: false } });
    // Nothing is held for a verdict that has to wait.
    const waiting = asking(test, { level: 'smtp', idempotency: { route: 'r', key: 'k', fingerprint: 'f' } });
    const admission = await store.charging.admit(waiting);
    expect(admission).toMatchObject({ outcome: 'admitted', balance: TEST_CREDITS });
    if (admission.outcome !== 'admitted' || waiting.verify === null) throw new Error('not admitted');
    expect(await store.charging.admit(waiting)).toMatchObject({ code: 'idempotency_in_progress' });
    const { id } = waiting.verify;
    const settlement = { caller: admission.caller, holdId: id, idempotency: waiting.idempotency };
    await store.charging.settle({ ...settlement, record: verdict(id, free) });
    expect(await store.charging.admit(waiting)).toMatchObject({ outcome: 'replay' });
    expect(await store.accounts.get(test.account.id)).toMatchObject({ balance: TEST_CREDITS, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
    const rows = await lab.sql(`SELECT kind FROM ledger WHERE account_id = '${test.account.id}'`);
    expect(rows).toEqual([{ kind: 'grant' }]);
  });

  it('refuse a charge, and a verdict of the other mode', async () => {
    const store = await lab.open();
    const live = await member(store);
    const test = await testKey(store, live.account.id);
    await expect(verifyNow(store, test, { credits: 1 })).rejects.toThrow('charges nothing');
    await expect(verifyNow(store, { hash: test.hash }, free)).rejects.toThrow('other mode');
    await expect(verifyNow(store, { hash: live.hash, test: true }, free)).rejects.toThrow('other mode');
    expect(await store.accounts.audit()).toEqual([]);
    expect(await lab.sql('SELECT id FROM verifications')).toEqual([]);
  });

  it('refuse their keys while the live account is suspended', async () => {
    const [store, node] = [await lab.open(), await lab.open()];
    const live = await member(store);
    const test = await testKey(store, live.account.id);
    for (let i = 0; i < 3; i += 1) await verifyNow(node, test, free);
    await store.accounts.set(live.account.id, { status: 'suspended' });
    expect(await verifyNow(node, test, free)).toMatchObject({ outcome: 'refused', code: 'invalid_api_key' });
    await store.accounts.set(live.account.id, { status: 'active', rateLimit: 1 });
    expect(await verifyNow(node, test, free)).toMatchObject({ outcome: 'refused', code: 'rate_limit_exceeded' });
  });

  it('have the members of their live account, with their roles, and are created when a member asks', async () => {
    const store = await lab.open();
    const [live, other] = [await member(store), await member(store)];
    const [owner, stranger] = [await person(store, 'owner@x.example'), await person(store, 'stranger@x.example')];
    await store.members.add(live.account.id, owner, 'admin', BY);
    await store.members.add(other.account.id, stranger, 'owner', BY);
    const testAccount = (await store.members.ofUser(owner))[0]!.testAccount;
    expect(await store.members.role(testAccount, stranger)).toBeNull();
    expect(await store.accounts.get(testAccount)).toBeNull();
    expect(await store.members.role(testAccount, owner)).toEqual({
      account: testAccount,
      role: 'admin',
      secondFactorRequired: false,
      suspended: false,
      test: true,
    });
    expect(await store.accounts.get(testAccount)).toMatchObject({ testOf: live.account.id });
    expect(await store.members.role(testAccount, stranger)).toBeNull();
    expect(await store.members.role(`${testAccount}_test`, owner)).toBeNull();
    expect(await store.members.role('_test', owner)).toBeNull();
    expect(await store.members.ofUser(owner)).toHaveLength(1);
  });

  it('are removed with their live account, with all their rows', async () => {
    const store = await lab.open();
    const [live, other] = [await member(store), await member(store)];
    const [test, kept] = [await testKey(store, live.account.id), await testKey(store, other.account.id)];
    await verifyNow(store, test, free);
    await store.filters.add(test.account.id, { filterType: 'domain', value: 'x.example', reason: null, ...BLOCKS });
    expect(await store.accounts.remove(live.account.id)).toBe(true);
    expect(await verifyNow(store, test, free)).toMatchObject({ code: 'invalid_api_key' });
    expect(await verifyNow(store, kept, free)).toMatchObject({ outcome: 'settled' });
    await removeDeleted(store);
    for (const table of ['keys', 'ledger', 'verifications', 'filters', 'usage_hours'])
      expect(await lab.sql(`SELECT account_id FROM ${table} WHERE account_id LIKE '${live.account.id}%'`)).toEqual([]);
    const left = await lab.sql('SELECT id FROM accounts ORDER BY id');
    expect(left.map(({ id }) => id)).toEqual([other.account.id, kept.account.id]);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('are removed as well when a program deletes the live account that knows nothing of them', async () => {
    const store = await lab.open();
    const live = await member(store);
    await testKey(store, live.account.id);
    await lab.sql(`UPDATE accounts SET status = 'deleted' WHERE id = '${live.account.id}'`);
    await store.upkeep.purge(1);
    await removeDeleted(store);
    expect(await lab.sql('SELECT id FROM accounts')).toEqual([]);
  });

  it('have keys that are listed with those of the live account where both are asked for', async () => {
    const store = await lab.open();
    const live = await member(store);
    const test = await testKey(store, live.account.id);
    expect(await store.keys.list(live.account.id)).toMatchObject([{ id: live.key.id, testOf: null }]);
    expect(await store.keys.list(test.account.id)).toMatchObject([{ testOf: live.account.id }]);
    const both = await store.keys.list(live.account.id, { withTest: true });
    expect(new Set(both.map(({ testOf }) => testOf))).toEqual(new Set([null, live.account.id]));
    expect(await store.keys.list(null)).toHaveLength(2);
  });
});
