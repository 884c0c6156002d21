import { expect, it } from 'vitest';
import { WEBHOOK_RETRY_SECONDS } from '../../src/kernel/facts/lifetimes.ts';
import { type Claim, LeaseLostError } from '../../src/store/jobs/queue.ts';
import type { AttemptOutcome, DueDelivery, Store, Webhook } from '../../src/store/store.ts';
import { describeStores, type StoreLab } from '../lab/stores.ts';
import { member, purge, verifyNow } from './cast.ts';
import { addressesOf, startedList } from './list-cast.ts';
import { BY } from './people.ts';
import { create, listed, newKey, noReply, replied } from './webhook-cast.ts';

const SECOND = 1000;
const DAY = 24 * 3600 * SECOND;

const noMail = () => null;

/** The only delivery that is due. */
async function dueNow(store: Store, { id }: Webhook): Promise<DueDelivery> {
  const { due } = await store.webhooks.due(id, 10);
  expect(due).toHaveLength(1);
  return due[0]!;
}
/** Attempts what is due of one delivery, with the same outcome each time, until it has ended. */
async function attemptAll(lab: StoreLab, store: Store, webhook: Webhook, outcome: AttemptOutcome): Promise<number[]> {
  const pauses: number[] = [];
  for (;;) {
    const { due } = await store.webhooks.due(webhook.id, 10);
    for (const delivery of due) expect(await store.webhooks.record(delivery, outcome, noMail)).toBe(true);
    if (due.length > 0) continue;
    const next = (await listed(store, webhook)).find(({ nextAttemptAt }) => nextAttemptAt !== null);
    const pauseMs = (next?.nextAttemptAt ?? 0) - lab.clock.now();
    if (next === undefined) return pauses;
    pauses.push(pauseMs / SECOND);
    lab.clock.advance(pauseMs);
  }
}

describeStores('events of webhooks', (lab) => {
  it('are written for those who subscribe to them, with what they are about', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const stranger = await member(store);
    const all = await create(store, account);
    const keys = await create(store, account, ['key.created', 'list.completed']);
    const lists = await create(store, account, ['list.completed']);
    const off = await create(store, account);
    await store.webhooks.update(account.id, off.id, { enabled: false }, BY);
    const theirs = await create(store, stranger.account);
    const key = await newKey(store, account);
    await store.keys.revoke(key.id, BY);
    await store.keys.revoke(key.id, BY);
    expect((await listed(store, all)).map(({ event }) => event).sort()).toEqual(['key.created', 'key.revoked']);
    expect((await listed(store, keys)).map(({ event }) => event)).toEqual(['key.created']);
    for (const none of [lists, off, theirs]) expect(await listed(store, none)).toEqual([]);
    const { due } = await store.webhooks.due(all.id, 10);
    const bodies = due.map(({ body }) => JSON.parse(body));
    const at = new Date(lab.clock.now()).toISOString();
    const data = { id: key.id, name: 'fresh', key: 'mv_live_…wxyz', allow_ips: [], monthly_credits: null };
    expect(bodies).toContainEqual({ type: 'key.created', timestamp: at, data: expect.objectContaining(data) });
    expect(bodies).toContainEqual({
      type: 'key.revoked',
      timestamp: at,
      data: expect.objectContaining({ ...data, revoked_at: at }),
    });
    // One event, one id, whatever endpoint.
    const created = (await store.webhooks.due(keys.id, 10)).due[0]!;
    expect(due.map(({ eventId }) => eventId)).toContain(created.eventId);
    expect(created.eventId).toMatch(/^msg_/);
  });

  it('are told of a key that is rolled: a new one, and the end of the old one', async () => {
    const store = await lab.open();
    const { account, key } = await member(store);
    const webhook = await create(store, account);
    await store.keys.roll(account.id, key.id, { hash: 'h', lastFour: '1234', graceMs: DAY }, BY);
    const { due } = await store.webhooks.due(webhook.id, 10);
    const events = due.map(({ body }) => JSON.parse(body));
    const ends = new Date(lab.clock.now() + DAY).toISOString();
    expect(events.map(({ type, data }) => [type, data.revoked_at]).sort()).toEqual([
      ['key.created', null],
      ['key.revoked', ends],
    ]);
  });

  it('are written with the change, or not at all', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const webhook = await create(store, account);
    await store.keys.create(account.id, { name: 'one', hash: 'same', lastFour: 'abcd', allowIps: [] }, BY);
    const again = store.keys.create(account.id, { name: 'two', hash: 'same', lastFour: 'abcd', allowIps: [] }, BY);
    await expect(again).rejects.toThrow();
    expect(await listed(store, webhook)).toHaveLength(1);
    expect((await store.jobs.list({ failed: false, limit: 10 })).items).toMatchObject([
      { kind: 'webhook_delivery', account: account.id },
    ]);
  });

  it('tell of a low balance once per crossing, with or without mail', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 10 });
    const webhook = await create(store, who.account, ['credits.low']);
    await store.accounts.set(who.account.id, { lowBalance: 10 });
    // What is only held may be released.
    const list = await startedList(store, who, addressesOf(5));
    await store.accounts.claimLowBalanceAlerts();
    expect(await listed(store, webhook)).toEqual([]);
    await store.lists.change(who.account.id, list, 'cancel');
    await verifyNow(store, who);
    await store.accounts.claimLowBalanceAlerts();
    await store.accounts.claimLowBalanceAlerts();
    const { body } = await dueNow(store, webhook);
    expect(JSON.parse(body)).toMatchObject({
      type: 'credits.low',
      data: { credits: { total: 9, locked: 0, used: 1, remaining: 9 }, low_balance: 10 },
    });
    await store.accounts.grant(who.account.id, 5, 'more');
    await store.accounts.claimLowBalanceAlerts();
    await store.accounts.set(who.account.id, { lowBalance: 100 });
    await store.accounts.claimLowBalanceAlerts();
    expect(await listed(store, webhook)).toHaveLength(2);
  });
});

describeStores('deliveries of webhooks', (lab) => {
  it('are attempted again after the times of the schedule, then set aside', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const webhook = await create(store, account);
    await newKey(store, account);
    expect(await attemptAll(lab, store, webhook, noReply)).toEqual([...WEBHOOK_RETRY_SECONDS]);
    const [delivery] = await listed(store, webhook);
    expect(delivery).toMatchObject({ status: 'failed', nextAttemptAt: null, finishedAt: lab.clock.now() });
    expect(delivery!.attempts).toHaveLength(WEBHOOK_RETRY_SECONDS.length + 1);
    expect(delivery!.attempts[0]).toEqual({ ...noReply, at: delivery!.createdAt });
    // Three days of failures of one delivery disable nothing.
    expect(await store.webhooks.get(account.id, webhook.id)).toMatchObject({ enabled: true });
  });

  it('end with the first success', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const webhook = await create(store, account);
    await newKey(store, account);
    await store.webhooks.record(await dueNow(store, webhook), replied(500), noMail);
    expect(await store.webhooks.get(account.id, webhook.id)).toMatchObject({ failingSince: lab.clock.now() });
    lab.clock.advance(5 * SECOND);
    await store.webhooks.record(await dueNow(store, webhook), replied(204), noMail);
    expect(await listed(store, webhook)).toMatchObject([
      { status: 'delivered', attempts: [{ status: 500 }, { status: 204, response: 'thanks' }], nextAttemptAt: null },
    ]);
    expect(await store.webhooks.get(account.id, webhook.id)).toMatchObject({ failingSince: null });
  });

  it('count an attempt once, whoever else made it meanwhile', async () => {
    const [store, other] = [await lab.open(), await lab.open()];
    const { account } = await member(store);
    const webhook = await create(store, account);
    await newKey(store, account);
    const [mine, theirs] = [await dueNow(store, webhook), await dueNow(other, webhook)];
    const both = await Promise.all([
      store.webhooks.record(mine, replied(500), noMail),
      other.webhooks.record(theirs, noReply, noMail),
    ]);
    expect(both.sort()).toEqual([false, true]);
    const [delivery] = await listed(store, webhook);
    expect(delivery!.attempts).toHaveLength(1);
  });

  it('are found again when their job is lost, and by one job only', async () => {
    const [store, other] = [await lab.open(), await lab.open()];
    const { account } = await member(store);
    const webhook = await create(store, account);
    await newKey(store, account);
    const claim = async () => store.jobs.claim(new Map([['webhook_delivery', 10]]));
    const [job] = await claim();
    expect(job).toMatchObject({ key: webhook.id, payload: { webhook: webhook.id } });
    await store.webhooks.wake();
    expect(await claim()).toEqual([]);
    await store.jobs.done(job!);
    await Promise.all([store.webhooks.wake(), other.webhooks.wake()]);
    expect(await claim()).toMatchObject([{ key: webhook.id }]);
  });

  it('are missed by no job that ends while they are written', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const webhook = await create(store, account);
    const claim = async () => (await store.jobs.claim(new Map([['webhook_delivery', 10]])))[0];
    const deliver = async (outcome: AttemptOutcome) => {
      for (const delivery of (await store.webhooks.due(webhook.id, 10)).due)
        await store.webhooks.record(delivery, outcome, noMail);
    };
    const finish = (job: Claim, pauseMs = 0) => {
      if (job.kind !== 'webhook_delivery') throw new TypeError(job.kind);
      return store.webhooks.finish(job, { pauseMs, soonMs: 10 * SECOND });
    };
    await newKey(store, account, 'one');
    const job = (await claim())!;
    await deliver(replied(200));
    await newKey(store, account, 'two');
    expect(await finish(job)).toBe(false);
    await deliver(replied(200));
    expect(await finish(job)).toBe(true);
    expect(await store.jobs.list({ failed: false, limit: 1 })).toMatchObject({ total: 0 });
    await expect(finish(job)).rejects.toThrow(LeaseLostError);
    // A retry that is due soon keeps the job, and a pause.
    await newKey(store, account, 'three');
    const second = (await claim())!;
    await deliver(noReply);
    expect(await finish(second)).toBe(true);
    expect((await store.jobs.list({ failed: false, limit: 1 })).items).toMatchObject([{ state: 'waiting' }]);
  });

  it('wait while the account is suspended', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const webhook = await create(store, account);
    await newKey(store, account);
    await store.accounts.set(account.id, { status: 'suspended' });
    expect(await store.webhooks.due(webhook.id, 10)).toMatchObject({ due: [] });
    await store.accounts.set(account.id, { status: 'active' });
    await dueNow(store, webhook);
  });

  it('are replayed as new ones with the same id, or at once while they are pending', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const stranger = await member(store);
    const webhook = await create(store, account);
    await newKey(store, account);
    const first = await dueNow(store, webhook);
    await store.webhooks.record(first, replied(500), noMail);
    expect((await store.webhooks.due(webhook.id, 10)).due).toEqual([]);
    expect(await store.webhooks.replay(stranger.account.id, first.id)).toEqual({ outcome: 'not_found' });
    expect(await store.webhooks.replay(account.id, first.id)).toMatchObject({
      outcome: 'replayed',
      delivery: { id: first.id, status: 'pending', nextAttemptAt: lab.clock.now() },
    });
    await store.webhooks.record(await dueNow(store, webhook), replied(200), noMail);
    const replayed = await store.webhooks.replay(account.id, first.id);
    expect(replayed).toMatchObject({ outcome: 'replayed', delivery: { attempts: [], eventId: first.eventId } });
    const second = await dueNow(store, webhook);
    expect(second.id).not.toBe(first.id);
    expect([second.eventId, second.body]).toEqual([first.eventId, first.body]);
    await store.webhooks.update(account.id, webhook.id, { enabled: false }, BY);
    expect(await store.webhooks.replay(account.id, first.id)).toEqual({ outcome: 'disabled' });
  });

  it('go with the retention of the log, but not before they have ended', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const short = await member(store);
    await store.accounts.set(short.account.id, { retentionDays: 1 });
    const [long, ended] = [await create(store, account), await create(store, short.account)];
    for (const one of [account, short.account]) await newKey(store, one);
    const start = lab.clock.now();
    for (const webhook of [long, ended])
      await store.webhooks.record(await dueNow(store, webhook), replied(200), noMail);
    await newKey(store, short.account);
    lab.clock.advance(DAY + 1);
    await purge(lab, store, start - DAY);
    expect(await listed(store, long)).toHaveLength(1);
    expect(await listed(store, ended)).toMatchObject([{ status: 'pending' }]);
    await purge(lab, store, start + 1);
    expect(await listed(store, long)).toEqual([]);
  });
});
