import { randomInt } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/kernel/clock.ts';
import { createKey } from '../../src/service/keys.ts';
import type { AccountId } from '../../src/store/store.ts';
import { type MailSink, startMailSink } from '../lab/mail-sink.ts';
import { person } from '../lab/person.ts';
import { type Running, startProcess } from '../lab/process.ts';
import { type Receiver, startReceiver } from '../lab/receiver.ts';
import { request } from '../lab/service.ts';
import { runSql } from '../lab/stores.ts';
import { openSetting, type Setting } from './setting.ts';

/** A round takes some ten seconds, so that `npm test` has a few more than development, and not its thirty. */
const ROUNDS = Math.min(5, Number(process.env.MAILVET_TEST_ROUNDS ?? 2));
/** Each with a cause in every round. */
const ACCOUNTS = 5;

let setting: Setting;
let sink: MailSink;
let receiver: Receiver;
beforeAll(async () => {
  [sink, receiver, setting] = [await startMailSink(), await startReceiver(), await openSetting({ credits: 1 })];
});
afterAll(async () => {
  await setting.close();
  await receiver.close();
  await sink.close();
});

const start = () => startProcess({ ...setting.environment, MAILVET_MAIL_URL: sink.url });
/** As a worker does twice a minute. */
const look = () => setting.store.jobs.add({ kind: 'low_balance', payload: {}, key: 'now' });

/** An account whose admin and webhook wait for alerts. */
async function watcher({ url }: Running, name: string): Promise<AccountId> {
  const { store } = setting;
  const { id } = await store.accounts.create({ name, plan: 'premium', rateLimit: null, credits: 1 });
  await person({ url, store }, { account: id, role: 'admin', email: `${name}@good.com` });
  const { value } = await createKey(store, id, { name, allowIps: [] });
  const webhook = { url: `${receiver.url}/${name}`, events: ['rejections.high'] };
  const made = await request(url, 'POST', '/v1/webhooks', webhook, { authorization: `Bearer ${value}` });
  expect(made.status, made.text).toBe(201);
  return id;
}

it(`kill -9 of two nodes in ${ROUNDS} rounds: each cause is sent once, by mail and to webhooks`, {
  timeout: 60_000 + ROUNDS * 20_000,
}, async () => {
  const names = new Map<string, AccountId>();
  for (let round = 0; round < ROUNDS; round++) {
    const nodes = await Promise.all([start(), start()]);
    for (let n = 0; n < ACCOUNTS; n++) names.set(`r${round}n${n}`, await watcher(nodes[n % 2]!, `r${round}n${n}`));
    const hour = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
    const rejected = [...names.values()].map((account) => ({ account, hour, metric: 'status' as const, bucket: 400 }));
    await setting.store.traffic.add(rejected.map((row) => ({ ...row, count: 100 })));
    await look();
    // Every second round ends once the first alert is on its way; the others at any moment.
    const isSent = () => receiver.received.some(({ path }) => path.startsWith(`/r${round}`));
    if (round % 2 === 0) await expect.poll(isSent).toBe(true);
    await after(randomInt(0, 200));
    for (const node of nodes) expect(await node.end('SIGKILL')).toBe('SIGKILL');
    // As a minute later: their leases are over.
    await runSql(setting.databaseUrl, "UPDATE jobs SET due_at = 0 WHERE state = 'running'");
  }

  const service = await start();
  await look();
  const ids = (path: string) =>
    receiver.received.filter((one) => one.path === path).map((one) => one.headers['webhook-id']);
  const mails = (name: string) => sink.mails.filter(({ to }) => to.includes(`${name}@good.com`));
  const arrived = () => [...names.keys()].filter((name) => ids(`/${name}`).length > 0 && mails(name).length > 0).length;
  await expect.poll(arrived, { timeout: 60_000 }).toBe(ROUNDS * ACCOUNTS);
  // What looks once more finds nothing new.
  await look();
  // The periodic job is there again for its next round.
  const open = `SELECT id FROM jobs WHERE kind = 'alert_mail' OR (key = 'now' AND due_at <= ${Date.now()})`;
  await expect.poll(() => runSql(setting.databaseUrl, open), { timeout: 60_000 }).toEqual([]);
  expect(await service.end('SIGTERM')).toBe(0);

  const rows = await runSql(setting.databaseUrl, 'SELECT account_id, event FROM webhook_deliveries');
  expect(rows.map(({ account_id }) => account_id).sort()).toEqual([...names.values()].sort());
  for (const name of names.keys()) {
    expect(new Set(ids(`/${name}`)).size, name).toBe(1);
    // One whose acknowledgment was lost with the process is sent again: mail programs show it once.
    expect(new Set(mails(name).map(({ headers }) => headers.get('message-id'))).size, name).toBe(1);
  }
});
