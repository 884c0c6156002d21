import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Browser, browser, forgetSignIns, PASSWORD, type Person, peopleOf, person } from '../../lab/person.ts';
import { securityKey, totp } from '../../lab/second-factor.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { failInserts } from '../../lab/stores.ts';
import { of } from './client.ts';

let lab: Lab;
let member: Member;
let owner: Person;
beforeAll(async () => {
  lab = await startLab({ MAILVET_TRUSTED_PROXIES: '127.0.0.1' });
  member = await lab.member();
  owner = await person(lab, { account: member.account.id });
});
afterAll(() => lab.close());
beforeEach(() => forgetSignIns(lab));

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
const FRESH = 'a new and better password';

interface Entry {
  readonly action: string;
  readonly target: string;
  readonly ip: string | null;
  readonly actor: { readonly kind: string; readonly name: string };
  readonly detail: Readonly<Record<string, unknown>>;
  readonly count: number;
}
const isOfUser = ({ action }: Entry): boolean => action.startsWith('user.');
/** What the audit log says of a user, oldest first. */
async function auditEntries(
  who: Pick<Person, 'email'>,
  reader: Browser = owner,
  account = member.account,
): Promise<Entry[]> {
  const { entries } = (await reader.call('GET', of(account, '/audit-log?limit=100'))).json;
  return entries.filter((entry: Entry) => isOfUser(entry) && entry.target === who.email).reverse();
}
/** Failures are written in the background. */
async function auditEntriesWhen(
  who: Pick<Person, 'email'>,
  complete: (entries: readonly Entry[]) => boolean,
): Promise<Entry[]> {
  for (const until = Date.now() + 30_000; ; await sleep(50)) {
    const entries = await auditEntries(who);
    if (complete(entries) || Date.now() > until) return entries;
  }
}
const actionsOf = (entries: readonly Entry[]) => entries.map(({ action }) => action.slice('user.'.length));
const colleague = (more: object = {}) => person(lab, { account: member.account.id, role: 'member', ...more });
const from = (window: Browser, ip: string): Browser => ({
  ...window,
  call: (method, path, body, headers = {}) =>
    window.call(method, path, body, { 'x-forwarded-for': ip, 'user-agent': FIREFOX, ...headers }),
});

describe('the audit log of an account has of its users', () => {
  it('signing in and out, with IP address and device', async () => {
    const jane = await colleague();
    const window = from(browser(lab.url), '192.0.2.7');
    await window.call('POST', '/dashboard/sign-in', { email: jane.email, password: PASSWORD });
    await window.call('POST', '/dashboard/sign-out');
    await jane.call('POST', '/dashboard/sign-out-everywhere');
    const entries = await auditEntries(jane);
    expect(actionsOf(entries)).toEqual(['signed_in', 'signed_in', 'signed_out', 'signed_out']);
    expect(entries[1]).toMatchObject({
      ip: '192.0.2.7',
      actor: { kind: 'user', name: jane.email },
      detail: { factor: 'password', device: 'Firefox on Linux' },
    });
    expect(entries[3]!.detail).toMatchObject({ everywhere: true });
  });

  it('sessions that their user ended from another one', async () => {
    const jane = await colleague();
    for (const window of [browser(lab.url), browser(lab.url), browser(lab.url)])
      await window.call('POST', '/dashboard/sign-in', { email: jane.email, password: PASSWORD });
    const { sessions } = (await jane.call('GET', '/dashboard/sessions')).json;
    const id = (current: boolean) => sessions.find((one: { current: boolean }) => one.current === current).id;
    const end = (session: string) => from(jane, '192.0.2.7').call('DELETE', `/dashboard/sessions/${session}`);
    expect((await end(id(false))).status).toBe(200);
    expect((await end(id(false))).status).toBe(404);
    expect((await from(jane, '192.0.2.7').call('POST', '/dashboard/sessions/end-others')).status).toBe(200);
    expect((await jane.call('POST', '/dashboard/sessions/end-others')).status).toBe(200);
    expect((await end(id(true))).status).toBe(200);
    const entries = (await auditEntries(jane)).filter(({ action }) => action === 'user.signed_out');
    const shown = { ip: '192.0.2.7', actor: { name: jane.email }, detail: { device: 'Firefox on Linux' } };
    expect(entries).toMatchObject([shown, shown, shown]);
    expect(entries.map(({ detail }) => detail.others)).toEqual([1, 2, undefined]);
  });

  it('second factors: turned on, used, a recovery code, wrong codes, turned off', async () => {
    const jane = await colleague();
    const { secret, recovery_codes: recovery } = (await jane.call('POST', '/dashboard/totp', { password: PASSWORD }))
      .json;
    await jane.call('POST', '/dashboard/totp/confirm', { code: totp(secret) });
    for (const code of [totp(secret, 1), recovery[0]]) {
      const window = browser(lab.url);
      await window.signIn(jane.email);
      expect((await window.call('POST', '/dashboard/sign-in/code', { code: '000000' })).status).toBe(401);
      expect((await window.call('POST', '/dashboard/sign-in/code', { code })).status).toBe(200);
    }
    await jane.call('POST', '/dashboard/totp/remove', { password: PASSWORD });
    const entries = await auditEntriesWhen(jane, (all) => all.length > 5);
    expect(entries.filter(({ action }) => action === 'user.signed_in').map(({ detail }) => detail.factor)).toEqual([
      'password',
      'code',
      'recovery_code',
    ]);
    const failed = entries.find(({ action }) => action === 'user.authentication_failed');
    expect(failed).toMatchObject({ actor: { kind: 'anonymous', name: '' }, detail: { factor: 'code' } });
    expect(actionsOf(entries)).toEqual(expect.arrayContaining(['second_factor_enabled', 'second_factor_disabled']));
  });

  it('passkeys: added, used, removed', async () => {
    const jane = await colleague();
    const key = securityKey();
    const here = { origin: lab.url, rpId: 'localhost' };
    const { options } = (await jane.call('POST', '/dashboard/passkeys/options', { password: PASSWORD })).json;
    await jane.call('POST', '/dashboard/passkeys', { name: 'Blue key', credential: key.create(options, here) });
    const window = browser(lab.url);
    const asked = (await window.call('POST', '/dashboard/sign-in/passkey/options')).json.options;
    await window.call('POST', '/dashboard/sign-in/passkey', { credential: key.get(asked, here) });
    const { passkeys } = (await window.call('GET', '/dashboard/passkeys')).json;
    await window.call('DELETE', `/dashboard/passkeys/${passkeys[0].id}`);
    const entries = await auditEntries(jane);
    expect(actionsOf(entries)).toEqual(['signed_in', 'passkey_added', 'signed_in', 'passkey_removed']);
    expect(entries.map(({ detail }) => detail.factor ?? detail.passkey)).toEqual([
      'password',
      'Blue key',
      'passkey',
      'Blue key',
    ]);
  });

  it('passwords: changed, reset by a link, wrong ones', async () => {
    const jane = await colleague();
    await jane.call('POST', '/dashboard/password', { current: 'not this one', password: FRESH });
    await jane.call('POST', '/dashboard/password', { current: PASSWORD, password: FRESH });
    const token = await peopleOf(lab).passwordToken(jane.id, 60_000);
    await browser(lab.url).call('POST', '/dashboard/password/reset', { token, password: PASSWORD });
    const entries = await auditEntriesWhen(jane, (all) => all.length > 3);
    expect(actionsOf(entries).toSorted()).toEqual([
      'authentication_failed',
      'password_changed',
      'password_reset',
      'signed_in',
    ]);
    // Somebody with a session of the user.
    const failed = entries.find(({ action }) => action === 'user.authentication_failed');
    expect(failed).toMatchObject({ actor: { kind: 'user', name: jane.email }, detail: { factor: 'password' } });
  });

  it('wrong passwords of strangers, with their number', async () => {
    const jane = await colleague();
    const stranger = from(browser(lab.url), '198.51.100.1');
    for (const email of [jane.email, jane.email.toUpperCase(), jane.email, 'nobody@example.com'])
      expect((await stranger.call('POST', '/dashboard/sign-in', { email, password: 'not this one' })).status).toBe(401);
    const failedOf = (all: readonly Entry[]) => all.filter(({ action }) => action === 'user.authentication_failed');
    const all = (entries: readonly Entry[]) => failedOf(entries).reduce((sum, { count }) => sum + count, 0);
    const failed = failedOf(await auditEntriesWhen(jane, (entries) => all(entries) >= 3));
    expect(all(failed)).toBe(3);
    expect(failed[0]).toMatchObject({
      ip: '198.51.100.1',
      actor: { kind: 'anonymous', name: '' },
      detail: { factor: 'password', device: 'Firefox on Linux' },
    });
  });

  it('attempts beyond a limit, once', async () => {
    const jane = await colleague();
    const stranger = from(browser(lab.url), '203.0.113.9');
    const statuses = [];
    for (let i = 0; i < 20; i += 1)
      statuses.push(
        (await stranger.call('POST', '/dashboard/sign-in', { email: jane.email, password: 'wrong' })).status,
      );
    expect(statuses.at(-1)).toBe(429);
    const isBlocked = ({ action }: Entry) => action === 'user.authentication_blocked';
    const entries = await auditEntriesWhen(jane, (all) => all.some(isBlocked));
    expect(entries.filter(isBlocked).map(({ count, ip }) => [count, ip])).toEqual([[1, '203.0.113.9']]);
  });

  it('every change that was made: what cannot be recorded does not happen', async () => {
    const jane = await colleague();
    const { secret } = (await jane.call('POST', '/dashboard/totp', { password: PASSWORD })).json;
    const key = securityKey();
    const { options } = (await jane.call('POST', '/dashboard/passkeys/options', { password: PASSWORD })).json;
    const credential = key.create(options, { origin: lab.url, rpId: 'localhost' });
    const token = await peopleOf(lab).passwordToken(jane.id, 60_000);
    const changes: [Browser, string, object?][] = [
      // From elsewhere, as the same event within the hour adds to its entry.
      [from(browser(lab.url), '192.0.2.8'), '/dashboard/sign-in', { email: jane.email, password: PASSWORD }],
      [jane, '/dashboard/totp/confirm', { code: totp(secret) }],
      [jane, '/dashboard/passkeys', { name: 'Blue key', credential }],
      [jane, '/dashboard/password', { current: PASSWORD, password: FRESH }],
      [jane, '/dashboard/sessions/end-others'],
      [jane, '/dashboard/sign-out-everywhere'],
      [jane, '/dashboard/sign-out'],
      [browser(lab.url), '/dashboard/password/reset', { token, password: FRESH }],
    ];
    await browser(lab.url).call('POST', '/dashboard/sign-in', { email: jane.email, password: PASSWORD });
    const mend = await failInserts(lab.databaseUrl, 'trail');
    try {
      for (const [window, path, body] of changes)
        expect((await window.call('POST', path, body)).status, path).toBe(500);
    } finally {
      await mend();
    }
    expect((await jane.call('GET', '/dashboard/sessions')).json.sessions).toHaveLength(2);
    expect((await jane.call('GET', '/dashboard/passkeys')).json.passkeys).toEqual([]);
    const again = await browser(lab.url).signIn(jane.email);
    expect([again.status, again.json.second_factor]).toEqual([200, false]);
    expect((await auditEntries(jane)).map(({ action, count }) => [action, count])).toEqual([['user.signed_in', 3]]);
  });

  it('nothing of what they do in other accounts', async () => {
    const other = await lab.member();
    const jane = await colleague();
    const by = { kind: 'command', id: null, name: 'test', ip: null } as const;
    await lab.store.members.add(other.account.id, jane.id, 'owner', by);
    await jane.call('POST', of(other.account, '/filters'), { value: 'secret.example.com' });
    await browser(lab.url).signIn(jane.email);
    const here = (await owner.call('GET', of(member.account, '/audit-log?limit=100'))).text;
    expect(here).not.toContain('secret.example.com');
    expect(here).not.toContain(other.account.id);
    expect(actionsOf(await auditEntries(jane))).toContain('signed_in');
    expect(actionsOf(await auditEntries(jane, jane, other.account))).toEqual(['signed_in']);
    // Who is not a member of the account is not in its log.
    expect(await auditEntries(owner, jane, other.account)).toEqual([]);
  });
});
