/** States that need a cure: mail servers that cannot be reached, and lists that ended early. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Lab, type Member, request, startLab } from '../../lab/service.ts';
import { button, dialog, goTo, heading, says } from '../steps.ts';

describeBrowser('where mail servers cannot be reached', (browser) => {
  let lab: Lab;
  let api: Member;
  beforeAll(async () => {
    const hosts = { 'one.com': 1, 'two.com': 2, 'gmail.com': 101, 'yahoo.com': 102 };
    const net = Object.fromEntries(
      Object.entries(hosts).flatMap(([domain, n]) => [
        [domain, { MX: [[5, `mx.${domain}`]] }],
        [`mx.${domain}`, { A: [`127.0.8.${n}`] }],
      ]),
    );
    // Nobody listens there.
    lab = await startLab({ MAILVET_SMTP_PORT: '9', MAILVET_SMTP_RATE_PER_OPERATOR: '0' }, { net });
    api = await lab.member({ credits: 100 });
    await api.verify('jane@one.com', { validation_type: 'smtp' });
    const state = async () => (await request(lab.url, 'GET', '/readyz')).json.details.egress.state;
    while ((await state()) !== 'port_closed') await new Promise((resolve) => setTimeout(resolve, 50));
  });
  afterAll(() => lab.close());

  it('operators are told on every page, with the way to the doctor', async () => {
    const operator = await person(lab, { account: api.account.id, operator: true });
    const { page } = await browser.visit(`${lab.url}/webhooks`, { as: operator });
    await says(page, 'Mail servers cannot be reached');
    await page.getByRole('link', { name: 'Run the doctor' }).click();
    await heading(page, 'Doctor').waitFor();
    await says(page, 'Mail servers cannot be reached');
  });

  it('members are told where a mailbox check starts, and nowhere else', async () => {
    const member = await person(lab, { account: api.account.id, role: 'member', email: 'member@one.com' });
    const { page } = await browser.visit(`${lab.url}/verify`, { as: member });
    await says(page, 'The mailbox check is unavailable');
    await goTo(page, 'Filters');
    expect(await page.getByText('The mailbox check is unavailable').count()).toBe(0);
    await goTo(page, 'Overview');
    await says(page, 'The mailbox check is unavailable');
  });

  it('a list that was canceled says when and what it cost, and its rest is verified', async () => {
    const headers = { authorization: `Bearer ${api.key}` };
    const list = { emails: ['a@one.com', 'b@two.com'], name: 'spring.csv', validation_type: 'mx', start: false };
    const { id } = (await request(lab.url, 'POST', '/v1/lists', list, headers)).json;
    await request(lab.url, 'POST', `/v1/lists/${id}/cancel`, undefined, headers);
    const member = await person(lab, { account: api.account.id, role: 'member', email: 'other@one.com' });
    const { page } = await browser.visit(`${lab.url}/lists/${id}`, { as: member });
    await says(page, /^Canceled on .* UTC\. 0 addresses were verified, for 0 credits\. 2 addresses were not verified/);
    await button(page, 'Verify the rest').click();
    await button(dialog(page, 'Verify the other 2 addresses?'), 'Verify the rest, for up to 2 credits').click();
    await heading(page, 'Rest of spring.csv').waitFor();
    await expect.poll(async () => (await api.call('GET', '/v1/lists')).json.lists[0].status).toBe('completed');
    await page.goBack();
    await page.getByRole('link', { name: 'The rest is a list of its own' }).waitFor();
    expect(await button(page, 'Verify the rest').count()).toBe(0);
  });
});
