import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { type Database, freshDatabase } from '../lab/stores.ts';
import { stallable } from '../store/stall.ts';

let database: Database;
let link: Awaited<ReturnType<typeof stallable>>;
let lab: Lab;
let member: Member;
beforeAll(async () => {
  database = await freshDatabase();
  link = await stallable(database.url);
  lab = await startLab({ MAILVET_DATABASE_URL: link.url });
  member = await lab.member({ credits: 100 });
});
afterAll(async () => {
  await lab.close();
  await link.close();
  await database.drop();
});

const recorded = async () => (await lab.store.verifications.list(member.account.id, { offset: 0, limit: 1 })).total;

it('answers 503 while the store hangs, and charges neither that nor a client that left', {
  timeout: 40_000,
}, async () => {
  expect((await member.verify('a@good.com')).status).toBe(200);
  await member.call('PUT', '/v1/policies/known', { on_outage: 'reject' });
  await member.call('PUT', '/v1/policies/never-read', { on_outage: 'reject' });
  expect((await member.verify('a@good.com', { policy: 'known' })).status).toBe(200);
  await link.stall();
  const leaving = new AbortController();
  const left = Array.from({ length: 10 }, (_, i) =>
    fetch(`${lab.url}/v1/verify`, {
      method: 'POST',
      headers: { authorization: `Bearer ${member.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ email: `left${i}@good.com` }),
      signal: leaving.signal,
    }),
  );
  const stayed = Array.from({ length: 5 }, (_, i) => member.verify(`stayed${i}@good.com`));
  const usage = member.call('GET', '/v1/usage');
  const decided = ['signup', 'known', 'never-read'].map((policy) => member.verify('stayed@good.com', { policy }));
  await new Promise((resolve) => setTimeout(resolve, 500));
  leaving.abort();
  for (const one of await Promise.allSettled(left)) expect(one.status).toBe('rejected');
  for (const { status, json, headers } of await Promise.all([...stayed, usage, ...decided])) {
    expect([status, json.code]).toEqual([503, 'verification_unavailable']);
    expect(headers.get('retry-after')).toBe('5');
  }
  // A policy counts as it was last read; of one that was not, nobody knows. On SQLite, writers do not keep readers out.
  const actions = (await Promise.all(decided)).map(({ json }) => json.decision?.action);
  expect(actions).toEqual(['accept', 'reject', lab.store.engine === 'sqlite' ? 'reject' : undefined]);
  link.resume();
  await expect.poll(async () => (await member.verify('a@good.com')).status, { timeout: 20_000 }).toBe(200);
  expect(await recorded()).toBe(3);
  expect(await lab.store.accounts.get(member.account.id)).toMatchObject({ balance: 97, locked: 0 });
});
