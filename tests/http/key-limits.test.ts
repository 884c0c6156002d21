import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toIso } from '../../src/kernel/clock.ts';
import { type Lab, startLab } from '../lab/service.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());

describe('an API key', () => {
  it('that has expired is refused with 401, and the reply says when', async () => {
    const expiresAt = Date.now() + 1_000;
    const member = await lab.member({ expiresAt });
    expect((await member.verify('a@good.com')).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, expiresAt - Date.now() + 20));
    for (const reply of [await member.verify('a@good.com'), await member.call('GET', '/v1/usage')]) {
      expect(reply.status).toBe(401);
      expect(reply.json).toMatchObject({ code: 'expired_api_key', expired_at: toIso(expiresAt) });
      expect(reply.json.error).toContain(toIso(expiresAt));
      expect(reply.headers.get('www-authenticate')).toBe('Bearer');
    }
    await lab.store.keys.revoke(member.keyId);
    expect((await member.verify('a@good.com')).json.code).toBe('revoked_api_key');
  });

  it('without the scope is refused with 403, and the reply names it', async () => {
    const member = await lab.member({ scopes: ['usage'] });
    const filter = { value: 'x.example.com' };
    for (const [scope, method, path, body] of [
      ['verify', 'POST', '/v1/verify', { email: 'a@good.com' }],
      ['verify', 'POST', '/v1/verify', { email: 5 }],
      ['filters', 'POST', '/v1/filters', filter],
      ['filters', 'GET', '/v1/filters', undefined],
      ['filters', 'DELETE', '/v1/filters/1', undefined],
    ] as const) {
      const { status, json } = await member.call(method, path, body);
      expect([status, json.code, json.scope]).toEqual([403, 'scope_missing', scope]);
      expect(json.error).toContain(`"${scope}"`);
    }
    const usage = await member.call('GET', '/v1/usage');
    expect([usage.status, usage.json.credits.used]).toEqual([200, 0]);
  });

  it('with a spent budget is refused with 402, and the reply says what it is and when it resets', async () => {
    const member = await lab.member({ budget: 11 });
    expect((await member.verify('a@good.com')).status).toBe(200);
    expect((await member.verify('b@silent.com')).status).toBe(200);
    const refused = await member.verify('c@good.com', { validation_type: 'smtp' });
    const { start } = (await member.call('GET', '/v1/usage')).json.period;
    expect(refused.status).toBe(402);
    expect(refused.json).toMatchObject({ code: 'key_budget_spent', budget: 11 });
    const resets = new Date(refused.json.resets_at);
    expect([resets.getUTCDate(), toIso(resets.getTime()).slice(10)]).toEqual([1, 'T00:00:00.000Z']);
    expect(resets.getTime()).toBeGreaterThan(Date.parse(start));
    expect(refused.json.error).toMatch(/11 credits.*; \d+ are left\. It resets at 20/);
    expect((await member.verify('no-address')).status).toBe(200);
  });

  it('with a budget that does not cover a list does not start it, and says the same', async () => {
    const member = await lab.member({ budget: 1 });
    const upload = await member.call('POST', '/v1/lists', { emails: ['a@good.com', 'b@good.com'] });
    expect(upload.json).toMatchObject({ status: 'ready', error: { code: 'key_budget_spent' } });
    const { status, json } = await member.call('POST', `/v1/lists/${upload.json.id}/start`);
    expect([status, json]).toMatchObject([402, { code: 'key_budget_spent', needed: 2, budget: 1 }]);
    expect(json.resets_at).toBe((await member.call('GET', '/v1/usage')).json.period.end);
  });

  it('never spends more than its budget, however many requests come at once', async () => {
    const member = await lab.member({ budget: 7, rateLimit: 1_000 });
    const asked = Array.from({ length: 40 }, (_, i) => member.verify(`a${i}@${i % 2 ? 'good' : 'no-mail'}.com`));
    const replies = await Promise.all(asked);
    const spent = replies.filter(({ status }) => status === 200).reduce((sum, { json }) => sum + json.credits_used, 0);
    expect(spent).toBe(7);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 402]));
    expect((await member.call('GET', '/v1/usage')).json.credits.used).toBe(7);
  });

  it('with a spent budget replays what an Idempotency-Key stored, and its refusal is not stored', async () => {
    const member = await lab.member({ budget: 1 });
    const send = (key: string) => member.verify('a@good.com', {}, { 'idempotency-key': key });
    expect((await send('one')).status).toBe(200);
    expect((await send('two')).status).toBe(402);
    expect((await send('one')).headers.get('idempotency-replayed')).toBe('true');
    await lab.store.keys.update(member.account.id, member.keyId, { budget: 2 });
    expect((await send('two')).status).toBe(200);
  });
});
