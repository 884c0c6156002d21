import { expect, it } from 'vitest';
import { describeStores } from '../lab/stores.ts';
import { hold, member, purge, verdict, verifyNow } from './cast.ts';

const DAY = 24 * 3600_000;

describeStores('upkeep', (lab) => {
  it('releases the holds of a process that is gone, each with its ledger row', async () => {
    const store = await lab.open();
    const gone = await lab.open();
    const who = await member(store, { credits: 100 });
    const ids = (await Promise.all(Array.from({ length: 5 }, () => hold(gone, who, { level: 'smtp' })))).map(
      (h) => h.id,
    );
    const own = await hold(store, who, { level: 'smtp' });
    expect(await store.upkeep.releaseDead()).toBe(0);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 40, locked: 60 });
    await gone.close();
    expect(await store.upkeep.releaseDead()).toBe(5);
    expect(await store.upkeep.releaseDead()).toBe(0);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 90, locked: 10 });
    const released = (await store.accounts.ledger(who.account.id, 5)).rows.map((row) => [
      row.kind,
      row.amount,
      row.verificationId,
    ]);
    expect(released.sort()).toEqual(ids.sort().map((id) => ['release', 10, id]));
    await store.charging.settle({ caller: own.caller, holdId: own.id, record: verdict(own.id), idempotency: null });
    expect(await lab.sql('SELECT id FROM nodes')).toHaveLength(1);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('finds the dead for several who look at once, once each', async () => {
    const gone = await lab.open();
    const looking = [await lab.open(), await lab.open(), await lab.open()];
    const who = await member(gone, { credits: 100 });
    await Promise.all(Array.from({ length: 30 }, () => hold(gone, who)));
    await gone.close();
    const counts = await Promise.all(looking.map((store) => store.upkeep.releaseDead()));
    expect(counts.reduce((a, b) => a + b)).toBe(30);
    expect(await looking[0]!.accounts.get(who.account.id)).toMatchObject({ balance: 100, locked: 0 });
    expect(await looking[0]!.accounts.audit()).toEqual([]);
  });

  it('releases holds past their time, whoever owns them', async () => {
    const store = await lab.open();
    const other = await lab.open();
    const who = await member(store, { credits: 100 });
    await hold(other, who, { holdMs: 1_000 });
    await hold(other, who, { holdMs: 5_000 });
    lab.clock.advance(999);
    expect(await store.upkeep.releaseDead()).toBe(0);
    lab.clock.advance(1);
    expect(await store.upkeep.releaseDead()).toBe(1);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 99, locked: 1 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('releases more holds than fit one step', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 2_000 });
    await Promise.all(Array.from({ length: 1_100 }, () => hold(store, who, { holdMs: 1 })));
    lab.clock.advance(1);
    expect(await store.upkeep.releaseDead()).toBe(1_100);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 2_000, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('purges old verifications and replies, and the sums still agree', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 2_000 });
    const idempotency = { route: 'POST /v1/verify', key: 'k', fingerprint: 'f' };
    await verifyNow(store, who, {}, { idempotency });
    await Promise.all(Array.from({ length: 1_199 }, () => verifyNow(store, who)));
    const old = lab.clock.now();
    lab.clock.advance(2 * DAY);
    await verifyNow(store, who, { credits: 10, validationType: 'smtp' });
    const count = async () => (await store.verifications.list(who.account.id, { offset: 0, limit: 1 })).total;
    expect(await purge(lab, store, old)).toBe(1);
    expect(await count()).toBe(1_201);
    expect(await purge(lab, store, old + 1)).toBe(1_200);
    expect(await count()).toBe(1);
    expect(await lab.sql('SELECT key FROM idempotency')).toEqual([]);
    expect(await store.usage.summary(who.account.id, old, lab.clock.now() + 1)).toMatchObject({ credits: 1_210 });
    expect(await store.accounts.audit()).toEqual([]);
  });
});
