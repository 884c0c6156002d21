import type { Kysely } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MailSink, startMailSink } from '../../lab/mail-sink.ts';
import { type Browser, browser, forgetSignIns, PASSWORD, peopleOf, person } from '../../lab/person.ts';
import { totp } from '../../lab/second-factor.ts';
import { type Lab, startLab } from '../../lab/service.ts';

let lab: Lab;
let sink: MailSink;
beforeAll(async () => {
  sink = await startMailSink();
  lab = await startLab({ MAILVET_MAIL_URL: sink.url, MAILVET_MAIL_FROM: 'post@mailvet.example' });
});
afterAll(async () => {
  await lab.close();
  await sink.close();
});
beforeEach(async () => {
  await forgetSignIns(lab);
  await lab.store.attempts.clear('mail-ip:127.0.0.1');
  await lab.store.attempts.clear('token-ip:127.0.0.1');
});

const FRESH = 'a new and better password';
const post = (path: string, body: unknown) => browser(lab.url).call('POST', `/dashboard${path}`, body);
const userOf = async (who: Browser) => (await who.call('GET', '/dashboard/session')).json.user;

describe('password reset', () => {
  it('sends a link, sets the password, ends all sessions', async () => {
    const mary = await person(lab);
    expect((await post('/password/forgot', { email: mary.email.toUpperCase() })).status).toBe(202);
    const mail = await sink.next(mary.email);
    expect([mail.from, mail.to]).toEqual(['post@mailvet.example', [mary.email]]);
    expect(mail.headers.get('from')).toBe('Mailvet <post@mailvet.example>');
    expect(mail.headers.get('to')).toBe(mary.email);
    expect(mail.headers.get('auto-submitted')).toBe('auto-generated');
    expect(mail.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(mail.text).toContain(`${lab.url}/reset-password#token=${mail.token}`);
    expect(mail.token).toHaveLength(32);

    const reply = await post('/password/reset', { token: mail.token, password: FRESH });
    expect(reply.status).toBe(200);
    expect(reply.headers.getSetCookie()).toEqual([]);
    expect(await userOf(mary)).toBeNull();
    expect((await browser(lab.url).signIn(mary.email)).status).toBe(401);
    expect((await browser(lab.url).signIn(mary.email, FRESH)).status).toBe(200);
    const again = await post('/password/reset', { token: mail.token, password: PASSWORD });
    expect([again.status, again.json.code]).toEqual([410, 'link_expired']);
  });

  it('responds alike, and as fast, for an unknown address; nothing is sent', async () => {
    const mary = await person(lab);
    const time = async (email: string) => {
      const began = performance.now();
      const { status, json } = await post('/password/forgot', { email });
      return { ms: performance.now() - began, said: JSON.stringify([status, json]) };
    };
    const strangers = [];
    for (let i = 0; i < 6; i++) strangers.push(await time(`stranger${i}@good.com`));
    const known = await time(mary.email);
    expect(new Set([known, ...strangers].map(({ said }) => said)).size).toBe(1);
    await sink.next(mary.email);
    expect(sink.mails.flatMap(({ to }) => to).filter((to) => to.startsWith('stranger'))).toEqual([]);
    // Sending the mail itself takes dozens of round trips.
    expect(known.ms).toBeLessThan(Math.max(...strangers.map(({ ms }) => ms)) * 5 + 20);
  });

  it('still requires the second factor', async () => {
    const mary = await person(lab);
    const { secret } = (await mary.call('POST', '/dashboard/totp', { password: PASSWORD })).json;
    await mary.call('POST', '/dashboard/totp/confirm', { code: totp(secret) });
    expect((await sink.next(mary.email)).text).toContain('authenticator app');
    await post('/password/forgot', { email: mary.email });
    const { token } = await sink.next(mary.email);
    await post('/password/reset', { token, password: FRESH });
    expect((await browser(lab.url).signIn(mary.email, FRESH)).json).toEqual({ second_factor: true });
  });

  it('has links that expire after an hour, on a password change, and with a new link', async () => {
    const mary = await person(lab);
    const people = peopleOf(lab);
    const late = await people.passwordToken(mary.id, -1);
    expect((await post('/password/reset', { token: late, password: FRESH })).status).toBe(410);
    const [first, second] = [
      await people.passwordToken(mary.id, 3_600_000),
      await people.passwordToken(mary.id, 3_600_000),
    ];
    await mary.call('POST', '/dashboard/password', { current: PASSWORD, password: FRESH });
    expect((await post('/password/reset', { token: first, password: PASSWORD })).status).toBe(410);
    expect((await post('/password/reset', { token: second, password: PASSWORD })).status).toBe(410);
    const [third, fourth] = [
      await people.passwordToken(mary.id, 3_600_000),
      await people.passwordToken(mary.id, 3_600_000),
    ];
    expect((await post('/password/reset', { token: third, password: PASSWORD })).status).toBe(200);
    expect((await post('/password/reset', { token: fourth, password: FRESH })).status).toBe(410);
  });

  it('has links that work once under concurrent use', async () => {
    const mary = await person(lab);
    const token = await peopleOf(lab).passwordToken(mary.id, 3_600_000);
    const passwords = ['first of two passwords', 'second of two passwords'];
    const replies = await Promise.all(passwords.map((password) => post('/password/reset', { token, password })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 410]);
  });

  it('keeps the link valid if the password is too weak, and rejects malformed tokens', async () => {
    const mary = await person(lab);
    const token = await peopleOf(lab).passwordToken(mary.id, 3_600_000);
    expect((await post('/password/reset', { token, password: 'mailvet mailvet' })).json.field).toBe('password');
    for (const bad of [`${token}\u0000`, ' '.repeat(32), '%00'.repeat(8), `reset-password:${token}`, '💥'.repeat(20)])
      expect((await post('/password/reset', { token: bad, password: FRESH })).status).toBe(410);
    expect((await post('/password/reset', { token, password: FRESH })).status).toBe(200);
  });

  it('stores only the hash of the token', async () => {
    const mary = await person(lab);
    const token = await peopleOf(lab).passwordToken(mary.id, 3_600_000);
    const db = lab.store.authDatabase.db as Kysely<Record<string, Record<string, unknown>>>;
    expect(JSON.stringify(await db.selectFrom('auth_verifications').selectAll().execute())).not.toContain(token);
  });
});

it('expired links and sessions are deleted', async () => {
  const mary = await person(lab);
  const db = lab.store.authDatabase.db as Kysely<Record<string, Record<string, unknown>>>;
  const idsOf = async (table: string, column: string) => {
    const rows = await db.selectFrom(table).select('id').where(column, '=', mary.id).execute();
    return rows.map(({ id }) => id);
  };
  await peopleOf(lab).passwordToken(mary.id, -1);
  await peopleOf(lab).passwordToken(mary.id, 60_000);
  await browser(lab.url).signIn(mary.email);
  const [past] = await idsOf('auth_sessions', 'userId');
  const ended = new Date(Date.now() - 1000);
  const expiresAt = lab.store.engine === 'sqlite' ? ended.toISOString() : ended;
  await db.updateTable('auth_sessions').set({ expiresAt }).where('id', '=', past).execute();
  expect(await idsOf('auth_verifications', 'value')).toHaveLength(2);
  expect(await idsOf('auth_sessions', 'userId')).toHaveLength(2);
  expect(await lab.store.upkeep.purge(24 * 3600_000)).toMatchObject({
    deleted: { auth_verifications: expect.any(Number) },
  });
  expect(await idsOf('auth_verifications', 'value')).toHaveLength(1);
  expect(await idsOf('auth_sessions', 'userId')).toHaveLength(1);
});

describe('an invitation', () => {
  const invite = async (email: string, role = 'member') => {
    const { account } = await lab.member();
    const owner = await person(lab, { account: account.id });
    const made = await owner.call('POST', `/dashboard/accounts/${account.id}/invitations`, { email, role });
    // The link sets the password, so only the mailbox may receive it.
    expect([made.status, made.json.mailed, made.json.link]).toEqual([201, true, null]);
    const mail = await sink.next(email);
    return { account, owner, mail, token: mail.token };
  };

  it('for a new address: looked up, accepted with a password, signed in', async () => {
    const { account, owner, mail, token } = await invite('newcomer@example.com', 'admin');
    expect(mail.headers.get('subject')).toBe(`Invitation to "${account.name}" on Mailvet`);
    expect(mail.text).toContain(
      `${owner.email} invited you to join the account "${account.name}" on Mailvet. Your role: admin.`,
    );
    const found = await post('/invitation', { token });
    expect(found.json).toEqual({
      account: { name: account.name },
      email: 'newcomer@example.com',
      role: 'admin',
      known: false,
    });

    const window = browser(lab.url);
    const accept = (body: object) => window.call('POST', '/dashboard/invitation/accept', { token, ...body });
    expect((await accept({ name: 'New' })).json).toMatchObject({ code: 'missing_parameter', field: 'password' });
    expect((await accept({ password: FRESH })).json).toMatchObject({ code: 'missing_parameter', field: 'name' });
    expect((await accept({ name: 'New', password: FRESH })).status).toBe(200);
    const { user, accounts } = (await window.call('GET', '/dashboard/session')).json;
    expect([user.email, accounts[0].id, accounts[0].role]).toEqual(['newcomer@example.com', account.id, 'admin']);
    expect((await browser(lab.url).signIn('newcomer@example.com', FRESH)).status).toBe(200);
    expect((await post('/invitation', { token })).status).toBe(410);
    expect((await accept({ name: 'New', password: FRESH })).status).toBe(410);
  });

  it('for a known address requires that user to be signed in', async () => {
    const mary = await person(lab);
    const { account, token } = await invite(mary.email);
    expect((await post('/invitation', { token })).json.known).toBe(true);
    const body = { token, name: 'Mallory', password: FRESH };
    const other = await person(lab);
    for (const who of [browser(lab.url), other]) {
      const reply = await who.call('POST', '/dashboard/invitation/accept', body);
      expect([reply.status, reply.json.code]).toEqual([401, 'not_signed_in']);
    }
    expect((await mary.call('POST', '/dashboard/invitation/accept', { token })).status).toBe(200);
    expect((await mary.call('GET', '/dashboard/session')).json.accounts).toMatchObject([
      { id: account.id, role: 'member' },
    ]);
    expect((await browser(lab.url).signIn(mary.email)).status).toBe(200);
  });

  it('creates one user under concurrent acceptance', async () => {
    const { account, token } = await invite('hasty@example.com');
    const body = { token, name: 'Hasty', password: FRESH };
    const replies = await Promise.all([1, 2].map(() => post('/invitation/accept', body)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 410]);
    expect(
      (await lab.store.members.list(account.id)).filter(({ email }) => email === 'hasty@example.com'),
    ).toHaveLength(1);
  });

  it('is void once revoked', async () => {
    const { account, owner, token } = await invite('late@example.com');
    const [{ id }] = (await owner.call('GET', `/dashboard/accounts/${account.id}/members`)).json.invitations;
    await owner.call('DELETE', `/dashboard/accounts/${account.id}/invitations/${id}`);
    expect((await post('/invitation/accept', { token, name: 'Late', password: FRESH })).status).toBe(410);
    expect(await lab.store.users.byEmail('late@example.com')).toBeNull();
  });

  it('becomes a failed job, without its link, if the mail is rejected', async () => {
    const shut = await startMailSink({ on: ({ verb }) => (verb === 'RCPT' ? '550 5.1.1 nobody here' : undefined) });
    const place = await startLab({ MAILVET_MAIL_URL: shut.url });
    try {
      const { account } = await place.member();
      const owner = await person(place, { account: account.id });
      const path = `/dashboard/accounts/${account.id}/invitations`;
      const made = await owner.call('POST', path, { email: 'newcomer@example.com', role: 'member' });
      expect(made.json).toMatchObject({ mailed: true, link: null });
      const failed = async () => (await place.store.jobs.list({ failed: true, limit: 10 })).items;
      await expect.poll(failed, { timeout: 10_000 }).toMatchObject([
        {
          kind: 'mail',
          account: account.id,
          attempts: 1,
          lastError: 'Mail could not be sent: reply 550 to RCPT.',
        },
      ]);
    } finally {
      await place.close();
      await shut.close();
    }
  });
});

it('reports that mail is not configured', async () => {
  const silent = await startLab();
  try {
    const reply = await browser(silent.url).call('POST', '/dashboard/password/forgot', { email: 'jane@example.com' });
    expect([reply.status, reply.json.error]).toEqual([404, expect.stringMatching(/mailvet user reset-password/)]);
  } finally {
    await silent.close();
  }
});
