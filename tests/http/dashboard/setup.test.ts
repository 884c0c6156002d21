import { type Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UNLIMITED_CREDITS } from '../../../src/kernel/facts/plans.ts';
import { browser, PASSWORD, peopleOf, person } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { TestClock } from '../../lab/stores.ts';

let lab: Lab;
let clock: TestClock;
beforeEach(async () => {
  clock = new TestClock();
  lab = await startLab({}, { clock });
});
afterEach(() => lab.close());

const HOUR_MS = 3_600_000;
const ADA = { name: 'Ada', email: 'ada@example.com', password: PASSWORD };
const tokenOf = async (): Promise<string> => (await lab.service.setupLink())!.split('#token=')[1]!;
const use = (token: string, more: object = {}) =>
  browser(lab.url).call('POST', '/dashboard/setup', { token, ...ADA, ...more });

describe('the one-time setup link', () => {
  it('makes its user owner of the oldest account, and operator', async () => {
    const { account } = await lab.member();
    clock.advance(1000);
    await lab.member();
    const link = await lab.service.setupLink();
    expect(link).toMatch(new RegExp(`^${lab.url}/setup#token=[0-9A-Za-z]{32}$`));
    const ada = browser(lab.url);
    const reply = await ada.call('POST', '/dashboard/setup', { token: link!.split('#token=')[1], ...ADA });
    expect(reply.status).toBe(201);
    const { user, accounts } = (await ada.call('GET', '/dashboard/session')).json;
    expect(user).toMatchObject({ email: 'ada@example.com', name: 'Ada', operator: true });
    expect(accounts).toMatchObject([{ id: account.id, role: 'owner' }]);
    expect((await ada.call('GET', '/dashboard/operator/accounts')).status).toBe(200);
    expect((await browser(lab.url).signIn('ada@example.com')).status).toBe(200);
    expect(await lab.service.setupLink()).toBeNull();
  });

  it('is asked for by the session while there is no user', async () => {
    const stranger = browser(lab.url);
    const needed = async () => (await stranger.call('GET', '/dashboard/session')).json.setup_command;
    expect(await needed()).toMatch(/user create --email you@example.com --operator$/);
    expect((await use(await tokenOf())).status).toBe(201);
    expect(await needed()).toBeNull();
  });

  it('a likely typo in an address is pointed out to anybody', async () => {
    const suggested = async (email: string) =>
      (await browser(lab.url).call('POST', '/dashboard/suggestion', { email })).json;
    expect(await suggested('kim@gmial.com')).toEqual({ did_you_mean: 'kim@gmail.com' });
    expect(await suggested('kim@gmail.com')).toEqual({ did_you_mean: null });
    expect(await suggested('kim')).toEqual({ did_you_mean: null });
  });

  it('creates an account if there is none', async () => {
    const ada = browser(lab.url);
    await ada.call('POST', '/dashboard/setup', { token: await tokenOf(), ...ADA });
    const { accounts } = (await ada.call('GET', '/dashboard/session')).json;
    expect(accounts).toMatchObject([{ name: 'Default', role: 'owner', plan: 'unlimited' }]);
    const account = await lab.store.accounts.get(accounts[0].id);
    expect(account).toMatchObject({ rateLimit: 100_000, balance: UNLIMITED_CREDITS });
  });

  it('works once', async () => {
    const token = await tokenOf();
    expect((await use(token)).status).toBe(201);
    const again = await use(token, { email: 'eve@example.com' });
    expect([again.status, again.json.code]).toEqual([410, 'link_expired']);
    expect(await lab.store.users.count()).toBe(1);
  });

  it('creates one owner from concurrent requests', async () => {
    const token = await tokenOf();
    const replies = await Promise.all(['a', 'b', 'c', 'd'].map((name) => use(token, { email: `${name}@example.com` })));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 410, 410, 410]);
    expect(await lab.store.users.count()).toBe(1);
  });

  it('expires after an hour, and when a new one is issued', async () => {
    const late = await tokenOf();
    clock.advance(HOUR_MS);
    expect((await use(late)).status).toBe(410);
    const first = await tokenOf();
    const second = await tokenOf();
    expect((await use(first)).status).toBe(410);
    clock.advance(HOUR_MS - 60_000);
    expect((await use(second)).status).toBe(201);
  });

  it('is void once there is another way to sign in', async () => {
    const token = await tokenOf();
    await person(lab);
    expect((await use(token)).status).toBe(410);
    expect(await lab.service.setupLink()).toBeNull();
  });

  it('stays valid after invalid input', async () => {
    const token = await tokenOf();
    expect((await use(token, { password: 'mailvet mailvet' })).json.field).toBe('password');
    expect((await use(token, { email: 'nobody' })).json.field).toBe('email');
    expect((await use(`${token.slice(1)}x`)).status).toBe(410);
    expect((await use(token)).status).toBe(201);
  });

  it('is not stored', async () => {
    await tokenOf();
    expect(await lab.store.users.count()).toBe(0);
    const other = await startLab({ MAILVET_DATABASE_URL: lab.databaseUrl });
    try {
      const reply = await browser(other.url).call('POST', '/dashboard/setup', { token: await tokenOf(), ...ADA });
      expect(reply.status).toBe(410);
    } finally {
      await other.close();
    }
  });

  it('stays valid after a server error', async () => {
    const token = await tokenOf();
    const db = lab.store.authDatabase.db as Kysely<never>;
    await sql`ALTER TABLE auth_accounts RENAME TO elsewhere`.execute(db);
    const failed = await use(token);
    expect([failed.status, failed.json.code]).toEqual([500, 'internal_error']);
    await sql`ALTER TABLE elsewhere RENAME TO auth_accounts`.execute(db);
    expect(await lab.store.users.count()).toBe(0);
    expect((await use(token)).status).toBe(201);
  });

  it('is not interchangeable with password reset links', async () => {
    const mary = await person(lab);
    const token = await peopleOf(lab).passwordToken(mary.id, HOUR_MS);
    expect((await use(token)).status).toBe(410);
  });
});
