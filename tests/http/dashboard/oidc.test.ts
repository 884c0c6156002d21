import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../../src/kernel/ids.ts';
import { OIDC_FAILURES, type OidcFailure } from '../../../src/service/sign-in/oidc-failures.ts';
import { type OidcLab, type OidcLie, oidcOptions, startOidc, verified } from '../../lab/oidc.ts';
import { type Browser, browser, PASSWORD, peopleOf, person, signInByOidc } from '../../lab/person.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { runSql } from '../../lab/stores.ts';

let oidc: OidcLab;
let lab: Lab;
let member: Member;
beforeAll(async () => {
  oidc = await startOidc();
  // Only the provider of this host may be dialed.
  lab = await startLab({ ...oidcOptions(oidc), MAILVET_ALLOW_PRIVATE_NETWORKS: 'false' });
  member = await lab.member();
});
afterAll(async () => {
  await lab.close();
  await oidc.close();
});
afterEach(() => {
  oidc.lie = null;
  oidc.userInfo = null;
});

let made = 0;
const fresh = () => {
  made += 1;
  return { sub: `subject ${made}`, email: `person${made}@oidc.example` };
};
const userOf = async (window: Browser) => (await window.call('GET', '/dashboard/session')).json.user;
const BY = { kind: 'command', id: null, name: 'test', ip: null } as const;

/** A user whose address was proven here: linked at the first sign-in. */
async function known(role: 'member' | 'admin' | 'owner' = 'member', on = { lab, member }) {
  const { sub, email } = fresh();
  const user = await peopleOf(on.lab).create({ email, name: 'Known', password: null });
  await on.lab.store.members.add(on.member.account.id, user!.id, role, BY);
  return { sub, email, id: user!.id };
}
/** An invitation whose link is known to the test; `mailed`: to its address alone. */
async function invite(email: string, mailed: boolean, account = member.account.id): Promise<string> {
  const token = sha256Hex(`${email} ${account} ${made}`).slice(0, 32);
  const input = { email, role: 'member', tokenHash: sha256Hex(token), provesAddress: mailed } as const;
  await lab.store.members.invite(account, { ...input, expiresAt: Date.now() + 3_600_000 }, BY);
  return token;
}
async function refusals(): Promise<string[]> {
  // Failures are written every second.
  await lab.service.store.auditLog.list('all', { before: null, limit: 1 });
  const log = await lab.store.auditLog.list('all', { before: null, limit: 200, about: 'user' });
  return log.filter(({ action }) => action === 'user.authentication_failed').map(({ detail }) => String(detail.reason));
}
/** The reply says why in words, and so does the audit log. */
async function expectRefused(window: Browser, reply: { status: number; json: unknown }, reason: OidcFailure) {
  expect(reply).toMatchObject({ status: 403, json: { code: 'oidc_refused', reason } });
  const [start] = OIDC_FAILURES[reason].split(/NAME|\./).filter((part) => part.trim() !== '');
  expect((reply.json as { error: string }).error).toContain(start!.trim());
  expect(await userOf(window)).toBeNull();
  await expect.poll(refusals, { timeout: 5_000 }).toContain(reason);
}

describe('an honest provider', () => {
  it('signs in a user whose address was proven here, and knows them by issuer and subject from then on', async () => {
    const { sub, email, id } = await known();
    const window = browser(lab.url);
    const reply = await signInByOidc(window, oidc, verified(sub, email));
    expect([reply.status, reply.json]).toEqual([200, { second_factor: false, confirmed: null }]);
    expect(await userOf(window)).toMatchObject({ id, email, with_second_factor: false });
    // Another address at the provider, verified or not, is the same person.
    const later = browser(lab.url);
    const moved = { sub, email: 'moved@oidc.example', email_verified: false };
    expect((await signInByOidc(later, oidc, moved)).status).toBe(200);
    expect(await userOf(later)).toMatchObject({ id, email });
    const log = await lab.store.auditLog.list(member.account.id, { before: null, limit: 20 });
    const own = log
      .filter(({ target }) => target === email)
      .map(({ action, detail }) => `${action} ${detail.factor ?? ''}`);
    expect(own).toEqual(expect.arrayContaining(['user.oidc_linked ', 'user.signed_in oidc']));
  });

  it('may give the address at its user info endpoint alone', async () => {
    const { sub, email } = await known();
    oidc.userInfo = { email, email_verified: true };
    expect((await signInByOidc(browser(lab.url), oidc, { sub })).status).toBe(200);
    expect(oidc.asked.at(-1)).toBe('/userinfo');
  });

  it('may change its keys at any time', async () => {
    const { sub, email } = await known();
    expect((await signInByOidc(browser(lab.url), oidc, verified(sub, email))).status).toBe(200);
    await oidc.rotateKeys();
    expect((await signInByOidc(browser(lab.url), oidc, verified(sub, email))).status).toBe(200);
  });

  it('leaves cookies that only this site sees, and none of a sign-in that is complete', async () => {
    const { sub, email } = await known();
    const window = browser(lab.url);
    const begun = await window.call('POST', '/dashboard/sign-in/oidc', {});
    expect(begun.headers.getSetCookie().join()).toMatch(
      /mailvet\.oidc=[^;]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Strict/,
    );
    await signInByOidc(window, oidc, verified(sub, email));
    expect([...window.jar.keys()].sort()).toEqual(['mailvet.device', 'mailvet.session_token']);
  });
});

describe('a provider that lies or fails', () => {
  const LIES: Readonly<Partial<Record<OidcLie, OidcFailure>>> = {
    'other audience': 'wrong_audience',
    'issued for another client': 'wrong_audience',
    'other issuer': 'wrong_issuer',
    'mixed-up issuer': 'wrong_issuer',
    'other nonce': 'wrong_nonce',
    'no nonce': 'wrong_nonce',
    'other state': 'expired',
    'alg none': 'bad_signature',
    'key confusion': 'bad_signature',
    'unknown key': 'bad_signature',
    'redirects keys': 'bad_answer',
    expired: 'token_expired',
    'no id token': 'bad_answer',
    denies: 'denied',
  };
  it.each(Object.entries(LIES))('%s: %s', async (lie, reason) => {
    const { sub, email } = await known();
    const window = browser(lab.url);
    const begun = await window.call('POST', '/dashboard/sign-in/oidc', {});
    oidc.person = verified(sub, email);
    oidc.lie = lie as OidcLie;
    const query = oidc.authorize(begun.json.url);
    await expectRefused(window, await window.call('POST', '/dashboard/sign-in/oidc/finish', { query }), reason);
  });

  it('says which error it sent, but not its words', async () => {
    const window = browser(lab.url);
    oidc.lie = 'denies';
    const { json } = await signInByOidc(window, oidc, { sub: 'x' });
    expect(json.error).toBe('Lab ID refused to sign you in (access_denied).');
  });

  it('user info of another subject', async () => {
    const { sub, email } = await known();
    oidc.lie = 'user info of another';
    oidc.userInfo = { email, email_verified: true };
    const window = browser(lab.url);
    await expectRefused(window, await signInByOidc(window, oidc, { sub }), 'bad_answer');
  });

  it('a code, and a state, work once', async () => {
    const { sub, email } = await known();
    const window = browser(lab.url);
    const { url } = (await window.call('POST', '/dashboard/sign-in/oidc', {})).json;
    oidc.person = verified(sub, email);
    oidc.lie = 'accepts a code twice';
    const query = oidc.authorize(url);
    const cookie = [...window.jar].map(([name, value]) => `${name}=${value}`).join('; ');
    expect((await window.call('POST', '/dashboard/sign-in/oidc/finish', { query })).status).toBe(200);
    const thief = browser(lab.url);
    await expectRefused(
      thief,
      await thief.call('POST', '/dashboard/sign-in/oidc/finish', { query }, { cookie }),
      'expired',
    );
    // The same code, injected into a sign-in of another browser: its verifier does not fit.
    oidc.lie = null;
    const other = browser(lab.url);
    const begun = (await other.call('POST', '/dashboard/sign-in/oidc', {})).json;
    const own = new URLSearchParams(oidc.authorize(begun.url));
    own.set('code', new URLSearchParams(query).get('code')!);
    const injected = await other.call('POST', '/dashboard/sign-in/oidc/finish', { query: `?${own}` });
    await expectRefused(other, injected, 'code_refused');
  });

  it('an unused code of another browser does not fit either, nor does the answer to it', async () => {
    const { sub, email } = await known();
    const [mallory, victim] = [browser(lab.url), browser(lab.url)];
    const one = (await mallory.call('POST', '/dashboard/sign-in/oidc', {})).json.url;
    const two = (await victim.call('POST', '/dashboard/sign-in/oidc', {})).json.url;
    oidc.person = verified(sub, email);
    const [theirs, own] = [oidc.authorize(one), new URLSearchParams(oidc.authorize(two))];
    // A link with Mallory's answer, opened by the victim, would sign the victim in as Mallory.
    const finish = (query: string) => victim.call('POST', '/dashboard/sign-in/oidc/finish', { query });
    await expectRefused(victim, await finish(theirs), 'expired');
    const injected = new URLSearchParams(own);
    injected.set('code', new URLSearchParams(theirs).get('code')!);
    await expectRefused(victim, await finish(`?${injected}`), 'code_refused');
  });

  it('a page of another site cannot begin or finish a sign-in', async () => {
    for (const path of ['/dashboard/sign-in/oidc', '/dashboard/sign-in/oidc/finish']) {
      const reply = await browser(lab.url).call('POST', path, { query: 'x' }, { 'sec-fetch-site': 'cross-site' });
      expect([reply.status, reply.json.code]).toEqual([403, 'cross_origin']);
    }
  });
});

describe('a provider that cannot be used', () => {
  const DISCOVERY: Readonly<Partial<Record<OidcLie, OidcFailure>>> = {
    'endless discovery': 'unreachable',
    'slow discovery': 'unreachable',
    'redirects discovery': 'bad_answer',
    'wrong issuer in discovery': 'wrong_issuer',
    'page that is a script': 'bad_answer',
  };
  it('is refused before the browser goes there, and tried anew', async () => {
    const own = await startLab({ ...oidcOptions(oidc), MAILVET_ALLOW_PRIVATE_NETWORKS: 'false' });
    try {
      for (const [lie, reason] of Object.entries(DISCOVERY)) {
        oidc.lie = lie as OidcLie;
        const reply = await browser(own.url).call('POST', '/dashboard/sign-in/oidc', {});
        expect([lie, reply.json.reason]).toEqual([lie, reason]);
      }
      oidc.lie = 'private token endpoint';
      const window = browser(own.url);
      expect((await signInByOidc(window, oidc, verified('x', 'x@oidc.example'))).json.reason).toBe('unreachable');
    } finally {
      await own.close();
    }
  });

  it('is refused where its keys are at a private address', async () => {
    const own = await startLab({ ...oidcOptions(oidc), MAILVET_ALLOW_PRIVATE_NETWORKS: 'false' });
    try {
      oidc.lie = 'private keys';
      const reply = await signInByOidc(browser(own.url), oidc, verified('x', 'x@oidc.example'));
      expect(reply.json.reason).toBe('unreachable');
    } finally {
      await own.close();
    }
  });

  it('is given up where tokens do not come', async () => {
    oidc.lie = 'slow token';
    const window = browser(lab.url);
    await expectRefused(window, await signInByOidc(window, oidc, verified('x', 'x@oidc.example')), 'unreachable');
  });
});

describe('whose sign-in it is', () => {
  const refused = async (claims: Readonly<Record<string, unknown>>, reason: OidcFailure, invitation?: string) => {
    const window = browser(lab.url);
    await expectRefused(window, await signInByOidc(window, oidc, claims, invitation), reason);
  };

  it('is not decided by an address that the provider has not verified', async () => {
    const { sub, email } = await known();
    for (const email_verified of [false, 'true', 1, null, undefined])
      await refused({ sub, email, email_verified }, 'address_not_verified');
    await refused({ sub }, 'no_address');
    expect((await signInByOidc(browser(lab.url), oidc, verified(sub, email))).status).toBe(200);
  });

  it('is not decided by an address that was never proven here', async () => {
    const { sub, email } = fresh();
    const squatter = await peopleOf(lab).create({ email, name: 'Squatter', password: null, proven: false });
    await lab.store.members.add(member.account.id, squatter!.id, 'member', BY);
    await refused(verified(sub, email), 'address_not_proven');
  });

  it('is not that of a user who belongs to another subject', async () => {
    const { sub, email } = await known();
    expect((await signInByOidc(browser(lab.url), oidc, verified(sub, email))).status).toBe(200);
    await refused(verified('whoever has the address now', email), 'other_subject');
  });

  it.each([
    'pеrson@oidc.example',
    'person@oidc.example\u{200B}',
    'person@oidc。example',
    '"person"@oidc.example',
    'a@b, person@oidc.example',
    'x'.repeat(400),
  ])('is not that of an address that looks like one: %j', async (email) => {
    await peopleOf(lab).create({ email: 'person@oidc.example', name: 'Person', password: null });
    await refused(verified(fresh().sub, email), 'no_address');
  });

  it('needs an invitation, which is taken by its link alone', async () => {
    const { sub, email } = fresh();
    await refused(verified(sub, email), 'no_invitation');
    const token = await invite(email, true);
    await refused(verified(sub, email), 'no_invitation');
    await refused(verified(sub, fresh().email), 'other_address', token);
    const window = browser(lab.url);
    expect((await signInByOidc(window, oidc, verified(sub, email), token)).status).toBe(200);
    const session = (await window.call('GET', '/dashboard/session')).json;
    expect(session.accounts.map(({ id }: { id: string }) => id)).toEqual([member.account.id]);
    expect(await lab.store.users.byEmail(email)).toMatchObject({ emailVerified: true, name: 'Lab Person' });
    const again = await signInByOidc(browser(lab.url), oidc, verified(sub, email), token);
    expect([again.status, again.json.code]).toEqual([410, 'link_expired']);
  });

  it('leaves no user behind where an invitation is withdrawn meanwhile', async () => {
    const { sub, email } = fresh();
    const token = await invite(email, true);
    await runSql(
      lab.databaseUrl,
      lab.databaseUrl.startsWith('sqlite')
        ? 'CREATE TRIGGER meanwhile AFTER INSERT ON oidc_identities BEGIN DELETE FROM invitations; END'
        : `CREATE FUNCTION withdraw() RETURNS trigger AS $$ BEGIN DELETE FROM invitations; RETURN NULL; END $$ LANGUAGE plpgsql;
          CREATE TRIGGER meanwhile AFTER INSERT ON oidc_identities EXECUTE FUNCTION withdraw()`,
    );
    const reply = await signInByOidc(browser(lab.url), oidc, verified(sub, email), token);
    await runSql(
      lab.databaseUrl,
      lab.databaseUrl.startsWith('sqlite') ? 'DROP TRIGGER meanwhile' : 'DROP TRIGGER meanwhile ON oidc_identities',
    );
    expect(reply.json.code).toBe('link_expired');
    expect(await lab.store.users.byEmail(email)).toBeNull();
  });

  it('ends with the membership, at once', async () => {
    const { sub, email, id } = await known();
    const window = browser(lab.url);
    await signInByOidc(window, oidc, verified(sub, email));
    const path = `/dashboard/accounts/${member.account.id}`;
    expect((await window.call('GET', path)).status).toBe(200);
    await lab.store.members.remove(member.account.id, id, BY);
    expect((await window.call('GET', path)).status).toBe(404);
  });
});

describe('logging out at the provider', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': '', origin: '' };
  const logout = (token: string) =>
    browser(lab.url).call('POST', '/dashboard/sign-in/oidc/logout', `logout_token=${token}`, form);

  it('ends the sessions of the subject, or the one that is named, and no others', async () => {
    const { sub, email, id } = await known();
    const other = await known();
    const windows = await Promise.all(
      [
        verified(sub, email, { sid: 'one' }),
        verified(sub, email, { sid: 'two' }),
        verified(other.sub, other.email),
      ].map(async (claims) => {
        const window = browser(lab.url);
        const begun = await window.call('POST', '/dashboard/sign-in/oidc', {});
        oidc.person = claims;
        const query = oidc.authorize(begun.json.url);
        await window.call('POST', '/dashboard/sign-in/oidc/finish', { query });
        return window;
      }),
    );
    const signedIn = async () => Promise.all(windows.map(async (window) => (await userOf(window)) !== null));
    expect(await signedIn()).toEqual([true, true, true]);
    const reply = await logout(await oidc.logoutToken({ sid: 'one' }));
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await signedIn()).toEqual([false, true, true]);
    const token = await oidc.logoutToken({ sub });
    expect((await logout(token)).status).toBe(200);
    expect(await signedIn()).toEqual([false, false, true]);
    // It does not end later ones.
    await signInByOidc(windows[0]!, oidc, verified(sub, email));
    expect((await logout(token)).status).toBe(400);
    expect(await userOf(windows[0]!)).toMatchObject({ id });
  });

  it('does not end sessions that were begun otherwise', async () => {
    const jane = await person(lab);
    const { sub } = fresh();
    expect((await signInByOidc(browser(lab.url), oidc, verified(sub, jane.email))).status).toBe(200);
    expect((await logout(await oidc.logoutToken({ sub }))).status).toBe(200);
    expect(await userOf(jane)).toMatchObject({ id: jane.id });
  });

  it('needs a token of the provider, for this service, of now', async () => {
    const { sub } = await known();
    const old = Math.floor(Date.now() / 1000) - 3600;
    for (const claims of [
      { sub, aud: 'another-client' },
      { sub, iss: 'https://attacker.example.com' },
      { sub, iat: old },
      { sub, nonce: 'an ID token has one' },
      { sub, events: {} },
      { sub: undefined },
      { sub, jti: undefined },
    ])
      expect((await logout(await oidc.logoutToken(claims))).status).toBe(400);
    const [, body, signature] = (await oidc.logoutToken({ sub })).split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    for (const token of [`${none}.${body}.`, `${none}.${body}.${signature}`, 'x'.repeat(100)])
      expect((await logout(token)).status).toBe(400);
  });
});

it('is absent where no provider is configured', async () => {
  const plain = await startLab();
  try {
    const window = browser(plain.url);
    expect((await window.call('GET', '/dashboard/session')).json.oidc).toBeNull();
    expect((await window.call('POST', '/dashboard/sign-in/oidc', {})).status).toBe(404);
    expect((await window.call('POST', '/dashboard/sign-in/oidc/finish', { query: 'x' })).status).toBe(404);
    expect((await window.signIn('nobody@example.com', PASSWORD)).status).toBe(401);
  } finally {
    await plain.close();
  }
});
