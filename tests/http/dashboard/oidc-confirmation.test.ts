/** Users without a password confirm what is sensitive by signing in with their provider again. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { OidcFailure } from '../../../src/service/sign-in/oidc-failures.ts';
import { type OidcLab, type OidcLie, oidcOptions, startOidc, verified } from '../../lab/oidc.ts';
import { type Browser, browser, PASSWORD, type Person, person, signInByOidc } from '../../lab/person.ts';
import { type SecurityKey, securityKey, totp } from '../../lab/second-factor.ts';
import { type Lab, type Member, type Reply, startLab } from '../../lab/service.ts';
import { runSql } from '../../lab/stores.ts';

let oidc: OidcLab;
let lab: Lab;
let member: Member;
beforeAll(async () => {
  oidc = await startOidc();
  lab = await startLab(oidcOptions(oidc), { oidc });
  member = await lab.member();
});
afterAll(async () => {
  await lab.close();
  await oidc.close();
});
afterEach(() => {
  oidc.lie = null;
});

const ACTIONS = ['set_up_totp', 'remove_totp', 'add_passkey', 'delete_account'] as const;
type Action = (typeof ACTIONS)[number];

const jane = (on = lab): Promise<Person> => person(on, { account: member.account.id });
const begin = (window: Browser, action: Action): Promise<Reply> =>
  window.call('POST', '/dashboard/sign-in/oidc/confirm', { action });
const finish = (window: Browser, query: string): Promise<Reply> =>
  window.call('POST', '/dashboard/sign-in/oidc/finish', { query });
/** The person signs in with the provider again, for this action. */
async function confirm(window: Person, action: Action, claims = verified(window.id, window.email)): Promise<Reply> {
  const begun = await begin(window, action);
  if (begun.status !== 200) return begun;
  oidc.person = claims;
  return finish(window, oidc.authorize(begun.json.url));
}
const setUp = (window: Browser) => window.call('POST', '/dashboard/totp', { oidc: true });
const said = ({ status, json }: Reply) => [status, json.code, json.reason];
const REFUSED = (reason: OidcFailure) => [403, 'oidc_refused', reason];

async function withApp(): Promise<{ window: Person; secret: string }> {
  const window = await jane();
  await confirm(window, 'set_up_totp');
  const { secret } = (await setUp(window)).json;
  expect((await window.call('POST', '/dashboard/totp/confirm', { code: totp(secret, -1) })).status).toBe(200);
  return { window, secret };
}
async function addKey(window: Person, proof: object): Promise<SecurityKey> {
  const made = await window.call('POST', '/dashboard/passkeys/options', proof);
  expect(made.status).toBe(200);
  const key = securityKey();
  const credential = key.create(made.json.options, { origin: lab.url, rpId: 'localhost' });
  expect((await window.call('POST', '/dashboard/passkeys', { name: 'Key', credential })).status).toBe(201);
  return key;
}

describe('signing in with the provider again', () => {
  it('sets up an authenticator app, and keeps the session that there is', async () => {
    const window = await jane();
    expect((await window.call('GET', '/dashboard/session')).json.user.has_password).toBe(false);
    const before = window.jar.get('mailvet.session_token');
    const reply = await confirm(window, 'set_up_totp');
    expect([reply.status, reply.json]).toEqual([200, { second_factor: false, confirmed: 'set_up_totp' }]);
    expect([window.jar.get('mailvet.session_token'), window.jar.has('mailvet.oidc')]).toEqual([before, false]);
    const { secret } = (await setUp(window)).json;
    expect((await window.call('POST', '/dashboard/totp/confirm', { code: totp(secret, -1) })).status).toBe(200);
    expect((await window.call('GET', '/dashboard/session')).json.user).toMatchObject({ second_factor: true });
    // It is asked at the next sign-in.
    const later = browser(lab.url);
    const signedIn = await signInByOidc(later, oidc, verified(window.id, window.email));
    expect(signedIn.json).toEqual({ second_factor: true, confirmed: null });
    expect((await later.call('POST', '/dashboard/sign-in/code', { code: totp(secret) })).status).toBe(200);
  });

  it('removes one, and so does its code', async () => {
    for (const byCode of [false, true]) {
      const { window, secret } = await withApp();
      if (!byCode) await confirm(window, 'remove_totp');
      const proof = byCode ? { code: totp(secret) } : { oidc: true };
      expect((await window.call('POST', '/dashboard/totp/remove', proof)).status).toBe(200);
      expect((await window.call('GET', '/dashboard/session')).json.user.second_factor).toBe(false);
    }
  });

  it('adds the first passkey, which then confirms as well', async () => {
    const window = await jane();
    expect((await confirm(window, 'add_passkey')).status).toBe(200);
    const key = await addKey(window, { oidc: true });
    const { options } = (await window.call('POST', '/dashboard/sign-in/passkey/options')).json;
    const credential = key.get(options, { origin: lab.url, rpId: 'localhost' });
    expect((await window.call('POST', '/dashboard/totp', { credential })).json.secret).toMatch(/^[A-Z2-7]+$/);
  });

  it('deletes an account', async () => {
    const { account } = await lab.member();
    const window = await person(lab, { account: account.id });
    const remove = () =>
      window.call('POST', `/dashboard/accounts/${account.id}/delete`, { name: account.name, oidc: true });
    expect(said(await remove())).toEqual(REFUSED('expired'));
    await confirm(window, 'delete_account');
    expect((await remove()).status).toBe(200);
    expect(await lab.store.accounts.get(account.id)).toBeNull();
  });
});

describe('it does not confirm', () => {
  const LIES: Readonly<Partial<Record<OidcLie, OidcFailure>>> = {
    'old auth_time': 'not_fresh',
    'no auth_time': 'not_fresh',
    'auth_time from user info': 'not_fresh',
    'auth_time to come': 'not_fresh',
    'auth_time that is text': 'bad_answer',
    'other nonce': 'wrong_nonce',
    'alg none': 'bad_signature',
    expired: 'token_expired',
    denies: 'denied',
  };
  it.each(Object.entries(LIES))('with a provider that lies: %s, %s', async (lie, reason) => {
    const window = await jane();
    const begun = await begin(window, 'set_up_totp');
    // Without an address in the ID token, the user info endpoint is asked.
    oidc.person = lie === 'auth_time from user info' ? { sub: window.id } : verified(window.id, window.email);
    oidc.lie = lie as OidcLie;
    expect(said(await finish(window, oidc.authorize(begun.json.url)))).toEqual(REFUSED(reason));
    oidc.lie = null;
    expect(said(await setUp(window))).toEqual(REFUSED('expired'));
    expect((await window.call('GET', '/dashboard/session')).json.user).toMatchObject({ id: window.id });
  });

  it('without the person: the provider’s own session is not enough', async () => {
    const window = await jane();
    const url = new URL((await begin(window, 'set_up_totp')).json.url);
    expect([url.searchParams.get('prompt'), url.searchParams.get('max_age')]).toEqual(['login', '0']);
    url.searchParams.delete('prompt');
    expect(said(await finish(window, oidc.authorize(url.href)))).toEqual(REFUSED('not_fresh'));
  });

  it('as another person, known here or not, with the same address or not', async () => {
    const window = await jane();
    const other = await jane();
    for (const claims of [verified(other.id, other.email), verified('nobody here', window.email)]) {
      expect(said(await confirm(window, 'set_up_totp', claims))).toEqual(REFUSED('other_person'));
      expect(said(await setUp(window))).toEqual(REFUSED('expired'));
    }
    expect((await window.call('GET', '/dashboard/session')).json.user).toMatchObject({ id: window.id });
  });

  it('twice, neither by the same answer nor by the same confirmation', async () => {
    const window = await jane();
    const begun = await begin(window, 'set_up_totp');
    oidc.person = verified(window.id, window.email);
    oidc.lie = 'accepts a code twice';
    const query = oidc.authorize(begun.json.url);
    const cookie = [...window.jar].map(([name, value]) => `${name}=${value}`).join('; ');
    expect((await finish(window, query)).status).toBe(200);
    const both = await Promise.all([setUp(window), setUp(window)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 403]);
    const again = await window.call('POST', '/dashboard/sign-in/oidc/finish', { query }, { cookie });
    expect(said(again)).toEqual(REFUSED('expired'));
    expect(said(await setUp(window))).toEqual(REFUSED('expired'));
  });

  it('in another session, of the same user or of another one', async () => {
    const window = await jane();
    const second = browser(lab.url);
    await signInByOidc(second, oidc, verified(window.id, window.email));
    // The answer, with the cookie of the browser that began it.
    const begun = await begin(window, 'set_up_totp');
    const query = oidc.authorize(begun.json.url);
    second.jar.set('mailvet.oidc', window.jar.get('mailvet.oidc')!);
    expect(said(await finish(second, query))).toEqual(REFUSED('expired'));
    expect(said(await finish(window, query))).toEqual(REFUSED('expired'));
    expect((await confirm(window, 'set_up_totp')).status).toBe(200);
    for (const other of [second, await jane()]) expect(said(await setUp(other))).toEqual(REFUSED('expired'));
    expect((await setUp(window)).status).toBe(200);
  });

  it('another action', async () => {
    const { window } = await withApp();
    await confirm(window, 'add_passkey');
    expect(said(await window.call('POST', '/dashboard/totp/remove', { oidc: true }))).toEqual(REFUSED('expired'));
    expect((await window.call('POST', '/dashboard/passkeys/options', { oidc: true })).status).toBe(200);
  });

  it('by a sign-in that was meant as one, or after some minutes', async () => {
    const window = await jane();
    await signInByOidc(window, oidc, verified(window.id, window.email));
    expect(said(await setUp(window))).toEqual(REFUSED('expired'));
    expect((await confirm(window, 'set_up_totp')).status).toBe(200);
    await runSql(lab.databaseUrl, `UPDATE auth_verifications SET "expiresAt" = '2020-01-01T00:00:00.000Z'`);
    expect(said(await setUp(window))).toEqual(REFUSED('expired'));
  });

  it('for whoever is not signed in, or has a password', async () => {
    expect((await begin(browser(lab.url), 'set_up_totp')).status).toBe(401);
    const owner = await person({ ...lab, oidc: null }, { account: member.account.id });
    expect((await owner.call('GET', '/dashboard/session')).json.user.has_password).toBe(true);
    for (const action of ACTIONS) expect(said(await begin(owner, action))).toEqual([422, 'wrong_password', undefined]);
    expect((await setUp(owner)).json).toMatchObject({ code: 'missing_parameter', field: 'password' });
    expect((await owner.call('POST', '/dashboard/totp', { password: PASSWORD })).status).toBe(200);
  });

  it('what the service does not have: with MAILVET_OIDC_ONLY no app or passkey is set up', async () => {
    const only = await startLab({ ...oidcOptions(oidc), MAILVET_OIDC_ONLY: 'true' }, { oidc });
    try {
      const { account } = await only.member();
      const window = await person(only, { account: account.id });
      expect((await confirm(window, 'set_up_totp')).status).toBe(200);
      expect((await setUp(window)).json.code).toBe('passwords_off');
      await confirm(window, 'delete_account');
      const body = { name: account.name, oidc: true };
      expect((await window.call('POST', `/dashboard/accounts/${account.id}/delete`, body)).status).toBe(200);
    } finally {
      await only.close();
    }
  });
});
