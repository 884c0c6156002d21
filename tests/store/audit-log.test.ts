import { expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../src/kernel/clock.ts';
import { USER_EVENTS_PER_HOUR } from '../../src/kernel/facts/limits.ts';
import type { Actor } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { member } from './cast.ts';
import { BY, COMMAND, person } from './people.ts';

describeStores('the audit log', (lab) => {
  it('tells who changed what of an account, from what to what, and nothing where nothing changed', async () => {
    const store = await lab.open();
    const account = await store.accounts.create(
      { name: 'Ex\0ample', plan: 'starter', rateLimit: null, credits: 5 },
      COMMAND,
    );
    const { id } = account;
    await store.accounts.set(id, { name: 'New', plan: 'premium', rateLimit: 7, retentionDays: 3, lowBalance: 9 }, BY);
    await store.accounts.set(id, { name: 'New', plan: 'premium', rateLimit: 7, retentionDays: 3, lowBalance: 9 }, BY);
    await store.accounts.set(id, { status: 'suspended' }, BY);
    await store.accounts.set(id, { status: 'active' }, BY);
    await store.accounts.set(id, { name: 'Nobody said so' });
    await store.accounts.grant(id, 10, 'Invoice 7', BY);
    expect(await store.accounts.grant(id, -1_000, 'Too much', BY)).toBeNull();
    const rows = await store.auditLog.list(id, { before: null, limit: 100 });
    expect(rows.map(({ action, target, detail }) => [action, target, detail]).reverse()).toEqual([
      ['account.created', 'Ex\uFFFDample', { plan: 'starter', rate_limit: null, credits: 5 }],
      ['account.renamed', 'Ex\uFFFDample', { from: 'Ex\uFFFDample', to: 'New' }],
      ['account.plan_set', 'Ex\uFFFDample', { from: 'starter', to: 'premium' }],
      ['account.rate_limit_set', 'Ex\uFFFDample', { from: null, to: 7 }],
      ['account.retention_set', 'Ex\uFFFDample', { from: null, to: 3 }],
      ['account.low_balance_set', 'Ex\uFFFDample', { from: null, to: 9 }],
      ['account.suspended', 'New', { from: 'active', to: 'suspended' }],
      ['account.resumed', 'New', { from: 'suspended', to: 'active' }],
      ['credits.granted', 'Nobody said so', { credits: 10, note: 'Invoice 7' }],
    ]);
    expect(rows.at(-1)).toEqual({
      id: expect.any(Number),
      at: lab.clock.now(),
      actor: COMMAND,
      account: id,
      accountName: 'Nobody said so',
      action: 'account.created',
      target: 'Ex\uFFFDample',
      detail: expect.anything(),
      count: 1,
      lastAt: lab.clock.now(),
    });
    expect(rows[0]!.actor).toEqual(BY);
  });

  it('is read page by page, and belongs to its account', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const stranger = await member(store);
    const by: Actor = { kind: 'operator', id: 'usr_9', name: 'op\0@example.com', ip: null };
    for (let i = 0; i < 5; i++) await store.accounts.grant(account.id, 1, `${i}`, by);
    const first = await store.auditLog.list(account.id, { before: null, limit: 2 });
    expect(first.map((row) => row.detail.note)).toEqual(['4', '3']);
    expect(first[0]!.actor).toEqual({ ...by, name: 'op\uFFFD@example.com' });
    const second = await store.auditLog.list(account.id, { before: first.at(-1)!.id, limit: 10 });
    expect(second.map((row) => row.detail.note)).toEqual(['2', '1', '0']);
    expect(await store.auditLog.list(stranger.account.id, { before: null, limit: 10 })).toEqual([]);
  });

  it('has no row of what did not happen', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    await store.keys.create(account.id, { name: 'a', hash: 'same', lastFour: 'abcd', allowIps: [] }, BY);
    const again = store.keys.create(account.id, { name: 'b', hash: 'same', lastFour: 'abcd', allowIps: [] }, BY);
    await expect(again).rejects.toThrow(/unique/i);
    const rows = await store.auditLog.list(account.id, { before: null, limit: 10 });
    expect(rows.map((row) => row.target)).toEqual(['a']);
  });

  it('has what happens to users, in each of their accounts, or in none for the operators', async () => {
    const store = await lab.open();
    const [first, second] = [(await member(store)).account, (await member(store)).account];
    const jane = await person(store, 'jane@example.com');
    const event = { user: { id: jane }, by: { kind: 'self', ip: '192.0.2.7' }, action: 'user.signed_in' } as const;
    await store.auditLog.recordUserEvent(event);
    for (const { id } of [first, second]) await store.members.add(id, jane, 'member', BY);
    await store.auditLog.recordUserEvent({ ...event, detail: { factor: 'code' } });
    await store.auditLog.recordUserEvent({ ...event, user: { email: 'nobody@example.com' } });
    const query = { before: null, limit: 10, about: 'user' } as const;
    for (const { id } of [first, second]) {
      const [entry, ...others] = await store.auditLog.list(id, query);
      expect(others).toEqual([]);
      expect(entry).toMatchObject({
        account: id,
        actor: { kind: 'user', id: jane, name: 'jane@example.com', ip: '192.0.2.7' },
        action: 'user.signed_in',
        target: 'jane@example.com',
        detail: { factor: 'code' },
      });
    }
    const all = await store.auditLog.list('all', query);
    expect(all.map(({ account }) => account)).toEqual([...[first.id, second.id].sort().reverse(), null]);
    const changes = await store.auditLog.list('all', { ...query, about: 'account' });
    expect(changes.map(({ action }) => action)).toEqual(['member.added', 'member.added']);
  });

  it('counts what is repeated within an hour, in a bounded number of entries, however many happen at once', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const jane = await person(store, 'jane@example.com');
    await store.members.add(account.id, jane, 'member', BY);
    const fail = (ip: string) =>
      store.auditLog.recordUserEvent({
        user: { email: 'Jane@example.com' },
        by: { kind: 'anonymous', ip },
        action: 'user.authentication_failed',
        count: 2,
      });
    const entries = () => store.auditLog.list(account.id, { before: null, limit: 100, about: 'user' });
    await Promise.all(Array.from({ length: 60 }, (_, i) => fail(`192.0.2.${i % 30}`)));
    const hour = await entries();
    expect(hour).toHaveLength(USER_EVENTS_PER_HOUR + 1);
    expect(hour.reduce((sum, { count }) => sum + count, 0)).toBe(120);
    expect(hour[0]).toMatchObject({ actor: { kind: 'anonymous', ip: null }, detail: { more: true } });

    const before = lab.clock.now();
    lab.clock.advance(MINUTE_MS);
    await fail(hour.at(-1)!.actor.ip!);
    expect((await entries()).at(-1)).toMatchObject({ at: before, lastAt: before + MINUTE_MS });
    lab.clock.advance(HOUR_MS);
    await fail('192.0.2.1');
    expect((await entries())[0]).toMatchObject({ actor: { ip: '192.0.2.1' }, count: 2, at: lab.clock.now() });
    expect(await entries()).toHaveLength(USER_EVENTS_PER_HOUR + 2);
  });
});
