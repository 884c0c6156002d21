import { expect, it } from 'vitest';
import type { StoreEvent } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { asking, hold, IP, member, newVerificationId, verdict, verifyNow } from './cast.ts';

describeStores('charging', (lab) => {
  it('charges and records a verdict that waits for nobody in one go', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 5, rateLimit: 3 });
    const id = newVerificationId();
    const admission = await verifyNow(store, who, {}, { id });
    expect(admission).toEqual({
      outcome: 'settled',
      caller: { accountId: who.account.id, keyId: who.key.id, plan: 'premium', test: false },
      window: { limit: 3, remaining: 2, resetAt: lab.clock.now() + 300_000 },
      record: verdict(id),
      balance: 4,
    });
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 4, locked: 0 });
    expect((await store.accounts.ledger(who.account.id, 10)).rows[0]).toMatchObject({
      kind: 'settlement',
      amount: -1,
      charged: 1,
      verificationId: id,
    });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('holds the price of the level and charges what it came to', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 25 });
    const { id, caller, balance } = await hold(store, who, { level: 'smtp' });
    expect(balance).toBe(15);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 15, locked: 10 });
    expect(await store.accounts.audit()).toEqual([]);
    const settlement = { caller, holdId: id, record: verdict(id, { requested: 'smtp' }), idempotency: null };
    expect(await store.charging.settle(settlement)).toEqual({ balance: 24 });
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 24, locked: 0 });
    expect(
      (await store.accounts.ledger(who.account.id, 2)).rows.map((row) => [row.kind, row.amount, row.charged]),
    ).toEqual([
      ['settlement', 9, 1],
      ['hold', -10, 0],
    ]);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('gives a hold back when there is no verdict', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 10 });
    const { id, caller } = await hold(store, who, { level: 'smtp' });
    const settlement = { caller, holdId: id, record: null, idempotency: null };
    expect(await store.charging.settle(settlement)).toEqual({ balance: 10 });
    expect(await store.charging.settle(settlement)).toEqual({ balance: 10 });
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 10, locked: 0 });
    expect(await store.verifications.list(who.account.id, { offset: 0, limit: 1 })).toMatchObject({ total: 0 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('charges a record once, however often it is settled', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 10 });
    const { id, caller } = await hold(store, who);
    const settlement = { caller, holdId: id, record: verdict(id), idempotency: null };
    const settle = () => store.charging.settle(settlement);
    expect(await Promise.all([settle(), settle(), settle()])).toEqual([{ balance: 9 }, { balance: 9 }, { balance: 9 }]);
    expect(await settle()).toEqual({ balance: 9 });
    expect(await store.verifications.list(who.account.id, { offset: 0, limit: 9 })).toMatchObject({ total: 1 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('charges a verdict that comes after its hold was released, if there is enough, else refuses it', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 10 });
    const late = await hold(store, who, { level: 'smtp', holdMs: 1000 });
    const later = await hold(store, await member(store), { level: 'smtp', holdMs: 1000 });
    lab.clock.advance(1000);
    expect(await store.upkeep.releaseDead()).toBe(2);
    const record = verdict(late.id, { credits: 10 });
    const settlement = { caller: late.caller, holdId: late.id, record, idempotency: null };
    expect(await store.charging.settle(settlement)).toEqual({ balance: 0 });

    await store.accounts.grant(later.caller.accountId, -95, 'spent meanwhile');
    const refused = {
      caller: later.caller,
      holdId: later.id,
      record: verdict(later.id, { credits: 10 }),
      idempotency: null,
    };
    await expect(store.charging.settle(refused)).rejects.toMatchObject({ code: 'verification_unavailable' });
    expect(await store.verifications.get(later.caller.accountId, later.id)).toBeNull();
    expect(await store.accounts.get(later.caller.accountId)).toMatchObject({ balance: 5, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('refuses in the order of the contract', async () => {
    const store = await lab.open();
    const who = await member(store, { plan: 'starter', credits: 0, rateLimit: 3, allowIps: [IP] });
    const code = async (asked: Parameters<typeof asking>[1]) => {
      const admission = await store.charging.admit(asking(who, asked));
      return admission.outcome === 'refused' ? admission.code : admission.outcome;
    };
    const remaining = async () => (await store.accounts.window(who.account.id))?.remaining;
    expect(await code({ level: 'smtp', ip: '203.0.113.1' })).toBe('ip_not_allowed');
    expect(await remaining()).toBe(3);
    expect(await code({ invalid: true })).toBe('admitted');
    expect(await code({ level: 'smtp' })).toBe('plan_upgrade_required');
    expect(await code({ level: 'mx' })).toBe('insufficient_credits');
    expect(await remaining()).toBe(0);
    expect(await code({ level: 'smtp' })).toBe('rate_limit_exceeded');
    expect(await code({ invalid: true })).toBe('rate_limit_exceeded');
    expect(await code({ ip: '203.0.113.1' })).toBe('ip_not_allowed');
    await store.keys.revoke(who.key.id);
    expect(await code({ ip: '203.0.113.1' })).toBe('revoked_api_key');
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('does not ask for a verdict that could not be paid, whatever it would come to', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 9 });
    expect(await verifyNow(store, who, { requested: 'smtp' }, { level: 'smtp' })).toMatchObject({
      outcome: 'refused',
      code: 'insufficient_credits',
      balance: 9,
    });
    await store.accounts.grant(who.account.id, 1, 'one more');
    expect(await verifyNow(store, who, { requested: 'smtp' }, { level: 'smtp' })).toMatchObject({ balance: 9 });
  });

  it('settles exactly 10 of 64 parallel requests on 10 credits', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 10 });
    const answers = await Promise.all(Array.from({ length: 64 }, () => verifyNow(store, who)));
    const codes = answers.map((answer) => (answer.outcome === 'refused' ? answer.code : answer.outcome));
    expect(codes.filter((code) => code === 'settled')).toHaveLength(10);
    expect(codes.filter((code) => code === 'insufficient_credits')).toHaveLength(54);
    // Judged in order of arrival.
    expect(codes.slice(0, 10)).not.toContain('insufficient_credits');
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 0, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('refuses nobody for the haste of others on the same accounts', async () => {
    const stores = [await lab.open({ batch: 4 }), await lab.open({ batch: 4 }), await lab.open({ batch: 4 })];
    const members = [await member(stores[0]!, { credits: 1_000 }), await member(stores[0]!, { credits: 1_000 })];
    const one = async (i: number) => {
      const store = stores[i % 3]!;
      const who = members[i % 2]!;
      if (i % 4 < 2) return expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
      const { id, caller } = await hold(store, who);
      await store.charging.settle({ caller, holdId: id, record: verdict(id), idempotency: null });
    };
    await Promise.all(Array.from({ length: 400 }, (_, i) => one(i)));
    for (const { account } of members) {
      expect(await stores[0]!.accounts.get(account.id)).toMatchObject({ balance: 800, locked: 0 });
    }
    expect(await stores[0]!.accounts.audit()).toEqual([]);
  });

  it('lets one account never touch another', async () => {
    const store = await lab.open();
    const owner = await member(store, { credits: 10 });
    const stranger = await member(store, { credits: 10 });
    const { id } = await hold(store, owner);
    const { caller } = await hold(store, stranger);
    const theft = { caller, holdId: id, record: null, idempotency: null };
    await expect(store.charging.settle(theft)).rejects.toThrow();
    expect(await store.accounts.get(owner.account.id)).toMatchObject({ balance: 9, locked: 1 });
    expect(await store.accounts.get(stranger.account.id)).toMatchObject({ balance: 9, locked: 1 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('keeps a request that cannot be recorded from harming its neighbours', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 100 });
    const taken = newVerificationId();
    await verifyNow(store, who, {}, { id: taken });
    const fine = () => verifyNow(store, who);
    const answers = await Promise.allSettled([
      fine(),
      verifyNow(store, who, { id: taken }),
      fine(),
      store.charging.admit(
        asking(who, {
          decide: () => {
            throw new Error('A mistake in the caller.');
          },
        }),
      ),
      verifyNow(store, who, { credits: Number.NaN }),
      verifyNow(store, who, { credits: -5 }),
      verifyNow(store, who, { credits: 0.5 }),
      verifyNow(store, who, { durationMs: undefined as never, status: null as never }),
      fine(),
    ]);
    const outcomes = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value.outcome : 'rejected'));
    const rejected = Array.from({ length: 5 }, () => 'rejected');
    expect(outcomes).toEqual(['settled', 'rejected', 'settled', ...rejected, 'settled']);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 96, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('turns requests away when too many wait, but never a settlement', async () => {
    const store = await lab.open({ queue: 20, batch: 8 });
    const who = await member(store, { credits: 100 });
    const { id, caller } = await hold(store, who);
    const asked = Array.from({ length: 50 }, () => verifyNow(store, who));
    const settled = store.charging.settle({ caller, holdId: id, record: verdict(id), idempotency: null });
    expect(store.charging.waiting).toBeGreaterThan(0);
    const answers = await Promise.allSettled(asked);
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    expect(answers.length - refused.length).toBe(20);
    for (const reason of refused) expect(reason).toMatchObject({ code: 'overloaded', details: { retry_after: 1 } });
    expect(await settled).toMatchObject({ balance: 79 });
    expect(store.charging).toMatchObject({ waiting: 0, stats: { overloaded: 30 } });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('answers what is queued before it closes, and refuses what comes later', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 1000 });
    const asked = Array.from({ length: 600 }, () => verifyNow(store, who));
    await store.close();
    expect((await Promise.all(asked)).filter((answer) => answer.outcome === 'settled')).toHaveLength(600);
    await expect(verifyNow(store, who)).rejects.toMatchObject({ code: 'verification_unavailable' });
    const again = await lab.open();
    expect(await again.accounts.get(who.account.id)).toMatchObject({ balance: 400 });
  });
});

describeStores('the rate window', (lab) => {
  it('starts at whole multiples of five minutes and counts each request once', async () => {
    const store = await lab.open();
    const who = await member(store, { plan: 'starter', rateLimit: 2 });
    const start = lab.clock.now();
    lab.clock.advance(299_999);
    const outcome = async () => {
      const { outcome, window } = await verifyNow(store, who);
      return [outcome, window?.remaining, (window?.resetAt ?? 0) - start];
    };
    expect(await outcome()).toEqual(['settled', 1, 300_000]);
    expect(await outcome()).toEqual(['settled', 0, 300_000]);
    expect(await outcome()).toEqual(['refused', 0, 300_000]);
    expect(await outcome()).toEqual(['refused', 0, 300_000]);
    lab.clock.advance(1);
    expect(await outcome()).toEqual(['settled', 1, 600_000]);
  });

  it('stays when the clock is set back by a window, and begins again with its limit when it was further ahead', async () => {
    const events: StoreEvent[] = [];
    const store = await lab.open({ onEvent: (event) => events.push(event) });
    const who = await member(store, { rateLimit: 2 });
    const resetAt = lab.clock.now() + 300_000;
    await verifyNow(store, who);
    lab.clock.step(-300_000);
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled', window: { remaining: 0, resetAt } });
    expect(await verifyNow(store, who)).toMatchObject({ code: 'rate_limit_exceeded', window: { resetAt } });
    expect(await store.accounts.window(who.account.id)).toEqual({ limit: 2, remaining: 0, resetAt });
    expect(events).toEqual([]);
    lab.clock.step(-300_000);
    const begun = { limit: 2, remaining: 2, resetAt: resetAt - 600_000 };
    expect(await store.accounts.window(who.account.id)).toEqual(begun);
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled', window: { ...begun, remaining: 1 } });
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled', window: { ...begun, remaining: 0 } });
    expect(await verifyNow(store, who)).toMatchObject({
      code: 'rate_limit_exceeded',
      window: { resetAt: begun.resetAt },
    });
    expect(events).toEqual([{ kind: 'rate_window_restarted', account: who.account.id, aheadMs: 600_000 }]);
  });

  it('is the account’s, over all its keys and processes', async () => {
    const store = await lab.open();
    const other = await lab.open();
    const who = await member(store, { rateLimit: 10 });
    const second = { name: 'second', hash: 'second', lastFour: 'cond', allowIps: [] };
    await store.keys.create(who.account.id, second);
    const asked = Array.from({ length: 30 }, (_, i) => verifyNow(i % 3 ? store : other, i % 2 ? who : second));
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => answer.outcome === 'settled')).toHaveLength(10);
    expect(await store.accounts.get(who.account.id)).toMatchObject({ balance: 90 });
  });

  it('follows the plan unless a limit was set, and lets nobody in at 0', async () => {
    const store = await lab.open();
    const who = await member(store, { plan: 'starter', rateLimit: null });
    const limit = async () => (await verifyNow(store, who)).window?.limit;
    expect(await limit()).toBe(60);
    await store.accounts.set(who.account.id, { plan: 'premium' });
    expect(await limit()).toBe(300);
    await store.accounts.set(who.account.id, { rateLimit: 5 });
    expect(await limit()).toBe(5);
    await store.accounts.set(who.account.id, { rateLimit: 0 });
    expect(await verifyNow(store, who)).toMatchObject({ code: 'rate_limit_exceeded' });
  });
});
