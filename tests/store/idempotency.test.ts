import { expect, it } from 'vitest';
import type { IdempotencyRef, Store } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { asking, hold, member, newVerificationId, verdict, verifyNow } from './cast.ts';

const DAY = 24 * 3600_000;
const ref = (more: Partial<IdempotencyRef> = {}): IdempotencyRef => ({
  route: 'POST /v1/verify',
  key: 'k1',
  fingerprint: 'f1',
  ...more,
});

describeStores('idempotency keys', (lab) => {
  it('give the stored reply of an immediate verdict again, without a charge', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 10 });
    const id = newVerificationId();
    const body = '{"email":"a\\u0000b"}';
    await verifyNow(store, who, { body }, { id, idempotency: ref() });
    const again = await verifyNow(store, who, {}, { idempotency: ref() });
    expect(again).toMatchObject({ outcome: 'replay', balance: 9, reply: { status: 200, headers: {}, body } });
    // A replay counts in the rate window.
    expect(again.window?.remaining).toBe(1_000_000 - 2);
    expect(await store.verifications.list(who.account.id, { offset: 0, limit: 9 })).toMatchObject({ total: 1 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('tell a second request that the first still runs, then give its reply', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 10 });
    const { id, caller } = await hold(store, who, { idempotency: ref() });
    expect(await verifyNow(store, who, {}, { idempotency: ref() })).toMatchObject({ code: 'idempotency_in_progress' });
    const other = { idempotency: ref({ fingerprint: 'f2' }) };
    expect(await verifyNow(store, who, {}, other)).toMatchObject({ code: 'idempotency_key_reused' });
    await store.charging.settle({ caller, holdId: id, record: verdict(id), idempotency: ref() });
    expect(await verifyNow(store, who, {}, { idempotency: ref() })).toMatchObject({
      outcome: 'replay',
      reply: { body: verdict(id).body },
    });
    expect(await verifyNow(store, who, {}, other)).toMatchObject({ code: 'idempotency_key_reused' });
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 9, locked: 0 });
  });

  it('of parallel requests let one through', async () => {
    const store = await lab.open();
    const other = await lab.open();
    const who = await member(store, { credits: 10 });
    const asked = Array.from({ length: 20 }, (_, i) =>
      verifyNow(i % 2 ? store : other, who, {}, { idempotency: ref() }),
    );
    const outcomes = (await Promise.all(asked)).map((answer) => answer.outcome);
    expect(outcomes.filter((outcome) => outcome === 'settled')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'replay')).toHaveLength(19);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 9 });
  });

  it('are free again when the request failed, or was refused for plan, credits or rate', async () => {
    const store = await lab.open();
    const who = await member(store, { plan: 'starter', credits: 1, rateLimit: 6 });
    expect(await verifyNow(store, who, {}, { level: 'smtp', idempotency: ref() })).toMatchObject({
      code: 'plan_upgrade_required',
    });
    const { id, caller } = await hold(store, who, { idempotency: ref() });
    expect(await verifyNow(store, who, {}, { idempotency: ref({ key: 'k2' }) })).toMatchObject({
      code: 'insufficient_credits',
    });
    await store.charging.settle({ caller, holdId: id, record: null, idempotency: ref() });
    expect(await verifyNow(store, who, {}, { idempotency: ref() })).toMatchObject({ outcome: 'settled' });
    await store.accounts.grant(who.account.id, 5, 'more');
    expect(await verifyNow(store, who, {}, { idempotency: ref({ key: 'k2' }) })).toMatchObject({ outcome: 'settled' });
    await verifyNow(store, who);
    expect(await verifyNow(store, who, {}, { idempotency: ref({ key: 'k3' }) })).toMatchObject({
      code: 'rate_limit_exceeded',
    });
    lab.clock.advance(300_000);
    expect(await verifyNow(store, who, {}, { idempotency: ref({ key: 'k3' }) })).toMatchObject({ outcome: 'settled' });
  });

  it('are one per account and route', async () => {
    const store = await lab.open();
    const who = await member(store);
    const stranger = await member(store);
    await verifyNow(store, who, {}, { idempotency: ref() });
    expect(await verifyNow(store, stranger, {}, { idempotency: ref() })).toMatchObject({ outcome: 'settled' });
    expect(await verifyNow(store, who, {}, { idempotency: ref({ route: 'POST /v1/filters' }) })).toMatchObject({
      outcome: 'settled',
    });
    expect(await verifyNow(store, who, {}, { idempotency: ref() })).toMatchObject({ outcome: 'replay' });
  });

  it('are kept for 24 hours', async () => {
    const store = await lab.open();
    const who = await member(store);
    await verifyNow(store, who, {}, { idempotency: ref() });
    lab.clock.advance(DAY - 1);
    expect(await verifyNow(store, who, {}, { idempotency: ref() })).toMatchObject({ outcome: 'replay' });
    lab.clock.advance(1);
    expect(await verifyNow(store, who, {}, { idempotency: ref({ fingerprint: 'f2' }) })).toMatchObject({
      outcome: 'settled',
    });
    expect(await verifyNow(store, who, {}, { idempotency: ref({ fingerprint: 'f2' }) })).toMatchObject({
      outcome: 'replay',
    });
  });

  it('are reserved for other routes and unusable requests, finished or forgotten', async () => {
    const store = await lab.open();
    const who = await member(store);
    const unusable = () => store.charging.admit(asking(who, { invalid: true, idempotency: ref() }));
    const first = await unusable();
    if (first.outcome !== 'admitted') throw new Error('Not admitted.');
    expect(await unusable()).toMatchObject({ code: 'idempotency_in_progress' });
    await store.idempotency.forget(first.caller.accountId, ref());
    expect(await unusable()).toMatchObject({ outcome: 'admitted' });
    const reply = { status: 422, body: '{"error":"…"}', headers: { location: '/v1/filters/1' } };
    await store.idempotency.finish(first.caller.accountId, ref(), reply);
    expect(await unusable()).toMatchObject({ outcome: 'replay', reply });
    // A reply that is there stays.
    await store.idempotency.finish(first.caller.accountId, ref(), { ...reply, status: 400 });
    await store.idempotency.forget(first.caller.accountId, ref());
    expect(await unusable()).toMatchObject({ outcome: 'replay', reply });
  });

  it('that nobody finished within a minute are free again', async () => {
    const store = await lab.open();
    const who = await member(store);
    const unusable = () => store.charging.admit(asking(who, { invalid: true, idempotency: ref() }));
    await unusable();
    lab.clock.advance(59_999);
    expect(await unusable()).toMatchObject({ code: 'idempotency_in_progress' });
    lab.clock.advance(1);
    expect(await unusable()).toMatchObject({ outcome: 'admitted' });
  });

  it('that were released and taken again are charged to the one that took them', async () => {
    const store = await lab.open();
    const other = await lab.open();
    const who = await member(store, { credits: 10 });
    const late = await hold(store, who, { holdMs: 1_000, idempotency: ref() });
    lab.clock.advance(1_000);
    expect(await store.upkeep.releaseDead()).toBe(1);
    await verifyNow(store, who, { body: 'second' }, { idempotency: ref() });
    const settlement = { caller: late.caller, holdId: late.id, record: verdict(late.id), idempotency: ref() };
    await expect(store.charging.settle(settlement)).rejects.toMatchObject({ code: 'idempotency_in_progress' });
    expect(await store.verifications.list(who.account.id, { offset: 0, limit: 9 })).toMatchObject({ total: 1 });
    // Also before the hold is released, and while the one on another node runs.
    const taken = { idempotency: ref({ key: 'k2' }) };
    const slow = await hold(store, who, { holdMs: 1_000, ...taken });
    lab.clock.advance(1_000);
    const fresh = await hold(other, who, taken);
    const settle = (by: Store, { id, caller }: typeof slow) =>
      by.charging.settle({ caller, holdId: id, record: verdict(id), ...taken });
    await expect(settle(store, slow)).rejects.toMatchObject({ code: 'idempotency_in_progress' });
    expect(await store.upkeep.releaseDead()).toBe(1);
    expect(await settle(other, fresh)).toEqual({ balance: 8 });
    expect(await verifyNow(store, who, {}, { idempotency: ref() })).toMatchObject({ reply: { body: 'second' } });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('of a process that is gone are free again', async () => {
    const store = await lab.open();
    const gone = await lab.open();
    const who = await member(store, { credits: 10 });
    await hold(gone, who, { idempotency: ref() });
    await gone.charging.admit(asking(who, { invalid: true, idempotency: ref({ key: 'k2' }) }));
    expect(await store.upkeep.releaseDead()).toBe(0);
    expect(await verifyNow(store, who, {}, { idempotency: ref() })).toMatchObject({ code: 'idempotency_in_progress' });
    await gone.close();
    expect(await store.upkeep.releaseDead()).toBe(1);
    expect(await verifyNow(store, who, {}, { idempotency: ref() })).toMatchObject({ outcome: 'settled' });
    expect(await verifyNow(store, who, {}, { idempotency: ref({ key: 'k2' }) })).toMatchObject({ outcome: 'settled' });
    expect(await store.accounts.audit()).toEqual([]);
  });
});
