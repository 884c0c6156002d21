import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { type Lab, startLab } from '../lab/service.ts';

const WINDOW_MS = 300_000;
/** A manual clock that starts in the middle of a window. */
let ahead = 0;
const middle = WINDOW_MS / 2 - (systemClock.now() % WINDOW_MS);
const clock = { now: () => systemClock.now() + middle + ahead, elapsed: systemClock.elapsed };

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({}, { clock });
});
afterAll(() => lab.close());
const onSqlite = process.env.MAILVET_TEST_STORE !== 'postgres';

describe('rate limit', () => {
  it('counts every request of the account in the window, and reports it in both kinds of headers', async () => {
    const member = await lab.member({ plan: 'starter' });
    const first = await member.verify('a@good.com');
    expect(first.headers.get('ratelimit-policy')).toBe('"starter";q=60;w=300');
    expect(first.headers.get('ratelimit')).toMatch(/^"starter";r=59;t=\d+$/);
    expect(first.headers.get('x-ratelimit-limit')).toBe('60');
    expect(first.headers.get('x-ratelimit-remaining')).toBe('59');
    expect(Number(first.headers.get('x-ratelimit-reset')) % 300).toBe(0);
    const second = await member.call('GET', '/v1/filters?page=0');
    expect([second.status, second.headers.get('x-ratelimit-remaining')]).toEqual([400, '58']);
  });

  it('returns 429 above the limit, charges nothing, and resets with the next window', async () => {
    const member = await lab.member({ rateLimit: 3 });
    for (let i = 0; i < 3; i++) expect((await member.verify('a@good.com')).status).toBe(200);
    const refused = await member.verify('a@good.com');
    expect([refused.status, refused.json.code, refused.json.limit]).toEqual([429, 'rate_limit_exceeded', 3]);
    expect(refused.headers.get('retry-after')).toBe(String(refused.json.retry_after));
    expect(refused.headers.get('ratelimit')).toMatch(/r=0;/);
    expect((await lab.store.accounts.get(member.account.id))!.balance).toBe(997);
    const badToo = await member.call('POST', '/v1/verify', '{');
    expect(badToo.status).toBe(429);
    if (!onSqlite) return;
    ahead += WINDOW_MS;
    expect((await member.verify('a@good.com')).status).toBe(200);
  });

  it('is shared by all keys of an account, and by no other account', async () => {
    const [member, other] = [await lab.member({ rateLimit: 1 }), await lab.member({ rateLimit: 1 })];
    expect((await member.call('GET', '/v1/usage')).status).toBe(200);
    expect((await member.call('GET', '/v1/filters')).status).toBe(429);
    expect((await other.call('GET', '/v1/usage')).status).toBe(200);
  });
});
