import { expect, it } from 'vitest';
import { describeStores } from '../lab/stores.ts';
import { asking, BLOCKS, hold, member, newVerificationId, verdict, verifyNow } from './cast.ts';

describeStores('charging a person', (lab) => {
  it('charges the account under the key id `dashboard`, and no key is used', async () => {
    const store = await lab.open();
    const { account, key } = await member(store, { credits: 20, rateLimit: 5 });
    const who = { hash: { account: account.id } };
    const id = newVerificationId();
    const caller = { accountId: account.id, keyId: 'dashboard', plan: 'premium', test: false };
    expect(await verifyNow(store, who, {}, { id })).toMatchObject({
      outcome: 'settled',
      caller,
      window: { limit: 5, remaining: 4 },
      balance: 19,
    });
    expect(await store.verifications.get(account.id, id)).toMatchObject({ keyId: 'dashboard', credits: 1 });
    const held = await hold(store, who, { level: 'smtp' });
    expect(held).toMatchObject({ caller, balance: 9 });
    const record = verdict(held.id, { credits: 1 });
    expect(await store.charging.settle({ caller: held.caller, holdId: held.id, record, idempotency: null })).toEqual({
      balance: 18,
    });
    expect(await store.usage.series(account.id, 'key', 0, lab.clock.now() + 1)).toEqual([
      { group: 'dashboard', requests: 2, good: 2, bad: 0, credits: 2 },
    ]);
    expect(await store.keys.get(key.id)).toMatchObject({ lastUsedAt: null, lastUsedIp: null });
    expect(await store.accounts.window(account.id)).toMatchObject({ remaining: 3 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('needs an account that is there and active, and no key', async () => {
    const store = await lab.open();
    const account = await store.accounts.create({ name: 'No key', plan: 'premium', rateLimit: null, credits: 5 });
    const who = { hash: { account: account.id } };
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
    const nobody = { outcome: 'refused', code: 'invalid_api_key', caller: null, window: null, balance: null };
    await store.accounts.set(account.id, { status: 'suspended' });
    expect(await verifyNow(store, who)).toEqual(nobody);
    await store.accounts.set(account.id, { status: 'active' });
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
    await store.accounts.remove(account.id);
    expect(await verifyNow(store, who)).toEqual(nobody);
    expect(await verifyNow(store, { hash: { account: 'acc_none' as typeof account.id } })).toEqual(nobody);
  });

  it('asks for window, plan, filters and credits as of any other, but for no allowlist', async () => {
    const store = await lab.open();
    const { account, hash } = await member(store, {
      plan: 'starter',
      credits: 1,
      rateLimit: 6,
      allowIps: ['198.51.100.1'],
    });
    const who = { hash: { account: account.id } };
    expect(await verifyNow(store, { hash })).toMatchObject({ code: 'ip_not_allowed' });
    expect(await store.charging.admit(asking(who, { level: 'smtp' }))).toMatchObject({ code: 'plan_upgrade_required' });
    await store.filters.add(account.id, { filterType: 'domain', value: 'example.com', reason: null, ...BLOCKS });
    expect(await store.charging.admit(asking(who))).toMatchObject({
      outcome: 'settled',
      record: { reason: 'blocked_by_filter', credits: 0 },
    });
    const other = { filterKeys: { email: 'a@other.example', domains: ['other.example'] } };
    expect(await store.charging.admit(asking(who, other))).toMatchObject({ outcome: 'admitted', balance: 0 });
    expect(await store.charging.admit(asking(who, other))).toMatchObject({ code: 'insufficient_credits', balance: 0 });
    expect(await store.charging.admit(asking(who, { ...other, invalid: true }))).toMatchObject({ outcome: 'admitted' });
    expect(await store.charging.admit(asking(who))).toMatchObject({ outcome: 'settled', window: { remaining: 0 } });
    expect(await verifyNow(store, who)).toMatchObject({ code: 'rate_limit_exceeded', window: { remaining: 0 } });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('shares the last credits with keys, on several nodes', async () => {
    const stores = [await lab.open(), await lab.open()];
    const { account, hash } = await member(stores[0]!, { credits: 10 });
    const asked = Array.from({ length: 60 }, (_, i) =>
      verifyNow(stores[i % 2]!, i % 3 === 0 ? { hash } : { hash: { account: account.id } }),
    );
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => answer.outcome === 'settled')).toHaveLength(10);
    expect(await stores[0]!.accounts.get(account.id)).toMatchObject({ balance: 0, locked: 0 });
    expect(await stores[0]!.accounts.audit()).toEqual([]);
  });

  it('knows an Idempotency-Key of the account all the same', async () => {
    const store = await lab.open();
    const { account, hash } = await member(store);
    const idempotency = { route: 'POST /v1/verify', key: 'k', fingerprint: 'f' };
    await verifyNow(store, { hash }, {}, { idempotency });
    const again = await verifyNow(store, { hash: { account: account.id } }, {}, { idempotency });
    expect(again).toMatchObject({ outcome: 'replay', caller: { keyId: 'dashboard' } });
  });
});
