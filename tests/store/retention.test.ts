import { expect, it } from 'vitest';
import { describeStores } from '../lab/stores.ts';
import { type Member, member, oldVerifications, purge, verifyNow } from './cast.ts';

const DAY = 24 * 3600_000;

describeStores('retention', (lab) => {
  it('is the server’s, or the account’s own where that is shorter; the sums agree', async () => {
    const store = await lab.open();
    const short = await member(store, { credits: 2_000 });
    const long = await member(store);
    const own = await member(store);
    await store.accounts.set(short.account.id, { retentionDays: 1 });
    await store.accounts.set(long.account.id, { retentionDays: 100 });
    const total = async ({ account }: Member) =>
      (await store.verifications.list(account.id, { offset: 0, limit: 1 })).total;
    const start = lab.clock.now();
    for (const who of [short, long, own]) await verifyNow(store, who);
    await Promise.all(Array.from({ length: 1_100 }, () => verifyNow(store, short)));
    lab.clock.advance(DAY);
    await verifyNow(store, short);
    const server = start - 29 * DAY;
    expect(await purge(lab, store, server)).toBe(0);
    expect(await total(short)).toBe(1_102);
    lab.clock.advance(1);
    expect(await purge(lab, store, server + 1)).toBe(1_101);
    expect([await total(short), await total(long), await total(own)]).toEqual([1, 1, 1]);
    // The server's own is the longest for all.
    expect(await purge(lab, store, start + 1)).toBe(2);
    expect([await total(short), await total(long), await total(own)]).toEqual([1, 0, 0]);
    expect(await store.accounts.audit()).toEqual([]);
    await store.accounts.set(short.account.id, { retentionDays: null });
    lab.clock.advance(10 * DAY);
    expect(await purge(lab, store, start + 1)).toBe(0);
  });

  it('stops between two batches when its signal aborts, however much is left', { timeout: 30_000 }, async () => {
    const store = await lab.open();
    const who = await member(store);
    await lab.sql(oldVerifications(who, 60_000));
    await lab.sql(
      `INSERT INTO usage_hours (account_id, hour, key_id, validation_type, status, reason, requests, credits)
        VALUES ('${who.account.id}', 0, '${who.key.id}', 'mx', 'good', '', 60000, 0)`,
    );
    const stopping = new AbortController();
    const purging = purge(lab, store, 1, stopping.signal);
    await new Promise((resolve) => setTimeout(resolve, 50));
    stopping.abort();
    const deleted = await purging;
    // A round that is not aborted deletes 50,000.
    expect(deleted).toBeLessThan(50_000);
    const { total } = await store.verifications.list(who.account.id, { offset: 0, limit: 1 });
    expect(total).toBe(60_000 - deleted);
    expect(await purge(lab, store, 1, stopping.signal)).toBe(0);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('is looked after for more accounts than fit a step', async () => {
    const store = await lab.open();
    const start = lab.clock.now();
    const names = Array.from({ length: 1_203 }, (_, i) => `('acc_${i}', 'n', 'premium', 5, ${start}, 1)`);
    await lab.sql(
      `INSERT INTO accounts (id, name, plan, balance, created_at, retention_days) VALUES ${names.join(', ')}`,
    );
    for (const i of [0, 7, 499, 500, 501, 999, 1_202]) {
      await verifyNow(store, { hash: { account: `acc_${i}` as never } });
    }
    lab.clock.advance(DAY + 1);
    expect(await purge(lab, store, 0)).toBe(7);
  });
});
