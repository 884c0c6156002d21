/** What a URL names: the account, the page and its filters; and how times and numbers read wherever the reader is. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { violations } from '../../lab/axe.ts';
import { describeBrowser } from '../../lab/browser.ts';
import { type Person, person } from '../../lab/person.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { button, expectText, goTo, heading, openAccountMenu, rowOf, says } from '../steps.ts';

describeBrowser('the URL', (browser) => {
  let lab: Lab;
  let api: Member;
  let other: Member;
  let owner: Person;
  beforeAll(async () => {
    lab = await startLab();
    api = await lab.member({ credits: 1234 });
    other = await lab.member({ credits: 7 });
    owner = await person(lab, { account: api.account.id });
    const by = { kind: 'command', id: null, name: 'test', ip: null } as const;
    await lab.store.members.add(other.account.id, owner.id, 'member', by);
    await api.verify('jane@good.com');
  });
  afterAll(() => lab.close());

  const balance = (page: Parameters<typeof heading>[0]) => page.getByRole('region', { name: 'Balance' });

  it('names the account: two tabs show two accounts, and a link leads to the account it was copied from', async () => {
    const { page, context } = await browser.visit(`${lab.url}/accounts/${api.account.id}/`, { as: owner });
    await expectText(balance(page)).toContain('1,233 credits');
    const second = await context.newPage();
    await second.goto(lab.url);
    await heading(second, 'Overview').waitFor();
    await openAccountMenu(second);
    await second.getByRole('menuitemradio', { name: `${other.account.name} (member)` }).click();
    await expectText(balance(second)).toContain('7 credits');
    expect(new URL(second.url()).pathname).toBe(`/accounts/${other.account.id}`);

    await page.reload();
    await expectText(balance(page)).toContain('1,233 credits');
    await goTo(page, 'Log');
    expect(new URL(page.url()).pathname).toBe(`/accounts/${api.account.id}/log`);
    await rowOf(page, 'jane@good.com').waitFor();
    await second.goto(page.url());
    await rowOf(second, 'jane@good.com').waitFor();
  });

  it('of an account that the user does not see names those that they do', async () => {
    const { page } = await browser.visit(`${lab.url}/accounts/acc_nowhere/log`, { as: owner });
    await heading(page, 'Account not found').waitFor();
    await page.getByRole('link', { name: api.account.name, exact: true }).click();
    await expectText(balance(page)).toContain('1,233 credits');
  });

  it('without an account opens that page of the account opened last, also after signing in', async () => {
    const { page } = await browser.visit(`${lab.url}/log?key=dashboard`);
    await heading(page, 'Sign in').waitFor();
    await page.getByLabel('Email').fill(owner.email);
    await page.getByLabel('Password', { exact: true }).fill(owner.password);
    await button(page, 'Sign in').click();
    await heading(page, 'Log').waitFor();
    expect(page.url()).toMatch(/\/accounts\/acc_[^/]+\/log\?key=dashboard$/);
  });

  it.each([
    ['/usage?from=2026-13-45', 'Usage', 'from'],
    ['/log?status=foo', 'Log', 'status'],
  ])('with an invalid parameter shows the page without it, and says so: %s', async (path, title, name) => {
    const { page } = await browser.visit(lab.url + path, { as: owner });
    await heading(page, title).waitFor();
    await says(page, `A part of this URL is not valid and was ignored: ${name}.`);
    expect(await page.getByText('Something went wrong').count()).toBe(0);
    await goTo(page, 'Filters');
    expect(await page.getByText(/was ignored/).count()).toBe(0);
  });

  it('of a page of rows beyond the last one leads to the last one', async () => {
    const { page } = await browser.visit(`${lab.url}/lists?page=9`, { as: owner });
    await says(page, 'No lists yet');
    expect(page.url()).not.toContain('page=9');
    const endpoint = { url: 'http://127.0.0.1:9/webhooks', events: ['key.created'] };
    const { id } = (await api.call('POST', '/v1/webhooks', endpoint)).json;
    await page.goto(`${lab.url}/webhooks/${id}?page=9`);
    await says(page, 'Nothing sent yet');
    expect(page.url()).not.toContain('page=9');
  });

  it('of no page shows the 404 of the dashboard; a slash at the end does no harm', async () => {
    const { page, refused } = await browser.visit(`${lab.url}/log/`, { as: owner });
    await heading(page, 'Log').waitFor();
    refused(404, '/no-such-page');
    await page.goto(`${lab.url}/no-such-page`);
    await heading(page, 'Page not found').waitFor();
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await heading(page, 'Overview').waitFor();
  });

  it('of a page whose script does not load is loaded again once, and then the page explains what to do', async () => {
    const { page, unwatch } = await browser.visit(lab.url, { as: owner });
    await heading(page, 'Overview').waitFor();
    unwatch();
    const script = /\/assets\/members-[\w-]+\.js$/;
    let tries = 0;
    await page.route(script, (route) => {
      tries++;
      return route.abort();
    });
    await page.getByRole('link', { name: 'Members', exact: true }).click();
    await says(page, /A part of the dashboard could not be loaded/);
    expect(tries).toBeGreaterThan(1);
    expect(await page.getByText(/dynamically imported|TypeError/).count()).toBe(0);
    await page.unroute(script);
    await button(page, 'Try again').click();
    await rowOf(page, owner.email).waitFor();
  });

  it('times are those of a German reader in Los Angeles, with UTC in the title, or of a zone found by its name; texts and numbers are German', async () => {
    const timeZone = 'America/Los_Angeles';
    const look = { as: owner, locale: 'de-DE', timeZone };
    const { page } = await browser.visit(`${lab.url}/accounts/${api.account.id}/log`, look);
    const [{ created_at: at }] = (await owner.call('GET', `/dashboard/accounts/${api.account.id}/log`)).json.entries;
    const there = (options: Intl.DateTimeFormatOptions) =>
      new Intl.DateTimeFormat('de', { timeZone, ...options }).format(new Date(at));
    const months = ' Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.'.split(' ');
    const time = rowOf(page, 'jane@good.com').locator('time');
    await time.waitFor();
    expect(await time.textContent()).toBe(there({ timeStyle: 'medium' }));
    const utcDate = `${Number(at.slice(8, 10))}. ${months[Number(at.slice(5, 7))]} ${at.slice(0, 4)}`;
    expect(await time.getAttribute('title')).toBe(`${utcDate}, ${at.slice(11, 19)} UTC`);
    await page.getByRole('columnheader', { name: /^Zeit \((GMT-[78]|P[SD]T)\)$/ }).waitFor();
    await page.getByRole('rowheader', { name: there({ dateStyle: 'full' }) }).waitFor();
    await button(page, /Konto und Einstellungen$/).click();
    await page.getByRole('menuitem', { name: 'Andere Zeitzone …' }).click();
    await page.getByRole('combobox', { name: 'Stadt oder Region' }).fill('tongat');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('option', { name: 'Pacific/Tongatapu', exact: true }).click();
    await page.getByRole('columnheader', { name: 'Zeit (GMT+13)' }).waitFor();
    await page.getByRole('link', { name: 'Übersicht', exact: true }).click();
    const balance = page.getByRole('region', { name: 'Guthaben' });
    await expectText(balance).toContain('1.233 Credits');
    expect(await page.textContent('body')).not.toMatch(/1,233|\bago\b|\b(Balance|Overview)\b/);
  });
});
