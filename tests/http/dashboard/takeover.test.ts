import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../../src/kernel/ids.ts';
import { hashPassword, verifyPassword } from '../../../src/service/sign-in/passwords.ts';
import { type OidcLab, startOidc, verified } from '../../lab/oidc.ts';
import {
  type Browser,
  browser,
  forgetSignIns,
  PASSWORD,
  type Person,
  peopleOf,
  person,
  signInByOidc,
} from '../../lab/person.ts';
import { type SecurityKey, securityKey } from '../../lab/second-factor.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { runSql } from '../../lab/stores.ts';

const VICTIM = 'victim@example.com';
const FRESH = 'the password of the real owner';

let lab: Lab;
let a: Member;
let b: Member;
let mallory: Person;
beforeEach(async () => {
  lab = await startLab();
  a = await lab.member();
  b = await lab.member();
  mallory = await person(lab, { account: a.account.id, role: 'admin' });
});
afterEach(() => lab.close());

const accountsOf = async (who: Browser): Promise<string[]> =>
  (await who.call('GET', '/dashboard/session')).json.accounts.map(({ id }: { id: string }) => id);
const tokenOf = (link: string) => link.split('#token=')[1] ?? '';
const accept = (who: Browser, token: string, password?: string) =>
  who.call('POST', '/dashboard/invitation/accept', { token, ...(password ? { name: 'Somebody', password } : {}) });

/** Without mail the link is shown to whoever invites: Mallory becomes the user of an address that is not theirs. */
async function claimed(): Promise<{ window: Browser; key: SecurityKey; id: string }> {
  const path = `/dashboard/accounts/${a.account.id}/invitations`;
  const made = await mallory.call('POST', path, { email: VICTIM, role: 'member' });
  expect([made.status, made.json.mailed]).toEqual([201, false]);
  const window = browser(lab.url);
  expect((await accept(window, tokenOf(made.json.link), PASSWORD)).status).toBe(200);
  const here = { origin: lab.url, rpId: 'localhost' };
  const { options } = (await window.call('POST', '/dashboard/passkeys/options', { password: PASSWORD })).json;
  const key = securityKey();
  const added = await window.call('POST', '/dashboard/passkeys', {
    name: 'Backdoor',
    credential: key.create(options, here),
  });
  expect(added.status).toBe(201);
  const { id } = (await window.call('GET', '/dashboard/session')).json.user;
  return { window, key, id };
}
async function byPasskey(key: SecurityKey): Promise<number> {
  const window = browser(lab.url);
  const { options } = (await window.call('POST', '/dashboard/sign-in/passkey/options')).json;
  const credential = key.get(options, { origin: lab.url, rpId: 'localhost' });
  return (await window.call('POST', '/dashboard/sign-in/passkey', { credential })).status;
}
/** As `mailvet user create` does for an address that has a user: a link shown to the operator alone. */
async function invitedByOperator(): Promise<string> {
  const token = 'x'.repeat(32);
  const expiresAt = Date.now() + 3_600_000;
  const input = { email: VICTIM, role: 'admin', tokenHash: sha256Hex(token), expiresAt, provesAddress: true } as const;
  await lab.store.members.invite(b.account.id, input, { kind: 'command', id: null, name: 'test', ip: null });
  return token;
}

describe('an address whose link was shown to the one who invited', () => {
  it('gets into another account by a fresh link of the operator only, and then is its owner’s', async () => {
    const { window, key, id } = await claimed();
    const token = await invitedByOperator();
    // Mallory does not have the link. Whoever has it is asked for a password, as with a new address.
    const found = await browser(lab.url).call('POST', '/dashboard/invitation', { token });
    expect(found.json).toMatchObject({ email: VICTIM, known: false });
    const owner = browser(lab.url);
    expect((await accept(owner, token, FRESH)).status).toBe(200);
    expect((await owner.call('GET', '/dashboard/session')).json.user).toMatchObject({ id, email: VICTIM });
    expect((await accountsOf(owner)).sort()).toEqual([a.account.id, b.account.id].sort());
    // And nothing that was set up before works any more.
    expect((await window.call('GET', '/dashboard/session')).json.user).toBeNull();
    expect(await byPasskey(key)).toBe(401);
    await forgetSignIns(lab);
    expect((await browser(lab.url).signIn(VICTIM, PASSWORD)).status).toBe(401);
    expect((await browser(lab.url).signIn(VICTIM, FRESH)).status).toBe(200);
  });

  it('keeps its password where the link is withdrawn while it is used', async () => {
    await claimed();
    const token = await invitedByOperator();
    const withdraw = 'DELETE FROM invitations';
    await runSql(
      lab.databaseUrl,
      lab.databaseUrl.startsWith('sqlite')
        ? `CREATE TRIGGER meanwhile AFTER UPDATE ON auth_accounts BEGIN ${withdraw}; END`
        : `CREATE RULE meanwhile AS ON UPDATE TO auth_accounts DO ALSO ${withdraw}`,
    );
    const reply = await accept(browser(lab.url), token, FRESH);
    expect([reply.status, reply.json.code]).toEqual([410, 'link_expired']);
    await forgetSignIns(lab);
    expect((await browser(lab.url).signIn(VICTIM, FRESH)).status).toBe(401);
    expect((await browser(lab.url).signIn(VICTIM, PASSWORD)).status).toBe(200);
  });

  it('does not get into another account by a link that was shown there', async () => {
    const { window } = await claimed();
    const owner = await person(lab, { account: b.account.id });
    const path = `/dashboard/accounts/${b.account.id}/invitations`;
    const { link } = (await owner.call('POST', path, { email: VICTIM, role: 'admin' })).json;
    const reply = await accept(window, tokenOf(link));
    expect([reply.status, reply.json.code]).toEqual([403, 'address_not_confirmed']);
    expect(await accountsOf(window)).toEqual([a.account.id]);
    // Nor does the one who saw it there get at the user.
    expect((await accept(browser(lab.url), tokenOf(link), FRESH)).json.code).toBe('address_not_confirmed');
  });

  it('is its owner’s after a link to choose a password', async () => {
    const { window, key, id } = await claimed();
    const reset = async (password: string) => {
      const token = await peopleOf(lab).passwordToken(id, 60_000);
      return (await browser(lab.url).call('POST', '/dashboard/password/reset', { token, password })).status;
    };
    const { secret } = (await window.call('POST', '/dashboard/totp', { password: PASSWORD })).json;
    expect(secret).toMatch(/^[A-Z2-7]+$/);
    expect(await reset(FRESH)).toBe(200);
    expect((await window.call('GET', '/dashboard/session')).json.user).toBeNull();
    expect(await byPasskey(key)).toBe(401);
    expect(await lab.store.users.get(id)).toMatchObject({ emailVerified: true, secondFactor: false });
  });
});

it('a password by link removes the passkeys of anybody', async () => {
  const mary = await person(lab);
  const { options } = (await mary.call('POST', '/dashboard/passkeys/options', { password: PASSWORD })).json;
  const key = securityKey();
  const credential = key.create(options, { origin: lab.url, rpId: 'localhost' });
  expect((await mary.call('POST', '/dashboard/passkeys', { name: 'Key', credential })).status).toBe(201);
  expect(await byPasskey(key)).toBe(200);
  const token = await peopleOf(lab).passwordToken(mary.id, 60_000);
  const reply = await browser(lab.url).call('POST', '/dashboard/password/reset', { token, password: FRESH });
  expect(reply.status).toBe(200);
  expect(await byPasskey(key)).toBe(401);
});

describe('an address whose link was used by somebody else with an OpenID provider', () => {
  let oidc: OidcLab;
  let own: Lab;
  beforeAll(async () => {
    oidc = await startOidc();
  });
  afterAll(() => oidc.close());
  beforeEach(async () => {
    own = lab;
    lab = await startLab({}, { oidc });
    [a, b] = [await lab.member(), await lab.member()];
    mallory = await person(lab, { account: a.account.id, role: 'admin' });
  });
  afterEach(() => own.close());

  /** The provider takes Mallory's word for the address. */
  const asMallory = (window: Browser, token?: string) =>
    signInByOidc(window, oidc, { sub: 'mallory', email: VICTIM }, token);
  const asOwner = (window: Browser, token?: string) => signInByOidc(window, oidc, verified('victim', VICTIM), token);

  async function claimedThere(): Promise<{ window: Browser; id: string }> {
    const path = `/dashboard/accounts/${a.account.id}/invitations`;
    const { link } = (await mallory.call('POST', path, { email: VICTIM, role: 'member' })).json;
    const window = browser(lab.url);
    expect((await asMallory(window, tokenOf(link))).status).toBe(200);
    const { id } = (await window.call('GET', '/dashboard/session')).json.user;
    expect(await lab.store.users.get(id)).toMatchObject({ emailVerified: false });
    return { window, id };
  }

  it('is its owner’s by a fresh link of the operator, with the provider or with a password', async () => {
    for (const withProvider of [true, false]) {
      const { window, id } = await claimedThere();
      expect((await asOwner(browser(lab.url))).json.reason).toBe('address_not_proven');
      const token = await invitedByOperator();
      const owner = browser(lab.url);
      const reply = withProvider ? await asOwner(owner, token) : await accept(owner, token, FRESH);
      expect(reply.status).toBe(200);
      expect((await owner.call('GET', '/dashboard/session')).json.user).toMatchObject({ id, email: VICTIM });
      expect((await accountsOf(owner)).sort()).toEqual([a.account.id, b.account.id].sort());
      expect((await window.call('GET', '/dashboard/session')).json.user).toBeNull();
      expect((await asMallory(browser(lab.url))).json.reason).toBe('address_not_verified');
      const again = await signInByOidc(browser(lab.url), oidc, verified('mallory', VICTIM));
      // Where the provider verified it for Mallory as well, the link to the owner stands in the way.
      if (withProvider) expect(again.json.reason).toBe('other_subject');
      if (withProvider) expect((await asOwner(browser(lab.url))).status).toBe(200);
      await lab.store.users.remove(id);
    }
  });

  it('stays as it was where the link is withdrawn while it is used', async () => {
    await claimedThere();
    const token = await invitedByOperator();
    await runSql(
      lab.databaseUrl,
      lab.databaseUrl.startsWith('sqlite')
        ? 'CREATE TRIGGER meanwhile AFTER DELETE ON oidc_identities BEGIN DELETE FROM invitations; END'
        : 'CREATE RULE meanwhile AS ON DELETE TO oidc_identities DO ALSO DELETE FROM invitations',
    );
    expect((await asOwner(browser(lab.url), token)).json.code).toBe('link_expired');
    expect((await asMallory(browser(lab.url))).status).toBe(200);
  });

  it('does not get into another account by a link that was shown there', async () => {
    const { window } = await claimedThere();
    const owner = await person(lab, { account: b.account.id });
    const path = `/dashboard/accounts/${b.account.id}/invitations`;
    const { link } = (await owner.call('POST', path, { email: VICTIM, role: 'admin' })).json;
    expect((await asMallory(window, tokenOf(link))).json.code).toBe('address_not_confirmed');
    expect(await accountsOf(window)).toEqual([a.account.id]);
    expect((await asOwner(browser(lab.url), tokenOf(link))).json.reason).toBe('address_not_proven');
  });

  it('is its owner’s after a link to choose a password', async () => {
    const { window, id } = await claimedThere();
    const token = await peopleOf(lab).passwordToken(id, 60_000);
    const reset = await browser(lab.url).call('POST', '/dashboard/password/reset', { token, password: FRESH });
    expect(reset.status).toBe(200);
    expect((await window.call('GET', '/dashboard/session')).json.user).toBeNull();
    expect((await asMallory(browser(lab.url))).status).toBe(403);
  });
});

describe('an invitation ends', () => {
  const sent = async (who: Person, email: string, role: string) => {
    const path = `/dashboard/accounts/${a.account.id}/invitations`;
    return tokenOf((await who.call('POST', path, { email, role })).json.link);
  };
  const found = async (token: string) =>
    (await browser(lab.url).call('POST', '/dashboard/invitation', { token })).status;
  const by = { kind: 'command', id: null, name: 'test', ip: null } as const;

  it('when its sender is removed, or may no longer send it', async () => {
    const owner = await person(lab, { account: a.account.id });
    const second = await person(lab, { account: a.account.id });
    const kept = await sent(owner, 'kept@example.com', 'owner');
    const [own, lower] = [await sent(second, 'x@example.com', 'owner'), await sent(second, 'y@example.com', 'admin')];
    expect(await lab.store.members.setRole(a.account.id, second.id, 'admin', by)).toBe('done');
    expect([await found(own), await found(lower), await found(kept)]).toEqual([410, 200, 200]);
    expect(await lab.store.members.setRole(a.account.id, second.id, 'member', by)).toBe('done');
    expect([await found(lower), await found(kept)]).toEqual([410, 200]);
    const removed = await sent(mallory, 'z@example.com', 'member');
    expect(await lab.store.members.remove(a.account.id, mallory.id, by)).toBe('done');
    expect(await found(removed)).toBe(410);
    const log = await lab.store.auditLog.list(a.account.id, { before: null, limit: 50 });
    expect(
      log
        .filter(({ action }) => action === 'invitation.withdrawn')
        .map(({ target }) => target)
        .sort(),
    ).toEqual(['x@example.com', 'y@example.com', 'z@example.com']);
  });

  it('when its sender is deleted', async () => {
    const token = await sent(mallory, 'z@example.com', 'member');
    expect(await lab.store.users.remove(mallory.id, by)).toBe(true);
    expect(await found(token)).toBe(410);
  });
});

it('a sign-in under way ends with the password that it began with', async () => {
  const victim = await person(lab, { account: a.account.id, fullHash: true });
  const [fresh, window] = [await hashPassword(FRESH), browser(lab.url)];
  const others = await Promise.all(Array.from({ length: 30 }, () => hashPassword(PASSWORD)));
  // The old password waits to be verified, while the new one is set.
  const busy = others.map((hash) => verifyPassword({ hash, password: PASSWORD }));
  const signedIn = window.signIn(victim.email);
  await busy[8];
  await peopleOf(lab).setPassword(victim.id, fresh, { ip: null, device: null });
  expect((await signedIn).status).toBe(401);
  expect(await lab.store.signIns.sessions(victim.id)).toEqual([]);
  expect((await window.signIn(victim.email, FRESH)).status).toBe(200);
  await Promise.all(busy);
});
