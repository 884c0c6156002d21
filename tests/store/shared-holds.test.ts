import { expect, it } from 'vitest';
import { DAY_MS } from '../../src/kernel/clock.ts';
import type { UsageSource } from '../../src/kernel/facts/outcomes.ts';
import type { SettlementPart, Store } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import {
  eraseAddress,
  type Member,
  member,
  newVerificationId,
  purge,
  removeDeleted,
  verdict,
  verifyNow,
} from './cast.ts';
import { BY } from './people.ts';

const LIFE = 3600_000;

const open = (store: Store, { account, key }: Member, id: string, amount: number) =>
  store.sharedHolds.open({ id, account: account.id, keyId: key.id, amount, lifeMs: LIFE });

/** One result per entry: what it costs, of 10 held for it. */
const part = ({ account }: Member, holdId: string, credits: readonly number[]): SettlementPart => ({
  account: account.id,
  holdId,
  results: credits.map((cost) => ({ record: verdict(newVerificationId(), { credits: cost }), held: 10 })),
});

describeStores('a hold that many results draw on', (lab) => {
  it('is settled in parts, each with one ledger row; the rest goes back', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 100 });
    const { id } = who.account;
    expect(await open(store, who, 'list_1', 60)).toEqual({ outcome: 'held', balance: 40 });
    expect(await store.accounts.get(id)).toMatchObject({ balance: 40, locked: 60 });
    const first = part(who, 'list_1', [10, 1, 0]);
    expect(await store.sharedHolds.settle(first)).toEqual({ recorded: 3, charged: 11, balance: 59, amount: 30 });
    expect(await store.accounts.get(id)).toMatchObject({ balance: 59, locked: 30 });
    const second = part(who, 'list_1', [10]);
    const both = { ...second, results: [...first.results, ...second.results, ...second.results] };
    expect(await store.sharedHolds.settle(both)).toEqual({ recorded: 1, charged: 10, balance: 59, amount: 20 });
    expect(await store.sharedHolds.settle(both)).toEqual({ recorded: 0, charged: 0, balance: 59, amount: 20 });
    expect(await store.sharedHolds.release(id, 'list_1')).toBe(20);
    expect(await store.sharedHolds.release(id, 'list_1')).toBe(0);
    expect(await store.accounts.get(id)).toMatchObject({ balance: 79, locked: 0 });
    const { rows: ledger } = await store.accounts.ledger(id, 10);
    expect(ledger.map(({ kind, amount, charged }) => [kind, amount, charged])).toEqual([
      ['release', 20, 0],
      ['settlement', 0, 10],
      ['settlement', 19, 11],
      ['hold', -60, 0],
      ['grant', 100, 0],
    ]);
    const hour = Math.floor(lab.clock.now() / 3600_000) * 3600_000;
    expect(await store.usage.summary(id, hour, hour + 1)).toMatchObject({ requests: 4, credits: 21 });
    expect((await store.verifications.list(id, { offset: 0, limit: 10 })).total).toBe(4);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('is counted apart from calls, and what earlier versions counted belongs to neither', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 1_000 });
    const { id } = who.account;
    const day = Math.floor(lab.clock.now() / DAY_MS) * DAY_MS;
    const read = async (source: UsageSource | null) => ({
      buckets: (await store.usage.buckets(id, day, day + DAY_MS, DAY_MS, { source })).map((row) => row.requests),
      credits: (await store.usage.byKey(id, day, day + DAY_MS, source)).map(({ credits }) => credits),
      days: (await store.usage.keyDays(id, day, day + DAY_MS, source)).map(({ requests }) => requests),
    });
    await verifyNow(store, who, { credits: 1 });
    await open(store, who, 'list_1', 60);
    const settled = part(who, 'list_1', [10, 10, 10]);
    await store.sharedHolds.settle(settled);
    await store.sharedHolds.settle(settled);
    expect(await read('api')).toEqual({ buckets: [1], credits: [1], days: [1] });
    expect(await read('list')).toEqual({ buckets: [3], credits: [30], days: [3] });
    expect(await read(null)).toEqual({ buckets: [4], credits: [31], days: [4] });
    expect(await store.usage.withoutSource(id, day, day + DAY_MS)).toBe(0);
    expect((await store.accounts.funds(id, day))?.days).toEqual([
      { at: day, charged: 31, chargedByLists: 30, verifications: 4 },
    ]);
    // As a program adds that does not know the columns.
    await lab.sql('UPDATE usage_hours SET requests = requests + 5');
    expect(await read(null)).toMatchObject({ buckets: [9] });
    expect(await read('api')).toMatchObject({ buckets: [1] });
    expect(await store.usage.withoutSource(id, day, day + DAY_MS)).toBe(5);
  });

  it('is refused beyond the balance, to accounts that are not active, and a second time', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 10 });
    expect(await open(store, who, 'a', 11)).toEqual({ outcome: 'insufficient_credits', balance: 10 });
    expect(await open(store, who, 'a', 10)).toEqual({ outcome: 'held', balance: 0 });
    expect(await open(store, who, 'a', 10)).toEqual({ outcome: 'held', balance: 0 });
    expect(await verifyNow(store, who)).toMatchObject({ code: 'insufficient_credits' });
    await store.sharedHolds.release(who.account.id, 'a');
    expect(await open(store, who, 'a', 10)).toEqual({ outcome: 'closed' });
    await store.accounts.set(who.account.id, { status: 'suspended' });
    expect(await open(store, who, 'b', 1)).toEqual({ outcome: 'account_inactive' });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('belongs to one account', async () => {
    const store = await lab.open();
    const [who, other] = [await member(store), await member(store)];
    await open(store, who, 'mine', 10);
    await expect(store.sharedHolds.settle(part(other, 'mine', [1]))).rejects.toThrow('no shared hold');
    expect(await store.sharedHolds.release(other.account.id, 'mine')).toBe(0);
    expect(await store.sharedHolds.renew(other.account.id, 'mine')).toBe(false);
    expect(await store.sharedHolds.get(other.account.id, 'mine')).toBeNull();
    expect(await store.sharedHolds.get(who.account.id, 'mine')).toMatchObject({ amount: 10 });
  });

  it('outlives the node that took it, and ends when nobody renews it', async () => {
    const [store, dying] = [await lab.open(), await lab.open()];
    const who = await member(store, { credits: 100 });
    await verifyNow(dying, who);
    await open(dying, who, 'list', 50);
    await dying.close();
    await store.upkeep.releaseDead();
    expect(await store.sharedHolds.get(who.account.id, 'list')).toMatchObject({ amount: 50 });
    lab.clock.advance(LIFE - 1);
    expect(await store.sharedHolds.renew(who.account.id, 'list')).toBe(true);
    lab.clock.advance(LIFE - 1);
    await store.sharedHolds.settle(part(who, 'list', [10]));
    lab.clock.advance(LIFE - 1);
    expect(await store.upkeep.releaseDead()).toBe(0);
    lab.clock.advance(1);
    expect(await store.upkeep.releaseDead()).toBe(1);
    expect(await store.sharedHolds.get(who.account.id, 'list')).toMatchObject({ amount: 0, expiresAt: null });
    expect(await store.sharedHolds.renew(who.account.id, 'list')).toBe(false);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 89, locked: 0 });
    // A part that comes late is charged from the balance, as far as it goes.
    const settled = await store.sharedHolds.settle(part(who, 'list', [10, 10]));
    expect(settled).toEqual({ recorded: 2, charged: 20, balance: 69, amount: 0 });
    const late = store.sharedHolds.settle(
      part(
        who,
        'list',
        Array.from({ length: 7 }, () => 10),
      ),
    );
    await expect(late).rejects.toMatchObject({ code: 'insufficient_credits' });
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 69, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('takes parts of more results than fit a statement', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 20_000 });
    await open(store, who, 'list', 12_000);
    const many = part(
      who,
      'list',
      Array.from({ length: 1_200 }, () => 1),
    );
    expect(await store.sharedHolds.settle(many)).toMatchObject({ recorded: 1_200, charged: 1_200, amount: 0 });
    expect(await store.sharedHolds.settle(many)).toMatchObject({ recorded: 0, charged: 0 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('refuses a result that costs more than is held for it', async () => {
    const store = await lab.open();
    const who = await member(store);
    await open(store, who, 'list', 50);
    for (const credits of [11, -1, 0.5]) {
      await expect(store.sharedHolds.settle(part(who, 'list', [1, credits]))).rejects.toThrow(RangeError);
    }
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 50, locked: 50 });
  });

  it('agrees with the audit when its results are purged or erased, and is forgotten 90 days after its end', async () => {
    const store = await lab.open();
    const who = await member(store);
    await open(store, who, 'list', 50);
    await store.sharedHolds.settle(part(who, 'list', [3, 4]));
    await eraseAddress(store, who.account.id, 'jane@example.com', BY);
    expect(await store.accounts.audit()).toEqual([]);
    await store.sharedHolds.settle(part(who, 'list', [5]));
    await purge(lab, store, lab.clock.now() + 1);
    expect(await store.accounts.audit()).toEqual([]);
    await store.sharedHolds.release(who.account.id, 'list');
    lab.clock.advance(90 * 24 * 3600_000);
    await purge(lab, store, 0);
    expect(await store.sharedHolds.get(who.account.id, 'list')).toBeNull();
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('is released when its account is deleted, which is then removed', async () => {
    const store = await lab.open();
    const who = await member(store);
    await open(store, who, 'list', 50);
    await store.sharedHolds.settle(part(who, 'list', [3]));
    await store.accounts.remove(who.account.id);
    await expect(store.sharedHolds.settle(part(who, 'list', [3]))).rejects.toMatchObject({ code: 'not_found' });
    expect(await lab.sql('SELECT locked FROM accounts')).toMatchObject([
      { locked: expect.toSatisfy((n) => Number(n) === 0) },
    ]);
    expect(await store.accounts.audit()).toEqual([]);
    expect(await removeDeleted(store)).toEqual([]);
    expect(await lab.sql('SELECT id FROM accounts')).toEqual([]);
  });
});

describeStores('the audit', (lab) => {
  it.each([
    ['a hold that is larger', 'UPDATE shared_holds SET amount = amount + 1', /Hold list: 31 is left/],
    [
      'a result that costs more',
      'UPDATE verifications SET credits = credits + 1',
      /Hold list: 6 was charged, .* sum to 8/,
    ],
    ['a result that is gone', 'DELETE FROM verifications WHERE credits = 5', /Hold list: 6 was charged, .* sum to 1/],
    ['a part that charged more', "UPDATE ledger SET charged = charged + 1 WHERE kind = 'settlement'", /Hold list: /],
    ['a part without its ledger row', "DELETE FROM ledger WHERE kind = 'settlement'", /Hold list: /],
    [
      'a result counted to another hold, though the sums of the account agree',
      "UPDATE verifications SET hold_id = 'other' WHERE credits = 5",
      /Hold list: 6 was charged, .* sum to 1/,
    ],
  ])('finds %s', async (_, damage, sentence) => {
    const store = await lab.open();
    const who = await member(store);
    await open(store, who, 'list', 50);
    await open(store, who, 'other', 10);
    await store.sharedHolds.settle(part(who, 'list', [1, 5]));
    expect(await store.accounts.audit()).toEqual([]);
    await lab.sql(damage);
    expect(await store.accounts.audit()).toContainEqual(expect.stringMatching(sentence));
  });
});
