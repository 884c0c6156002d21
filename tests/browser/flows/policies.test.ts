import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { button, dialog, expectText, field, fillIn, goTo, heading, rowOf, says } from '../steps.ts';

describeBrowser('policies', (browser) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab.close());

  async function member() {
    const api = await lab.member({ credits: 1_000 });
    const who = await person(lab, { account: api.account.id, role: 'member', email: `who-${api.keyId}@good.com` });
    const visitor = await browser.visit(`${lab.url}/`, { as: who });
    await goTo(visitor.page, 'Policies');
    return { ...visitor, api };
  }

  it('are shown as sentences, copied, changed and deleted', async () => {
    const { page, api } = await member();
    await says(page, 'Disposable addresses and mailboxes that were seen before are rejected.');
    await button(page, 'Copy signup').click();
    await field(dialog(page), 'Name').fill('B2B');
    await button(dialog(page), 'Create').click();
    await says(page, /^Use small letters/);
    await field(dialog(page), 'Name').fill('strict');
    await button(dialog(page), 'Create').click();
    await says(page, 'There is a policy of this name already.');
    await field(dialog(page), 'Name').fill('b2b');
    await button(dialog(page), 'Create').click();
    await heading(page, 'b2b').waitFor();
    await says(page, 'What it says');

    const free = page.getByRole('radiogroup', { name: 'Addresses of free mail providers' });
    await free.getByText('Reject', { exact: true }).click();
    await says(page, 'What it will say, once it is saved');
    await says(page, /^Disposable addresses, addresses of free mail providers,? and mailboxes/);
    await field(page, 'Time limit in milliseconds').fill('10');
    await says(page, 'Enter a number from 1,000 to 30,000.');
    await field(page, 'Time limit in milliseconds').fill('4000');
    await field(page, 'For').selectOption('Addresses of free mail providers');
    await fillIn(page, { Language: 'de', Message: 'Bitte die Adresse Ihrer Firma.' });
    await button(page, 'Add message').click();
    expect((await api.call('GET', '/v1/policies/b2b')).json).toMatchObject({ messages: {}, timeout_ms: 10_000 });
    await button(page, 'Save').click();
    await says(page, 'Policy saved.');
    expect((await api.call('GET', '/v1/policies/b2b')).json).toMatchObject({
      signals: { free: 'reject', disposable: 'reject' },
      timeout_ms: 4_000,
      messages: { free: { de: 'Bitte die Adresse Ihrer Firma.' } },
    });

    await button(page, 'Delete').click();
    await button(dialog(page), 'Delete').click();
    await heading(page, 'Policies').waitFor();
    await expect.poll(() => page.getByText('b2b').count()).toBe(0);
    expect((await api.call('GET', '/v1/policies/b2b')).status).toBe(404);
  });

  it('are tried on an address and on the log before they are saved', async () => {
    const { page, api } = await member();
    for (const email of ['ada@good.com', 'info@good.com', 'b@mailinator.com']) await api.verify(email);
    await api.call('PUT', '/v1/policies/mine', { signals: { disposable: 'reject' } });
    await page.reload();
    await page.getByRole('link', { name: 'Edit mine' }).click();
    await heading(page, 'mine').waitFor();
    await button(page, 'Try the last 1,000 verifications').click();
    await expectText(page.getByRole('status').filter({ hasText: 'it would have' })).toMatch(
      /Of 3 verifications, it would have rejected 1: see them, accepted 0 to be reviewed, and accepted 2\./,
    );
    const role = page.getByRole('radiogroup', { name: 'Addresses of a function, such as info@' });
    await role.getByText('Reject', { exact: true }).click();
    await says(page, 'The rules have changed since; try them again.');
    await button(page, 'Try the last 1,000 verifications').click();
    await button(page, 'see them: the 2 to reject').click();
    await rowOf(page, 'info@good.com').filter({ hasText: 'Addresses of a function' }).waitFor();
    await rowOf(page, 'b@mailinator.com').waitFor();

    await field(page, 'Email address').fill('sales@good.com');
    await button(page, 'Try this address').click();
    await says(page, 'Message: “Use a personal email address.”');
    await role.getByText('Accept', { exact: true }).click();
    await expect.poll(() => page.getByText('Message: “Use a personal email address.”').count()).toBe(0);
    expect((await api.call('GET', '/v1/policies/mine')).json.signals.role).toBe('accept');
  });

  it('those that are built in can be tried, not changed', async () => {
    const { page } = await member();
    await page.getByRole('link', { name: 'Try strict' }).click();
    await heading(page, 'strict').waitFor();
    await button(page, 'Try the last 1,000 verifications').click();
    await says(page, 'There are no verifications yet.');
    expect(await button(page, 'Save').count()).toBe(0);
    expect(await button(page, 'Delete').count()).toBe(0);
  });

  it('decide from the results of a list', async () => {
    const { page, api } = await member();
    await page.goto(`${lab.url}/lists/new`);
    await heading(page, 'New list').waitFor();
    await field(page, 'Policy').selectOption('strict');
    const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from('email\ninfo@good.com\n') };
    await page.getByLabel('File with addresses').setInputFiles(file);
    await heading(page, 'people.csv').waitFor();
    await says(page, /policy strict/);
    const { json } = await api.call('GET', '/v1/lists');
    expect(json.lists).toMatchObject([{ name: 'people.csv', policy: 'strict' }]);
  });

  it('the log is searched by their decision', async () => {
    const { page, api } = await member();
    await api.verify('ada@good.com', { policy: 'signup' });
    await api.verify('b@mailinator.com', { policy: 'signup' });
    await page.goto(`${lab.url}/log?decision=reject`);
    await rowOf(page, 'b@mailinator.com').waitFor();
    expect(await rowOf(page, 'ada@good.com').count()).toBe(0);
    await rowOf(page, 'b@mailinator.com').click();
    await says(page, 'reject, because of disposable');
  });
});
