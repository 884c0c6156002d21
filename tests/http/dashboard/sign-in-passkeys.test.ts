import type { Kysely } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Browser, browser, forgetSignIns, PASSWORD, type Person, person } from '../../lab/person.ts';
import { type Ceremony, type SecurityKey, securityKey } from '../../lab/second-factor.ts';
import { type Lab, type Reply, startLab } from '../../lab/service.ts';

let lab: Lab;
let here: Ceremony;
beforeAll(async () => {
  lab = await startLab();
  // WebAuthn uses `localhost` for a loopback address.
  here = { origin: lab.url, rpId: 'localhost' };
});
afterAll(() => lab.close());
beforeEach(() => forgetSignIns(lab));

const userOf = async (who: Browser) => (await who.call('GET', '/dashboard/session')).json.user;

async function add(who: Browser, key: SecurityKey, how: Ceremony, name = 'Blue key'): Promise<Reply> {
  const { options } = (await who.call('POST', '/dashboard/passkeys/options', { password: PASSWORD })).json;
  return who.call('POST', '/dashboard/passkeys', { name, credential: key.create(options, how) });
}
async function signIn(window: Browser, key: SecurityKey, how: Ceremony): Promise<Reply> {
  const { options } = (await window.call('POST', '/dashboard/sign-in/passkey/options')).json;
  return window.call('POST', '/dashboard/sign-in/passkey', { credential: key.get(options, how) });
}

describe('a passkey', () => {
  it('can be added, listed, used to sign in, removed', async () => {
    const jane = await person(lab, { email: 'jane@example.com' });
    const key = securityKey();
    const { options } = (await jane.call('POST', '/dashboard/passkeys/options', { password: PASSWORD })).json;
    expect(options).toMatchObject({
      rp: { name: 'Mailvet', id: 'localhost' },
      user: { name: 'jane@example.com' },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    const added = await jane.call('POST', '/dashboard/passkeys', {
      name: ' Blue key ',
      credential: key.create(options, here),
    });
    expect([added.status, added.json.status]).toEqual([201, 'success']);
    const { passkeys } = (await jane.call('GET', '/dashboard/passkeys')).json;
    expect(passkeys).toEqual([
      { id: expect.any(String), name: 'Blue key', created_at: expect.stringMatching(/^2.*Z$/), last_used_at: null },
    ]);
    expect(
      (await jane.call('POST', '/dashboard/passkeys/options', { password: PASSWORD })).json.options.excludeCredentials,
    ).toMatchObject([{ id: key.id }]);

    const window = browser(lab.url);
    const asked = await window.call('POST', '/dashboard/sign-in/passkey/options');
    expect(asked.json.options).toMatchObject({ rpId: 'localhost', userVerification: 'required' });
    const reply = await window.call('POST', '/dashboard/sign-in/passkey', {
      credential: key.get(asked.json.options, here),
    });
    expect(reply.status).toBe(200);
    expect(await userOf(window)).toMatchObject({ id: jane.id });

    expect((await jane.call('DELETE', `/dashboard/passkeys/${passkeys[0].id}`)).status).toBe(200);
    expect((await jane.call('GET', '/dashboard/passkeys')).json.passkeys).toEqual([]);
    const gone = await signIn(browser(lab.url), key, here);
    expect([gone.status, gone.json.code]).toEqual([401, 'sign_in_failed']);
    expect(gone.headers.get('www-authenticate')).toBeNull();
  });

  it('is not visible or removable for others', async () => {
    const [mary, john] = [await person(lab), await person(lab)];
    await add(mary, securityKey(), here);
    const { id } = (await mary.call('GET', '/dashboard/passkeys')).json.passkeys[0];
    expect((await john.call('GET', '/dashboard/passkeys')).json.passkeys).toEqual([]);
    const reply = await john.call('DELETE', `/dashboard/passkeys/${id}`);
    expect([reply.status, reply.json.code]).toEqual([404, 'not_found']);
    expect((await mary.call('GET', '/dashboard/passkeys')).json.passkeys).toHaveLength(1);
  });

  it('can be added only by the user who requested it', async () => {
    const [mary, john] = [await person(lab), await person(lab)];
    const { options } = (await mary.call('POST', '/dashboard/passkeys/options', { password: PASSWORD })).json;
    john.jar.set('mailvet.passkey', mary.jar.get('mailvet.passkey')!);
    const reply = await john.call('POST', '/dashboard/passkeys', {
      name: 'x',
      credential: securityKey().create(options, here),
    });
    expect([reply.status, reply.json.code]).toEqual([422, 'passkey_refused']);
  });

  it('is one of at most 20, also where its options were fetched before the others were added', async () => {
    const mary = await person(lab);
    await add(mary, securityKey(), here);
    const { options } = (await mary.call('POST', '/dashboard/passkeys/options', { password: PASSWORD })).json;
    const db = lab.store.authDatabase.db as Kysely<Record<string, Record<string, unknown>>>;
    const first = await db
      .selectFrom('auth_passkeys')
      .selectAll()
      .where('userId', '=', mary.id)
      .executeTakeFirstOrThrow();
    for (let i = 2; i <= 20; i++) {
      const another = { ...first, id: `${String(first.id)}${i}`, credentialID: `${String(first.credentialID)}${i}` };
      await db.insertInto('auth_passkeys').values(another).execute();
    }
    const reply = await mary.call('POST', '/dashboard/passkeys', {
      name: 'x',
      credential: securityKey().create(options, here),
    });
    expect([reply.status, reply.json.code]).toEqual([422, 'passkey_refused']);
    expect((await mary.call('GET', '/dashboard/passkeys')).json.passkeys).toHaveLength(20);
  });

  it('rotates the session as a password does', async () => {
    const mary = await person(lab);
    const key = securityKey();
    await add(mary, key, here);
    const old = mary.jar.get('mailvet.session_token')!;
    expect((await signIn(mary, key, here)).status).toBe(200);
    const window = browser(lab.url);
    window.jar.set('mailvet.session_token', old);
    expect(await userOf(window)).toBeNull();
    expect(await userOf(mary)).toMatchObject({ id: mary.id });
  });

  it('requires a recent sign-in', async () => {
    const mary = await person(lab);
    const db = lab.store.authDatabase.db as Kysely<Record<string, Record<string, unknown>>>;
    const yesterday = new Date(Date.now() - 25 * 3_600_000);
    const createdAt = lab.store.engine === 'sqlite' ? yesterday.toISOString() : yesterday;
    await db.updateTable('auth_sessions').set({ createdAt }).where('userId', '=', mary.id).execute();
    const reply = await mary.call('POST', '/dashboard/passkeys/options', { password: PASSWORD });
    expect([reply.status, reply.json.code]).toEqual([403, 'sign_in_again']);
  });
});

describe('an invalid passkey', () => {
  let mary: Person;
  let key: SecurityKey;
  beforeAll(async () => {
    mary = await person(lab);
    key = securityKey();
    expect((await add(mary, key, here)).status).toBe(201);
  });
  const elsewhere = (): [string, Ceremony][] => [
    ['made for another site', { ...here, origin: 'https://evil.example' }],
    ['bound to another name', { ...here, rpId: 'evil.example' }],
    ['made without asking the user', { ...here, verified: false }],
  ];

  it.each([0, 1])('is not added (%#)', async (i) => {
    const reply = await add(mary, securityKey(), elsewhere()[i]![1]);
    expect([reply.status, reply.json.code]).toEqual([422, 'passkey_refused']);
  });

  it.each([0, 1, 2])('does not sign in (%#)', async (i) => {
    const window = browser(lab.url);
    const reply = await signIn(window, key, elsewhere()[i]![1]);
    expect([reply.status, reply.json.code]).toEqual([401, 'sign_in_failed']);
    expect(await userOf(window)).toBeNull();
  });

  it('has a signature for another challenge, or a replayed one', async () => {
    const window = browser(lab.url);
    const { options } = (await window.call('POST', '/dashboard/sign-in/passkey/options')).json;
    const credential = key.get({ challenge: 'AAAA' }, here);
    expect((await window.call('POST', '/dashboard/sign-in/passkey', { credential })).status).toBe(401);
    const kept = new Map(window.jar);
    const late = await window.call('POST', '/dashboard/sign-in/passkey', { credential: key.get(options, here) });
    expect([late.status, late.json.error]).toEqual([401, 'That took too long. Start again.']);
    const fresh = browser(lab.url);
    const again = (await fresh.call('POST', '/dashboard/sign-in/passkey/options')).json.options;
    const good = key.get(again, here);
    for (const [name, value] of fresh.jar) kept.set(name, value);
    expect((await fresh.call('POST', '/dashboard/sign-in/passkey', { credential: good })).status).toBe(200);
    const replayer = browser(lab.url);
    for (const [name, value] of kept) replayer.jar.set(name, value);
    expect((await replayer.call('POST', '/dashboard/sign-in/passkey', { credential: good })).status).toBe(401);
  });

  it('is malformed', async () => {
    const window = browser(lab.url);
    const real = key.get({ challenge: 'AAAA' }, here);
    for (const credential of [
      {},
      { ...real, id: { $ne: '' } },
      { ...real, id: ['a', 'b'] },
      { ...real, id: 'a\u0000b' },
      { ...real, id: 'x'.repeat(2000) },
      { ...real, response: null },
      { ...real, response: 'x' },
      { ...real, response: {} },
      { ...real, rawId: 7 },
      { ...real, type: 'password' },
    ]) {
      await window.call('POST', '/dashboard/sign-in/passkey/options');
      const reply = await window.call('POST', '/dashboard/sign-in/passkey', { credential });
      expect([reply.status, reply.json.code]).toEqual([401, 'sign_in_failed']);
    }
    await forgetSignIns(lab);
    const { options } = (await mary.call('POST', '/dashboard/passkeys/options', { password: PASSWORD })).json;
    const made = securityKey().create(options, here);
    for (const response of [
      {},
      { ...(made.response as object), transports: 'usb' },
      { ...(made.response as object), transports: [{}] },
    ]) {
      const reply = await mary.call('POST', '/dashboard/passkeys', { name: 'x', credential: { ...made, response } });
      expect([reply.status, reply.json.code]).toEqual([422, 'passkey_refused']);
    }
  });
});

it('is not offered if the public URL has an IP address', async () => {
  const numbered = await startLab({ MAILVET_PUBLIC_URL: 'http://192.0.2.7:8025' });
  try {
    const reply = await browser(numbered.url).call('POST', '/dashboard/sign-in/passkey/options');
    expect([reply.status, reply.json.code]).toEqual([422, 'passkey_refused']);
    expect(reply.json.error).toMatch(/MAILVET_PUBLIC_URL/);
  } finally {
    await numbered.close();
  }
});
