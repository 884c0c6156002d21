import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAILED_BY_DEFAULT } from '../../../src/kernel/facts/alerts.ts';
import { type MailSink, startMailSink } from '../../lab/mail-sink.ts';
import { startReceiver } from '../../lab/receiver.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { type Client, of, signedIn } from './client.ts';

let sink: MailSink;
let lab: Lab;
let member: Member;
let admin: Client;
beforeAll(async () => {
  sink = await startMailSink();
  lab = await startLab({ MAILVET_MAIL_URL: sink.url });
  member = await lab.member();
  admin = await signedIn(lab, { account: member.account, role: 'admin' });
});
afterAll(async () => {
  await lab.close();
  await sink.close();
});

const path = (rest = '') => of(member.account, `/alerts${rest}`);
const shown = async (who = admin) => (await who.call('GET', path())).json;

describe('alerts', () => {
  it('are chosen and paused by admins, and seen by viewers', async () => {
    const viewer = await signedIn(lab, { account: member.account, role: 'viewer' });
    expect(await shown(viewer)).toEqual({
      mail: true,
      mails: [...MAILED_BY_DEFAULT],
      mails_paused: false,
      open: [],
    });
    expect((await viewer.call('PATCH', path(), { mails: [] })).json.code).toBe('role_not_sufficient');
    expect((await admin.call('PATCH', path(), { mails: ['list.completed', 'list.completed'] })).status).toBe(200);
    expect(await shown()).toMatchObject({ mails: ['list.completed'], mails_paused: false });
    expect((await admin.call('PATCH', path(), { mails_paused: true })).status).toBe(200);
    expect(await shown()).toMatchObject({ mails: ['list.completed'], mails_paused: true });
    for (const body of [{}, { mails: ['key.created'] }, { mails: 'all' }, { mails_paused: 1 }])
      expect([body, (await admin.call('PATCH', path(), body)).status]).toEqual([body, 400]);
    const log = await lab.store.auditLog.list(member.account.id, { before: null, limit: 2 });
    expect(log.map(({ action }) => action)).toEqual(['alerts.changed', 'alerts.changed']);
  });

  it('by mail can be tested by whoever chooses them', async () => {
    expect((await admin.call('POST', path('/test'))).status).toBe(200);
    const mail = await sink.next(admin.person.email);
    expect(mail.text).toContain('alerts of this account arrive here');
    expect(mail.text).toContain(`${lab.url}/accounts/${member.account.id}/alerts`);
  });

  it('reach a chat as texts in which nothing of customers is markup, and its URL is shown to nobody', async () => {
    const chat = await startReceiver();
    const url = `${chat.url}/services/T000/secret-path`;
    const body = { url, format: 'slack', events: ['*'] };
    const made = await admin.call('POST', of(member.account, '/webhooks'), body);
    expect([made.status, made.json.format, made.json.url]).toEqual([201, 'slack', `${chat.url}/…path`]);
    const one = of(member.account, `/webhooks/${made.json.id}`);
    expect((await admin.call('POST', `${one}/test`)).json.status).toBe('delivered');
    // What is shown comes back with a form, and changes nothing.
    expect((await admin.call('PATCH', one, { url: made.json.url, description: 'Team' })).status).toBe(200);
    const name = '<!channel> & co.csv';
    const search = new URLSearchParams({ name, validation_type: 'mx' });
    const list = await admin.call('POST', of(member.account, `/lists?${search}`), 'email\na@good.com\n', {
      'content-type': 'application/octet-stream',
    });
    expect(list.status, list.text).toBe(201);
    await expect.poll(() => chat.received.length, { timeout: 30_000 }).toBe(2);
    const [test, completed] = chat.received.map(({ body }) => JSON.parse(body));
    expect(test.text).toContain('Test of alerts');
    expect(Object.keys(completed)).toEqual(['text']);
    expect(completed.text).toContain('&lt;!channel&gt; &amp; co.csv');
    expect(completed.text).toContain(`<${lab.url}/accounts/${member.account.id}/lists/${list.json.id}|`);
    const seen = JSON.stringify([
      (await admin.call('GET', of(member.account, '/webhooks'))).json,
      (await admin.call('GET', one)).json,
      (await admin.call('GET', of(member.account, '/audit-log'))).json,
    ]);
    expect(seen).not.toContain('secret-path');
    await chat.close();
  });
});
