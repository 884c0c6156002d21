import { afterAll, beforeAll, expect, it } from 'vitest';
import { MINUTE_MS, systemClock } from '../../../src/kernel/clock.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { of, signedIn } from './client.ts';

const LIMIT = 20;
/** Stands still in the middle of a rate window, so that no window ends during a test. */
const at = Math.floor(Date.now() / (5 * MINUTE_MS)) * 5 * MINUTE_MS + MINUTE_MS;
let lab: Lab;
beforeAll(async () => {
  lab = await startLab({}, { clock: { ...systemClock, now: () => at }, dashboardPerWindow: LIMIT });
});
afterAll(() => lab.close());

it('bounds the requests for one account, whoever sends them', async () => {
  const busy = await lab.member();
  const [one, two] = [await signedIn(lab, { account: busy.account }), await signedIn(lab, { account: busy.account })];
  for (let n = 0; n < LIMIT; n++)
    expect((await (n % 2 === 0 ? one : two).call('GET', of(busy.account))).status).toBe(200);
  const refused = await two.call('GET', of(busy.account, '/views?page=log'));
  expect([refused.status, refused.json.code, refused.json.limit]).toEqual([429, 'rate_limit_exceeded', LIMIT]);
  expect(refused.headers.get('retry-after')).toBe('240');
  // Its keys, other accounts of its people, and strangers to it are not affected.
  expect((await busy.verify('x')).status).toBe(200);
  const other = await lab.member();
  expect((await (await signedIn(lab, { account: other.account })).call('GET', of(other.account))).status).toBe(200);
  expect((await one.call('GET', of(other.account))).status).toBe(404);
});

it('bounds the requests of one user for no account', async () => {
  const { account } = await lab.member();
  const who = await signedIn(lab, { account });
  for (let n = 0; n < LIMIT; n++) expect((await who.call('GET', '/dashboard/sessions')).status).toBe(200);
  expect((await who.call('GET', '/dashboard/sessions')).status).toBe(429);
  expect((await who.call('GET', of(account))).status).toBe(200);
});
