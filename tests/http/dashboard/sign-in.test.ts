import type { Kysely } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_PRICES } from '../../../src/kernel/facts/plans.ts';
import { browser, forgetSignIns, PASSWORD, type Person, person } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';

let lab: Lab;
let jane: Person;
beforeAll(async () => {
  lab = await startLab();
  jane = await person(lab, { email: 'Jane@Example.com', name: 'Jane' });
});
afterAll(() => lab.close());
beforeEach(() => forgetSignIns(lab));

const userOf = async (who: Pick<Person, 'call'>) => (await who.call('GET', '/dashboard/session')).json.user;
const SESSION = 'mailvet.session_token';

describe('signing in', () => {
  it('creates a session with the user', async () => {
    const { account } = await lab.member();
    const john = await person(lab, { email: 'john@example.com', name: 'John', account: account.id, role: 'admin' });
    const session = await john.call('GET', '/dashboard/session');
    expect(session.status).toBe(200);
    expect(session.headers.get('cache-control')).toBe('no-store');
    const byPassword = { has_password: true, second_factor: false, with_second_factor: false };
    expect(session.json).toEqual({
      user: { id: john.id, email: 'john@example.com', name: 'John', ...byPassword, operator: false },
      accounts: [
        {
          id: account.id,
          name: account.name,
          role: 'admin',
          plan: 'premium',
          prices: DEFAULT_PRICES,
          status: 'active',
          second_factor_required: false,
          test_account: `${account.id}_test`,
        },
      ],
      signup: false,
      setup_command: null,
      mail: false,
      mail_servers: null,
      oidc: null,
      ip: '127.0.0.1',
    });
  });

  it('ignores the case of the address', async () => {
    const reply = await browser(lab.url).signIn(' JANE@example.COM ');
    expect([reply.status, reply.json]).toEqual([200, { second_factor: false }]);
  });

  it('sets a HttpOnly, SameSite cookie', async () => {
    const reply = await browser(lab.url).signIn(jane.email);
    const line = reply.headers.getSetCookie().find((cookie) => cookie.startsWith(SESSION))!;
    expect(line.split('; ').slice(1).sort()).toEqual(['HttpOnly', 'Max-Age=604800', 'Path=/', 'SameSite=Strict']);
    expect(reply.text).not.toContain(decodeURIComponent(line.split(/[=;]/)[1]!).split('.')[0]);
  });

  it('responds alike to an unknown address and a wrong password', async () => {
    const replies = [
      await browser(lab.url).signIn('nobody@example.com', 'a password of nobody'),
      await browser(lab.url).signIn('no address at all', 'a password of nobody'),
      await browser(lab.url).signIn('jörg@example.com', 'a password of nobody'),
      await browser(lab.url).signIn(jane.email, 'a password of nobody'),
      await browser(lab.url).signIn(jane.email, 'x'),
    ];
    const said = replies.map(({ status, json }) => ({ status, code: json.code, error: json.error }));
    expect(new Set(said.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(said[0]).toMatchObject({ status: 401, code: 'sign_in_failed' });
    for (const { headers } of replies) {
      expect(headers.get('www-authenticate')).toBeNull();
      expect(headers.getSetCookie()).toEqual([]);
    }
  });

  it('spends as much CPU time on an unknown address as on a wrong password', async () => {
    // CPU time of this process, in which the service runs: unlike elapsed time it does not depend on other processes.
    const cost = async (email: string) => {
      const before = process.cpuUsage();
      await browser(lab.url).signIn(email, 'a password of nobody');
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const known: number[] = [];
    const unknown: number[] = [];
    const user = await person(lab, { fullHash: true });
    for (let i = 0; i < 8; i++) {
      known.push(await cost(user.email));
      unknown.push(await cost(`nobody${i}@example.com`));
    }
    // Without password hashing it would be a twentieth.
    expect(Math.min(...unknown)).toBeGreaterThan(Math.min(...known) / 2);
    expect(Math.min(...known)).toBeGreaterThan(Math.min(...unknown) / 2);
  });

  it('rejects an invalid body', async () => {
    const { call } = browser(lab.url);
    const codeOf = async (body: unknown, headers = {}) => {
      const { status, json } = await call('POST', '/dashboard/sign-in', body, headers);
      return [status, json.code];
    };
    expect(await codeOf({ email: jane.email })).toEqual([400, 'missing_parameter']);
    expect(await codeOf({ email: jane.email, password: ['x'] })).toEqual([400, 'invalid_parameter']);
    expect(await codeOf({ email: { $ne: '' }, password: PASSWORD })).toEqual([400, 'invalid_parameter']);
    expect(await codeOf({ email: jane.email, password: 'x'.repeat(257) })).toEqual([400, 'invalid_parameter']);
    expect(await codeOf('[]')).toEqual([400, 'invalid_json']);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(await codeOf(`email=${jane.email}&password=${PASSWORD}`, form)).toEqual([415, 'unsupported_media_type']);
  });

  it('rejects cross-site requests', async () => {
    const window = browser(lab.url);
    const body = { email: jane.email, password: PASSWORD };
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ] as Record<string, string>[]) {
      const reply = await window.call('POST', '/dashboard/sign-in', body, headers);
      expect([reply.status, reply.json.code]).toEqual([403, 'cross_origin']);
    }
    expect(window.jar.size).toBe(0);
  });
});

describe('a session', () => {
  it('is new after every sign-in, and the old one ends', async () => {
    const window = browser(lab.url);
    await window.signIn(jane.email);
    const old = window.jar.get(SESSION)!;
    await window.signIn(jane.email);
    expect(window.jar.get(SESSION)).not.toBe(old);
    expect(await userOf(window)).toMatchObject({ id: jane.id });
    window.jar.set(SESSION, old);
    expect(await userOf(window)).toBeNull();
  });

  it('is not fixable by an attacker', async () => {
    const window = browser(lab.url);
    const planted = 'planted.signature';
    window.jar.set(SESSION, planted);
    await window.signIn(jane.email);
    expect(window.jar.get(SESSION)).not.toBe(planted);
  });

  it('ends at sign-out, and no other does', async () => {
    const [here, there] = [browser(lab.url), browser(lab.url)];
    await here.signIn(jane.email);
    await there.signIn(jane.email);
    const kept = here.jar.get(SESSION)!;
    const reply = await here.call('POST', '/dashboard/sign-out');
    expect(reply.json.status).toBe('success');
    expect(here.jar.has(SESSION)).toBe(false);
    here.jar.set(SESSION, kept);
    expect(await userOf(here)).toBeNull();
    expect(await userOf(there)).toMatchObject({ id: jane.id });
  });

  it('can be ended everywhere', async () => {
    const mary = await person(lab);
    const there = browser(lab.url);
    await there.signIn(mary.email);
    expect((await mary.call('POST', '/dashboard/sign-out-everywhere')).status).toBe(200);
    expect(mary.jar.has(SESSION)).toBe(false);
    expect(await userOf(there)).toBeNull();
    expect(await userOf(jane)).toMatchObject({ id: jane.id });
  });

  it('is rejected with a modified cookie', async () => {
    const window = browser(lab.url);
    await window.signIn(jane.email);
    const good = decodeURIComponent(window.jar.get(SESSION)!);
    const [token = '', signature = ''] = [good.slice(0, good.indexOf('.')), good.slice(good.indexOf('.') + 1)];
    for (const bad of [
      token,
      `${token}.`,
      `${token}x.${signature}`,
      `${token}.${'A'.repeat(44)}`,
      '',
      '%zz',
      '.',
      'a.b.c',
    ]) {
      window.jar.set(SESSION, encodeURIComponent(bad));
      expect(await userOf(window)).toBeNull();
      const reply = await window.call('POST', '/dashboard/sign-out-everywhere');
      expect([reply.status, reply.json.code]).toEqual([401, 'not_signed_in']);
      expect(reply.headers.get('www-authenticate')).toBeNull();
    }
  });

  it('is prolonged while it is used, a day at a time', async () => {
    const mary = await person(lab);
    const db = lab.store.authDatabase.db as Kysely<Record<string, Record<string, unknown>>>;
    const sixDays = new Date(Date.now() + 5 * 86_400_000);
    const when = lab.store.engine === 'sqlite' ? sixDays.toISOString() : sixDays;
    await db.updateTable('auth_sessions').set({ expiresAt: when }).where('userId', '=', mary.id).execute();
    const again = await mary.call('GET', '/dashboard/session');
    expect(again.headers.getSetCookie().join()).toMatch(/session_token=.*Max-Age=604800/);
    expect((await mary.call('GET', '/dashboard/session')).headers.getSetCookie()).toEqual([]);
    const past = new Date(Date.now() - 1000);
    const ended = lab.store.engine === 'sqlite' ? past.toISOString() : past;
    await db.updateTable('auth_sessions').set({ expiresAt: ended }).where('userId', '=', mary.id).execute();
    expect(await userOf(mary)).toBeNull();
  });

  it('is not valid for the API, nor a key for the dashboard', async () => {
    const member = await lab.member();
    const owner = await person(lab, { account: member.account.id });
    const path = `/dashboard/accounts/${member.account.id}`;
    expect((await owner.call('GET', path)).status).toBe(200);
    const usage = await owner.call('GET', '/v1/usage');
    expect([usage.status, usage.json.code]).toEqual([401, 'missing_api_key']);
    const byKey = await member.call('GET', path);
    expect([byKey.status, byKey.json.code]).toEqual([401, 'not_signed_in']);
    const twice = await member.call('POST', '/dashboard/sign-out-everywhere', undefined, {
      'sec-fetch-site': 'same-origin',
    });
    expect(twice.status).toBe(401);
  });
});

describe('the user', () => {
  it('changes the name', async () => {
    const mary = await person(lab);
    expect((await mary.call('PATCH', '/dashboard/profile', { name: '  Mary Ann ' })).status).toBe(200);
    expect(await userOf(mary)).toMatchObject({ name: 'Mary Ann' });
    for (const name of [' ', 'a\u0000b', '\ud800']) {
      const reply = await mary.call('PATCH', '/dashboard/profile', { name });
      expect([reply.status, reply.json.field]).toEqual([400, 'name']);
    }
  });

  it('changes the password: other sessions end, this one is rotated', async () => {
    const mary = await person(lab);
    const there = browser(lab.url);
    await there.signIn(mary.email);
    const old = mary.jar.get(SESSION);
    const fresh = 'a longer and better password';
    const wrong = await mary.call('POST', '/dashboard/password', { current: 'not this one', password: fresh });
    expect([wrong.status, wrong.json.code]).toEqual([422, 'wrong_password']);
    const reply = await mary.call('POST', '/dashboard/password', { current: PASSWORD, password: fresh });
    expect(reply.status).toBe(200);
    expect(mary.jar.get(SESSION)).not.toBe(old);
    expect(await userOf(mary)).toMatchObject({ id: mary.id });
    expect(await userOf(there)).toBeNull();
    expect((await browser(lab.url).signIn(mary.email)).status).toBe(401);
    expect((await browser(lab.url).signIn(mary.email, fresh)).status).toBe(200);
  });

  it('cannot choose a common password', async () => {
    const mary = await person(lab, { email: 'mary.longname@example.com' });
    for (const password of [
      'short',
      'Mary.Longname@Example.com',
      'mailvet-mailvet!',
      'aaaaaaaaaaaaaaaa',
      'x'.repeat(257),
    ]) {
      const reply = await mary.call('POST', '/dashboard/password', { current: PASSWORD, password });
      expect([password, reply.status, reply.json.field]).toEqual([password, 400, 'password']);
    }
  });
});

describe('behind https', () => {
  it('has Secure cookies', async () => {
    const secure = await startLab({ MAILVET_PUBLIC_URL: 'https://mailvet.example', MAILVET_PORT: '0' });
    try {
      const mary = await person(secure);
      const reply = await mary.call(
        'POST',
        '/dashboard/sign-in',
        { email: mary.email, password: PASSWORD },
        {
          origin: 'https://mailvet.example',
        },
      );
      const line = reply.headers.getSetCookie().find((cookie) => cookie.includes('session_token'))!;
      expect(line).toMatch(/^__Host-mailvet\.session_token=/);
      expect(line.split('; ')).toContain('Secure');
      expect(await userOf(mary)).toMatchObject({ id: mary.id });
    } finally {
      await secure.close();
    }
  });
});

it('a session ends 30 days after the sign-in, however much it is used', async () => {
  const mary = await person(lab);
  const db = lab.store.authDatabase.db as Kysely<Record<string, Record<string, unknown>>>;
  const age = async (days: number) => {
    const at = new Date(Date.now() - days * 86_400_000);
    const createdAt = lab.store.engine === 'sqlite' ? at.toISOString() : at;
    await db.updateTable('auth_sessions').set({ createdAt }).where('userId', '=', mary.id).execute();
    return (await mary.call('GET', '/dashboard/session')).json.user?.id ?? null;
  };
  expect(await age(29)).toBe(mary.id);
  expect(await age(30)).toBeNull();
});
