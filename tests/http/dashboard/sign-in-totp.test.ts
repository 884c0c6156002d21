import type { Kysely } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Browser, browser, forgetSignIns, PASSWORD, type Person, person } from '../../lab/person.ts';
import { totp } from '../../lab/second-factor.ts';
import { type Lab, startLab } from '../../lab/service.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.close());
beforeEach(() => forgetSignIns(lab));

const userOf = async (who: Browser) => (await who.call('GET', '/dashboard/session')).json.user;
const codeOf = async (who: Browser, code: string) => who.call('POST', '/dashboard/sign-in/code', { code });

interface Held {
  readonly secret: string;
  readonly recovery: readonly string[];
}
/**
 * Turns on the second factor, which uses up the current code; `next` is the following one, valid now and for a minute,
 * so that tests do not fail at the end of a time step.
 */
const next = (secret: string): string => totp(secret, 1);
async function withTotp(who: Person): Promise<Held> {
  const begun = await who.call('POST', '/dashboard/totp', { password: PASSWORD });
  expect(begun.status).toBe(200);
  const { secret, recovery_codes: recovery } = begun.json;
  const confirmed = await who.call('POST', '/dashboard/totp/confirm', { code: totp(secret) });
  expect(confirmed.status).toBe(200);
  return { secret, recovery };
}

describe('the second factor', () => {
  it('is started, confirmed, required at sign-in, removed', async () => {
    const jane = await person(lab, { email: 'jane@example.com' });
    const begun = await jane.call('POST', '/dashboard/totp', { password: PASSWORD });
    const { uri, secret, recovery_codes: recovery } = begun.json;
    expect(secret).toMatch(/^[A-Z2-7]{32,}$/);
    expect(new Set(recovery).size).toBe(10);
    const parsed = new URL(uri);
    expect(decodeURIComponent(parsed.pathname)).toBe('/Mailvet:jane@example.com');
    expect(Object.fromEntries(parsed.searchParams)).toMatchObject({
      secret,
      issuer: 'Mailvet',
      digits: '6',
      period: '30',
    });
    // Not active yet.
    expect((await browser(lab.url).signIn(jane.email)).json).toEqual({ second_factor: false });

    const before = jane.jar.get('mailvet.session_token');
    expect((await jane.call('POST', '/dashboard/totp/confirm', { code: totp(secret) })).status).toBe(200);
    expect(jane.jar.get('mailvet.session_token')).not.toBe(before);
    expect(await userOf(jane)).toMatchObject({ second_factor: true });

    const there = browser(lab.url);
    expect((await there.signIn(jane.email)).json).toEqual({ second_factor: true });
    expect([...there.jar.keys()]).toEqual(['mailvet.two_factor']);
    expect(await userOf(there)).toBeNull();
    const code = next(secret);
    const reply = await codeOf(there, ` ${code.slice(0, 3)} ${code.slice(3)} `);
    expect([reply.status, reply.json.status]).toEqual([200, 'success']);
    expect([...there.jar.keys()]).toEqual(['mailvet.session_token', 'mailvet.device']);
    expect(await userOf(there)).toMatchObject({ id: jane.id });

    const wrong = await jane.call('POST', '/dashboard/totp/remove', { password: 'not this one' });
    expect([wrong.status, wrong.json.code]).toEqual([422, 'wrong_password']);
    expect((await jane.call('POST', '/dashboard/totp/remove', { password: PASSWORD })).status).toBe(200);
    expect((await browser(lab.url).signIn(jane.email)).json).toEqual({ second_factor: false });
  });

  it('is removed with a code too, by somebody who has no password', async () => {
    const ida = await person(lab);
    const { secret } = (await ida.call('POST', '/dashboard/totp', { password: PASSWORD })).json;
    await ida.call('POST', '/dashboard/totp/confirm', { code: totp(secret) });
    const none = await ida.call('POST', '/dashboard/totp/remove', {});
    expect([none.status, none.json.code]).toEqual([400, 'missing_parameter']);
    const wrong = await ida.call('POST', '/dashboard/totp/remove', { code: totp(secret) });
    expect([wrong.status, wrong.json.code]).toEqual([422, 'wrong_code']);
    expect((await ida.call('POST', '/dashboard/totp/remove', { code: next(secret) })).status).toBe(200);
    expect(await userOf(ida)).toMatchObject({ second_factor: false });
  });

  it('requires the password and a correct code', async () => {
    const mary = await person(lab);
    const wrong = await mary.call('POST', '/dashboard/totp', { password: 'not this one' });
    expect([wrong.status, wrong.json.code]).toEqual([422, 'wrong_password']);
    const early = await mary.call('POST', '/dashboard/totp/confirm', { code: '123456' });
    expect([early.status, early.json.code]).toEqual([422, 'wrong_code']);
    const { secret } = (await mary.call('POST', '/dashboard/totp', { password: PASSWORD })).json;
    const bad = await mary.call('POST', '/dashboard/totp/confirm', { code: totp(secret, 50) });
    expect([bad.status, bad.json.code]).toEqual([422, 'wrong_code']);
    expect(await userOf(mary)).toMatchObject({ second_factor: false });
  });

  it('can be restarted until it is confirmed', async () => {
    const mary = await person(lab);
    const first = (await mary.call('POST', '/dashboard/totp', { password: PASSWORD })).json.secret;
    const { secret } = await withTotp(mary);
    expect(secret).not.toBe(first);
    const again = await mary.call('POST', '/dashboard/totp', { password: PASSWORD });
    expect([again.status, again.json.code]).toEqual([422, 'second_factor_exists']);
  });

  it('is required even with an existing session', async () => {
    const mary = await person(lab);
    const { secret } = await withTotp(mary);
    const there = browser(lab.url);
    const other = await person(lab);
    for (const [name, value] of other.jar) there.jar.set(name, value);
    await there.signIn(mary.email);
    expect((await codeOf(there, next(secret))).status).toBe(200);
    expect(await userOf(there)).toMatchObject({ id: mary.id });
    // The previous session has ended.
    expect(await userOf(other)).toBeNull();
  });
});

it('a pending second factor is void after signing out everywhere', async () => {
  const mary = await person(lab);
  const { secret } = await withTotp(mary);
  const window = browser(lab.url);
  await window.signIn(mary.email);
  expect((await mary.call('POST', '/dashboard/sign-out-everywhere')).status).toBe(200);
  expect((await codeOf(window, next(secret))).json.code).toBe('sign_in_failed');
});

describe('a code', () => {
  it('works once', async () => {
    const mary = await person(lab);
    const { secret, recovery } = await withTotp(mary);
    const [here, there] = [browser(lab.url), browser(lab.url)];
    await here.signIn(mary.email);
    await there.signIn(mary.email);
    const code = next(secret);
    expect((await codeOf(here, code)).status).toBe(200);
    const again = await codeOf(there, code);
    expect([again.status, again.json.code]).toEqual([401, 'second_factor_failed']);
    expect((await codeOf(there, recovery[0]!)).status).toBe(200);
  });

  it('works once when it is sent twice at the same time', async () => {
    const mary = await person(lab);
    const { secret } = await withTotp(mary);
    const windows = [browser(lab.url), browser(lab.url), browser(lab.url)];
    for (const window of windows) await window.signIn(mary.email);
    const code = next(secret);
    const replies = await Promise.all(windows.map((window) => codeOf(window, code)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });

  it('is useless without the password', async () => {
    const window = browser(lab.url);
    const reply = await codeOf(window, '123456');
    expect([reply.status, reply.json.code]).toEqual([401, 'sign_in_failed']);
    window.jar.set('mailvet.two_factor', 'made-up.signature');
    expect((await codeOf(window, '123456')).json.code).toBe('sign_in_failed');
  });

  it('can be wrong five times; then the password is required again', async () => {
    const mary = await person(lab);
    const { secret, recovery } = await withTotp(mary);
    const window = browser(lab.url);
    await window.signIn(mary.email);
    for (let i = 0; i < 5; i++)
      expect((await codeOf(window, totp(secret, 100 + i))).json.code).toBe('second_factor_failed');
    const reply = await codeOf(window, next(secret));
    expect([reply.status, reply.json.code]).toEqual([401, 'sign_in_failed']);
    await window.signIn(mary.email);
    expect((await codeOf(window, recovery[0]!)).status).toBe(200);
  });

  it('can be wrong ten times in a quarter of an hour, over all sign-ins', async () => {
    const mary = await person(lab);
    const { secret } = await withTotp(mary);
    for (let i = 0; i < 10; i++) {
      const window = browser(lab.url);
      await window.signIn(mary.email);
      expect((await codeOf(window, totp(secret, 100 + i))).status).toBe(401);
    }
    const window = browser(lab.url);
    await window.signIn(mary.email);
    const reply = await codeOf(window, next(secret));
    expect([reply.status, reply.json.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(800);
    expect(await userOf(mary)).toMatchObject({ id: mary.id });
  });
});

describe('a recovery code', () => {
  it('works once, and the others still do', async () => {
    const mary = await person(lab);
    const { recovery } = await withTotp(mary);
    const window = browser(lab.url);
    await window.signIn(mary.email);
    expect((await codeOf(window, recovery[0]!)).status).toBe(200);
    expect(await userOf(window)).toMatchObject({ id: mary.id });
    await window.signIn(mary.email);
    const again = await codeOf(window, recovery[0]!);
    expect([again.status, again.json.code]).toEqual([401, 'second_factor_failed']);
    expect((await codeOf(window, recovery[1]!)).status).toBe(200);
  });

  it('works once when it is sent twice at the same time', async () => {
    const mary = await person(lab);
    const { recovery } = await withTotp(mary);
    const windows = [browser(lab.url), browser(lab.url)];
    for (const window of windows) await window.signIn(mary.email);
    const replies = await Promise.all(windows.map((window) => codeOf(window, recovery[0]!)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  it('is stored encrypted, like the secret', async () => {
    const mary = await person(lab);
    const { secret, recovery } = await withTotp(mary);
    const db = lab.store.authDatabase.db as Kysely<Record<string, Record<string, unknown>>>;
    const rows = JSON.stringify(
      await db.selectFrom('auth_two_factors').selectAll().where('userId', '=', mary.id).execute(),
    );
    for (const hidden of [secret, ...recovery]) expect(rows).not.toContain(hidden);
  });
});
