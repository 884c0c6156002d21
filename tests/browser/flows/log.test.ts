import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendCsv } from '../../http/list-lab.ts';
import { violations } from '../../lab/axe.ts';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { button, dialog, field, heading, rowOf, says } from '../steps.ts';

describeBrowser('the log as an instrument', (browser) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab.close());

  /** On the log of an account that verified `emails`. */
  async function logOf(...emails: readonly string[]) {
    const api = await lab.member({ credits: 100 });
    for (const email of emails) await api.verify(email);
    const who = await person(lab, { account: api.account.id, role: 'member' });
    const visitor = await browser.visit(`${lab.url}/log`, { as: who });
    await heading(visitor.page, 'Log').waitFor();
    await expect.poll(() => rows(visitor.page)).toBe(emails.length);
    return { ...visitor, api, who };
  }
  const rows = (page: Page) => page.locator('tr[data-entry]').count();

  async function download(page: Page, part: string): Promise<string> {
    const coming = page.waitForEvent('download');
    await page.getByRole('link', { name: part }).click();
    return readFile(await (await coming).path(), 'utf8');
  }

  it('has views: some for everyone, and searches that members have named, for all of the account', async () => {
    const { page, who } = await logOf('one@good.com', 'two@no-mail.com', 'three@good.com');
    const view = (name: string) => page.getByRole('menuitemradio', { name });
    await button(page, 'Views').click();
    await view('Undeliverable, last 7 days').click();
    await expect.poll(() => rows(page)).toBe(1);
    await button(page, 'Clear Time').click();
    await button(page, 'Views').click();
    await page.getByRole('menuitem', { name: 'Save this search' }).click();
    await field(dialog(page), 'Name').fill('Bounces');
    await button(dialog(page), 'Save').click();
    await says(page, 'View Bounces saved.');

    const { accounts } = (await who.call('GET', '/dashboard/session')).json;
    const viewer = await person(lab, { account: accounts[0].id, role: 'viewer' });
    const other = await browser.visit(`${lab.url}/log`, { as: viewer });
    await expect.poll(() => rows(other.page)).toBe(3);
    await button(other.page, 'Views').click();
    await other.page.getByRole('menuitemradio', { name: 'Bounces' }).click();
    await rowOf(other.page, 'two@no-mail.com').waitFor();
    await expect.poll(() => rows(other.page)).toBe(1);
    expect(new URL(other.page.url()).search).toBe('?deliverability=undeliverable&view=Bounces');
    expect(await other.page.getByRole('menuitem').count()).toBe(0);
    await other.page.keyboard.press('Escape');
    await other.page.getByRole('menu').waitFor({ state: 'detached' });
    await other.page.getByRole('main').getByText('Bounces', { exact: true }).waitFor();

    await button(page, 'Views').click();
    expect(await view('Bounces').getAttribute('aria-checked')).toBe('true');
    await page.getByRole('menuitem', { name: 'Rename or delete' }).click();
    await field(dialog(page), 'Bounces').fill('Not deliverable');
    await button(dialog(page), 'Rename').click();
    await says(page, 'View renamed to Not deliverable.');
    await button(dialog(page), 'Delete Not deliverable').click();
    await says(page, 'There are no saved views.');
    await button(page, 'Undo').click();
    await field(dialog(page), 'Not deliverable').waitFor();
  });

  it('asks for its rows once when it is opened', async () => {
    const { requests } = await logOf('one@good.com');
    expect(requests.filter(({ url }) => /\/log\?/.test(new URL(url).pathname + new URL(url).search))).toHaveLength(1);
  });

  it('shows the results of one list, and those at several mail operators', async () => {
    const { page, api } = await logOf('one@good.com');
    const { json } = await sendCsv(lab, api, 'email\nin-a-list@good.com\n', '?name=Autumn');
    await expect
      .poll(async () => (await api.call('GET', `/v1/lists/${json.id}`)).json.status, { timeout: 30_000 })
      .toBe('completed');
    await page.reload();
    await expect.poll(() => rows(page)).toBe(2);
    await button(page, 'List').click();
    await page
      .getByRole('option', { name: 'Autumn' })
      .or(page.getByRole('menuitemcheckbox', { name: 'Autumn' }))
      .click();
    await rowOf(page, 'in-a-list@good.com').waitFor();
    await expect.poll(() => rows(page)).toBe(1);
    expect(new URL(page.url()).searchParams.get('list')).toBe(json.id);
    await page.keyboard.press('Escape');
    await button(page, 'Clear List').click();
    await expect.poll(() => rows(page)).toBe(2);
    await button(page, 'Mail operator').click();
    const operator = (name: string) => page.getByRole('menuitemcheckbox', { name, exact: true });
    await operator('Google').waitFor();
    await page.keyboard.type('goo');
    await page.keyboard.press('Enter');
    await expect.poll(() => rows(page)).toBe(0);
    await operator('Other servers').click();
    await button(page, 'Mail operator is Google or Other servers').waitFor();
    await expect.poll(() => rows(page)).toBe(2);
    expect(new URL(page.url()).searchParams.get('operator')).toBe('google,none');
  });

  it('is exported with its search, or as a whole', async () => {
    const { page } = await logOf('one@good.com', 'two@no-mail.com', 'three@good.com');
    await button(page, 'Reason').click();
    await page.getByRole('menuitemcheckbox', { name: 'No mail servers' }).click();
    await page.keyboard.press('Escape');
    await expect.poll(() => rows(page)).toBe(1);
    await button(page, 'Export').click();
    const [head, ...found] = (await download(page, 'Rows of this search')).trimEnd().split('\r\n');
    expect(head).toMatch(/^kind,at,id,email,/);
    expect(found).toEqual([expect.stringMatching(/^verification,.+,two@no-mail\.com,bad,undeliverable,/)]);
    await page.getByText('JSON Lines', { exact: true }).click();
    const lines = (await download(page, 'All rows')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).email)).toEqual(['three@good.com', 'two@no-mail.com', 'one@good.com']);
    await page.keyboard.press('Escape');
    await button(page, 'Clear Reason').click();
    await rowOf(page, 'one@good.com').waitFor();
    // Without a search there is nothing but all rows.
    await button(page, 'Export').click();
    await page.getByRole('link', { name: 'All rows' }).waitFor();
    expect(await page.getByRole('link', { name: 'Rows of this search' }).count()).toBe(0);
  });

  it('has its filters in one line, those that are set first, and offers no time beside a chosen hour', async () => {
    const { page, api } = await logOf('one@no-mail.com', 'two@good.com');
    await api.call('POST', '/v1/verify', { address: 'misspelt parameter' });
    // It is written a few seconds later.
    const withRejected = async () => {
      await page.reload();
      await rowOf(page, 'two@good.com').waitFor();
      return rowOf(page, '400').count();
    };
    await expect.poll(withRejected).toBe(1);
    await page.setViewportSize({ width: 375, height: 740 });
    const search = page.getByRole('search', { name: 'Verifications' });
    const chips = search.getByRole('button').and(search.locator(':not([aria-label])'));
    const names = () => chips.allTextContents();
    const rowsOfChips = async () => new Set((await boxesOf(page)).map(({ y }) => Math.round(y))).size;
    const all = (await names()).length;
    expect(await rowsOfChips()).toBe(1);
    await button(page, /Status$/).click();
    await page.getByRole('menuitemcheckbox', { name: 'Rejected request' }).click();
    await page.keyboard.press('Escape');
    await expect.poll(async () => (await names())[0]).toBe('Status is Rejected request');
    expect(await rowsOfChips()).toBe(1);
    await rowOf(page, '400').click();
    await page.getByRole('region', { name: 'Rejected request' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await button(page, 'Clear Status').click();
    await page.getByRole('toolbar', { name: 'Hours' }).getByRole('button').last().click();
    await expect.poll(async () => (await names())[0]).toMatch(/^Time is /);
    expect(await names()).not.toContain(' Time');
    expect(await names()).toHaveLength(all);
    expect(await rowsOfChips()).toBe(1);
  });
});

/** Of the chips above the log. */
const boxesOf = (page: Page): Promise<{ y: number }[]> =>
  page.evaluate(
    `[...document.querySelectorAll('search span[data-set]')].map((chip) => chip.getBoundingClientRect().toJSON())`,
  );
