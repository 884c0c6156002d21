import { expect, it } from 'vitest';
import type { DeliveryStatus } from '../../src/kernel/facts/events.ts';
import { WEBHOOK_FAILING_DAYS } from '../../src/kernel/facts/lifetimes.ts';
import { WEBHOOKS_MAX } from '../../src/kernel/facts/limits.ts';
import { newWebhookSecret } from '../../src/kernel/ids.ts';
import type { Webhook } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { member, removeDeleted } from './cast.ts';
import { actions, BY, person } from './people.ts';
import { create, listed, newKey, replied } from './webhook-cast.ts';

const SECOND = 1000;
const DAY = 24 * 3600 * SECOND;

const noMail = () => null;

describeStores('webhooks', (lab) => {
  it('are disabled at once by 410, with all that is pending, and the admins are told', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    await store.members.add(account.id, await person(store, 'owner@example.com'), 'owner', BY);
    await store.members.add(account.id, await person(store, 'member@example.com'), 'member', BY);
    const webhook = await create(store, account, ['*'], 'https://example.com/hook?token=secret');
    await newKey(store, account, 'one');
    await newKey(store, account, 'two');
    const [first] = (await store.webhooks.due(webhook.id, 1)).due;
    const calls: unknown[] = [];
    await store.webhooks.record(first!, replied(410), (about, to) => {
      calls.push({ ...about, to });
      return null;
    });
    expect(calls).toEqual([
      { account: 'Example', webhook: 'https://example.com/hook', reason: 'gone', to: 'owner@example.com' },
    ]);
    const at = lab.clock.now();
    const disabled = { enabled: false, disabledReason: 'gone', disabledAt: at };
    expect(await store.webhooks.get(account.id, webhook.id)).toMatchObject(disabled);
    expect((await listed(store, webhook)).map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect((await actions(store, account.id))[0]).toBe('webhook.disabled https://example.com/hook');
    await newKey(store, account, 'three');
    expect(await listed(store, webhook)).toHaveLength(2);
    const enabled = await store.webhooks.update(account.id, webhook.id, { enabled: true }, BY);
    expect(enabled).toMatchObject({ enabled: true, disabledReason: null, disabledAt: null, failingSince: null });
  });

  it('are disabled after days of nothing but failures, and not for failures with silence between them', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const webhook = await create(store, account);
    const enabled = async () => (await store.webhooks.get(account.id, webhook.id))?.enabled;
    const start = lab.clock.now();
    const failOnce = async () => {
      await newKey(store, account);
      const { due } = await store.webhooks.due(webhook.id, 100);
      for (const delivery of due) await store.webhooks.record(delivery, replied(503), noMail);
    };
    for (let day = 0; day < WEBHOOK_FAILING_DAYS; day++) {
      await failOnce();
      expect(await enabled()).toBe(true);
      lab.clock.advance(DAY);
    }
    await failOnce();
    expect(await store.webhooks.get(account.id, webhook.id)).toMatchObject({
      enabled: false,
      disabledReason: 'failing',
      failingSince: start,
    });
    await store.webhooks.update(account.id, webhook.id, { enabled: true }, BY);
    await failOnce();
    lab.clock.advance(WEBHOOK_FAILING_DAYS * DAY);
    await failOnce();
    expect(await enabled()).toBe(true);
  });

  it('sign with the old secret as well until its time is over', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const [one, two] = [newWebhookSecret(), newWebhookSecret()];
    const input = {
      url: 'https://example.com',
      format: 'events',
      events: ['*'],
      description: null,
      secret: one,
    } as const;
    const { id } = await store.webhooks.create(account.id, input, BY);
    const secrets = async () => (await store.webhooks.prepareTest(account.id, id))?.secrets;
    expect(await secrets()).toEqual([one]);
    const until = lab.clock.now() + DAY;
    expect(await store.webhooks.rotate(account.id, id, two, DAY, BY)).toMatchObject({ previousSecretUntil: until });
    lab.clock.advance(DAY - 1);
    expect(await secrets()).toEqual([two, one]);
    lab.clock.advance(1);
    expect(await secrets()).toEqual([two]);
    expect(await store.webhooks.get(account.id, id)).toMatchObject({ previousSecretUntil: null });
  });

  it('are bounded in number, and every change is in the audit log', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const made: Webhook[] = [];
    for (let n = 0; n < WEBHOOKS_MAX; n++) made.push(await create(store, account));
    await expect(create(store, account)).rejects.toMatchObject({ code: 'too_many_webhooks' });
    const { id } = made[0]!;
    await store.webhooks.update(account.id, id, { url: 'https://example.com/new?token=1', description: 'n' }, BY);
    await store.webhooks.rotate(account.id, id, newWebhookSecret(), 0, BY);
    await newKey(store, account);
    expect(await store.webhooks.remove(account.id, id, BY)).toBe(true);
    expect((await actions(store, account.id)).slice(0, 5)).toEqual([
      'webhook.deleted https://example.com/new',
      'key.created fresh',
      'webhook.secret_rotated https://example.com/new',
      'webhook.changed https://example.com/hook',
      'webhook.created https://example.com/hook',
    ]);
    expect(await store.webhooks.deliveries(account.id, id, { offset: 0, limit: 1 })).toBeNull();
    await create(store, account);
  });

  it('count their deliveries by what became of them, and list those of one status', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const { account: stranger } = await member(store);
    const [busy, quiet] = [await create(store, account), await create(store, account, ['list.completed'])];
    const begin = lab.clock.now();
    await newKey(store, account);
    lab.clock.advance(DAY);
    for (const name of ['delivered', 'gone', 'pending']) await newKey(store, account, name);
    const { due } = await store.webhooks.due(busy.id, 4);
    await store.webhooks.record(due[0]!, replied(200), noMail);
    await store.webhooks.record(due[1]!, replied(200), noMail);
    const { webhooks } = store;
    const at = lab.clock.now();
    expect(await webhooks.deliveryCounts(account.id, begin)).toEqual([
      { webhookId: busy.id, delivered: 2, failed: 0, lastAt: at },
    ]);
    expect(await webhooks.deliveryCounts(account.id, begin + 1)).toEqual([
      { webhookId: busy.id, delivered: 1, failed: 0, lastAt: at },
    ]);
    expect(await webhooks.deliveryCounts(stranger.id, begin)).toEqual([]);
    const of = async (status: DeliveryStatus) =>
      await webhooks.deliveries(account.id, busy.id, { offset: 0, limit: 1, status });
    expect(await of('pending')).toMatchObject({ total: 2, items: [{ status: 'pending' }] });
    expect(await of('failed')).toEqual({ total: 0, items: [] });
    await webhooks.update(account.id, busy.id, { enabled: false }, BY);
    expect(await of('failed')).toMatchObject({ total: 2, items: [{ status: 'failed' }] });
    expect((await webhooks.deliveryCounts(account.id, begin))[0]).toMatchObject({ delivered: 2, failed: 2 });
    expect(await listed(store, quiet)).toEqual([]);
  });

  it('are another account’s for everybody else, and go with their account', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const { account: stranger } = await member(store);
    const { id } = await create(store, account);
    await newKey(store, account);
    const { webhooks } = store;
    expect(await webhooks.get(stranger.id, id)).toBeNull();
    expect(await webhooks.update(stranger.id, id, { enabled: false }, BY)).toBeNull();
    expect(await webhooks.rotate(stranger.id, id, newWebhookSecret(), 0, BY)).toBeNull();
    expect(await webhooks.remove(stranger.id, id, BY)).toBe(false);
    expect(await webhooks.prepareTest(stranger.id, id)).toBeNull();
    expect(await webhooks.deliveries(stranger.id, id, { offset: 0, limit: 1 })).toBeNull();
    await store.accounts.remove(account.id);
    expect(await webhooks.list(account.id)).toEqual([]);
    expect((await webhooks.due(id, 10)).due).toEqual([]);
    await removeDeleted(store);
    expect(await lab.sql('SELECT id FROM webhook_deliveries UNION ALL SELECT id FROM webhooks')).toEqual([]);
  });
});
