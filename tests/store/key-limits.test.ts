import { expect, it } from 'vitest';
import { DAY_MS } from '../../src/kernel/clock.ts';
import { DEFAULT_SCOPES } from '../../src/kernel/facts/scopes.ts';
import type { Store } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { asking, BLOCKS, hold, type Member, member, newVerificationId, verdict, verifyNow } from './cast.ts';
import { BY } from './people.ts';

const NOVEMBER_END = Date.UTC(2026, 11, 1);
const SPENT = { outcome: 'refused', code: 'key_budget_spent' };
const budgetOf = async (store: Store, { key }: Member) => (await store.keys.get(key.id))?.budget;

describeStores('limits of keys', (lab) => {
  it('an expiry is in force from its very millisecond, and can be put off', async () => {
    const store = await lab.open();
    const expiresAt = lab.clock.now() + 1_000;
    const who = await member(store, { expiresAt });
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
    lab.clock.advance(1_000);
    const refused = { outcome: 'refused', code: 'expired_api_key', expiredAt: expiresAt, caller: null, balance: null };
    expect(await verifyNow(store, who, {}, { ip: '203.0.113.1' })).toMatchObject(refused);
    await store.keys.update(who.account.id, who.key.id, { expiresAt: null });
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
  });

  it('an expiry in the past is refused, unless the key has it already', async () => {
    const store = await lab.open();
    const who = await member(store, { expiresAt: lab.clock.now() + 5 });
    const past = { code: 'invalid_parameter', details: { field: 'expires_at' } };
    const update = (expiresAt: number) => store.keys.update(who.account.id, who.key.id, { name: 'new', expiresAt });
    await expect(member(store, { expiresAt: lab.clock.now() })).rejects.toMatchObject(past);
    await expect(update(lab.clock.now() - 1)).rejects.toMatchObject(past);
    lab.clock.advance(10);
    expect(await update(who.key.expiresAt ?? 0)).toMatchObject({ name: 'new' });
  });

  it('a missing scope comes after the allowlist, before the rate limit, and is not counted', async () => {
    const store = await lab.open();
    const who = await member(store, { scopes: ['usage', 'lists'], allowIps: ['192.0.2.0/24'], rateLimit: 1 });
    expect(who.key.scopes).toEqual(['lists', 'usage']);
    const code = async (more: object) => {
      const admission = await store.charging.admit(asking(who, more));
      return 'code' in admission ? admission.code : admission.outcome;
    };
    expect(await code({ ip: '203.0.113.1' })).toBe('ip_not_allowed');
    expect(await code({})).toBe('scope_missing');
    expect(await code({ scope: 'webhooks', invalid: true })).toBe('scope_missing');
    expect(await code({ scope: 'usage', invalid: true })).toBe('admitted');
    expect(await code({})).toBe('scope_missing');
    expect(await code({ scope: 'usage', invalid: true })).toBe('rate_limit_exceeded');
    await store.keys.update(who.account.id, who.key.id, { scopes: DEFAULT_SCOPES });
    expect(await lab.sql('SELECT scopes FROM keys')).toEqual([{ scopes: null }]);
  });

  it('the budget comes after the credits, and covers the price of what is asked for', async () => {
    const store = await lab.open();
    const who = await member(store, { budget: 5, credits: 9 });
    expect(await verifyNow(store, who, {}, { level: 'smtp' })).toMatchObject({ code: 'insufficient_credits' });
    await store.accounts.grant(who.account.id, 91, 'test');
    expect(await verifyNow(store, who, {}, { level: 'smtp' })).toMatchObject({
      ...SPENT,
      budget: 5,
      left: 5,
      resetsAt: NOVEMBER_END,
      balance: 100,
    });
    expect(await verifyNow(store, { hash: { account: who.account.id } })).toMatchObject({ outcome: 'settled' });
    for (let i = 0; i < 5; i += 1) expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
    expect(await verifyNow(store, who)).toMatchObject({ ...SPENT, left: 0, balance: 94 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('what a filter blocks costs nothing and needs no budget', async () => {
    const store = await lab.open();
    const who = await member(store, { budget: 1 });
    const filter = { filterType: 'domain', value: 'example.com', reason: null, ...BLOCKS } as const;
    await store.filters.add(who.account.id, filter, BY);
    const elsewhere = { filterKeys: { email: null, domains: [] } };
    expect(await verifyNow(store, who, {}, elsewhere)).toMatchObject({ outcome: 'settled' });
    expect(await store.charging.admit(asking(who))).toMatchObject({ outcome: 'settled', record: { credits: 0 } });
    expect(await verifyNow(store, who, {}, elsewhere)).toMatchObject(SPENT);
  });

  it('holds count while they last, and give back what they release', async () => {
    const store = await lab.open();
    const who = await member(store, { budget: 20 });
    const first = await hold(store, who, { level: 'smtp' });
    const second = await hold(store, who, { level: 'smtp' });
    expect(await verifyNow(store, who)).toMatchObject({ ...SPENT, left: 0 });
    expect(await budgetOf(store, who)).toMatchObject({ spent: 0, held: 20 });
    const settle = ({ id, caller }: typeof first, credits: number | null) => {
      const record = credits === null ? null : verdict(id, { credits });
      return store.charging.settle({ caller, holdId: id, record, idempotency: null });
    };
    await settle(first, 1);
    await settle(second, null);
    await settle(first, 1);
    expect(await budgetOf(store, who)).toMatchObject({ spent: 1, held: 0 });
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('a hold that was released for its age is charged late only within the budget', async () => {
    const store = await lab.open();
    const who = await member(store, { budget: 10 });
    const late = await hold(store, who, { level: 'smtp', holdMs: 1_000 });
    lab.clock.advance(1_000);
    await store.upkeep.releaseDead();
    expect(await budgetOf(store, who)).toMatchObject({ spent: 0, held: 0 });
    await verifyNow(store, who);
    const record = verdict(late.id, { credits: 10 });
    const settled = store.charging.settle({ caller: late.caller, holdId: late.id, record, idempotency: null });
    await expect(settled).rejects.toMatchObject({ code: 'verification_unavailable' });
    expect(await budgetOf(store, who)).toMatchObject({ spent: 1, held: 0 });
  });

  it('a month begins anew, but what is still held counts in the month that it is charged in', async () => {
    const store = await lab.open();
    const who = await member(store, { budget: 20 });
    for (let i = 0; i < 10; i += 1) await verifyNow(store, who);
    lab.clock.advance(NOVEMBER_END - 1 - lab.clock.now());
    const last = await hold(store, who, { level: 'smtp' });
    expect(await verifyNow(store, who)).toMatchObject({ ...SPENT, resetsAt: NOVEMBER_END });
    lab.clock.advance(1);
    for (let i = 0; i < 10; i += 1) expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
    expect(await verifyNow(store, who)).toMatchObject({ ...SPENT, resetsAt: Date.UTC(2027, 0, 1) });
    const record = verdict(last.id, { credits: 10 });
    await store.charging.settle({ caller: last.caller, holdId: last.id, record, idempotency: null });
    expect(await budgetOf(store, who)).toEqual({ credits: 20, month: NOVEMBER_END, spent: 20, held: 0 });
  });

  it('a month that is more than one ahead, as the clock was, begins again', async () => {
    const store = await lab.open();
    const who = await member(store, { budget: 1 });
    lab.clock.step(31 * DAY_MS);
    await verifyNow(store, who);
    lab.clock.step(-31 * DAY_MS);
    expect(await verifyNow(store, who)).toMatchObject(SPENT);
    lab.clock.step(-31 * DAY_MS);
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
    expect(await verifyNow(store, who)).toMatchObject(SPENT);
  });

  it('is not exceeded by requests at once, on two nodes', async () => {
    const stores = [await lab.open(), await lab.open()];
    const who = await member(stores[0]!, { budget: 30, credits: 1_000 });
    const asked = Array.from({ length: 120 }, async (_, i) => {
      const store = stores[i % 2]!;
      if (i % 3 > 0) return (await verifyNow(store, who)).outcome;
      const id = newVerificationId();
      const admission = await store.charging.admit(asking(who, { id, level: 'smtp' }));
      if (admission.outcome !== 'admitted') return admission.outcome;
      const record = verdict(id, { credits: 10 });
      await store.charging.settle({ caller: admission.caller, holdId: id, record, idempotency: null });
      return 'settled';
    });
    expect(await Promise.all(asked)).toContain('refused');
    const { balance } = (await stores[0]!.accounts.get(who.account.id))!;
    expect(1_000 - balance).toBeGreaterThan(20);
    expect(1_000 - balance).toBeLessThanOrEqual(30);
    expect(await budgetOf(stores[1]!, who)).toMatchObject({ spent: 1_000 - balance, held: 0 });
  });

  it('a budget that is set later counts what was spent in the month and is held', async () => {
    const store = await lab.open();
    const who = await member(store);
    await verifyNow(store, who);
    lab.clock.advance(15 * DAY_MS);
    for (let i = 0; i < 3; i += 1) await verifyNow(store, who);
    const running = await hold(store, who, { level: 'smtp' });
    await store.sharedHolds.open({ ...shared(who), id: 'shared', amount: 4 });
    const update = (budget: number | null) => store.keys.update(who.account.id, who.key.id, { budget }, BY);
    expect((await update(17))?.budget).toEqual({ credits: 17, month: NOVEMBER_END, spent: 3, held: 14 });
    expect(await verifyNow(store, who)).toMatchObject(SPENT);
    await store.charging.settle({ caller: running.caller, holdId: running.id, record: null, idempotency: null });
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
    expect((await update(5))?.budget).toMatchObject({ credits: 5, spent: 4, held: 4 });
    await store.sharedHolds.settle({
      account: who.account.id,
      holdId: 'shared',
      results: [{ record: verdict(newVerificationId(), { credits: 4 }), held: 4 }],
    });
    expect(await budgetOf(store, who)).toMatchObject({ spent: 8, held: 0 });
    expect((await update(null))?.budget).toBeNull();
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('shared holds count against the budget of their key', async () => {
    const store = await lab.open();
    const who = await member(store, { budget: 10 });
    expect(await store.sharedHolds.open({ ...shared(who), amount: 11 })).toMatchObject({ outcome: 'key_budget_spent' });
    expect(await store.sharedHolds.open({ ...shared(who), amount: 10 })).toMatchObject({ outcome: 'held' });
    expect(await verifyNow(store, who)).toMatchObject(SPENT);
    await store.sharedHolds.release(who.account.id, 'hold');
    expect(await verifyNow(store, who)).toMatchObject({ outcome: 'settled' });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('a rolled key has the limits of the old one and what that has spent', async () => {
    const store = await lab.open();
    const expiresAt = lab.clock.now() + DAY_MS;
    const who = await member(store, { budget: 2, scopes: ['verify'], expiresAt });
    await verifyNow(store, who);
    const input = { hash: 'fresh', lastFour: 'wxyz', graceMs: 0 };
    const rolled = await store.keys.roll(who.account.id, who.key.id, input, BY);
    expect(rolled?.fresh).toMatchObject({ scopes: ['verify'], expiresAt, budget: { credits: 2, spent: 1, held: 0 } });
    expect(await verifyNow(store, { hash: 'fresh' })).toMatchObject({ outcome: 'settled' });
    expect(await verifyNow(store, { hash: 'fresh' })).toMatchObject(SPENT);
  });

  it('the audit log has the limits of a new key and what changed of them', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const expiresAt = lab.clock.now() + DAY_MS;
    const input = { name: 'ci', hash: 'ci', lastFour: 'wxyz', allowIps: [], scopes: ['verify'] as const, budget: 7 };
    const key = await store.keys.create(account.id, { ...input, expiresAt }, BY);
    await store.keys.update(account.id, key.id, { budget: null, scopes: ['verify', 'usage'], expiresAt }, BY);
    const log = await store.auditLog.list(account.id, { before: null, limit: 2 });
    expect(log.map(({ detail }) => detail)).toEqual([
      {
        key: key.id,
        scopes: { from: ['verify'], to: ['verify', 'usage'] },
        monthly_credits: { from: 7, to: null },
      },
      { key: key.id, last_four: 'wxyz', allow_ips: [], expires_at: expiresAt, scopes: ['verify'], monthly_credits: 7 },
    ]);
  });
});

const shared = ({ account, key }: Member) => ({ id: 'hold', account: account.id, keyId: key.id, lifeMs: 60_000 });
