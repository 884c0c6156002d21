import { afterAll, beforeAll, expect, it } from 'vitest';
import { HOOK_MARGIN_MS } from '../../src/kernel/facts/limits.ts';
import { NO_RULES } from '../../src/kernel/facts/policies.ts';
import { SAMPLE_BODIES, SIGNED } from '../lab/hook-callers.ts';
import { type Lab, type Member, request, startLab } from '../lab/service.ts';
import { type Database, freshDatabase } from '../lab/stores.ts';
import { stallable } from '../store/stall.ts';

const BY = { kind: 'command', id: null, name: 'test', ip: null } as const;
const SECRET = `whsec_${'A'.repeat(43)}=`;
const TIMEOUT_MS = 3_000;
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

const hook = (policy: string) =>
  lab.store.hooks.create(
    member.account.id,
    { kind: 'generic', name: policy, policy, scope: null, timeoutMs: TIMEOUT_MS, rateLimit: null, secret: SECRET },
    BY,
  );
function call(id: string, email: string, secret = SECRET) {
  const body = JSON.stringify(SAMPLE_BODIES.generic(email));
  const headers = SIGNED.generic({ secret, body, id: `msg_${email}`, at: Date.now() });
  return request(lab.url, 'POST', `/hooks/${id}/generic`, body, headers);
}

it('a hook that was called before is answered in time while the store hangs, as its policy said last', {
  timeout: 60_000,
}, async () => {
  await lab.store.policies.put(member.account.id, { ...NO_RULES, name: 'mine', onOutage: 'review' }, BY);
  const [known, accepting] = [await hook('mine'), await hook('signup')];
  for (const { id } of [known, accepting]) expect((await call(id, 'jane@good.com')).json.action).toBe('accept');
  await link.stall();
  const began = performance.now();
  const replies = await Promise.all([
    call(known.id, 'bob@good.com'),
    call(accepting.id, 'cy@good.com'),
    call(known.id, 'eve@good.com', `whsec_${'B'.repeat(43)}=`),
  ]);
  const tookMs = performance.now() - began;
  link.resume();
  expect(replies.map(({ status, json }) => [status, json.action ?? json.code])).toEqual([
    [200, 'review'],
    [200, 'accept'],
    [401, 'invalid_signature'],
  ]);
  expect(tookMs).toBeLessThan(TIMEOUT_MS);
  expect(tookMs).toBeGreaterThan(TIMEOUT_MS - HOOK_MARGIN_MS - 100);
  await expect.poll(async () => (await call(known.id, 'dan@good.com')).json.action, { timeout: 30_000 }).toBe('accept');
  await expect
    .poll(async () => (await lab.store.rejectedRequests.list(member.account.id, { before: null, limit: 10 })).items, {
      timeout: 30_000,
    })
    .toMatchObject([
      { code: 'hook_out_of_time', answer: expect.any(String) },
      { code: 'hook_out_of_time', answer: expect.any(String) },
    ]);
});
