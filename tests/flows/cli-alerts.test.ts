/** `mailvet alerts`, on the store of a service that runs. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ALERT_TYPES, MAILED_BY_DEFAULT } from '../../src/kernel/facts/alerts.ts';
import { type MailSink, startMailSink } from '../lab/mail-sink.ts';
import { person } from '../lab/person.ts';
import { runCli } from '../lab/process.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';

let sink: MailSink;
let lab: Lab;
let member: Member;
beforeAll(async () => {
  sink = await startMailSink();
  lab = await startLab({ MAILVET_MAIL_URL: sink.url });
  member = await lab.member();
});
afterAll(async () => {
  await lab.close();
  await sink.close();
});

const run = (words: string, environment: Record<string, string> = {}) =>
  runCli(['alerts', ...words.split(' ')], { MAILVET_DATABASE_URL: lab.databaseUrl, ...environment });
const json = async (words: string) => JSON.parse((await run(`${words} --json`)).out);

it('shows and sets which alerts are mailed, and pauses them', async () => {
  const { id } = member.account;
  expect(await json(`show ${id}`)).toEqual({ mails: MAILED_BY_DEFAULT, mails_paused: false, open: [] });
  const mails = ['list.failed', 'budget.low'];
  expect(await json(`set ${id} --mail budget.low list.failed`)).toMatchObject({ mails, mails_paused: false });
  expect(await json(`set ${id} --pause`)).toMatchObject({ mails, mails_paused: true });
  const shown = await run(`show ${id}`);
  expect(shown.out).toMatch(/^ALERT +MAILED +SINCE\n/);
  expect(shown.out).toMatch(/^list\.failed +paused +-$/m);
  expect(shown.out).toMatch(/^smtp\.unreachable +no +-$/m);
  expect(await json(`set ${id} --mail none --resume`)).toMatchObject({ mails: [], mails_paused: false });
  expect(await json(`set ${id} --mail all`)).toMatchObject({ mails: ALERT_TYPES });
  const log = await lab.store.auditLog.list(id, { before: null, limit: 9 });
  expect(log.filter(({ action }) => action === 'alerts.changed')).toHaveLength(4);
});

it('says since when an alert lasts', async () => {
  const { id } = member.account;
  const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
  await lab.store.traffic.add([{ account: id, hour, metric: 'status', bucket: 400, count: 100 }]);
  await lab.store.alerts.evaluate(null);
  expect(await json(`show ${id}`)).toMatchObject({ open: [{ type: 'rejections.high', since: expect.any(String) }] });
  expect((await run(`show ${id}`)).out).toMatch(/^rejections\.high +yes +\d{4}-\d\d-\d\dT/m);
});

it('has the service mail a test to a member, and to nobody else', async () => {
  const { id } = member.account;
  const { email } = await person(lab, { account: id, role: 'admin' });
  const mail = { MAILVET_MAIL_URL: sink.url };
  expect(await run(`test ${id} --to ${email}`, mail)).toMatchObject({ code: 0, err: '' });
  expect((await sink.next(email)).text).toContain('alerts of this account arrive here');
  expect(await run(`test ${id} --to eve@example.com`, mail)).toMatchObject({
    code: 1,
    err: expect.stringContaining('"eve@example.com" is no member of the account'),
  });
  expect(await run(`test ${id} --to ${email}`)).toMatchObject({
    code: 2,
    err: expect.stringContaining('MAILVET_MAIL_URL'),
  });
});

it.each([
  ['show acc_none', 1, 'there is no account "acc_none"'],
  ['set ACCOUNT', 2, 'give at least one of --mail, --pause and --resume'],
  ['set ACCOUNT --pause --resume', 2, '--pause and --resume cannot be combined'],
  ['set ACCOUNT --mail key.created', 2, '--mail must be of list.completed,'],
  ['set ACCOUNT --mail all list.failed', 2, 'one is "all"'],
])('refuses %s', async (words, code, err) => {
  const ran = await run(words.replace('ACCOUNT', member.account.id));
  expect(ran).toMatchObject({ code, err: expect.stringContaining(err) });
});
