import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createKey } from '../../src/service/keys.ts';
import type { Account, Store } from '../../src/store/store.ts';
import { startProcess } from '../lab/process.ts';
import { type Acknowledged, startLoad } from './load.ts';
import { openSetting, type Setting } from './setting.ts';

/** `npm test` runs 30 rounds; a few suffice during development. */
const ROUNDS = Number(process.env.MAILVET_TEST_ROUNDS ?? 6);
const GRANTED = 10_000_000;

let setting: Setting;
let store: Store;
let account: Account;
let key: string;
let environment: Setting['environment'];

beforeAll(async () => {
  setting = await openSetting({ credits: GRANTED });
  ({ store, account, environment } = setting);
  key = setting.key.value;
});
afterAll(() => setting.close());

/** Every acknowledged reply has a record with the same price; the sums agree; no hold is left. */
async function expectWhole(acknowledged: readonly Acknowledged[]): Promise<void> {
  expect(await store.accounts.audit()).toEqual([]);
  const now = (await store.accounts.get(account.id))!;
  expect(now.locked).toBe(0);
  for (const { id, credits } of acknowledged) {
    const row = await store.verifications.get(account.id, id);
    expect(row?.credits, id).toBe(credits);
  }
  const { items, total } = await store.verifications.list(account.id, { offset: 0, limit: 1_000_000 });
  expect(new Set(items.map((row) => row.id)).size).toBe(total);
  expect(now.balance).toBe(GRANTED - items.reduce((sum, row) => sum + row.credits, 0));
}

describe('kill -9 under load', () => {
  it(`${ROUNDS} rounds: nothing acknowledged is lost, nothing is charged twice, no hold is left`, {
    timeout: 300_000,
  }, async () => {
    const acknowledged: Acknowledged[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const service = await startProcess(environment);
      expect((await store.accounts.get(account.id))!.locked, 'holds are released at the next start').toBe(0);
      const load = startLoad(service.url, key, { max: 3000 });
      // Every second round ends under full load however busy the machine is; the others at any moment from the start.
      if (round % 2 === 0) await vi.waitUntil(() => load.acknowledged.length > 0, { timeout: 30_000 });
      await after(randomInt(5, 250));
      expect(await service.end('SIGKILL')).toBe('SIGKILL');
      await load.stop();
      expect(load.others).toEqual([]);
      acknowledged.push(...load.acknowledged);
    }
    await (await startProcess(environment)).end('SIGTERM');
    expect(acknowledged.length).toBeGreaterThanOrEqual(ROUNDS / 2);
    await expectWhole(acknowledged);
  });
});

describe('SIGTERM under load', () => {
  it('no reply is lost and nothing is half-charged', async () => {
    const service = await startProcess(environment);
    const load = startLoad(service.url, key);
    await vi.waitUntil(() => load.acknowledged.length > 50, { timeout: 30_000 });
    const code = await service.end('SIGTERM');
    await load.stop();
    expect(code).toBe(0);
    expect(load.others).toEqual([]);
    await expectWhole(load.acknowledged);
  });
});

describe('SIGTERM with idle connections', () => {
  it('ends without waiting for them', { timeout: 20_000 }, async () => {
    const service = await startProcess(environment);
    const { hostname, port } = new URL(service.url);
    const unused = connect(Number(port), hostname);
    const half = connect(Number(port), hostname, () => half.write('POST /v1/verify HTTP/1.1\r\nHost: x\r\n'));
    for (const socket of [unused, half]) socket.on('error', () => undefined);
    await after(100);
    // The service must close idle connections; otherwise it would wait for the full 30 s.
    const closed = Promise.all([unused, half].map((socket) => once(socket, 'close')));
    expect(await service.end('SIGTERM')).toBe(0);
    await closed;
  });
});

describe('several processes on one store', () => {
  it('64 parallel requests on 10 credits: exactly 10 are charged', async () => {
    const poor = await store.accounts.create({ name: 'poor', plan: 'enterprise', rateLimit: 1000, credits: 10 });
    const { value } = await createKey(store, poor.id, { name: 'poor', allowIps: [] });
    const services = await Promise.all([1, 2, 3].map(() => startProcess(environment)));
    const headers = { authorization: `Bearer ${value}`, 'content-type': 'application/json' };
    const statuses = await Promise.all(
      Array.from({ length: 64 }, async (_, i) => {
        const body = JSON.stringify({ email: `u${i}@slow${i % 50}.com` });
        const response = await fetch(`${services[i % 3]!.url}/v1/verify`, { method: 'POST', headers, body });
        await response.arrayBuffer();
        return response.status;
      }),
    );
    expect(statuses.filter((s) => s === 200)).toHaveLength(10);
    expect(statuses.filter((s) => s === 402)).toHaveLength(54);
    expect((await store.accounts.get(poor.id))!).toMatchObject({ balance: 0, locked: 0 });
    await Promise.all(services.map((s) => s.end('SIGTERM')));
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('a filter added through one applies to the next request to another', async () => {
    const services = await Promise.all([1, 2].map(() => startProcess(environment)));
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const verify = async (i: number) => {
      const response = await fetch(`${services[i]!.url}/v1/verify`, {
        method: 'POST',
        headers,
        body: '{"email":"a@good.com"}',
      });
      return ((await response.json()) as { reason: string | null }).reason;
    };
    expect([await verify(0), await verify(1)]).toEqual([null, null]);
    const added = await fetch(`${services[0]!.url}/v1/filters`, {
      method: 'POST',
      headers,
      body: '{"value":"good.com"}',
    });
    expect(await verify(1)).toBe('blocked_by_filter');
    const { id } = (await added.json()) as { id: number };
    await fetch(`${services[1]!.url}/v1/filters/${id}`, { method: 'DELETE', headers });
    expect(await verify(0)).toBe(null);
    await Promise.all(services.map((s) => s.end('SIGTERM')));
  });
});
