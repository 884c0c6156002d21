/** What a sign-in relies on is taken away while it is under way: right after the library has checked it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Browser, browser, PASSWORD, type Person, person } from '../../lab/person.ts';
import { securityKey, totp } from '../../lab/second-factor.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { runSql } from '../../lab/stores.ts';

let lab: Lab;
let jane: Person;
beforeEach(async () => {
  lab = await startLab();
  jane = await person(lab);
});
afterEach(() => lab.close());

/** Has the store do `meanwhile` with each such change of the table. */
const on = (event: 'UPDATE' | 'DELETE', table: string, meanwhile: string): Promise<unknown> =>
  runSql(
    lab.databaseUrl,
    lab.databaseUrl.startsWith('sqlite')
      ? `CREATE TRIGGER meanwhile AFTER ${event} ON ${table} BEGIN ${meanwhile}; END`
      : `CREATE RULE meanwhile AS ON ${event} TO ${table} DO ALSO ${meanwhile}`,
  );
const sessions = async (): Promise<number> => (await lab.store.signIns.sessions(jane.id)).length;

it('a passkey that is removed while it signs in begins no session', async () => {
  const here = { origin: lab.url, rpId: 'localhost' };
  const key = securityKey();
  const made = (await jane.call('POST', '/dashboard/passkeys/options', { password: PASSWORD })).json;
  const added = { name: 'Key', credential: key.create(made.options, here) };
  expect((await jane.call('POST', '/dashboard/passkeys', added)).status).toBe(201);
  const signIn = async () => {
    const window = browser(lab.url);
    const { options } = (await window.call('POST', '/dashboard/sign-in/passkey/options')).json;
    return window.call('POST', '/dashboard/sign-in/passkey', { credential: key.get(options, here) });
  };
  expect((await signIn()).status).toBe(200);
  const before = await sessions();
  // The library writes the counter of a passkey that it has verified.
  await on('UPDATE', 'auth_passkeys', 'DELETE FROM auth_passkeys');
  const reply = await signIn();
  expect([reply.status, reply.json.code]).toEqual([401, 'sign_in_failed']);
  expect(await sessions()).toBe(before);
});

describe('a code', () => {
  let window: Browser;
  let secret: string;
  let recovery: readonly string[];
  beforeEach(async () => {
    const begun = (await jane.call('POST', '/dashboard/totp', { password: PASSWORD })).json;
    [secret, recovery] = [begun.secret, begun.recovery_codes];
    expect((await jane.call('POST', '/dashboard/totp/confirm', { code: totp(secret) })).status).toBe(200);
    window = browser(lab.url);
    expect((await window.signIn(jane.email)).json).toEqual({ second_factor: true });
  });

  // The library deletes the challenge of a code that it has verified.
  it.each([
    ['the password is changed', 'app', "UPDATE auth_accounts SET password = 'another'"],
    ['the second factor is removed', 'recovery', 'UPDATE auth_users SET "twoFactorEnabled" = NULL'],
  ])('begins no session if %s while it is checked (%s)', async (_name, factor, change) => {
    const before = await sessions();
    await on('DELETE', 'auth_verifications', change);
    const code = factor === 'app' ? totp(secret, 1) : recovery[0];
    const reply = await window.call('POST', '/dashboard/sign-in/code', { code });
    expect([reply.status, reply.json.code]).toEqual([401, 'sign_in_failed']);
    expect(await sessions()).toBe(before);
  });

  it.each(['app', 'recovery'])('begins a session if nothing is changed (%s)', async (factor) => {
    const before = await sessions();
    const code = factor === 'app' ? totp(secret, 1) : recovery[0];
    expect((await window.call('POST', '/dashboard/sign-in/code', { code })).status).toBe(200);
    expect(await sessions()).toBe(before + 1);
  });
});
