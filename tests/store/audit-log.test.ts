import { expect, it } from 'vitest';
import type { Actor } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { member } from './cast.ts';
import { BY, COMMAND } from './people.ts';

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
      action: 'account.created',
      target: 'Ex\uFFFDample',
      detail: expect.anything(),
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
});
