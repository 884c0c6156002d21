import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { describeStores, type StoreLab } from '../lab/stores.ts';
import { member, verifyNow } from './cast.ts';
import { BY } from './people.ts';
import { create } from './webhook-cast.ts';

/** What was told to the webhook, oldest first. */
async function deliveriesOf(lab: StoreLab, { id }: { id: string }) {
  const rows = await lab.sql(
    `SELECT body FROM webhook_deliveries WHERE webhook_id = '${id}' ORDER BY created_at, event_id`,
  );
  return rows.map(({ body }) => JSON.parse(String(body)) as { type: string; data: Record<string, unknown> });
}

describeStores('events for operators', (lab) => {
  it('are told to the webhooks of accounts that operators have chosen, and to no other', async () => {
    const store = await lab.open();
    const chosen = await store.accounts.create({ name: 'Ours', plan: 'premium', rateLimit: null, credits: 5 });
    const stranger = await store.accounts.create({ name: 'Other', plan: 'premium', rateLimit: null, credits: 5 });
    const [webhook, narrow, others] = [
      await create(store, chosen),
      await create(store, chosen, ['credits.granted']),
      await create(store, stranger),
    ];
    await store.accounts.create({ name: 'Before', plan: 'starter', rateLimit: null, credits: 0 });
    await store.accounts.set(chosen.id, { operatorEvents: true }, BY);
    lab.clock.advance(1);
    const input = { name: 'Contoso', plan: 'starter', rateLimit: null, credits: 0, externalId: 'customer_1' } as const;
    const account = await store.accounts.create(input, BY);
    lab.clock.advance(1);
    const grant = { externalId: randomUUID(), credits: 7, note: 'Invoice' };
    for (let time = 0; time < 3; time += 1) await store.accounts.grantOnce(account.id, grant, BY);
    lab.clock.advance(1);
    await store.accounts.grant(account.id, -2, 'Taken back', BY);
    const about = { id: account.id, name: 'Contoso', external_id: 'customer_1' };
    const granted = (credits: number, note: string, balance: number) => ({
      type: 'credits.granted',
      data: { account: about, credits, note, balance },
    });
    expect(await deliveriesOf(lab, webhook)).toMatchObject([
      { type: 'account.created', data: { account: about, plan: 'starter', credits: 0 } },
      granted(7, 'Invoice', 7),
      granted(-2, 'Taken back', 5),
    ]);
    expect(await deliveriesOf(lab, narrow)).toMatchObject([granted(7, 'Invoice', 7), granted(-2, 'Taken back', 5)]);
    expect(await deliveriesOf(lab, others)).toEqual([]);
    const actions = (await store.auditLog.list(chosen.id, { before: null, limit: 9 })).map(({ action }) => action);
    expect(actions).toContain('account.operator_events_on');
    await store.accounts.set(chosen.id, { operatorEvents: false }, BY);
    await store.accounts.grant(account.id, 1, 'Untold', BY);
    expect(await deliveriesOf(lab, webhook)).toHaveLength(3);
  });

  it('tell of a low balance and of spent credits, once for each time', async () => {
    const store = await lab.open();
    const chosen = await store.accounts.create({ name: 'Ours', plan: 'premium', rateLimit: null, credits: 5 });
    const webhook = await create(store, chosen, ['credits.low', 'credits.exhausted']);
    await store.accounts.set(chosen.id, { operatorEvents: true });
    // Begins without credits, and has spent none.
    await store.accounts.create({ name: 'Empty', plan: 'starter', rateLimit: null, credits: 0 });
    const who = await member(store, { credits: 1 });
    await store.accounts.set(who.account.id, { lowBalance: 1 });
    const look = () => store.accounts.claimLowBalanceAlerts();
    await look();
    expect(await deliveriesOf(lab, webhook)).toEqual([]);
    await verifyNow(store, who);
    await Promise.all([look(), look()]);
    await look();
    const types = async () => (await deliveriesOf(lab, webhook)).map(({ type }) => type).sort();
    expect(await types()).toEqual(['credits.exhausted', 'credits.low']);
    expect((await deliveriesOf(lab, webhook))[0]).toMatchObject({ data: { account: { id: who.account.id } } });
    lab.clock.advance(1);
    await store.accounts.grant(who.account.id, 1, 'more');
    await look();
    await verifyNow(store, who);
    await look();
    expect(await types()).toEqual(['credits.exhausted', 'credits.exhausted', 'credits.low', 'credits.low']);
  });

  it('are undone with what they tell of', async () => {
    const store = await lab.open();
    const chosen = await store.accounts.create({ name: 'Ours', plan: 'premium', rateLimit: null, credits: 5 });
    const webhook = await create(store, chosen);
    await store.accounts.set(chosen.id, { operatorEvents: true });
    const who = await member(store, { credits: 1 });
    const earlier = (await deliveriesOf(lab, webhook)).length;
    const grant = { externalId: randomUUID(), credits: 5, note: 'Invoice' };
    const failing = {
      owner: 'opk_1',
      ref: { route: 'POST', key: 'k', fingerprint: 'f' },
      replyTo: () => {
        throw new Error('injected');
      },
    };
    await expect(store.accounts.grantOnce(who.account.id, grant, BY, failing)).rejects.toThrow('injected');
    expect(await deliveriesOf(lab, webhook)).toHaveLength(earlier);
    expect((await store.accounts.get(who.account.id))?.balance).toBe(1);
    expect((await store.accounts.grantOnce(who.account.id, grant, BY)).repeated).toBe(false);
  });
});
