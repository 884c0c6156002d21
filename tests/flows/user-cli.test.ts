import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { type Browser, browser } from '../lab/person.ts';
import { type Running, runCli, startProcess } from '../lab/process.ts';
import { totp } from '../lab/second-factor.ts';
import { failInserts, freshDatabase, runSql } from '../lab/stores.ts';

// Each command is a process.
vi.setConfig({ testTimeout: 60_000 });

let database: Awaited<ReturnType<typeof freshDatabase>>;
let environment: Record<string, string>;
let service: Running;
let store: Store;
let account: string;

beforeAll(async () => {
  database = await freshDatabase();
  environment = { MAILVET_DATABASE_URL: database.url, MAILVET_ALLOW_PRIVATE_NETWORKS: 'true' };
  service = await startProcess(environment);
  environment = { ...environment, MAILVET_PUBLIC_URL: service.url };
  store = await openStore({ url: database.url, clock: systemClock });
  account = (await json('account', 'create', '--name', 'Shop')).id;
});
afterAll(async () => {
  await store.close();
  await service.end('SIGTERM');
  await database.drop();
});
beforeEach(() => store.attempts.clear('sign-in-ip:127.0.0.1'));

const cli = (...args: string[]) => runCli(['user', ...args], environment);
const json = async (...args: string[]) => {
  const { code, out, err } = await runCli([...args, '--json'], environment);
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
};
const user = (...args: string[]) => json('user', ...args);
const GOOD = 'correct horse battery staple';
const choose = (url: string, password: string) =>
  browser(service.url).call('POST', '/dashboard/password/reset', { token: url.split('#token=')[1], password });
const sessionOf = async (window: Browser) => (await window.call('GET', '/dashboard/session')).json;
const signedIn = async (email: string, password = GOOD) => {
  const window = browser(service.url);
  expect((await window.signIn(email, password)).json).toEqual({ second_factor: false });
  return window;
};

describe('mailvet user, while the service runs', () => {
  it('create, choose a password by the link, sign in, operator, remove', async () => {
    const args = ['--email', 'Jane@Example.com', '--account', account, '--role', 'owner'];
    const made = await user('create', ...args);
    expect(made).toEqual({
      id: expect.stringMatching(/^usr_/),
      email: 'jane@example.com',
      account,
      role: 'owner',
      created: true,
      url: expect.stringMatching(new RegExp(`^${service.url}/reset-password#token=[0-9A-Za-z]{32}$`)),
    });
    expect((await choose(made.url, GOOD)).status).toBe(200);
    expect((await choose(made.url, 'another password')).status).toBe(410);
    const jane = await signedIn('jane@example.com');
    expect(await sessionOf(jane)).toMatchObject({
      user: { id: made.id, name: 'jane', operator: false },
      accounts: [{ id: account, role: 'owner' }],
    });
    expect(await user('set', 'JANE@example.com', '--operator')).toMatchObject({ operator: true });
    expect((await sessionOf(jane)).user.operator).toBe(true);
    expect((await jane.call('GET', '/dashboard/operator/accounts')).status).toBe(200);
    expect(await user('set', made.id, '--no-operator')).toMatchObject({ operator: false });
    expect((await jane.call('GET', '/dashboard/operator/accounts')).status).toBe(404);
    expect(await user('list')).toMatchObject([
      {
        id: made.id,
        email: 'jane@example.com',
        operator: false,
        second_factor: false,
        accounts: [{ id: account, role: 'owner' }],
      },
    ]);

    const only = await cli('remove', 'jane@example.com');
    expect([only.code, only.err]).toEqual([1, expect.stringMatching(/only owner/)]);
    await user('create', '--email', 'mary@example.com', '--account', account, '--role', 'owner');
    expect(await user('remove', 'jane@example.com')).toEqual({ id: made.id, email: 'jane@example.com' });
    expect((await sessionOf(jane)).user).toBeNull();
    expect(await store.users.byEmail('jane@example.com')).toBeNull();
  });

  it('reads a password from standard input', async () => {
    const create = ['user', 'create', '--email', 'john@example.com', '--account', account, '--password-stdin'];
    const weak = await runCli(create, environment, 'short\n');
    expect([weak.code, weak.err]).toEqual([2, expect.stringMatching(/12 to 256/)]);
    const guessed = await runCli(create, environment, 'password1234!\n');
    expect([guessed.code, guessed.err]).toEqual([2, expect.stringMatching(/common passwords/)]);
    expect(await store.users.byEmail('john@example.com')).toBeNull();
    const made = await runCli([...create, '--operator', '--name', 'John', '--json'], environment, `${GOOD}\n`);
    expect(JSON.parse(made.out)).toMatchObject({ role: 'member', created: true, url: null });
    const john = await signedIn('john@example.com');
    expect((await sessionOf(john)).user).toMatchObject({ name: 'John', operator: true });

    const reset = ['user', 'reset-password', 'john@example.com', '--password-stdin'];
    const named = await runCli(reset, environment, 'Shop-John-2026\n');
    expect([named.code, named.err]).toEqual([2, expect.stringMatching(/your name/)]);
    const done = await runCli(reset, environment, 'a new and better password\r\n');
    expect([done.code, done.out]).toEqual([0, expect.stringMatching(/all sessions have ended/)]);
    expect((await sessionOf(john)).user).toBeNull();
    await signedIn('john@example.com', 'a new and better password');
  });

  it('prints a link to reset a lost password, and removes second factors', async () => {
    await runCli(
      ['user', 'create', '--email', 'anna@example.com', '--account', account, '--password-stdin'],
      environment,
      GOOD,
    );
    const anna = await signedIn('anna@example.com');
    const { secret } = (await anna.call('POST', '/dashboard/totp', { password: GOOD })).json;
    await anna.call('POST', '/dashboard/totp/confirm', { code: totp(secret) });
    expect((await browser(service.url).signIn('anna@example.com')).json).toEqual({ second_factor: true });
    const { url } = await user('reset-password', 'anna@example.com', '--forget-second-factor');
    expect((await sessionOf(anna)).user).toMatchObject({ second_factor: false });
    await choose(url, 'a new and better password');
    await signedIn('anna@example.com', 'a new and better password');
  });

  it('lifts the limit on sign-in attempts', async () => {
    const email = 'locked@example.com';
    const { url } = await user('create', '--email', email, '--account', account, '--role', 'member');
    expect((await choose(url, GOOD)).status).toBe(200);
    const attempt = async (password: string) => (await browser(service.url).signIn(email, password)).status;
    // Without the command, the next attempt would be the first to be rejected, and remembered for some seconds.
    for (let i = 0; i < 10; i++) expect(await attempt('a wrong password')).toBe(401);
    expect(await user('unlock', 'Locked@example.com')).toEqual({ id: expect.stringMatching(/^usr_/), email });
    expect(await attempt(GOOD)).toBe(200);
    expect((await cli('unlock', 'nobody@example.com')).code).toBe(1);
  });

  it('changes nothing that cannot be recorded', async () => {
    const email = 'unrecorded@example.com';
    const { id } = await user('create', '--email', email, '--account', account, '--role', 'member');
    await store.attempts.count(`code:${id}`, 60_000);
    const links = async () =>
      (await runSql(database.url, `SELECT count(*) AS n FROM auth_verifications WHERE value = '${id}'`))[0]!.n;
    const before = await links();
    const mend = await failInserts(database.url, 'trail');
    try {
      for (const name of ['unlock', 'reset-password']) expect((await cli(name, email)).code, name).toBe(1);
    } finally {
      await mend();
    }
    expect(await links()).toEqual(before);
    expect((await store.attempts.count(`code:${id}`, 60_000)).count).toBe(2);
  });

  it('adds an existing user to an account, and changes the role of a member', async () => {
    const { id } = await json('account', 'create', '--name', 'Second');
    const known = await user('create', '--email', 'mary@example.com', '--account', id, '--role', 'admin');
    expect(known).toMatchObject({ created: false, url: null, role: 'admin' });
    await user('create', '--email', 'mary@example.com', '--account', id, '--role', 'owner');
    expect((await store.members.role(id, known.id))?.role).toBe('owner');
    const last = await cli('create', '--email', 'mary@example.com', '--account', id);
    expect([last.code, last.err]).toEqual([1, expect.stringMatching(/only owner/)]);
    const [entry] = await store.auditLog.list((await store.accounts.get(id))!.id, { before: null, limit: 1 });
    expect(entry).toMatchObject({ action: 'member.role_changed', actor: { kind: 'command' } });
  });

  it('takes an address that nobody confirmed into another account by a fresh link only', async () => {
    const owner = { email: 'inviting@example.com', role: 'owner' };
    const { url } = await user('create', '--email', owner.email, '--account', account, '--role', owner.role);
    expect((await choose(url, GOOD)).status).toBe(200);
    const inviting = await signedIn(owner.email);
    const email = 'claimed@example.com';
    const made = await inviting.call('POST', `/dashboard/accounts/${account}/invitations`, { email, role: 'member' });
    const claimed = browser(service.url);
    const accept = (window: Browser, link: string, password: string) =>
      window.call('POST', '/dashboard/invitation/accept', { token: link.split('#token=')[1], name: 'X', password });
    expect((await accept(claimed, made.json.link, GOOD)).status).toBe(200);

    const other = (await json('account', 'create', '--name', 'Other')).id;
    expect((await cli('set', email, '--operator')).err).toMatch(/nobody has confirmed claimed@example.com yet/);
    expect((await cli('create', '--email', email, '--account', other, '--operator')).code).toBe(1);
    const added = await user('create', '--email', email, '--account', other, '--role', 'admin');
    expect(added).toMatchObject({ created: false, url: expect.stringContaining('/invitation#token=') });
    expect((await sessionOf(claimed)).accounts).toMatchObject([{ id: account }]);
    const real = browser(service.url);
    expect((await accept(real, added.url, 'the password of the real owner')).status).toBe(200);
    expect((await sessionOf(real)).accounts.map(({ id }: { id: string }) => id).sort()).toEqual(
      [account, other].sort(),
    );
    expect((await sessionOf(claimed)).user).toBeNull();
    expect(await user('set', email, '--operator')).toMatchObject({ operator: true });
  });

  it('prints text without --json', async () => {
    const made = await cli('create', '--email', 'paul@example.com', '--account', account);
    expect(made.out).toMatch(
      /^Created user paul@example\.com \(usr_\S+\), member of Shop\.\nLink to choose a password.*\n\S+#token=\S+\n$/,
    );
    expect((await cli('list')).out).toMatch(/^ID +EMAIL +NAME +OPERATOR +SECOND FACTOR +ACCOUNTS\n/);
  });

  it.each([
    [['create', '--email', 'x@example.com'], 2, /--account/],
    [['create', '--email', 'no address', '--account', 'acc_x'], 2, /email must be an address/],
    [['create', '--email', 'x@example.com', '--account', 'acc_none'], 1, /there is no account/],
    [['create', '--email', 'x@example.com', '--account', 'acc_none', '--role', 'king'], 2, /--role must be one of/],
    [['reset-password', 'nobody@example.com'], 1, /there is no user/],
    [['set', 'nobody@example.com'], 2, /--operator or --no-operator/],
    [['remove', 'usr_none'], 1, /there is no user/],
  ])('%j fails', async (args, code, message) => {
    const ran = await cli(...args);
    expect([ran.code, ran.err]).toEqual([code, expect.stringMatching(message)]);
  });
});

describe('the first start', () => {
  const start = async () => {
    const fresh = await freshDatabase({ empty: true });
    const running = await startProcess({ MAILVET_DATABASE_URL: fresh.url, MAILVET_ALLOW_PRIVATE_NETWORKS: 'true' }, [
      '--first-account',
    ]);
    return { fresh, running };
  };

  it('prints a setup link while there is no user; afterwards only the URL', async () => {
    const { fresh, running } = await start();
    const { setup_url: link, key } = running.greeting;
    expect(link).toMatch(new RegExp(`^${running.url}/setup#token=[0-9A-Za-z]{32}$`));
    expect(key).toMatch(/^mv_live_/);
    const body = { token: String(link).split('#token=')[1], name: 'Ada', email: 'ada@example.com', password: GOOD };
    const ada = browser(running.url);
    expect((await ada.call('POST', '/dashboard/setup', body)).status).toBe(201);
    await running.end('SIGTERM');
    const again = await startProcess({ MAILVET_DATABASE_URL: fresh.url }, ['--first-account']);
    expect(again.greeting).toMatchObject({ url: again.url, key: null, test_key: null, setup_url: null });
    await again.end('SIGTERM');
    await fresh.drop();
  });

  it('prints no link without --first-account', () => {
    expect(service.greeting).toMatchObject({ url: service.url, key: null, test_key: null, setup_url: null });
  });
});

it('user sign-in prints a link that signs in once; user unlink has nothing to remove', async () => {
  const email = 'locked-out@example.com';
  await user('create', '--email', email, '--account', account);
  const { url } = await user('sign-in', email);
  expect(url).toContain(`${service.url}/sign-in/link#token=`);
  const token = url.split('#token=')[1];
  const window = browser(service.url);
  expect((await window.call('POST', '/dashboard/sign-in/link', { token })).status).toBe(200);
  expect((await window.call('GET', '/dashboard/session')).json.user).toMatchObject({ email });
  expect((await window.call('POST', '/dashboard/sign-in/link', { token })).status).toBe(410);
  expect(await user('unlink', email)).toMatchObject({ email, unlinked: false });
  expect((await cli('sign-in', 'nobody@example.com')).code).not.toBe(0);
});
