/** Two nodes on one store, one of which has a wrong clock: stored times are the store's, so both say the same. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clock, DAY_MS, systemClock } from '../../../src/kernel/clock.ts';
import { WINDOW_SECONDS } from '../../../src/kernel/facts/plans.ts';
import { browser, type Person, person } from '../../lab/person.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { ENGINE } from '../../lab/stores.ts';
import { of } from './client.ts';

/** A store in a file has one machine, and thus one clock. */
describe.skipIf(ENGINE !== 'postgres').each([
  ['behind', -40 * DAY_MS],
  ['ahead', 40 * DAY_MS],
])('a node whose clock is 40 days %s', (_, offMs) => {
  let right: Lab;
  let wrong: Lab;
  let member: Member;
  let owner: Person;
  beforeAll(async () => {
    right = await startLab();
    const clock: Clock = { now: () => systemClock.now() + offMs, elapsed: () => systemClock.elapsed() };
    wrong = await startLab({ MAILVET_DATABASE_URL: right.databaseUrl }, { clock });
    member = await right.member();
    owner = await person(right, { account: member.account.id });
  });
  afterAll(async () => {
    await wrong?.close();
    await right?.close();
  });
  const signedInAt = async ({ url }: Lab) => {
    const window = browser(url);
    expect((await window.signIn(owner.email)).status).toBe(200);
    return window;
  };

  it('begins sessions that the other one takes, and takes those of the other one', async () => {
    for (const [from, to] of [
      [wrong, right],
      [right, wrong],
    ] as const) {
      const there = browser(to.url);
      for (const cookie of (await signedInAt(from)).jar) there.jar.set(...cookie);
      expect((await there.call('GET', '/dashboard/session')).json.user?.email).toBe(owner.email);
    }
  });

  it('invites for as long as the other one', async () => {
    const page = await signedInAt(wrong);
    const { json } = await page.call('POST', of(member.account, '/invitations'), {
      email: 'a@good.com',
      role: 'member',
    });
    const token = json.link.split('token=')[1];
    const seen = await browser(right.url).call('POST', '/dashboard/invitation', { token });
    expect(seen.status).toBe(200);
    const [invitation] = (await owner.call('GET', of(member.account, '/members'))).json.invitations;
    expect(Math.abs(Date.parse(invitation.expires_at) - systemClock.now() - 7 * DAY_MS)).toBeLessThan(DAY_MS);
  });

  it('tells which keys have expired, and when the rate window ends', async () => {
    const soon = new Date(systemClock.now() + DAY_MS).toISOString();
    const body = { name: 'for a day', expires_at: soon };
    const made = await owner.call('POST', of(member.account, '/keys'), body);
    expect(made.status).toBe(201);
    const { keys } = (await (await signedInAt(wrong)).call('GET', of(member.account, '/keys'))).json;
    expect(keys.map(({ state }: { state: string }) => state)).toEqual(['active', 'active']);
    const authorization = { authorization: `Bearer ${member.key}` };
    const reply = await browser(wrong.url).call('GET', '/v1/usage', undefined, authorization);
    const left = Number(/t=(\d+)/.exec(reply.headers.get('ratelimit') ?? '')?.[1]);
    expect(left).toBeGreaterThanOrEqual(1);
    expect(left).toBeLessThanOrEqual(WINDOW_SECONDS);
  });
});
