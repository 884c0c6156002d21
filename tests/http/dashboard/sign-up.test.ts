import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MailSink, startMailSink } from '../../lab/mail-sink.ts';
import { browser, forgetSignIns, PASSWORD, person } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { type SmtpLab, startSmtp } from '../../lab/smtp.ts';
import { failInserts } from '../../lab/stores.ts';

let lab: Lab;
let sink: MailSink;
let mailHost: SmtpLab;
beforeAll(async () => {
  sink = await startMailSink();
  mailHost = await startSmtp({ mailboxes: ['jane', 'mary', 'owner', 'retry', 'twice'] });
  lab = await startLab(
    {
      MAILVET_MAIL_URL: sink.url,
      MAILVET_SIGNUP: 'open',
      MAILVET_SIGNUP_CREDITS: '77',
      MAILVET_SMTP_PORT: String(mailHost.port),
    },
    { net: { 'xn--bcher-kva.example': { MX: [[10, 'mx.good.com']] } } },
  );
});
afterAll(async () => {
  await lab.close();
  await sink.close();
  await mailHost.close();
});
beforeEach(async () => {
  await forgetSignIns(lab);
  await lab.store.attempts.clear('mail-ip:127.0.0.1');
});

const signUp = (email: string, more: object = {}) =>
  browser(lab.url).call('POST', '/dashboard/sign-up', { name: 'Somebody', email, password: PASSWORD, ...more });

describe('signing up', () => {
  it('sends a mail whose link creates a separate account', async () => {
    expect((await browser(lab.url).call('GET', '/dashboard/session')).json).toMatchObject({ signup: true, mail: true });
    const asked = await signUp('Jane@good.com', { name: 'Jane' });
    expect([asked.status, asked.headers.getSetCookie()]).toEqual([202, []]);
    const mail = await sink.next('jane@good.com');
    expect(mail.headers.get('subject')).toBe('Confirm your email address for Mailvet');
    expect(mail.text).toContain(`${lab.url}/verify-email#token=${mail.token}`);
    // Until then there is no user.
    expect(await lab.store.users.byEmail('jane@good.com')).toBeNull();
    expect((await browser(lab.url).signIn('jane@good.com')).status).toBe(401);

    const window = browser(lab.url);
    expect((await window.call('POST', '/dashboard/verify-email', { token: mail.token })).status).toBe(200);
    const { user, accounts } = (await window.call('GET', '/dashboard/session')).json;
    expect(user).toMatchObject({ email: 'jane@good.com', name: 'Jane', operator: false });
    expect(accounts).toMatchObject([{ name: 'Jane', role: 'owner', plan: 'starter' }]);
    const account = await lab.store.accounts.get(accounts[0].id);
    expect(account).toMatchObject({ plan: 'starter', balance: 77 });
    expect((await browser(lab.url).signIn('jane@good.com')).status).toBe(200);
    const again = await browser(lab.url).call('POST', '/dashboard/verify-email', { token: mail.token });
    expect([again.status, again.json.code]).toEqual([410, 'link_expired']);
  });

  it('responds alike for a known address; its mail says so', async () => {
    const owner = await person(lab, { email: 'owner@good.com' });
    const [known, unknown] = [await signUp(owner.email), await signUp('mary@good.com')];
    expect([known.status, known.json]).toEqual([unknown.status, unknown.json]);
    const mail = await sink.next('owner@good.com');
    expect(mail.headers.get('subject')).toBe('You already have a Mailvet account');
    expect(mail.text).toContain(`${lab.url}/sign-in`);
    expect(mail.token).toBe('');
    expect((await browser(lab.url).signIn(owner.email)).status).toBe(200);
  });

  it('can be completed by the same link after the account could not be created', async () => {
    await signUp('retry@good.com', { name: 'Retry' });
    const { token } = await sink.next('retry@good.com');
    const verify = () => browser(lab.url).call('POST', '/dashboard/verify-email', { token });
    const mend = await failInserts(lab.databaseUrl, 'accounts');
    expect((await verify()).status).toBe(500);
    await mend();
    const replies = await Promise.all([verify(), verify()]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 410]);
    const [user] = (await lab.store.users.list()).filter(({ email }) => email === 'retry@good.com');
    expect(user?.accounts).toMatchObject([{ role: 'owner' }]);
    const own = (await lab.store.accounts.list()).filter(({ name }) => name === 'Retry');
    expect(own.map(({ balance }) => balance)).toEqual([77]);
    expect((await verify()).json.code).toBe('link_expired');
  });

  it('creates one user from two links', async () => {
    await signUp('twice@good.com');
    await signUp('twice@good.com');
    const tokens = [(await sink.next('twice@good.com')).token, (await sink.next('twice@good.com')).token];
    const replies = await Promise.all(
      tokens.map((token) => browser(lab.url).call('POST', '/dashboard/verify-email', { token })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 410]);
    expect((await lab.store.users.list()).filter(({ email }) => email === 'twice@good.com')).toHaveLength(1);
  });

  it.each([
    ['jane@no-mail.com', /has no mail server/],
    ['jane@null-mx.com', /does not accept mail/],
    ['jane@nowhere-at-all.com', /does not exist/],
    ['jane@mailinator.com', /disposable/],
    ['jane@front.com', /disposable/],
    ['jane@lame.com', /cannot be looked up/],
    ['jane@gmial.com', /Did you mean jane@gmail\.com\?/],
  ])('refuses %s, and says why', async (email, why) => {
    const reply = await signUp(email);
    expect([reply.status, reply.json.code, reply.json.field]).toEqual([422, 'email_refused', 'email']);
    expect(reply.json.error).toMatch(why);
  });

  it.each([
    ['jane'],
    ['jane@localhost'],
    ['jörg@good.com'],
    ['a b@good.com'],
    ['jane@good.com\r\nBcc: x@good.com'],
    ['"a"@good.com'],
  ])('takes no %j for an address', async (email) => {
    const reply = await signUp(email);
    expect([reply.status, reply.json.field]).toEqual([400, 'email']);
  });

  it('rejects weak passwords and invalid names', async () => {
    expect((await signUp('mary@good.com', { password: 'elevenchars' })).json.field).toBe('password');
    expect((await signUp('mary@good.com', { password: 'mailvet12345' })).json.field).toBe('password');
    expect((await signUp('mary@good.com', { name: '\u0007' })).json.field).toBe('name');
  });

  it('charges and records nothing', async () => {
    const { account } = await lab.member();
    const { total } = await lab.store.verifications.list(account.id, { offset: 0, limit: 1 });
    expect(total).toBe(0);
    expect(await lab.store.accounts.audit()).toEqual([]);
  });
});

it('is closed by default', async () => {
  const closed = await startLab();
  try {
    const { call } = browser(closed.url);
    expect((await call('GET', '/dashboard/session')).json.signup).toBe(false);
    const reply = await call('POST', '/dashboard/sign-up', { name: 'X', email: 'jane@good.com', password: PASSWORD });
    expect([reply.status, reply.json.code]).toEqual([404, 'not_found']);
  } finally {
    await closed.close();
  }
});

it('is temporarily unavailable if no resolver answers', async () => {
  const deaf = await startLab({
    MAILVET_MAIL_URL: sink.url,
    MAILVET_SIGNUP: 'open',
    MAILVET_DNS_SERVERS: '127.0.0.1:1',
  });
  try {
    const body = { name: 'X', email: 'jane@good.com', password: PASSWORD };
    const reply = await browser(deaf.url).call('POST', '/dashboard/sign-up', body);
    expect([reply.status, reply.json.code]).toEqual([503, 'verification_unavailable']);
    expect(reply.headers.get('retry-after')).toBe('5');
  } finally {
    await deaf.close();
  }
});

it('never reveals an invitation link to the inviter, even if the mail is rejected', async () => {
  const shut = await startMailSink({ on: ({ verb }) => (verb === 'RCPT' ? '450 4.2.0 later' : undefined) });
  const place = await startLab({ MAILVET_MAIL_URL: shut.url, MAILVET_SIGNUP: 'open' });
  try {
    const { account } = await place.member();
    const owner = await person(place, { account: account.id });
    const path = `/dashboard/accounts/${account.id}/invitations`;
    const made = await owner.call('POST', path, { email: 'jane@good.com', role: 'member' });
    expect([made.status, made.json.mailed, made.json.link]).toEqual([201, true, null]);
  } finally {
    await place.close();
    await shut.close();
  }
});
