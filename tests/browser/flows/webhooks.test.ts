import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Receiver, startReceiver } from '../../lab/receiver.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { button, countClicks, dialog, expectText, field, heading, rowOf, says, stored } from '../steps.ts';

describeBrowser('webhooks', (browser) => {
  let lab: Lab;
  let receiver: Receiver;
  beforeAll(async () => {
    lab = await startLab();
    receiver = await startReceiver();
  });
  afterEach(() => receiver.respond((reply) => reply.end('thanks')));
  afterAll(async () => {
    await receiver.close();
    await lab.close();
  });

  /** Somebody at the page of webhooks of an account of their own. */
  async function somebody(role: 'admin' | 'member' = 'admin') {
    const api = await lab.member();
    const who = await person(lab, { account: api.account.id, role, email: `somebody-${api.keyId}@good.com` });
    const visitor = await browser.visit(`${lab.url}/webhooks`, { as: who });
    await heading(visitor.page, 'Webhooks').waitFor();
    return { ...visitor, api };
  }

  it('are created with a secret that is shown once, tested, edited, rotated, disabled and deleted', async () => {
    const { page, refused } = await somebody();
    await button(page, 'Create webhook').click();
    await button(dialog(page), 'Create webhook').click();
    await says(page, 'Enter a URL.');
    await field(dialog(page), 'URL').fill('ftp://example.com');
    refused(422, /\/webhooks$/);
    await button(dialog(page), 'Create webhook').click();
    await expectText(dialog(page)).toContain('url must be an https URL');
    await field(dialog(page), 'URL').fill(`${receiver.url}/hook`);
    await page.getByRole('radio', { name: 'Only these' }).check();
    await button(dialog(page), 'Create webhook').click();
    await says(page, 'Choose at least one event.');
    await page.getByRole('checkbox', { name: 'An API key was created' }).check();
    await button(dialog(page), 'Create webhook').click();
    const secret = (await dialog(page).getByLabel('signing secret', { exact: true }).textContent()) ?? '';
    expect(secret).toMatch(/^whsec_/);
    await button(dialog(page), 'Done').click();
    await expectText(rowOf(page, `${receiver.url}/hook`)).toContain('key.created');
    expect(await page.content()).not.toContain(secret);
    expect(await stored(page)).not.toContain(secret);

    await page.getByRole('link', { name: `${receiver.url}/hook` }).click();
    await heading(page, `${receiver.url}/hook`).waitFor();
    await button(page, 'Send test').click();
    await says(page, 'The test arrived: status 200.');
    const { body, headers } = receiver.received.at(-1)!;
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'ping' });
    await expectText(rowOf(page, 'ping')).toContain('delivered');

    await button(page, 'Edit').click();
    await page.getByRole('radio', { name: /^All events/ }).check();
    await field(dialog(page), 'Description').fill('Billing');
    await button(dialog(page), 'Save').click();
    await says(page, 'Webhook saved.');
    await says(page, 'All events');
    await says(page, 'Billing');

    await button(page, 'Rotate secret').click();
    await button(dialog(page), 'Rotate secret').click();
    await expectText(dialog(page, 'New secret')).toMatch(/whsec_/);
    await button(dialog(page, 'New secret'), 'Done').click();
    await says(page, /^Signs alongside until/);

    await button(page, 'Disable').click();
    await button(dialog(page), 'Disable').click();
    await button(page, 'Enable').waitFor();
    await button(page, 'Enable').click();
    await button(page, 'Disable').waitFor();

    await button(page, 'Delete').click();
    await button(dialog(page), 'Delete').click();
    await heading(page, 'Webhooks').waitFor();
    await says(page, 'No webhooks yet');
  });

  it('show their deliveries with each attempt, and replay them', async () => {
    const { page, api } = await somebody();
    receiver.respond((reply) => reply.writeHead(503).end('<b>out of order</b>'));
    const { json } = await api.call('POST', '/v1/webhooks', { url: receiver.url, events: ['*'] });
    await api.call('POST', `/v1/webhooks/${json.id}/test`);
    await page.reload();
    await page.getByRole('link', { name: receiver.url }).click();
    await expectText(rowOf(page, 'ping')).toContain('status 503');
    await button(page, /^1 attempt at ping/).click();
    await expectText(dialog(page)).toContain('Attempt 1: status 503');
    await expectText(dialog(page)).toContain('<b>out of order</b>');
    await expectText(dialog(page).getByLabel('payload', { exact: true })).toContain('"type": "ping"');
    await page.keyboard.press('Escape');
    receiver.respond((reply) => reply.end('thanks'));
    await button(page, /^Replay ping/).click();
    await says(page, /^Replay of ping: attempt \d, status 200 after \d+ ms\.$/);
    await expectText(rowOf(page, 'status 200')).toContain('delivered');
    expect(new Set(receiver.received.slice(-2).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('that fail look so, and a replay ends with its result in three clicks', async () => {
    const { page, api } = await somebody();
    receiver.respond((reply) => reply.writeHead(500).end('broken'));
    const { json } = await api.call('POST', '/v1/webhooks', { url: receiver.url, events: ['*'] });
    await api.call('POST', `/v1/webhooks/${json.id}/test`);
    const deliveries = async () => (await api.call('GET', `/v1/webhooks/${json.id}/deliveries`)).json.deliveries;
    await page.reload();
    const clicks = await countClicks(page);
    await page.getByRole('link', { name: receiver.url }).click();
    await expectText(rowOf(page, 'ping')).toContain('status 500');
    await button(page, /^Replay ping/).click();
    await says(page, /^Replay of ping: attempt \d, status 500 after \d+ ms\.$/);
    expect(await clicks()).toBeLessThanOrEqual(3);
    await expect.poll(async () => (await deliveries()).length).toBe(2);
    await page.goBack();
    await expectText(rowOf(page, receiver.url)).toContain('failing');
  });

  it('are shown to members, who cannot change them', async () => {
    const { page, api } = await somebody('member');
    await says(page, 'Only admins and owners can create and change webhooks.');
    const { json } = await api.call('POST', '/v1/webhooks', { url: receiver.url, events: ['*'] });
    await page.goto(`${lab.url}/webhooks/${json.id}`);
    await says(page, 'Nothing sent yet');
    expect(await button(page, 'Send test').count()).toBe(0);
  });
});
