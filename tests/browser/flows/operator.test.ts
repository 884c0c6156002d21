import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { violations } from '../../lab/axe.ts';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { COMMAND } from '../../store/people.ts';
import { button, dialog, expectText, field, fillIn, goTo, heading, rowOf, says } from '../steps.ts';

describeBrowser('operators', (browser) => {
  let lab: Lab;
  let source: Server;
  beforeAll(async () => {
    // Where lists are fetched from: out of order.
    source = createServer((_request, reply) => void reply.writeHead(500).end());
    await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(source.address() as AddressInfo).port}/list`;
    lab = await startLab({
      MAILVET_LISTS_DISPOSABLE_URL: url,
      MAILVET_LISTS_FAKEFILTER_URL: url,
      MAILVET_LISTS_MAILCHECKER_URL: 'none',
      MAILVET_LISTS_TOMPEC_URL: 'none',
      MAILVET_LISTS_IVOLO_URL: 'none',
    });
  });
  afterAll(async () => {
    await lab.close();
    source.close();
  });

  const operator = async (path = '/operator') =>
    browser.visit(lab.url + path, { as: await person(lab, { operator: true }) });

  it('have one entry in a navigation that fits, with tabs', async () => {
    const api = await lab.member();
    const who = await person(lab, { operator: true, account: api.account.id, role: 'owner' });
    await api.call('POST', '/v1/filters', { filter_type: 'domain', value: 'example.com' });
    const { page } = await browser.visit(lab.url, { as: who });
    await page.setViewportSize({ width: 1440, height: 900 });
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await pages.getByRole('link', { name: 'Filters 1' }).waitFor();
    const below = 'document.querySelector("#pages").scrollHeight - document.querySelector("#pages").clientHeight';
    expect(await page.evaluate(below)).toBeLessThanOrEqual(0);
    const paths = '[...document.querySelectorAll("#pages li path")].map((path) => path.getAttribute("d"))';
    const icons = await page.evaluate<string[]>(paths);
    expect(icons.length).toBeGreaterThan(10);
    expect(icons).toHaveLength(new Set(icons).size);
    await pages.getByRole('link', { name: 'Operator' }).click();
    await heading(page, 'Accounts').waitFor();
    const tabs = page.getByRole('navigation', { name: 'Operator' });
    await tabs.getByRole('link', { name: 'Service' }).click();
    await heading(page, 'Service').waitFor();
    expect(await tabs.locator('[aria-current]').allTextContents()).toEqual(['Service']);
    expect(await pages.locator('[aria-current]').allTextContents()).toEqual(['Operator']);
    // The menu of the account is whole, though wider than the navigation.
    await page.getByRole('button', { name: /account and settings$/ }).click();
    const menu = page.getByRole('menu', { name: 'Account and settings' });
    const box = await menu.boundingBox();
    const right = [(box?.x ?? 0) + (box?.width ?? 0) - 4, (box?.y ?? 0) + 12];
    expect(await page.evaluate(`document.elementFromPoint(${right.join(', ')})?.closest('[role=menu]') !== null`)).toBe(
      true,
    );
  });

  it('create an account and find it by search', async () => {
    const { page } = await operator();
    await heading(page, 'Accounts').waitFor();
    await button(page, 'Create account').click();
    await fillIn(dialog(page), { Name: 'Northwind Traders', 'Initial credits': '2500' });
    await field(dialog(page), 'Plan').selectOption('Premium');
    await button(dialog(page), 'Create').click();
    await heading(page, 'Northwind Traders').waitFor();
    await says(page, /Premium, active · 2,500 credits · 0 members · 0 API keys/);
    await fillIn(page, { Email: 'owner@northwind.com' });
    await button(page, 'Invite').click();
    const link = (await page.getByLabel('invitation link', { exact: true }).textContent()) ?? '';
    const owner = await browser.visit(link);
    await heading(owner.page, 'Join Northwind Traders').waitFor();
    await goTo(page, 'Service');
    await expectText(page.getByRole('region', { name: 'Key figures' })).toContain('Verifications, last day');
    await expectText(page.getByRole('region', { name: 'Health' })).toContain('answers');
    await goTo(page, 'Accounts');
    await field(page, 'Search').fill('wind tra');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await rowOf(page, 'Northwind Traders').waitFor();
  });

  it('see accounts at a URL with a page that there is not', async () => {
    const { account } = await lab.member();
    const { page } = await operator('/operator?page=99');
    await rowOf(page, account.name).first().waitFor();
    expect(new URL(page.url()).search).toBe('');
    expect(await page.getByText('No accounts found').count()).toBe(0);
  });

  it('grant credits with a note, cannot deduct more than the balance, and change the limits', async () => {
    const api = await lab.member({ plan: 'starter', credits: 10 });
    const { page, refused } = await operator(`/operator/accounts/${api.account.id}`);
    await fillIn(page, { Credits: '500', Note: 'Invoice 17' });
    await button(page, 'Grant').click();
    await says(page, '500 credits granted. New balance: 510 credits.');
    await rowOf(page, 'Invoice 17').filter({ hasText: '+500' }).waitFor();
    await page.getByText('Deduct', { exact: true }).first().click();
    refused(409, /\/grants$/);
    await fillIn(page, { Credits: '511', Note: 'Too much' });
    await button(page, 'Deduct').click();
    await says(page, /fewer credits/);

    expect((await api.verify('jane@good.com', { validation_type: 'smtp' })).status).toBe(402);
    await field(page, 'Plan').selectOption('Premium');
    await field(page, 'Requests per 5 minutes').fill('7');
    await button(page, 'Save').click();
    await says(page, 'Saved. Takes effect with the next request.');
    const { status, headers } = await api.verify('jane@good.com');
    expect(status).toBe(200);
    expect(headers.get('ratelimit-policy')).toContain('q=7');
  });

  it('suspend an account, whose keys are rejected and whose members see a notice; and resume it', async () => {
    const api = await lab.member({ credits: 10 });
    const theirs = await browser.visit(lab.url, { as: await person(lab, { account: api.account.id }) });
    const { page } = await operator(`/operator/accounts/${api.account.id}`);
    await button(page, 'Suspend this account').click();
    await button(dialog(page), 'Suspend').click();
    await says(page, `${api.account.name} suspended.`);
    expect((await api.verify('jane@good.com')).status).toBe(401);
    await theirs.page.reload();
    await says(theirs.page, 'This account is suspended');
    await button(page, 'Resume this account').click();
    await button(dialog(page), 'Resume').click();
    await says(page, `${api.account.name} resumed.`);
    expect((await api.verify('jane@good.com')).status).toBe(200);
  });

  it('see the usage, the members and the ledger of an account by day', async () => {
    const api = await lab.member({ credits: 500 });
    await person(lab, { account: api.account.id, role: 'owner', email: 'owner@good.com' });
    await api.verify('jane@good.com');
    await api.verify('joe@no-mail.com');
    const { page } = await operator(`/operator/accounts/${api.account.id}`);
    await expectText(page.getByRole('region', { name: 'Key figures' })).toContain('Verifications2');
    await rowOf(page, 'owner@good.com').getByRole('cell', { name: 'Owner', exact: true }).waitFor();
    const days = page.getByRole('table', { name: 'Charges by day' });
    await expectText(days).toMatch(/2−2/);
    // What operators may not view is not offered.
    expect(await page.getByRole('main').locator('a[href*="/log"]').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
  });

  it('run the doctor and see the age of the lists', async () => {
    const { page, refused } = await operator('/operator/doctor');
    await says(page, 'No results yet');
    await button(page, 'Run checks').click();
    await page.getByText(/^Not ready for the smtp level/).waitFor({ timeout: 30_000 });
    await says(page, /(SQLite|PostgreSQL), version \d+/);
    await page.reload();
    await page.getByText(/^Not ready for the smtp level/).waitFor();
    await goTo(page, 'Disposable lists');
    await says(page, /\d\d,\d{3}/);
    refused(503, '/dashboard/operator/lists/update');
    await button(page, 'Update now').click();
    await expectText(page.getByRole('alert')).toContain('500');
  });

  it('see each sign-in once, with the accounts of the user', async () => {
    const [one, two] = [await lab.member(), await lab.member()];
    const both = await person(lab, { account: one.account.id, role: 'owner', email: 'both@good.com' });
    await lab.store.members.add(two.account.id, both.id, 'owner', COMMAND);
    const by = { kind: 'self', ip: '192.0.2.77' } as const;
    await lab.store.auditLog.recordUserEvent({ user: { id: both.id }, by, action: 'user.signed_in' });
    const { page } = await operator('/operator/sign-ins');
    const event = rowOf(page, '192.0.2.77');
    await expectText(event).toContain(one.account.name);
    await expectText(event).toContain(two.account.name);
    expect(await event.count()).toBe(1);
  });

  it('see how a reply is read, and the uncertain ones', async () => {
    const reply = { operator: 'google', fingerprint: 'f', code: 550, enhanced: null, template: 'hm _rcpt', count: 3 };
    await lab.store.uncertainReplies.add([{ ...reply, rule: 'unmatched.5xx', finding: 'smtp_unverifiable' }]);
    const { page, refused } = await operator();
    await goTo(page, 'SMTP replies');
    await says(page, '550 hm _rcpt');
    refused(400, '/dashboard/operator/replies/explain');
    await page.getByLabel('Reply of a mail server').fill('no reply');
    await button(page, 'Explain').click();
    await says(page, /^reply must begin with a code/);
    await page.getByLabel('Reply of a mail server').fill('542 ada@example.com Rejected');
    await page.getByLabel('Mail host').fill('cluster1.eu.messagelabs.com');
    await button(page, 'Explain').click();
    await says(page, 'Read as mailbox_not_found, with high confidence.');
    await says(page, 'messagelabs.unregistered');
  });

  it('see which verdicts outcomes contradict, and not whose they are', async () => {
    const { page } = await operator('/operator/replies');
    await says(page, 'No contradictions');
    const api = await lab.member({ plan: 'premium' });
    const { json } = await api.verify('secret.name@null-mx.com');
    const outcome = { verification_id: json.id, outcome: 'delivered', at: new Date().toISOString() };
    expect((await api.call('POST', '/v1/outcomes', { outcomes: [outcome] })).json.recorded).toBe(1);
    await page.reload();
    const table = page.getByRole('table', { name: 'Contradictions' });
    await expectText(table.getByRole('row').nth(1)).toMatch(
      /Domain does not accept mail.*No mail server was asked.*Delivered/,
    );
    expect(await page.content()).not.toContain(json.id);
    expect(await violations(page)).toEqual([]);
  });

  it('retry and drop failed jobs', async () => {
    const failedAccounts = async () => {
      const { items } = await lab.store.jobs.list({ failed: true, limit: 10 });
      return items.flatMap(({ account }) => account ?? []);
    };
    for (const account of ['acc_first', 'acc_second'])
      await lab.store.jobs.add({ kind: 'password_reset', payload: { email: 'jane@example.com' }, account });
    // This service sends no mail, so that nobody else claims them.
    for (const claim of await lab.store.jobs.claim(new Map([['password_reset', 2]])))
      await lab.store.jobs.fail(claim, 'The mail server did not take the mail: ECONNREFUSED.', true);
    const { page } = await operator();
    await goTo(page, 'Failed jobs');
    await says(page, 'The mail server did not take the mail: ECONNREFUSED.');
    expect(await page.content()).not.toContain('jane@example.com');
    await button(rowOf(page, 'acc_first'), 'Retry password_reset').click();
    await rowOf(page, 'acc_first').waitFor({ state: 'detached' });
    expect(await failedAccounts()).toEqual(['acc_second']);
    await button(rowOf(page, 'acc_second'), 'Drop password_reset').click();
    await button(dialog(page), 'Drop').click();
    await rowOf(page, 'acc_second').waitFor({ state: 'detached' });
    expect(await failedAccounts()).toEqual([]);
  });

  it('their pages do not exist for other users', async () => {
    const api = await lab.member();
    const who = await person(lab, { account: api.account.id });
    const { page } = await browser.visit(`${lab.url}/operator`, { as: who });
    await heading(page, 'Page not found').waitFor();
    expect(await page.getByRole('link', { name: 'Doctor' }).count()).toBe(0);
    expect((await page.request.get(`${lab.url}/dashboard/operator/accounts`)).status()).toBe(404);
  });
});
