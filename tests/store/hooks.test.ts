import { expect, it } from 'vitest';
import { HOOKS_MAX } from '../../src/kernel/facts/limits.ts';
import { newWebhookSecret } from '../../src/kernel/ids.ts';
import { describeStores } from '../lab/stores.ts';
import { member, removeDeleted } from './cast.ts';
import { actions, BY } from './people.ts';

const INPUT = {
  kind: 'generic',
  name: 'Shop',
  policy: 'signup',
  scope: null,
  timeoutMs: 5_000,
  rateLimit: null,
} as const;
const MINUTE = 60_000;

describeStores('hooks', (lab) => {
  it('are found by their id, with the secrets that are accepted, and what their account may do', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const [one, two] = [newWebhookSecret(), newWebhookSecret()];
    const made = await store.hooks.create(account.id, { ...INPUT, secret: one }, BY);
    expect(made).toMatchObject({ ...INPUT, hasSecret: true, previousSecretUntil: null, lastUsedAt: null });
    const called = await store.hooks.find(made.id);
    expect(called).toMatchObject({ id: made.id, accountId: account.id, test: false, suspended: false });
    expect(called?.secrets).toEqual([one]);
    const until = lab.clock.now() + MINUTE;
    expect(await store.hooks.roll(account.id, made.id, two, MINUTE, BY)).toMatchObject({ previousSecretUntil: until });
    expect((await store.hooks.find(made.id))?.secrets).toEqual([two, one]);
    lab.clock.advance(MINUTE);
    expect((await store.hooks.find(made.id))?.secrets).toEqual([two]);
    expect(await store.hooks.get(account.id, made.id)).toMatchObject({ previousSecretUntil: null });
    expect(await store.hooks.find('hook_nothing')).toBe(null);
  });

  it('may be without a secret at first: then none is accepted, and none is left by the first roll', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const { id } = await store.hooks.create(account.id, { ...INPUT, kind: 'workos', secret: null }, BY);
    expect(await store.hooks.find(id)).toMatchObject({ hasSecret: false, secrets: [] });
    await store.hooks.roll(account.id, id, 'their-secret', MINUTE, BY);
    expect((await store.hooks.find(id))?.secrets).toEqual(['their-secret']);
  });

  it('are changed and deleted by their account alone, and the audit log says so', async () => {
    const store = await lab.open();
    const [{ account }, { account: other }] = [await member(store), await member(store)];
    const { id } = await store.hooks.create(account.id, { ...INPUT, secret: 's' }, BY);
    expect(await store.hooks.update(other.id, id, { name: 'x' }, BY)).toBe(null);
    expect(await store.hooks.roll(other.id, id, 't', 0, BY)).toBe(null);
    expect(await store.hooks.remove(other.id, id, BY)).toBe(false);
    expect(await store.hooks.get(other.id, id)).toBe(null);
    expect(await store.hooks.update(account.id, id, { name: 'Store\0', rateLimit: 3 }, BY)).toMatchObject({
      name: 'Store\uFFFD',
      policy: 'signup',
      rateLimit: 3,
      timeoutMs: 5_000,
    });
    // Nothing new is no event.
    await store.hooks.update(account.id, id, { rateLimit: 3 }, BY);
    expect(await store.hooks.remove(account.id, id, BY)).toBe(true);
    expect([await store.hooks.list(account.id), await store.hooks.find(id)]).toEqual([[], null]);
    expect((await actions(store, account.id)).filter((text) => text.startsWith('hook'))).toEqual([
      'hook.deleted Store\uFFFD',
      'hook.changed Shop',
      'hook.created Shop',
    ]);
  });

  it('are bounded for each account', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    for (let n = 0; n < HOOKS_MAX; n++) await store.hooks.create(account.id, { ...INPUT, secret: 's' }, BY);
    await expect(store.hooks.create(account.id, { ...INPUT, secret: 's' }, BY)).rejects.toMatchObject({
      code: 'too_many_hooks',
    });
    expect(await store.hooks.list(account.id)).toHaveLength(HOOKS_MAX);
  });

  it('have the time of their last use, written once a minute', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const { id } = await store.hooks.create(account.id, { ...INPUT, secret: 's' }, BY);
    const lastUse = async () => (await store.hooks.get(account.id, id))?.lastUsedAt;
    const first = lab.clock.now();
    await store.hooks.used([id, 'hook_nothing']);
    lab.clock.advance(MINUTE);
    await store.hooks.used([id]);
    expect(await lastUse()).toBe(first);
    lab.clock.advance(1);
    await store.hooks.used([id]);
    expect(await lastUse()).toBe(first + MINUTE + 1);
  });

  it('end with their account', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const { id } = await store.hooks.create(account.id, { ...INPUT, secret: 's' }, BY);
    await store.accounts.remove(account.id);
    expect([await store.hooks.find(id), await store.hooks.list(account.id)]).toEqual([null, []]);
    expect(await removeDeleted(store)).toEqual([]);
    expect(await lab.sql('SELECT id FROM hooks')).toEqual([]);
  });
});
