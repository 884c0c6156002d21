import { expect, it } from 'vitest';
import { describeStores } from '../lab/stores.ts';
import { hold, member, verdict, verifyNow } from './cast.ts';

describeStores('a low balance', (lab) => {
  it('is told once, and again when it recovered and fell once more', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 10 });
    await member(store, { credits: 0 });
    const { id } = who.account;
    await store.accounts.set(id, { lowBalance: 9 });
    expect(await store.accounts.claimLowBalanceAlerts()).toEqual([]);
    await verifyNow(store, who);
    // On the line is not below it.
    expect(await store.accounts.claimLowBalanceAlerts()).toEqual([]);
    await verifyNow(store, who);
    expect(await store.accounts.claimLowBalanceAlerts()).toMatchObject([{ id, balance: 8, lowBalance: 9 }]);
    await verifyNow(store, who);
    expect(await store.accounts.claimLowBalanceAlerts()).toEqual([]);
    await store.accounts.grant(id, 2, 'back on the line');
    expect(await store.accounts.claimLowBalanceAlerts()).toEqual([]);
    await verifyNow(store, who);
    expect(await store.accounts.claimLowBalanceAlerts()).toMatchObject([{ id, balance: 8 }]);
  });

  it('counts what checks hold as still there', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 20 });
    await store.accounts.set(who.account.id, { lowBalance: 15 });
    const { id, caller } = await hold(store, who, { level: 'smtp' });
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 10, locked: 10 });
    expect(await store.accounts.claimLowBalanceAlerts()).toEqual([]);
    await store.charging.settle({ caller, holdId: id, record: verdict(id, { credits: 10 }), idempotency: null });
    expect(await store.accounts.claimLowBalanceAlerts()).toHaveLength(1);
  });

  it('is told anew of a new line, of none without one, and of none that is gone', async () => {
    const store = await lab.open();
    const { account } = await member(store, { credits: 5 });
    await store.accounts.set(account.id, { lowBalance: 10 });
    expect(await store.accounts.claimLowBalanceAlerts()).toHaveLength(1);
    await store.accounts.set(account.id, { lowBalance: 10, name: 'Same line' });
    expect(await store.accounts.claimLowBalanceAlerts()).toEqual([]);
    await store.accounts.set(account.id, { lowBalance: null });
    expect(await store.accounts.claimLowBalanceAlerts()).toEqual([]);
    await store.accounts.set(account.id, { lowBalance: 20 });
    expect(await store.accounts.claimLowBalanceAlerts()).toHaveLength(1);
    await store.accounts.set(account.id, { lowBalance: 30 });
    await store.accounts.remove(account.id);
    expect(await store.accounts.claimLowBalanceAlerts()).toEqual([]);
  });

  it('is told to one of many nodes that ask at once', async () => {
    const stores = [await lab.open(), await lab.open(), await lab.open()];
    const low = await Promise.all(Array.from({ length: 20 }, () => member(stores[0]!, { credits: 1 })));
    for (const { account } of low) await stores[0]!.accounts.set(account.id, { lowBalance: 5 });
    const claimed = (
      await Promise.all([...stores, ...stores].map((store) => store.accounts.claimLowBalanceAlerts()))
    ).flat();
    expect(claimed.map((account) => account.id).sort()).toEqual(low.map(({ account }) => account.id).sort());
  });
});
