import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DASHBOARD_ROUTES } from '../../../src/http/dashboard/table.ts';
import { ROLES } from '../../../src/kernel/facts/roles.ts';
import { type Browser, browser, forgetSignIns, PASSWORD, type Person, peopleOf, person } from '../../lab/person.ts';
import { type SecurityKey, securityKey, totp } from '../../lab/second-factor.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';

let lab: Lab;
let strict: Member;
let other: Member;
let owner: Person;
/** The secret of the owner's authenticator app. */
let secret: string;
beforeEach(async () => {
  lab = await startLab();
  [strict, other] = [await lab.member(), await lab.member()];
  owner = await person(lab, { account: strict.account.id });
  secret = await setUpApp(owner);
  expect((await setRequired(owner, true)).json).toMatchObject({ second_factor_required: true });
});
afterEach(() => lab.close());

const of = ({ account }: Member, path = '') => `/dashboard/accounts/${account.id}${path}`;
const setRequired = (who: Browser, required: boolean) =>
  who.call('PATCH', of(strict), { second_factor_required: required });
const outcome = async (who: Browser, path = of(strict)) => {
  const { status, json } = await who.call('GET', path);
  return json.code ?? status;
};
/** A member of both accounts, signed in by password. */
async function member(): Promise<Person> {
  const jane = await person(lab, { account: strict.account.id, role: 'admin' });
  await lab.store.members.add(other.account.id, jane.id, 'admin', {
    kind: 'command',
    id: null,
    name: 'test',
    ip: null,
  });
  return jane;
}
async function setUpApp(who: Browser): Promise<string> {
  const made = (await who.call('POST', '/dashboard/totp', { password: PASSWORD })).json;
  expect((await who.call('POST', '/dashboard/totp/confirm', { code: totp(made.secret) })).status).toBe(200);
  return made.secret;
}
const here = () => ({ origin: lab.url, rpId: 'localhost' });
async function addPasskey(who: Browser): Promise<SecurityKey> {
  const key = securityKey();
  const { options } = (await who.call('POST', '/dashboard/passkeys/options', { password: PASSWORD })).json;
  const body = { name: 'Key', credential: key.create(options, here()) };
  expect((await who.call('POST', '/dashboard/passkeys', body)).status).toBe(201);
  return key;
}
async function signInByPasskey(key: SecurityKey): Promise<Browser> {
  const window = browser(lab.url);
  const { options } = (await window.call('POST', '/dashboard/sign-in/passkey/options')).json;
  const reply = await window.call('POST', '/dashboard/sign-in/passkey', { credential: key.get(options, here()) });
  expect(reply.status).toBe(200);
  return window;
}

describe('an account that requires a second factor', () => {
  it('lets nobody in by password alone, on no route; other accounts of the same user are not affected', async () => {
    const jane = await member();
    const routes = DASHBOARD_ROUTES.filter(({ access }) => ROLES.some((role) => role === access));
    expect(routes.length).toBeGreaterThan(20);
    for (const { method, path } of routes) {
      const at = path.replace(':account', strict.account.id).replaceAll(/:\w+/g, 'x');
      const reply = await jane.call(method, at, method === 'GET' ? undefined : {});
      expect([method, path, reply.status, reply.json.code]).toEqual([method, path, 403, 'second_factor_required']);
    }
    expect(await outcome(jane, of(other))).toBe(200);
    const session = (await jane.call('GET', '/dashboard/session')).json;
    expect(session.user).toMatchObject({ second_factor: false, with_second_factor: false });
    const requires = session.accounts.map((a: { id: string; second_factor_required: boolean }) => [
      a.id,
      a.second_factor_required,
    ]);
    expect(Object.fromEntries(requires)).toEqual({ [strict.account.id]: true, [other.account.id]: false });
    // Its API keys work as before; and to everybody else it does not exist.
    expect((await strict.verify('jane@good.com')).status).toBe(200);
    expect(await outcome(await person(lab))).toBe('not_found');
  });

  it('lets in who sets up an authenticator app, and whoever signs in with its code; no earlier session', async () => {
    const jane = await member();
    const earlier = browser(lab.url);
    expect((await earlier.signIn(jane.email)).json).toEqual({ second_factor: false });
    const janes = await setUpApp(jane);
    expect(await outcome(jane)).toBe(200);
    expect(await outcome(earlier)).toBe('second_factor_required');
    await earlier.signIn(jane.email);
    expect(await outcome(earlier)).toBe('not_signed_in');
    expect((await earlier.call('POST', '/dashboard/sign-in/code', { code: totp(janes, 1) })).status).toBe(200);
    expect(await outcome(earlier)).toBe(200);
  });

  it('lets in who signs in with a passkey; a new password keeps the session', async () => {
    const jane = await member();
    const key = await addPasskey(jane);
    expect(await outcome(jane)).toBe('second_factor_required');
    const window = await signInByPasskey(key);
    expect(await outcome(window)).toBe(200);
    const change = { current: PASSWORD, password: 'another quiet passphrase' };
    expect((await window.call('POST', '/dashboard/password', change)).status).toBe(200);
    expect(await outcome(window)).toBe(200);
    await window.signIn(jane.email, change.password);
    expect(await outcome(window)).toBe('second_factor_required');
  });

  it('locks out who gives up the last factor, in all their sessions', async () => {
    const code = totp(secret, 1);
    const elsewhere = browser(lab.url);
    await elsewhere.signIn(owner.email);
    expect((await elsewhere.call('POST', '/dashboard/sign-in/code', { code })).status).toBe(200);
    const key = await addPasskey(owner);
    const byKey = await signInByPasskey(key);
    const windows = [owner, elsewhere, byKey];
    expect((await owner.call('POST', '/dashboard/totp/remove', { password: PASSWORD })).status).toBe(200);
    for (const window of windows) expect(await outcome(window)).toBe(200);
    const [passkey] = (await owner.call('GET', '/dashboard/passkeys')).json.passkeys;
    expect((await owner.call('DELETE', `/dashboard/passkeys/${passkey.id}`)).status).toBe(200);
    for (const window of windows) expect(await outcome(window)).toBe('second_factor_required');
    await setUpApp(owner);
    expect(await outcome(owner)).toBe(200);
  });

  it('locks out whose factors the operator removed', async () => {
    await peopleOf(lab).forgetSecondFactor(owner.id, { ip: null, device: null });
    expect(await outcome(owner)).toBe('second_factor_required');
  });
});

describe('the setting', () => {
  const lastEntry = async () => (await lab.store.auditLog.list(strict.account.id, { before: null, limit: 1 }))[0];

  it('can be turned on only with a second factor, and off again, by admins', async () => {
    await forgetSignIns(lab);
    const jane = await member();
    await setUpApp(jane);
    expect((await setRequired(jane, false)).json).toMatchObject({ second_factor_required: false });
    expect(await lastEntry()).toMatchObject({
      action: 'account.second_factor_optional',
      actor: { kind: 'user', name: jane.email },
    });
    const bob = await person(lab, { account: strict.account.id, role: 'admin' });
    expect(await outcome(bob)).toBe(200);
    const refused = await setRequired(bob, true);
    expect([refused.status, refused.json.code, refused.json.field]).toEqual([
      422,
      'second_factor_missing',
      'second_factor_required',
    ]);
    expect(await outcome(bob)).toBe(200);
    expect((await setRequired(jane, true)).status).toBe(200);
    expect(await lastEntry()).toMatchObject({ action: 'account.second_factor_required', target: strict.account.name });
    const plain = await person(lab, { account: other.account.id, role: 'member' });
    const asMember = await plain.call('PATCH', of(other), { second_factor_required: false });
    expect([asMember.status, asMember.json.code]).toEqual([403, 'role_not_sufficient']);
    const wrong = await owner.call('PATCH', of(strict), { second_factor_required: 'yes' });
    expect([wrong.status, wrong.json.field]).toEqual([400, 'second_factor_required']);
  });
});
