import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Lab, type Reply, startLab } from '../../lab/service.ts';
import { of, signedIn } from './client.ts';

const LIMIT = 20;
let lab: Lab;
beforeAll(async () => {
  lab = await startLab({}, { dashboardPerWindow: LIMIT });
});
afterAll(() => lab.close());

/** The first reply that is not 200, and how many came before it. Twice the limit may, as a window can end meanwhile. */
async function firstRefusal(send: (n: number) => Promise<Reply>): Promise<{ refused: Reply; before: number }> {
  for (let before = 0; before <= 2 * LIMIT; before++) {
    const reply = await send(before);
    if (reply.status !== 200) return { refused: reply, before };
  }
  throw new Error('Nothing was refused.');
}

it('bounds the requests for one account, whoever sends them', async () => {
  const busy = await lab.member();
  const [one, two] = [await signedIn(lab, { account: busy.account }), await signedIn(lab, { account: busy.account })];
  const { refused, before } = await firstRefusal((n) => (n % 2 === 0 ? one : two).call('GET', of(busy.account)));
  expect(before).toBeGreaterThanOrEqual(LIMIT);
  expect([refused.status, refused.json.code, refused.json.limit]).toEqual([429, 'rate_limit_exceeded', LIMIT]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  // Its keys, other accounts, and strangers to those are not affected.
  expect((await busy.verify('x')).status).toBe(200);
  const other = await lab.member();
  expect((await (await signedIn(lab, { account: other.account })).call('GET', of(other.account))).status).toBe(200);
  expect((await one.call('GET', of(other.account))).status).toBe(404);
});

it('bounds the requests of one user for no account', async () => {
  const { account } = await lab.member();
  const who = await signedIn(lab, { account });
  const { refused, before } = await firstRefusal(() => who.call('GET', '/dashboard/sessions'));
  expect([refused.status, before >= LIMIT]).toEqual([429, true]);
  expect((await who.call('GET', of(account))).status).toBe(200);
});
