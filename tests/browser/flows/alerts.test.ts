import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Role } from '../../../src/kernel/facts/roles.ts';
import { describeBrowser } from '../../lab/browser.ts';
import { type MailSink, startMailSink } from '../../lab/mail-sink.ts';
import { person } from '../../lab/person.ts';
import { type Receiver, startReceiver } from '../../lab/receiver.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { button, dialog, expectText, field, heading, rowOf, says, stored } from '../steps.ts';

describeBrowser('alerts', (browser) => {
  let sink: MailSink;
  let receiver: Receiver;
  let lab: Lab;
  beforeAll(async () => {
    sink = await startMailSink();
    receiver = await startReceiver();
    lab = await startLab({ MAILVET_MAIL_URL: sink.url });
  });
  afterAll(async () => {
    await lab.close();
    await receiver.close();
    await sink.close();
  });

  async function somebody(role: Role) {
    const api = await lab.member();
    const who = await person(lab, { account: api.account.id, role });
    const visitor = await browser.visit(`${lab.url}/alerts`, { as: who });
    await heading(visitor.page, 'Alerts').waitFor();
    await rowOf(visitor.page, 'Key budget nearly spent').waitFor();
    return { ...visitor, api, who };
  }

  it('by mail are chosen, tested, paused, and say which ones last', async () => {
    const { page, api, who } = await somebody('admin');
    const settings = () => lab.store.alerts.settings(api.account.id);
    const finished = page.getByRole('checkbox', { name: 'Mail: List finished' });
    expect(await finished.isChecked()).toBe(false);
    await finished.check();
    await page.getByRole('checkbox', { name: 'Mail: Webhook failing' }).uncheck();
    await expect.poll(async () => (await settings()).mails).toContain('list.completed');
    await expect.poll(async () => (await settings()).mails).not.toContain('webhook.failing');

    await button(page, 'Send a test to me').click();
    await says(page, `A test is on its way to ${who.email}.`);
    expect((await sink.next(who.email)).text).toContain('alerts of this account arrive here');

    await button(page, 'Pause mails').click();
    await says(page, 'Paused: no alerts are mailed.');
    expect((await settings()).paused).toBe(true);
    await button(page, 'Resume mails').click();
    await says(page, 'Mailed to all owners and admins.');

    const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    await lab.store.traffic.add([{ account: api.account.id, hour, metric: 'status', bucket: 400, count: 100 }]);
    await lab.store.alerts.evaluate(null);
    expect((await sink.next(who.email)).headers.get('subject')).toContain('Far more requests than usual are rejected');
    await page.reload();
    await expectText(rowOf(page, 'Rejections far above usual')).toContain('since');
    await expectText(rowOf(page, 'Key budget nearly spent')).not.toContain('since');
  });

  it('in a chat are added, tested, paused and deleted; its URL is shown to nobody', async () => {
    const { page, refused } = await somebody('admin');
    await says(page, 'No chats yet');
    await button(page, 'Add chat').click();
    await button(dialog(page), 'Add chat').click();
    await says(page, 'Enter a URL.');
    await field(dialog(page), 'URL').fill('ftp://example.com/chat');
    refused(422, /\/webhooks$/);
    await button(dialog(page), 'Add chat').click();
    await expectText(dialog(page)).toContain('url must be an https URL');
    await field(dialog(page), 'URL').fill(`${receiver.url}/services/T0/secret-chat`);
    await field(dialog(page), 'Description').fill('Team');
    await button(dialog(page), 'Add chat').click();
    await says(page, 'Chat added. Send a test to see whether it arrives.');
    const row = rowOf(page, 'Team');
    await expectText(row).toContain('…chat');

    await button(page, 'Test Team').click();
    await says(page, 'The test arrived at Team.');
    expect(JSON.parse(receiver.received.at(-1)!.body).text).toContain('Test of alerts');
    receiver.respond((reply) => reply.writeHead(500).end('broken'));
    await button(page, 'Test Team').click();
    await says(page, 'The test failed: see Team for why.');
    receiver.respond((reply) => reply.end('thanks'));

    await button(page, 'Pause Team').click();
    await button(page, 'Resume Team').waitFor();
    await expectText(row).toContain('disabled');
    await button(page, 'Resume Team').click();
    await button(page, 'Pause Team').waitFor();

    await row.getByRole('link', { name: 'Team' }).click();
    await expectText(rowOf(page, 'status 500')).toContain('ping');
    await button(page, 'Delete').click();
    await button(dialog(page), 'Delete').click();
    await heading(page, 'Webhooks').waitFor();
    await page.goto(`${lab.url}/alerts`);
    await says(page, 'No chats yet');
    expect(await stored(page)).not.toContain('secret-chat');
    expect(await page.content()).not.toContain('secret-chat');
  });

  it('are seen by members, who change nothing', async () => {
    const { page } = await somebody('member');
    await says(page, 'Only admins and owners can choose alerts.');
    expect(await page.getByRole('checkbox', { name: 'Mail: List failed' }).isDisabled()).toBe(true);
    for (const name of ['Add chat', 'Send a test to me', 'Pause mails'])
      expect(await button(page, name).count()).toBe(0);
  });
});
