import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { button, dialog, expectText, field, fillIn, goTo, heading, rowOf, says } from '../steps.ts';

describeBrowser('operators', (browser) => {
  let lab: Lab;
  let source: Server;
  beforeAll(async () => {
    // Where lists are fetched from: out of order.
    source = createServer((_request, reply) => void reply.writeHead(500).end());
    await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}/list`;
    lab = await startLab({ MAILVET_LISTS_DISPOSABLE_URL: url, MAILVET_LISTS_FAKEFILTER_URL: url });
  });
  afterAll(async () => {
    await lab.close();
    source.close();
  });

  const operator = async (path = '/operator') =>
    browser.visit(lab.url + path, { as: await person(lab, { operator: true }) });

  it('make an account, and find it again', async () => {
    const { page } = await operator();
    await heading(page, 'Accounts').waitFor();
    await button(page, 'New account').click();
    await fillIn(dialog(page), { Name: 'Northwind Traders', 'Credits to begin with': '2500' });
    await field(dialog(page), 'Plan').selectOption('Premium');
    await button(dialog(page), 'Make the account').click();
    await heading(page, 'Northwind Traders').waitFor();
    await says(page, /Premium, active · 2,500 credits · 0 members · 0 keys/);
    await goTo(page, 'Accounts');
    await field(page, 'Search').fill('wind tra');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await rowOf(page, 'Northwind Traders').waitFor();
  });

  it('grant credits with a note, take back no more than there are, and change the limits', async () => {
    const api = await lab.member({ plan: 'starter', credits: 10 });
    const { page, refused } = await operator(`/operator/accounts/${api.account.id}`);
    await fillIn(page, { Credits: '500', Note: 'Invoice 17' });
    await button(page, 'Grant').click();
    await says(page, '500 credits granted. The balance is 510 credits.');
    await rowOf(page, 'Invoice 17').filter({ hasText: '+500' }).waitFor();
    await page.getByText('Take back', { exact: true }).first().click();
    refused(422, /\/grants$/);
    await fillIn(page, { Credits: '511', Note: 'Too much' });
    await button(page, 'Take back').click();
    await says(page, 'The account has fewer credits than that. Nothing was changed.');

    expect((await api.verify('jane@good.com', { validation_type: 'smtp' })).status).toBe(402);
    await field(page, 'Plan').selectOption('Premium');
    await field(page, 'Requests in 5 minutes').fill('7');
    await button(page, 'Save').click();
    await says(page, 'Saved. It is in force with the next request.');
    const { status, headers } = await api.verify('jane@good.com');
    expect(status).toBe(200);
    expect(headers.get('ratelimit-policy')).toContain('q=7');
  });

  it('suspend an account, whose keys are refused and whose people are told; and resume it', async () => {
    const api = await lab.member({ credits: 10 });
    const theirs = await browser.visit(lab.url, { as: await person(lab, { account: api.account.id }) });
    const { page } = await operator(`/operator/accounts/${api.account.id}`);
    await button(page, 'Suspend this account').click();
    await button(dialog(page), 'Suspend').click();
    await says(page, `${api.account.name} is suspended.`);
    expect((await api.verify('jane@good.com')).status).toBe(401);
    await theirs.page.reload();
    await says(theirs.page, 'This account is suspended');
    await button(page, 'Resume this account').click();
    await button(dialog(page), 'Resume').click();
    await says(page, `${api.account.name} goes on.`);
    expect((await api.verify('jane@good.com')).status).toBe(200);
  });

  it('ask the doctor, and see how old the lists are', async () => {
    const { page, refused } = await operator('/operator/doctor');
    await says(page, 'Not looked yet');
    await button(page, 'Look').click();
    await page.getByText(/^Not fit for the smtp level yet/).waitFor({ timeout: 30_000 });
    await says(page, /^It takes writes \((SQLite|PostgreSQL), version \d+\)/);
    await goTo(page, 'Lists');
    await says(page, /\d\d,\d{3}/);
    refused(503, '/dashboard/operator/lists/update');
    await button(page, 'Update now').click();
    await expectText(page.getByRole('alert')).toContain('500');
  });

  it('to who is none, none of it exists', async () => {
    const api = await lab.member();
    const who = await person(lab, { account: api.account.id });
    const { page } = await browser.visit(`${lab.url}/operator`, { as: who });
    await heading(page, 'Nothing is here').waitFor();
    expect(await page.getByRole('link', { name: 'Doctor' }).count()).toBe(0);
    expect((await page.request.get(`${lab.url}/dashboard/operator/accounts`)).status()).toBe(404);
  });
});
