/** What a copy of the store is worth to whoever has one: nobody's session. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Person, person } from '../../lab/person.ts';
import { type Lab, request, startLab } from '../../lab/service.ts';
import { runSql } from '../../lab/stores.ts';

const COOKIE = 'mailvet.session_token';
const OWN_SECRET = 'a secret that only the environment has, 1234567890';

let lab: Lab;
let jane: Person;
beforeAll(async () => {
  lab = await startLab();
  jane = await person(lab, { operator: true });
});
afterAll(() => lab.close());

/** A session cookie as the service signs it. */
const signed = (token: string, secret: string): string => {
  const signature = createHmac('sha256', secret).update(token).digest('base64');
  return `${COOKIE}=${encodeURIComponent(`${token}.${signature}`)}`;
};
/** Who is signed in by the cookie; null: nobody. */
const userBy = async (cookie: string) =>
  (await request(lab.url, 'GET', '/dashboard/session', undefined, { cookie, 'sec-fetch-site': 'same-origin' })).json
    .user;

const signingSecret = async () => String((await runSql(lab.databaseUrl, 'SELECT value FROM secrets'))[0]?.value);

it('signs nobody in, not even with the signing secret that the store keeps', async () => {
  const secret = await signingSecret();
  const own = decodeURIComponent(jane.jar.get(COOKIE) ?? '').split('.')[0] ?? '';
  // Proof that the forged cookies below are signed correctly.
  expect(await userBy(signed(own, secret))).toMatchObject({ email: jane.email });
  const rows = await runSql(lab.databaseUrl, 'SELECT * FROM auth_sessions');
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain(own);
  for (const row of rows) {
    for (const value of Object.values(row)) expect(await userBy(signed(String(value), secret))).toBeNull();
  }
});

it('has no value by which a link works', async () => {
  await jane.call('POST', '/dashboard/sign-in', { email: jane.email, password: jane.password });
  for (const { identifier, value } of await runSql(lab.databaseUrl, 'SELECT * FROM auth_verifications')) {
    expect(String(identifier)).not.toMatch(/^(reset-password|sign-up|2fa)/);
    expect(String(value)).not.toContain(String(identifier));
  }
});

it('still extends, rotates and ends sessions', async () => {
  const far = new Date(Date.now() + 2 * 86_400_000).toISOString();
  await runSql(lab.databaseUrl, `UPDATE auth_sessions SET "expiresAt" = '${far}'`);
  const extended = await jane.call('GET', '/dashboard/session');
  expect(extended.headers.getSetCookie().join()).toContain(COOKIE);
  expect((await jane.call('GET', '/dashboard/session')).json.user).toMatchObject({ id: jane.id });
  const before = jane.jar.get(COOKIE);
  const changed = await jane.call('POST', '/dashboard/password', {
    current: jane.password,
    password: `${jane.password}!`,
  });
  expect(changed.status).toBe(200);
  expect(jane.jar.get(COOKIE)).not.toBe(before);
  expect(await userBy(`${COOKIE}=${before}`)).toBeNull();
  const last = jane.jar.get(COOKIE);
  await jane.call('POST', '/dashboard/sign-out', {});
  expect(await userBy(`${COOKIE}=${last}`)).toBeNull();
  expect(await runSql(lab.databaseUrl, 'SELECT id FROM auth_sessions')).toEqual([]);
});

it('has no signing secret where the operator gives one', async () => {
  const given = await startLab({ MAILVET_AUTH_SECRET: OWN_SECRET });
  try {
    await runSql(given.databaseUrl, `INSERT INTO secrets (name, value) VALUES ('auth', '${OWN_SECRET}')`);
    // An address that nobody has: the sign-in library is loaded all the same.
    await request(
      given.url,
      'POST',
      '/dashboard/sign-in',
      { email: 'a@example.com', password: 'x' },
      {
        origin: given.url,
        'sec-fetch-site': 'same-origin',
      },
    );
    expect(await runSql(given.databaseUrl, 'SELECT * FROM secrets')).toEqual([]);
  } finally {
    await given.close();
  }
});
