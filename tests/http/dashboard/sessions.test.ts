import type { Kysely } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { USER_AGENT_LENGTH } from '../../../src/kernel/facts/limits.ts';
import { sha256Hex } from '../../../src/kernel/ids.ts';
import { type Browser, browser, forgetSignIns, PASSWORD, type Person, peopleOf, person } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';

const LINUX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
const PHONE = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1 Version/18.1 Safari/604.1';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({ MAILVET_TRUSTED_PROXIES: '127.0.0.1/32' });
});
afterAll(() => lab.close());
beforeEach(() => forgetSignIns(lab));

const sessionsOf = async (who: Browser) => (await who.call('GET', '/dashboard/sessions')).json.sessions;
const isSignedIn = async (who: Browser) => (await who.call('GET', '/dashboard/session')).json.user !== null;

/** Another browser of the same user. */
async function alsoFrom(who: Person, ip: string, userAgent: string): Promise<Browser> {
  const window = browser(lab.url);
  const headers = { 'x-forwarded-for': ip, 'user-agent': userAgent };
  const body = { email: who.email, password: PASSWORD };
  expect((await window.call('POST', '/dashboard/sign-in', body, headers)).status).toBe(200);
  return window;
}

describe('sessions', () => {
  it('are listed with device, address and times, and without anything to sign in with', async () => {
    const jane = await person(lab);
    const phone = await alsoFrom(jane, '2001:db8::7', PHONE);
    const laptop = await alsoFrom(jane, '203.0.113.7', LINUX);
    const reply = await laptop.call('GET', '/dashboard/sessions');
    const { sessions } = reply.json;
    expect(sessions).toHaveLength(3);
    expect(sessions.slice(0, 2)).toMatchObject([
      { device: 'Firefox on Linux', ip: '203.0.113.7', current: true },
      { device: 'Safari on iPhone', ip: '2001:db8::7', current: false },
    ]);
    for (const one of sessions) {
      expect(Object.keys(one).sort()).toEqual(['current', 'device', 'id', 'ip', 'last_seen_at', 'signed_in_at']);
      expect(Math.abs(Date.parse(one.signed_in_at) - Date.now())).toBeLessThan(600_000);
    }
    for (const { jar } of [jane, phone, laptop]) {
      const token = decodeURIComponent(jar.get('mailvet.session_token')!).split('.')[0]!;
      expect(reply.text).not.toContain(token);
      expect(reply.text).not.toContain(sha256Hex(token));
    }
  });

  it('end one by one, only for their user, and all but this one', async () => {
    const [jane, eve] = [await person(lab), await person(lab)];
    const phone = await alsoFrom(jane, '203.0.113.7', PHONE);
    const laptop = await alsoFrom(jane, '203.0.113.8', LINUX);
    const { id } = (await sessionsOf(jane)).find((one: { ip: string }) => one.ip === '203.0.113.7');
    const stolen = await eve.call('DELETE', `/dashboard/sessions/${id}`);
    expect([stolen.status, stolen.json.code]).toEqual([404, 'not_found']);
    expect(await isSignedIn(phone)).toBe(true);
    expect((await jane.call('DELETE', `/dashboard/sessions/${id}`)).status).toBe(200);
    expect((await jane.call('DELETE', `/dashboard/sessions/${id}`)).status).toBe(404);
    expect([await isSignedIn(phone), await isSignedIn(laptop)]).toEqual([false, true]);

    await alsoFrom(jane, '203.0.113.9', PHONE);
    const token = await peopleOf(lab).passwordToken(jane.id, 60_000);
    const others = await laptop.call('POST', '/dashboard/sessions/end-others');
    expect([others.status, others.json.message]).toEqual([200, '2 other sessions ended.']);
    expect([await isSignedIn(jane), await isSignedIn(laptop), await isSignedIn(eve)]).toEqual([false, true, true]);
    expect(await sessionsOf(laptop)).toHaveLength(1);
    const link = await browser(lab.url).call('POST', '/dashboard/password/reset', {
      token,
      password: 'another phrase',
    });
    expect(link.json.code).toBe('link_expired');
  });

  it('show where they were last seen, to the hour', async () => {
    const jane = await person(lab);
    const db = lab.store.authDatabase.db as Kysely<Record<string, Record<string, unknown>>>;
    const was = new Date(Date.now() - 2 * 3_600_000);
    // As the library keeps it: the last use is so long ago as the end is nearer than 7 days.
    const moment = (at: Date) => (lab.store.engine === 'sqlite' ? at.toISOString() : at);
    const ends = new Date(was.getTime() + 7 * 24 * 3_600_000);
    const times = { createdAt: moment(was), updatedAt: moment(was), expiresAt: moment(ends) };
    await db.updateTable('auth_sessions').set(times).where('userId', '=', jane.id).execute();
    const from = { 'x-forwarded-for': '198.51.100.9', 'user-agent': PHONE };
    expect((await jane.call('GET', '/dashboard/session', undefined, from)).json.user).not.toBeNull();
    const [seen] = await sessionsOf(jane);
    expect(seen).toMatchObject({ ip: '198.51.100.9', device: 'Safari on iPhone', signed_in_at: was.toISOString() });
    expect(Date.parse(seen.last_seen_at)).toBeGreaterThan(was.getTime());
  });

  it('keep little of what a browser says', async () => {
    const jane = await person(lab);
    await alsoFrom(jane, '203.0.113.7', `<b>${'x'.repeat(5000)} Firefox/1`);
    expect((await sessionsOf(jane))[0]).toMatchObject({ device: 'Unknown device' });
    const stored = await lab.store.signIns.sessions(jane.id);
    expect(stored[0]!.userAgent).toHaveLength(USER_AGENT_LENGTH.max);
  });

  it('that have expired are not listed', async () => {
    const jane = await person(lab);
    const phone = await alsoFrom(jane, '203.0.113.7', PHONE);
    const db = lab.store.authDatabase.db as Kysely<Record<string, Record<string, unknown>>>;
    const moment = (ms: number) => (lab.store.engine === 'sqlite' ? new Date(ms).toISOString() : new Date(ms));
    const set = (values: object) =>
      db.updateTable('auth_sessions').set(values).where('ipAddress', '=', '203.0.113.7').execute();
    await set({ expiresAt: moment(Date.now() - 1000) });
    expect(await sessionsOf(jane)).toHaveLength(1);
    await set({ expiresAt: moment(Date.now() + 86_400_000), createdAt: moment(Date.now() - 31 * 86_400_000) });
    expect([await isSignedIn(phone), (await sessionsOf(jane)).length]).toEqual([false, 1]);
  });
});
