/** A PostgreSQL server in trouble, by ended sessions, restarts and crashes: the service goes on by itself. */
import { setTimeout as after } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DASHBOARD_ROUTES } from '../../src/http/dashboard/table.ts';
import { type Person, person } from '../lab/person.ts';
import { type PostgresServer, startPostgres } from '../lab/postgres.ts';
import { type Running, startProcess } from '../lab/process.ts';
import { type Reply, request } from '../lab/service.ts';
import { ENGINE } from '../lab/stores.ts';
import { openSetting, type Setting } from './setting.ts';

const GRANTED = 1_000_000;
const CLIENTS = 8;
/** On a busy machine. */
const RECOVERED = { timeout: 60_000, interval: 100 };

let server: PostgresServer;
let setting: Setting;
let service: Running;
let visitor: Person;

beforeAll(async () => {
  if (ENGINE !== 'postgres') return;
  server = await startPostgres();
  setting = await openSetting({ credits: GRANTED, databaseUrl: server.url });
  service = await startProcess(setting.environment);
  visitor = await person({ url: service.url, store: setting.store }, { account: setting.account.id });
});
afterAll(async () => {
  await service?.end('SIGKILL');
  await setting?.close();
  await server?.stop();
});

const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
  request(service.url, method, path, body, { authorization: `Bearer ${setting.key.value}` });

/** Sessions in the middle of whatever they do, again and again. */
async function endSessions(): Promise<void> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    for (let round = 0; round < 12; round++) {
      await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
      await after(40 + 15 * round);
    }
  } finally {
    await client.end();
  }
}

const FAULTS: Readonly<Record<string, () => Promise<void>>> = {
  'sessions that are ended': endSessions,
  'a fast restart': () => server.restart('fast'),
  'a crash': () => server.restart('immediate'),
};

const PAGES = DASHBOARD_ROUTES.filter(({ method, path }) => method === 'GET' && path.includes('/:account')).map(
  ({ path }) => path,
);

let made = 0;
const acknowledged: { readonly id: string; readonly credits: number }[] = [];
const lists: string[] = [];

/** What a client does again and again; each reply is as expected, or a 503. */
const ACTIVITIES: Readonly<Record<string, ((n: number) => Promise<Reply>) | null>> = {
  idle: null,
  async calls(n) {
    const reply = await call('POST', '/v1/verify', { email: `user${n}@${n % 3 === 0 ? `slow${n % 50}` : 'good'}.com` });
    if (reply.status === 200) acknowledged.push({ id: reply.json.id, credits: reply.json.credits_used });
    return reply;
  },
  async filters(n) {
    const reply = await call('POST', '/v1/filters', { value: `blocked${n}.com` });
    return reply.status === 201 && n % 2 === 0 ? call('DELETE', `/v1/filters/${reply.json.id}`) : reply;
  },
  async lists(n) {
    const emails = Array.from({ length: 400 }, (_, i) => `a${i}of${n}@${i % 2 === 0 ? 'good' : 'no-mail'}.com`);
    const reply = await call('POST', '/v1/lists', { name: `list ${n}`, emails });
    if (reply.status === 201) lists.push(reply.json.id);
    return reply;
  },
  dashboard: (n) =>
    visitor.call('GET', PAGES[n % PAGES.length]!.replace(':account', setting.account.id).replaceAll(/:[a-z]+/g, '1')),
};

/** Statuses other than expected, with their replies. */
async function busy(activity: string, until: AbortSignal): Promise<{ done: number; wrong: string[] }> {
  const act = ACTIVITIES[activity];
  const found = { done: 0, wrong: [] as string[] };
  if (act === null || act === undefined) return found;
  // Rows of the dashboard are asked without regard to their limits, nor to what they need.
  const expected = activity === 'dashboard' ? 500 : 300;
  const client = async () => {
    while (!until.aborted) {
      made += 1;
      // A dead service is found out by the test.
      const reply = await act(made).catch(() => null);
      if (reply === null) await after(50);
      else if (reply.status < expected) found.done += 1;
      else if (reply.status !== 503) found.wrong.push(`${reply.status} ${reply.text.slice(0, 300)}`);
      else await after(20);
      if (activity === 'lists' || activity === 'dashboard') await after(30);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return found;
}

async function expectWhole(): Promise<void> {
  const { store, account } = setting;
  expect(await store.accounts.audit()).toEqual([]);
  for (const { id, credits } of acknowledged.splice(0))
    expect((await store.verifications.get(account.id, id))?.credits, id).toBe(credits);
}

describe.skipIf(ENGINE !== 'postgres')('the service beside a PostgreSQL server in trouble', () => {
  const combinations = Object.keys(FAULTS).flatMap((fault) =>
    Object.keys(ACTIVITIES).map((activity) => [fault, activity] as const),
  );

  it.each(combinations)(
    '%s, with %s: lives on, recovers, and charges exactly',
    {
      timeout: 180_000,
    },
    async (fault, activity) => {
      const stop = new AbortController();
      const working = busy(activity, stop.signal);
      await after(400);
      await FAULTS[fault]!();
      await after(400);
      expect([service.child.exitCode, service.child.signalCode], service.printed.slice(-5).join('\n')).toEqual([
        null,
        null,
      ]);
      const verified = () => call('POST', '/v1/verify', { email: 'again@good.com' });
      await vi.waitUntil(async () => (await verified()).status === 200, RECOVERED);
      await vi.waitUntil(async () => (await fetch(`${service.url}/readyz`)).status === 200, RECOVERED);
      await after(300);
      stop.abort();
      const { done, wrong } = await working;
      expect(wrong).toEqual([]);
      if (activity !== 'idle') expect(done).toBeGreaterThan(0);
      const isCompleted = async (id: string) =>
        (await setting.store.lists.get(setting.account.id, id))?.status === 'completed';
      for (const id of lists.splice(0)) await vi.waitUntil(() => isCompleted(id), { ...RECOVERED, timeout: 120_000 });
      await expectWhole();
    },
  );

  it('and ends as usual, with nothing held', async () => {
    expect(await service.end('SIGTERM')).toBe(0);
    // Releases what was held for requests that failed.
    expect(await (await startProcess(setting.environment)).end('SIGTERM')).toBe(0);
    expect(await setting.store.accounts.get(setting.account.id)).toMatchObject({ locked: 0 });
    expect(await setting.store.accounts.audit()).toEqual([]);
  });
});
