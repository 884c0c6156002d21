import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type EnvironmentVariables, readOptions } from '../../../src/config/read.ts';
import type { AccountId } from '../../../src/store/store.ts';
import { type OidcLab, oidcOptions, startOidc, verified } from '../../lab/oidc.ts';
import { type Browser, browser, PASSWORD, peopleOf, person, signInByOidc } from '../../lab/person.ts';
import { totp } from '../../lab/second-factor.ts';
import { type Lab, startLab } from '../../lab/service.ts';

let oidc: OidcLab;
let started: Lab | null = null;
let first: Lab | null = null;
let lab: Lab;
let account: AccountId;
beforeAll(async () => {
  oidc = await startOidc();
});
afterAll(() => oidc.close());
afterEach(async () => {
  oidc.lie = null;
  await started?.close();
  await first?.close();
  started = first = null;
});

/** The account has to be known before the service that new people land in. */
async function start(more: (account: string) => Record<string, string> = () => ({})): Promise<void> {
  first = await startLab();
  account = (await first.member()).account.id;
  await first.service.stop();
  started = lab = await startLab({ ...oidcOptions(oidc), MAILVET_DATABASE_URL: first.databaseUrl, ...more(account) });
}
const landing = (id: string) => ({ MAILVET_OIDC_ACCOUNT: id, MAILVET_OIDC_ROLE: 'member' });
const sessionOf = async (window: Browser) => (await window.call('GET', '/dashboard/session')).json;
const rolesOf = async (window: Browser): Promise<string[]> =>
  (await sessionOf(window)).accounts.map(({ role }: { role: string }) => role);
const as = async (claims: Readonly<Record<string, unknown>>) => {
  const window = browser(lab.url);
  return { window, reply: await signInByOidc(window, oidc, claims) };
};
const BY = { kind: 'command', id: null, name: 'test', ip: null } as const;

describe('an account for new people', () => {
  it('is joined at the first sign-in, and not again by somebody who was removed', async () => {
    await start(landing);
    const { window, reply } = await as(verified('1', 'new@oidc.example'));
    expect(reply.status).toBe(200);
    expect(await rolesOf(window)).toEqual(['member']);
    const { id } = (await sessionOf(window)).user;
    // The provider's word is no proof here: a link by mail takes the user over, with what links it.
    expect(await lab.store.users.get(id)).toMatchObject({ emailVerified: false });
    await lab.store.members.remove(account, id, BY);
    expect((await window.call('GET', `/dashboard/accounts/${account}`)).status).toBe(404);
    const again = await as(verified('1', 'new@oidc.example'));
    expect([again.reply.status, await rolesOf(again.window)]).toEqual([200, []]);
    // Nor does another person at the provider get the user by the address.
    expect((await as(verified('2', 'new@oidc.example'))).reply.json.reason).toBe('other_subject');
    const token = await peopleOf(lab).passwordToken(id, 60_000);
    const reset = { token, password: 'the password of the real owner' };
    expect((await browser(lab.url).call('POST', '/dashboard/password/reset', reset)).status).toBe(200);
    expect((await sessionOf(again.window)).user).toBeNull();
    expect((await as({ ...verified('1', 'new@oidc.example'), email_verified: false })).reply.status).toBe(403);
  });

  it('is joined once by two windows at the same time', async () => {
    await start(landing);
    const both = await Promise.all([1, 2].map(() => as(verified('1', 'new@oidc.example'))));
    expect(both.map(({ reply }) => reply.status)).toEqual([200, 200]);
    expect(await lab.store.members.list(account)).toHaveLength(1);
  });

  it('is joined by somebody whose first sign-in broke off', async () => {
    await start(landing);
    await peopleOf(lab).create({ email: 'new@oidc.example', name: 'New', password: null, proven: false });
    expect(await rolesOf((await as(verified('1', 'new@oidc.example'))).window)).toEqual(['member']);
  });

  it('that does not exist lets nobody in, and leaves no user', async () => {
    await start(() => landing('acc_none'));
    expect((await as(verified('1', 'new@oidc.example'))).reply.json.reason).toBe('no_account');
    expect(await lab.store.users.count()).toBe(0);
  });
});

describe('a role claim', () => {
  const mapped = (id: string) => ({
    MAILVET_OIDC_ACCOUNT: id,
    MAILVET_OIDC_ROLE_CLAIM: 'realm_access.roles',
    MAILVET_OIDC_ROLE_MAP: 'staff=member,mail-admins=admin,cn=a b=owner',
  });
  const withRoles = (sub: string, roles: unknown) => ({
    ...verified(sub, `${sub}@oidc.example`),
    realm_access: { roles },
  });

  it('decides at every sign-in, and the highest role counts', async () => {
    await start(mapped);
    const owner = await person(lab, { account });
    expect(await rolesOf((await as(withRoles('one', ['staff', 'mail-admins', 'x']))).window)).toEqual(['admin']);
    const { window } = await as(withRoles('one', 'staff'));
    expect(await rolesOf(window)).toEqual(['member']);
    expect((await as(withRoles('one', []))).reply.json.reason).toBe('no_role');
    expect(await rolesOf((await as(withRoles('two', ['cn=a b']))).window)).toEqual(['owner']);
    expect(await rolesOf(owner)).toEqual(['owner']);
  });

  it('of another form gives none', async () => {
    await start(mapped);
    for (const roles of [
      { 'mail-admins': true },
      [['mail-admins']],
      [{ role: 'mail-admins' }],
      'staff mail-admins',
      'staff,mail-admins',
      ['MAIL-ADMINS'],
      Array.from({ length: 2_000 }, (_, n) => (n < 1_500 ? `group ${n}` : 'mail-admins')),
      true,
      null,
    ])
      expect((await as(withRoles('one', roles))).reply.json.reason).toBe('no_role');
  });

  it('does not look into what every object has', async () => {
    await start((id) => ({ ...mapped(id), MAILVET_OIDC_ROLE_CLAIM: 'constructor.name' }));
    expect((await as(verified('one', 'one@oidc.example'))).reply.json.reason).toBe('no_role');
  });
});

it('only addresses of allowed domains get in, if the provider verified them', async () => {
  await start((id) => ({ ...landing(id), MAILVET_OIDC_ALLOWED_DOMAINS: 'Oidc.Example' }));
  for (const email of ['a@other.example', 'a@sub.oidc.example', 'a@oidc.example.evil.com'])
    expect((await as(verified(email, email))).reply.json.reason).toBe('domain_not_allowed');
  expect((await as({ sub: '1', email: 'a@oidc.example' })).reply.json.reason).toBe('address_not_verified');
  expect((await as({ sub: '1' })).reply.json.reason).toBe('no_address');
  expect((await as(verified('1', 'A@OIDC.example'))).reply.status).toBe(200);
  // Also those who are known.
  expect((await as(verified('1', 'a@other.example'))).reply.json.reason).toBe('domain_not_allowed');
});

describe('the second factor that an account requires', () => {
  async function requiring(more: Record<string, string>): Promise<void> {
    await start((id) => ({ ...landing(id), ...more }));
    await lab.store.accounts.set(account, { secondFactorRequired: true }, BY);
  }
  const look = async (window: Browser) =>
    (await window.call('GET', `/dashboard/accounts/${account}`)).json.code ?? 'in';

  it('is not the provider’s by default', async () => {
    await requiring({});
    const { window } = await as(verified('1', 'a@oidc.example', { amr: ['mfa', 'hwk'], acr: 'mfa' }));
    expect(await look(window)).toBe('second_factor_required');
  });

  it('is the provider’s for the configured values of amr and acr', async () => {
    await requiring({ MAILVET_OIDC_SECOND_FACTOR: 'mfa,https://refeds.org/profile/mfa' });
    const outcomes: string[] = [];
    for (const claims of [
      { amr: ['pwd', 'mfa'] },
      { acr: 'https://refeds.org/profile/mfa' },
      { amr: ['pwd'] },
      { amr: 'xmfa' },
    ])
      outcomes.push(await look((await as(verified('1', 'a@oidc.example', claims))).window));
    expect(outcomes).toEqual(['in', 'in', 'second_factor_required', 'second_factor_required']);
  });

  it('is the code of the authenticator app that the user has here, and the session stays the provider’s', async () => {
    await requiring({});
    const jane = await person(lab, { account });
    const { secret } = (await jane.call('POST', '/dashboard/totp', { password: PASSWORD })).json;
    expect((await jane.call('POST', '/dashboard/totp/confirm', { code: totp(secret, -1) })).status).toBe(200);
    const { window, reply } = await as(verified('jane', jane.email, { sid: 'here' }));
    expect([reply.json.second_factor, (await sessionOf(window)).user]).toEqual([true, null]);
    expect((await window.call('POST', '/dashboard/sign-in/code', { code: '000000' })).status).toBe(401);
    expect((await window.call('POST', '/dashboard/sign-in/code', { code: totp(secret) })).status).toBe(200);
    expect(await look(window)).toBe('in');
    const logout = `logout_token=${await oidc.logoutToken({ sid: 'here' })}`;
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await browser(lab.url).call('POST', '/dashboard/sign-in/oidc/logout', logout, form)).status).toBe(200);
    expect((await sessionOf(window)).user).toBeNull();
  });
});

describe('without passwords', () => {
  const ONLY = { MAILVET_OIDC_ONLY: 'true' };

  it('nothing but the provider and a link of the command line signs in', async () => {
    await start(() => ONLY);
    const { id, email } = (await peopleOf(lab).create({ email: 'a@oidc.example', name: 'A', password: null }))!;
    const token = await peopleOf(lab).passwordToken(id, 60_000);
    const window = browser(lab.url);
    expect((await sessionOf(window)).oidc).toEqual({ name: 'Lab ID', only: true });
    const attempts: readonly (readonly [string, object?])[] = [
      ['/dashboard/sign-in', { email, password: PASSWORD }],
      ['/dashboard/sign-up', { email: 'b@oidc.example', name: 'B', password: PASSWORD }],
      ['/dashboard/password/forgot', { email }],
      ['/dashboard/password/reset', { token, password: PASSWORD }],
      ['/dashboard/sign-in/passkey/options'],
      ['/dashboard/sign-in/passkey', { credential: {} }],
      ['/dashboard/invitation/accept', { token: 'x'.repeat(32), name: 'B', password: PASSWORD }],
    ];
    for (const [path, body] of attempts) {
      const { status, json } = await window.call('POST', path, body);
      expect([path, status, json.code]).toEqual([path, 403, 'passwords_off']);
    }
    expect((await as(verified('1', email))).reply.status).toBe(200);
    // Nor does whoever is signed in set up what would not sign them in.
    const { window: inside } = await as(verified('1', email));
    for (const [path, body] of [
      ['/dashboard/password', { current: PASSWORD, password: `${PASSWORD} 2` }],
      ['/dashboard/totp', { password: PASSWORD }],
      ['/dashboard/passkeys', { name: 'Key', credential: {} }],
    ] as const)
      expect([path, (await inside.call('POST', path, body)).json.code]).toEqual([path, 'passwords_off']);
    const link = await peopleOf(lab).signInToken(id, 60_000);
    expect((await window.call('POST', '/dashboard/sign-in/link', { token: link })).status).toBe(200);
    expect((await sessionOf(window)).user).toMatchObject({ id });
    expect((await browser(lab.url).call('POST', '/dashboard/sign-in/link', { token: link })).status).toBe(410);
  });

  it('the service does not start while the provider cannot be reached, unless it is told to', async () => {
    oidc.lie = 'wrong issuer in discovery';
    await expect(startLab({ ...oidcOptions(oidc), ...ONLY })).rejects.toThrow(/MAILVET_OIDC_START_ANYWAY=true/);
    started = lab = await startLab({ ...oidcOptions(oidc), ...ONLY, MAILVET_OIDC_START_ANYWAY: 'true' });
    expect((await browser(lab.url).call('POST', '/dashboard/sign-in/oidc', {})).json.reason).toBe('wrong_issuer');
  });
});

describe('the options', () => {
  const GOOD = { MAILVET_OIDC_ISSUER: 'https://id.example.com/realms/a', MAILVET_OIDC_CLIENT_ID: 'mailvet' };
  const problems = (env: EnvironmentVariables): readonly string[] => {
    const read = readOptions({ ...GOOD, ...env });
    return read.ok ? [] : read.problems;
  };

  it.each<[string, EnvironmentVariables]>([
    ['MAILVET_OIDC_ISSUER', { MAILVET_OIDC_ISSUER: 'http://id.example.com' }],
    ['MAILVET_OIDC_ISSUER', { MAILVET_OIDC_ISSUER: 'http://localhost.example.com' }],
    ['MAILVET_OIDC_ISSUER', { MAILVET_OIDC_ISSUER: 'http://127.0.0.1.example.com' }],
    ['MAILVET_OIDC_ISSUER', { MAILVET_OIDC_ISSUER: 'http://192.168.0.1' }],
    ['MAILVET_OIDC_ISSUER', { MAILVET_OIDC_ISSUER: 'https://user:password@id.example.com' }],
    ['MAILVET_OIDC_ISSUER', { MAILVET_OIDC_ISSUER: 'https://id.example.com/?tenant=1' }],
    ['MAILVET_OIDC_ISSUER', { MAILVET_OIDC_ISSUER: 'javascript:alert(1)' }],
    ['MAILVET_OIDC_CLIENT_ID', { MAILVET_OIDC_CLIENT_ID: '' }],
    ['MAILVET_OIDC_ROLE', { MAILVET_OIDC_ACCOUNT: 'acc_1', MAILVET_OIDC_ROLE: 'root' }],
    ['MAILVET_OIDC_ROLE', { MAILVET_OIDC_ROLE: 'member' }],
    ['MAILVET_OIDC_ACCOUNT', { MAILVET_OIDC_ACCOUNT: 'acc_1' }],
    ['MAILVET_OIDC_ACCOUNT', { MAILVET_OIDC_ACCOUNT: 'Shop', MAILVET_OIDC_ROLE: 'member' }],
    ['MAILVET_OIDC_ROLE_MAP', { ...landing('acc_1'), MAILVET_OIDC_ROLE_CLAIM: 'g', MAILVET_OIDC_ROLE_MAP: 'a=king' }],
    ['MAILVET_OIDC_ROLE_CLAIM', { ...landing('acc_1'), MAILVET_OIDC_ROLE_CLAIM: 'groups' }],
    ['MAILVET_OIDC_ALLOWED_DOMAINS', { MAILVET_OIDC_ALLOWED_DOMAINS: '*.example.com' }],
    ['MAILVET_OIDC_ONLY', { MAILVET_OIDC_ISSUER: '', MAILVET_OIDC_CLIENT_ID: '', MAILVET_OIDC_ONLY: 'true' }],
    ['MAILVET_SIGNUP', { MAILVET_OIDC_ONLY: 'true', MAILVET_SIGNUP: 'open', MAILVET_MAIL_URL: 'smtp://localhost' }],
  ])('%s is refused: %o', (name, env) => expect(problems(env).join('\n')).toContain(name));

  it.each([
    'http://localhost:8080/realms/a',
    'http://127.0.0.1:9000',
    'http://[::1]:9000',
    'https://id.example.com',
  ])('the issuer may be %s', (issuer) => expect(problems({ MAILVET_OIDC_ISSUER: issuer })).toEqual([]));
});
