import { expect, it } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '../../src/kernel/clock.ts';
import { ALERT_TYPES, BUDGET_ALERT_PERCENT, MAILBOX_CHECK_DAYS, UNUSUAL } from '../../src/kernel/facts/alerts.ts';
import type { Level } from '../../src/kernel/facts/plans.ts';
import type { Reason } from '../../src/kernel/facts/reasons.ts';
import type { AccountId, MailServersSeen, Store } from '../../src/store/store.ts';
import { describeStores, type StoreLab } from '../lab/stores.ts';
import { member, verifyNow } from './cast.ts';
import { BY, person } from './people.ts';
import { create, newKey, replied } from './webhook-cast.ts';

const HERE = { state: 'ok', since: 0, node: null } as const satisfies MailServersSeen;

/** Events of the account's webhooks, and types of mails about it. */
async function sentOf(lab: StoreLab, account: AccountId) {
  const rows = await lab.sql(`SELECT event, body FROM webhook_deliveries WHERE account_id = '${account}' ORDER BY id`);
  const jobs = await lab.sql(`SELECT payload FROM jobs WHERE kind = 'alert_mail' AND account_id = '${account}'`);
  return {
    events: rows.map(({ event }) => String(event)),
    mails: jobs.map(({ payload }) => String(JSON.parse(String(payload)).type)).sort(),
  };
}
const rejected = (store: Store, account: AccountId, hour: number, count: number) =>
  store.traffic.add([{ account, hour, metric: 'status', bucket: 400, count }]);
const thisHour = (lab: StoreLab) => Math.floor(lab.clock.now() / HOUR_MS) * HOUR_MS;

describeStores('alerts', (lab) => {
  it('report rejections far above usual once, on all nodes, and again after they have ended', async () => {
    const stores = [await lab.open({ sendsMail: true }), await lab.open({ sendsMail: true })];
    const store = stores[0]!;
    const { account } = await member(store);
    await store.members.add(account.id, await person(store, 'jane@example.com'), 'owner', BY);
    await store.members.add(account.id, await person(store, 'eve@example.com'), 'viewer', BY);
    await create(store, account, ['rejections.high']);
    lab.clock.advance(8 * 24 * HOUR_MS);
    const look = () => Promise.all([...stores, ...stores].map((one) => one.alerts.evaluate(null)));
    await rejected(store, account.id, thisHour(lab), UNUSUAL.rejections.floor - 1);
    await look();
    expect(await sentOf(lab, account.id)).toEqual({ events: [], mails: [] });
    await rejected(store, account.id, thisHour(lab), 1);
    await look();
    await look();
    expect(await sentOf(lab, account.id)).toEqual({ events: ['rejections.high'], mails: ['rejections.high'] });
    expect((await store.alerts.settings(account.id)).open).toMatchObject([{ type: 'rejections.high', subject: '' }]);
    lab.clock.advance(3 * HOUR_MS);
    await look();
    expect((await store.alerts.settings(account.id)).open).toEqual([]);
    await rejected(store, account.id, thisHour(lab), 500);
    await look();
    expect((await sentOf(lab, account.id)).events).toEqual(['rejections.high', 'rejections.high']);
  });

  it('do not report what is usual', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    await create(store, account);
    for (let hour = 0; hour < 7 * 24; hour++) {
      await rejected(store, account.id, thisHour(lab), 60);
      lab.clock.advance(HOUR_MS);
    }
    await rejected(store, account.id, thisHour(lab), 300);
    await store.alerts.evaluate(null);
    expect((await store.alerts.settings(account.id)).open).toEqual([]);
  });

  it('report a share of unknown results, not of a list that is large', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 10_000 });
    const of = (reason: 'greylisted' | 'mailbox_not_found', count: number) =>
      lab.sql(`INSERT INTO usage_hours (account_id, hour, key_id, validation_type, status, reason, requests, credits)
        VALUES ('${who.account.id}', ${thisHour(lab)}, 'k ${reason} ${count}', 'smtp', 'bad', '${reason}', ${count}, 0)`);
    await of('mailbox_not_found', 1_000);
    await of('greylisted', 60);
    await store.alerts.evaluate(null);
    expect((await store.alerts.settings(who.account.id)).open).toEqual([]);
    await of('greylisted', 400);
    await store.alerts.evaluate(null);
    expect((await store.alerts.settings(who.account.id)).open).toMatchObject([{ type: 'unknowns.high' }]);
  });

  it('report a key that has nearly spent its budget, once a month', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 1000 });
    await store.keys.update(who.account.id, who.key.id, { budget: 10 }, BY);
    await create(store, who.account, ['budget.low']);
    const spend = async (credits: number) => {
      for (let i = 0; i < credits; i++) await verifyNow(store, who);
      await store.alerts.evaluate(null);
      return (await sentOf(lab, who.account.id)).events.length;
    };
    expect(await spend(BUDGET_ALERT_PERCENT.raised / 10 - 1)).toBe(0);
    expect(await spend(1)).toBe(1);
    expect(await spend(2)).toBe(1);
    lab.clock.advance(40 * 24 * HOUR_MS);
    expect(await spend(0)).toBe(1);
    expect(await spend(9)).toBe(2);
  });

  it('report a failing webhook to the others, without what may be its secret', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const failing = await create(store, account, ['*'], 'https://hooks.example.com/services/T0/B0/secret99', 'slack');
    expect(failing.url).toBe('https://hooks.example.com/…et99');
    const other = await create(store, account, ['webhook.failing']);
    const test = (await store.webhooks.prepareTest(account.id, failing.id))!;
    expect(test).toMatchObject({
      format: 'slack',
      url: expect.stringMatching(/secret99$/),
      account: { id: account.id },
    });
    await store.webhooks.recordTest(account.id, test, replied(500), () => null);
    await store.alerts.evaluate(null);
    lab.clock.advance(11 * MINUTE_MS);
    await store.alerts.evaluate(null);
    await store.alerts.evaluate(null);
    const mine = (await store.webhooks.deliveries(account.id, other.id, { offset: 0, limit: 9 }))!.items;
    expect(mine.map(({ event }) => event)).toEqual(['webhook.failing']);
    expect(JSON.stringify(await lab.sql('SELECT * FROM trail'))).not.toContain('secret99');
    expect((await store.webhooks.delivery(account.id, mine[0]!.id))!.body).not.toContain('secret99');
  });

  it('a chat gets no events but alerts', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    await create(store, account, ['*'], 'https://hooks.example.com/T0', 'slack');
    await newKey(store, account);
    expect((await sentOf(lab, account.id)).events).toEqual([]);
  });

  it('of mail servers are of the accounts that check mailboxes or operators have chosen, and end where they were found', async () => {
    const store = await lab.open();
    const names = ['idle', 'mx', 'smtp', 'failing', 'earlier', 'suspended', 'chosen'] as const;
    const accounts = new Map<(typeof names)[number], AccountId>();
    for (const name of names) accounts.set(name, (await member(store)).account.id);
    const of = (name: (typeof names)[number]) => accounts.get(name)!;
    const used = (account: AccountId, level: Level, reason: Reason | '', hour = thisHour(lab)) =>
      lab.sql(`INSERT INTO usage_hours (account_id, hour, key_id, validation_type, status, reason, requests, credits)
        VALUES ('${account}', ${hour}, 'k', '${level}', 'good', '${reason}', 1, 0)`);
    await used(of('mx'), 'mx', '');
    await used(of('mx'), 'mx', 'disposable_domain');
    await used(of('smtp'), 'smtp', '');
    // As the level that was asked for while port 25 is closed is charged.
    await used(of('failing'), 'mx', 'smtp_unreachable');
    await used(of('suspended'), 'smtp', '');
    await used(of('earlier'), 'smtp', '', thisHour(lab) - (MAILBOX_CHECK_DAYS * 24 + 1) * HOUR_MS);
    await store.accounts.set(of('chosen'), { operatorEvents: true });
    await store.accounts.set(of('suspended'), { status: 'suspended' });
    await store.nodes.report('1');
    const node = store.nodes.current;
    const now = () => lab.clock.now();
    const notified = async () => {
      const rows = await lab.sql("SELECT account_id FROM alert_causes WHERE type = 'smtp.unreachable'");
      return names.filter((name) => rows.some(({ account_id }) => account_id === of(name)));
    };
    await store.alerts.evaluate({ state: 'port_closed', since: now(), node });
    expect(await notified()).toEqual(['smtp', 'failing', 'chosen']);
    // A check that begins later is another account's; one that ended long ago is no second cause.
    await used(of('idle'), 'mx', 'smtp_timeout');
    await lab.sql(`DELETE FROM usage_hours WHERE account_id = '${of('smtp')}'`);
    await store.alerts.evaluate({ state: 'port_closed', since: now(), node });
    expect(await notified()).toEqual(['idle', 'smtp', 'failing', 'chosen']);
    // Another node reaches them; and so does this one, but not for long.
    await store.alerts.evaluate({ ...HERE, node: 'node_other' });
    await store.alerts.evaluate({ ...HERE, since: now(), node });
    expect(await notified()).toHaveLength(4);
    await store.alerts.evaluate({ ...HERE, node });
    expect(await notified()).toEqual([]);
  });

  it('are mailed as the account has chosen, unless it paused them, and never for a suspended one', async () => {
    const store = await lab.open({ sendsMail: true });
    const { account } = await member(store);
    await store.members.add(account.id, await person(store, 'jane@example.com'), 'admin', BY);
    const raise = async () => {
      await lab.sql('DELETE FROM alert_causes');
      await lab.sql('DELETE FROM jobs');
      await store.alerts.evaluate(null);
      return (await sentOf(lab, account.id)).mails;
    };
    await rejected(store, account.id, thisHour(lab), 100);
    expect(await raise()).toEqual(['rejections.high']);
    await store.alerts.change(account.id, { paused: true }, BY);
    expect(await raise()).toEqual([]);
    await store.alerts.change(
      account.id,
      { paused: false, mails: ALERT_TYPES.filter((t) => t !== 'rejections.high') },
      BY,
    );
    expect(await raise()).toEqual([]);
    await store.alerts.change(account.id, { mails: ['rejections.high'] }, BY);
    expect(await raise()).toEqual(['rejections.high']);
    await store.accounts.set(account.id, { status: 'suspended' });
    expect(await raise()).toEqual([]);
    expect((await store.alerts.settings(account.id)).open).toEqual([]);
  });
});
