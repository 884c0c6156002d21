import { randomInt } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { createKey } from '../../src/service/keys.ts';
import { openStore } from '../../src/store/open.ts';
import type { Account, Store } from '../../src/store/store.ts';
import { type Running, startProcess } from '../lab/process.ts';
import { freshDatabase } from '../lab/stores.ts';

/** `npm test` asks for all of them; a few show the same during development. */
const ROUNDS = Number(process.env.MAILVET_TEST_ROUNDS ?? 3);
const CLIENTS = 8;

let database: Awaited<ReturnType<typeof freshDatabase>>;
let store: Store;
let account: Account;
let authorization: string;
beforeAll(async () => {
  database = await freshDatabase();
  store = await openStore({ url: database.url, clock: systemClock });
  await store.migrate();
  account = await store.accounts.create({ name: 'crashing', plan: 'enterprise', rateLimit: 10_000_000, credits: 0 });
  authorization = `Bearer ${(await createKey(store, account.id, { name: 'crashing', allowIps: [] })).value}`;
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

async function add({ url }: Running, value: string): Promise<[status: number, text: string]> {
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': value };
  const response = await fetch(`${url}/v1/filters`, { method: 'POST', headers, body: JSON.stringify({ value }) });
  return [response.status, await response.text()];
}

/** Adds one filter after the other until the service is gone; `sent` has each, with its reply where one came. */
async function addUntilKilled(service: Running, prefix: string, sent: Map<string, string | null>): Promise<void> {
  for (let i = 0; ; i++) {
    const value = `${prefix}-${i}.com`;
    sent.set(value, null);
    try {
      const [status, text] = await add(service, value);
      expect([status, text]).toEqual([201, text]);
      sent.set(value, text);
    } catch (error) {
      if (error instanceof TypeError) return;
      throw error;
    }
  }
}

it(`kill -9 in ${ROUNDS} rounds of added filters: each repeated request gets 201 and the first reply`, {
  timeout: 120_000,
}, async () => {
  const sent = new Map<string, string | null>();
  for (let round = 0; round < ROUNDS; round++) {
    const service = await startProcess({ MAILVET_DATABASE_URL: database.url });
    const clients = Array.from({ length: CLIENTS }, (_, n) => addUntilKilled(service, `r${round}-c${n}`, sent));
    await after(randomInt(100, 400));
    expect(await service.end('SIGKILL')).toBe('SIGKILL');
    await Promise.all(clients);
  }
  const service = await startProcess({ MAILVET_DATABASE_URL: database.url });
  for (const [value, first] of sent) {
    const [status, text] = await add(service, value);
    expect([value, status, text]).toEqual([value, 201, first ?? text]);
  }
  const { total } = await store.filters.list(account.id, { filterType: null, query: null, offset: 0, limit: 1 });
  expect(total).toBe(sent.size);
  expect(await service.end('SIGTERM')).toBe(0);
});
