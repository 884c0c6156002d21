/** What strangers and customers could do with the mails of the service. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type MailSink, startMailSink } from '../../lab/mail-sink.ts';
import { browser, forgetSignIns, PASSWORD, type Person, person } from '../../lab/person.ts';
import { retryNow } from '../../lab/retry.ts';
import { type Lab, type Reply, startLab } from '../../lab/service.ts';
import { type SmtpLab, startSmtp } from '../../lab/smtp.ts';
import { runSql } from '../../lab/stores.ts';

vi.setConfig({ testTimeout: 120_000 });

let lab: Lab;
let sink: MailSink;
let mailHost: SmtpLab;
/** While true, the mail server defers everything. */
let deferring = false;
beforeAll(async () => {
  sink = await startMailSink({ on: ({ verb }) => (deferring && verb === 'MAIL' ? '451 4.3.0 not now' : undefined) });
  mailHost = await startSmtp({ mailboxes: ['*'] });
  lab = await startLab(
    {
      MAILVET_MAIL_URL: sink.url,
      MAILVET_SIGNUP: 'open',
      MAILVET_SMTP_PORT: String(mailHost.port),
      MAILVET_TRUSTED_PROXIES: '127.0.0.1',
      MAILVET_METRICS_TOKEN: 'a-token-of-the-metrics',
    },
    {
      net: {
        'gmail.com': { MX: [[10, 'mx.good.com']] },
        'googlemail.com': { MX: [[10, 'mx.good.com']] },
      },
    },
  );
});
afterAll(async () => {
  await lab.close();
  await sink.close();
  await mailHost.close();
});
beforeEach(async () => {
  deferring = false;
  await forgetSignIns(lab);
});

let network = 0;
/** Each request from a different network, so that only the limits of the recipient apply. */
const elsewhere = () => ({ 'x-forwarded-for': `198.51.${100 + Math.floor(network / 250)}.${(network++ % 250) + 1}` });
const post = (path: string, body: unknown, headers = elsewhere()) =>
  browser(lab.url).call('POST', `/dashboard${path}`, body, headers);
const signUp = (email: string, name = 'Somebody') => post('/sign-up', { name, email, password: PASSWORD });
const confirm = (token: string) => post('/verify-email', { token });

let accounts = 0;
async function owner(name = `Shop ${++accounts}`): Promise<Person & { account: string }> {
  const account = await lab.store.accounts.create({ name, plan: 'premium', rateLimit: null, credits: 100 });
  return { ...(await person(lab, { account: account.id })), account: account.id };
}
const invite = (by: Person & { account: string }, email: string): Promise<Reply> =>
  by.call('POST', `/dashboard/accounts/${by.account}/invitations`, { email, role: 'member' });
/** All mails that jobs were to send have been sent or dropped. */
const allSent = () =>
  expect
    .poll(
      async () =>
        (await lab.store.jobs.list({ failed: false, limit: 100 })).items.filter(({ kind }) =>
          ['mail', 'sign_up', 'password_reset'].includes(kind),
        ),
      { timeout: 30_000 },
    )
    .toEqual([]);
const mailsTo = (...addresses: string[]) => sink.mails.filter(({ to }) => to.some((one) => addresses.includes(one)));
const metric = async (labels: string) => {
  const text = await (
    await fetch(`${lab.url}/metrics`, { headers: { authorization: 'Bearer a-token-of-the-metrics' } })
  ).text();
  const line = text.split('\n').find((one) => one.startsWith(`mailvet_mails_withheld_total{${labels}}`));
  return Number(line?.split(' ').at(-1) ?? 0);
};

describe('names', () => {
  const LINKS = ['evil.com', 'Your prize: https://evil.example/win', 'www.evil', 'pay at evil。com now', 'a@evil.com'];

  it.each(LINKS)('with the link %j are rejected wherever they are set', async (name) => {
    const shop = await owner();
    const boss = await person(lab, { operator: true });
    const inviting = await invite(shop, `new${network}@good.com`);
    expect(inviting.status).toBe(201);
    const { token } = await sink.next(`new${network}@good.com`);
    const replies = [
      await signUp(`named${network}@good.com`, name),
      await post('/invitation/accept', { token, name, password: PASSWORD }),
      await shop.call('PATCH', '/dashboard/profile', { name }),
      await shop.call('PATCH', `/dashboard/accounts/${shop.account}`, { name }),
      await boss.call('POST', '/dashboard/operator/accounts', { name, plan: 'starter', credits: 1, rate_limit: null }),
      await boss.call('PATCH', `/dashboard/operator/accounts/${shop.account}`, { name }),
    ];
    for (const { status, json } of replies)
      expect([status, json.code, json.field]).toEqual([400, 'invalid_parameter', 'name']);
    for (const { json } of replies) expect(json.error).toMatch(/must not contain a web or email address/);
  });

  it('of earlier versions are made harmless in mails', async () => {
    const shop = await owner();
    const stored = `Visit https://evil.com/win\u202e now\u2028Bcc: x@evil.com ${'x'.repeat(100)}`;
    await runSql(lab.databaseUrl, `UPDATE accounts SET name = '${stored}' WHERE id = '${shop.account}' RETURNING id`);
    expect((await invite(shop, 'harmless@good.com')).status).toBe(201);
    const mail = await sink.next('harmless@good.com');
    const subject = mail.headers.get('subject') ?? '';
    for (const text of [subject, mail.text.split('\n')[0] ?? '']) {
      expect(text).toContain('Visit https evil com win now Bcc');
      expect(text.replace(shop.email, '')).not.toMatch(/evil\.com|:\/\/|[\u2028\u202e]/);
    }
    expect(subject.length).toBeLessThan(120);
  });
});

describe('one recipient', () => {
  const INVITED = [
    'In.Vited@gmail.com',
    'invited+a@gmail.com',
    'i.n.v.i.t.e.d@googlemail.com',
    'invited+b.c@gmail.com',
  ];

  it('gets so many mails a day, from all accounts and however the address is written', async () => {
    const shops = [await owner(), await owner(), await owner()];
    const replies: Reply[] = [];
    for (let i = 0; i < 18; i++) replies.push(await invite(shops[i % 3]!, INVITED[i % INVITED.length]!));
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(10);
    const refused = replies.at(-1)!;
    expect([refused.status, refused.json.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(refused.json.error).toMatch(/as many mails as .* in a day/);
    expect(refused.json.retry_after).toBeGreaterThan(80_000);
    await allSent();
    expect(mailsTo(...INVITED, ...INVITED.map((one) => one.toLowerCase()))).toHaveLength(10);
    expect(await metric('kind="invitation",reason="recipient"')).toBe(8);
    // Others are not concerned.
    expect((await invite(shops[0]!, 'somebody@gmail.com')).status).toBe(201);
  });

  it('gets half of that from one account', async () => {
    const shop = await owner();
    const replies: Reply[] = [];
    for (let i = 0; i < 6; i++) replies.push(await invite(shop, `half+${i}@good.com`));
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201, 429]);
    expect((await invite(await owner(), 'half@good.com')).status).toBe(201);
  });

  it('gets no more mails of strangers then, who notice nothing; a known device still works', async () => {
    const jane = await person(lab, { email: 'jane@good.com' });
    const shops = [await owner(), await owner()];
    for (let i = 0; i < 10; i++) expect((await invite(shops[i % 2]!, `jane+${i}@good.com`)).status).toBe(201);
    await allSent();
    const before = sink.mails.length;
    const unknown = await post('/password/forgot', { email: 'nobody@good.com' });
    const known = await post('/password/forgot', { email: jane.email });
    expect([known.status, known.text]).toEqual([unknown.status, unknown.text]);
    expect((await signUp('jane@good.com')).status).toBe(202);
    await allSent();
    expect(sink.mails).toHaveLength(before);
    expect(await metric('kind="password_reset",reason="recipient"')).toBe(1);
    expect(await metric('kind="sign_up",reason="recipient"')).toBe(1);
    // Jane's own device, signed out.
    await jane.call('POST', '/dashboard/sign-out');
    expect((await jane.call('POST', '/dashboard/password/forgot', { email: jane.email }, elsewhere())).status).toBe(
      202,
    );
    expect((await sink.next(jane.email)).headers.get('subject')).toBe('Reset your Mailvet password');
  });
});

describe('a suspended account', () => {
  const suspend = (account: string) =>
    runSql(lab.databaseUrl, `UPDATE accounts SET status = 'suspended' WHERE id = '${account}' RETURNING id`);

  it('invites nobody', async () => {
    const shop = await owner();
    await suspend(shop.account);
    const reply = await invite(shop, 'guest@good.com');
    expect([reply.status, reply.json.code]).toEqual([403, 'account_suspended']);
    await allSent();
    expect(mailsTo('guest@good.com')).toEqual([]);
  });

  it('sends no alerts', async () => {
    const [shop, other] = [await owner(), await owner()];
    for (const { call, account } of [shop, other])
      expect((await call('PUT', `/dashboard/accounts/${account}/low-balance`, { credits: 1000 })).status).toBe(200);
    await suspend(shop.account);
    await lab.store.jobs.add({ kind: 'low_balance', payload: {}, key: 'now' });
    await sink.next(other.email);
    await allSent();
    expect(mailsTo(shop.email)).toEqual([]);
  });

  it.each(['suspended', 'deleted'])('that was %s meanwhile sends nothing that was queued', async (status) => {
    const shop = await owner();
    deferring = true;
    const to = `${status}@good.com`;
    expect((await invite(shop, to)).status).toBe(201);
    const waiting = async () =>
      (await lab.store.jobs.list({ failed: false, limit: 100 })).items.find(({ kind }) => kind === 'mail');
    await expect.poll(async () => (await waiting())?.lastError, { timeout: 30_000 }).toMatch(/451 to MAIL/);
    // Past the interface, which drops the jobs of a deleted account.
    await runSql(lab.databaseUrl, `UPDATE accounts SET status = '${status}' WHERE id = '${shop.account}' RETURNING id`);
    deferring = false;
    await retryNow(lab.databaseUrl, 'mail');
    await expect.poll(waiting, { timeout: 60_000 }).toBeUndefined();
    expect(mailsTo(to)).toEqual([]);
    expect(await metric('kind="invitation",reason="account"')).toBeGreaterThan(0);
  });
});

describe('signing up', () => {
  it('takes every spelling of a mailbox for one address', async () => {
    const first = await signUp('o.n.e+mailvet@gmail.com');
    expect((await confirm((await sink.next('o.n.e+mailvet@gmail.com')).token)).status).toBe(200);
    const again = await signUp('one@googlemail.com');
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    const mail = await sink.next('o.n.e+mailvet@gmail.com');
    expect(mail.headers.get('subject')).toBe('You already have a Mailvet account');
    await allSent();
    expect(mailsTo('one@googlemail.com')).toEqual([]);
  });

  it('creates one user from links to two spellings', async () => {
    const spellings = ['tw.o@gmail.com', 'two+x@gmail.com', 't.wo@googlemail.com'];
    for (const email of spellings) expect((await signUp(email)).status).toBe(202);
    const tokens: string[] = [];
    for (const email of spellings) tokens.push((await sink.next(email)).token);
    const before = (await lab.store.accounts.list()).length;
    const replies = await Promise.all(tokens.map(confirm));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 410, 410]);
    expect(await lab.store.accounts.list()).toHaveLength(before + 1);
    expect((await lab.store.users.list()).filter(({ email }) => spellings.includes(email))).toHaveLength(1);
  });

  it('knows users who were invited or created by the operator', async () => {
    await person(lab, { email: 'th.ree@gmail.com' });
    expect((await signUp('three@gmail.com')).status).toBe(202);
    expect((await sink.next('th.ree@gmail.com')).headers.get('subject')).toBe('You already have a Mailvet account');
  });
});
