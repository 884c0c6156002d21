import { expect, it } from 'vitest';
import { NO_RULES } from '../../src/kernel/facts/policies.ts';
import type { AccountId, Store } from '../../src/store/store.ts';
import { describeStores, type StoreLab } from '../lab/stores.ts';
import { BLOCKS, eraseAddress, hold, type Member, member, removeDeleted, verdict, verifyNow } from './cast.ts';
import { BY, COMMAND, person } from './people.ts';

const TABLES = [
  'verifications',
  'usage_hours',
  'traffic_hours',
  'ledger',
  'ledger_days',
  'filters',
  'policies',
  'idempotency',
  'trail',
  'keys',
  'members',
  'invitations',
  'holds',
];

const rowsOf = async (lab: StoreLab, account: AccountId): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const table of TABLES) {
    const rows = await lab.sql(`SELECT account_id FROM ${table} WHERE account_id = '${account}'`);
    if (rows.length > 0) counts[table] = rows.length;
  }
  return counts;
};

/** An account with a row in every table. */
async function full(lab: StoreLab, store: Store, owner: string): Promise<Member> {
  const who = await member(store, { credits: 1_000 });
  const { id } = who.account;
  await store.members.add(id, owner, 'owner', BY);
  const expiresAt = lab.clock.now() + 1_000_000;
  await store.members.invite(id, { email: 'x@example.com', role: 'member', tokenHash: id, expiresAt }, COMMAND);
  await store.filters.add(id, { filterType: 'domain', value: 'blocked.example', reason: null, ...BLOCKS }, BY);
  await store.policies.put(id, { ...NO_RULES, name: 'own' }, BY);
  await store.traffic.add([{ account: id, hour: lab.clock.now(), metric: 'status', bucket: 429, count: 1 }]);
  const idempotency = { route: 'POST /v1/verify', key: 'k', fingerprint: 'f' };
  await verifyNow(store, who, {}, { idempotency });
  await verifyNow(store, who, { email: 'erased@example.com' });
  await eraseAddress(store, id, 'erased@example.com', BY);
  return who;
}

describeStores('an account that is deleted', (lab) => {
  it('is gone at once for all who ask: keys, people, lists, charges', async () => {
    const store = await lab.open();
    const owner = await person(store, 'jane@example.com');
    const who = await full(lab, store, owner);
    const { id } = who.account;
    const other = await member(store);
    expect(await store.accounts.remove(id)).toBe(true);
    expect(await store.accounts.remove(id)).toBe(false);
    expect(await store.accounts.get(id)).toBeNull();
    expect(await store.accounts.window(id)).toBeNull();
    expect((await store.accounts.list()).map((account) => account.id)).toEqual([other.account.id]);
    expect(await store.accounts.count()).toBe(1);
    expect(await store.accounts.search({ query: null, offset: 0, limit: 10 })).toMatchObject({ total: 1 });
    expect(await store.accounts.set(id, { status: 'active' }, BY)).toBeNull();
    expect(await store.accounts.grant(id, 5, 'late', BY)).toBeNull();
    expect(await store.keys.list(null)).toEqual([other.key]);
    expect(await store.keys.list(id)).toEqual([]);
    expect(await store.keys.get(who.key.id)).toBeNull();
    expect(await store.keys.update(id, who.key.id, { name: 'x' }, BY)).toBeNull();
    expect(await store.keys.revoke(who.key.id, BY)).toBeNull();
    const fresh = { hash: 'h', lastFour: 'abcd', graceMs: 0 };
    expect(await store.keys.roll(id, who.key.id, fresh, BY)).toBeNull();
    const late = store.keys.create(id, { name: 'x', hash: 'h', lastFour: 'abcd', allowIps: [] }, BY);
    await expect(late).rejects.toMatchObject({ code: 'not_found' });
    const input = { filterType: 'domain' as const, value: 'late.example', reason: null, ...BLOCKS };
    await expect(store.filters.add(id, input, BY)).rejects.toMatchObject({ code: 'not_found' });
    await expect(store.filters.addMany(id, [input], BY)).rejects.toMatchObject({ code: 'not_found' });
    const policy = { ...NO_RULES, name: 'late' };
    await expect(store.policies.put(id, policy, BY)).rejects.toMatchObject({ code: 'not_found' });
    await expect(store.policies.remove(id, 'own', BY)).rejects.toMatchObject({ code: 'not_found' });
    expect(await store.members.role(id, owner)).toBeNull();
    expect(await store.members.add(id, owner, 'owner', BY)).toBe(false);
    expect(await store.members.list(id)).toEqual([]);
    expect(await store.members.invitation(id)).toBeNull();
    expect(await store.members.accept(id, owner, BY)).toBeNull();
    expect(await verifyNow(store, who)).toMatchObject({ code: 'invalid_api_key', caller: null });
    expect(await verifyNow(store, { hash: { account: id } })).toMatchObject({ code: 'invalid_api_key', caller: null });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('takes along people who are nowhere else, but no operators', async () => {
    const store = await lab.open();
    const [first, second] = [await member(store), await member(store)];
    const alone = await person(store, 'alone@example.com');
    const both = await person(store, 'both@example.com');
    const operator = await person(store, 'operator@example.com', { operator: 1 });
    const elsewhere = await person(store, 'elsewhere@example.com');
    for (const one of [alone, both, operator]) await store.members.add(first.account.id, one, 'owner', BY);
    for (const one of [both, elsewhere]) await store.members.add(second.account.id, one, 'owner', BY);
    await store.accounts.remove(first.account.id);
    expect(await store.users.get(alone)).toBeNull();
    for (const one of [both, operator, elsewhere]) expect(await store.users.get(one)).not.toBeNull();
    expect(await store.members.ofUser(both)).toHaveLength(1);
    expect(await store.members.ofUser(operator)).toEqual([]);
    await store.accounts.remove(second.account.id);
    expect((await store.users.list()).map((user) => user.id)).toEqual([operator]);
  });

  it('is deleted with all its rows, and no one else’s, when nothing of it is held any more', async () => {
    const store = await lab.open();
    const owner = await person(store, 'jane@example.com');
    const who = await full(lab, store, owner);
    const other = await full(lab, store, owner);
    const before = await rowsOf(lab, other.account.id);
    expect(Object.keys(before).sort()).toEqual(TABLES.filter((table) => table !== 'holds').sort());
    const running = await hold(store, who);
    await store.accounts.remove(who.account.id);
    expect(await removeDeleted(store)).toEqual([]);
    expect(await rowsOf(lab, who.account.id)).toMatchObject({ verifications: 1, holds: 1, keys: 1 });
    expect(await store.accounts.audit()).toEqual([]);
    // What was running is charged to an account that nobody sees.
    const settled = { caller: running.caller, holdId: running.id, record: verdict(running.id), idempotency: null };
    expect(await store.charging.settle(settled)).toEqual({ balance: 997 });
    expect(await store.accounts.audit()).toEqual([]);
    expect(await removeDeleted(store)).toEqual([]);
    expect(await rowsOf(lab, who.account.id)).toEqual({});
    expect(await lab.sql('SELECT id FROM accounts')).toEqual([{ id: other.account.id }]);
    expect(await rowsOf(lab, other.account.id)).toEqual(before);
    await expect(store.charging.settle(settled)).rejects.toMatchObject({ code: 'verification_unavailable' });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('goes when the process that held for it is dead', async () => {
    const store = await lab.open();
    const gone = await lab.open();
    const who = await member(store);
    await hold(gone, who);
    await store.accounts.remove(who.account.id);
    await gone.close();
    expect(await store.upkeep.releaseDead()).toBe(1);
    expect(await store.accounts.audit()).toEqual([]);
    expect(await removeDeleted(store)).toEqual([]);
    expect(await lab.sql('SELECT id FROM accounts')).toEqual([]);
  });

  it('with more rows than fit a step goes piece by piece, others look on, and every audit is clean', async () => {
    const stores = [await lab.open(), await lab.open()];
    const who = await member(stores[0]!, { credits: 2_000 });
    const other = await member(stores[0]!, { credits: 2_000 });
    const inputs = Array.from({ length: 1_100 }, (_, i) => ({
      filterType: 'domain' as const,
      value: `d${i}.example`,
      reason: null,
      ...BLOCKS,
    }));
    await stores[0]!.filters.addMany(who.account.id, inputs, BY);
    await Promise.all(Array.from({ length: 1_100 }, (_, i) => verifyNow(stores[i % 2]!, i % 2 === 0 ? who : other)));
    await Promise.all(Array.from({ length: 600 }, () => verifyNow(stores[0]!, who)));
    await stores[0]!.accounts.remove(who.account.id);
    let over = false;
    const audits: string[][] = [];
    const watch = async () => {
      while (!over) {
        audits.push(await stores[1]!.accounts.audit());
        // SQLite never waits: let the others go on.
        await new Promise(setImmediate);
      }
    };
    const work = async () => {
      await Promise.all([removeDeleted(stores[0]!), removeDeleted(stores[1]!)]);
      over = true;
    };
    await Promise.all([work(), watch(), ...Array.from({ length: 100 }, () => verifyNow(stores[1]!, other))]);
    expect(audits.length).toBeGreaterThan(0);
    expect(audits.flat()).toEqual([]);
    expect(await rowsOf(lab, who.account.id)).toEqual({});
    expect(await lab.sql('SELECT id FROM accounts')).toEqual([{ id: other.account.id }]);
    expect((await rowsOf(lab, other.account.id)).verifications).toBe(650);
  });
});
