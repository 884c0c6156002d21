import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { button, dialog, expectText, field, fillIn, heading, rowOf, says } from '../steps.ts';

describeBrowser('filters', (browser) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab.close());

  async function member() {
    const api = await lab.member({ credits: 100 });
    const who = await person(lab, { account: api.account.id, role: 'member' });
    const visitor = await browser.visit(`${lab.url}/filters`, { as: who });
    await heading(visitor.page, 'Filters').waitFor();
    return { ...visitor, api };
  }

  it('adds one, which blocks an address immediately; removes it and undoes that', async () => {
    const { page, api, refused } = await member();
    await says(page, 'No filters yet');
    await button(page, 'Add filter').click();
    refused(422, /\/filters$/);
    await fillIn(dialog(page), { Value: 'not a value', Reason: 'Chargebacks' });
    await button(dialog(page), 'Add').click();
    await expectText(dialog(page)).toMatch(/value must be a domain/);
    await fillIn(dialog(page), { Value: 'Good.COM' });
    await button(dialog(page), 'Add').click();
    await rowOf(page, 'good.com').filter({ hasText: 'Chargebacks' }).waitFor();
    expect((await api.verify('jane@good.com')).json).toMatchObject({ reason: 'blocked_by_filter', credits_used: 0 });

    await button(page, 'Remove good.com').click();
    await says(page, 'No filters yet');
    expect((await api.verify('jane@good.com')).json).toMatchObject({ status: 'good' });
    await button(page, 'Undo').click();
    await rowOf(page, 'good.com').filter({ hasText: 'Chargebacks' }).waitFor();
    expect((await api.verify('jane@good.com')).json).toMatchObject({ reason: 'blocked_by_filter' });
  });

  it('imports pasted lines with a result for each, and searches them', async () => {
    const { page } = await member();
    await button(page, 'Import').click();
    const many = dialog(page, 'Import filters');
    await field(many, 'One entry per line').fill(
      ['spam.com, bought lists', 'jane@good.com', 'no such thing', '192.0.2.0/24', 'SPAM.com'].join('\n'),
    );
    await button(many, 'Preview').click();
    await many.getByText('5 rows read. Nothing has changed yet.').waitFor();
    await many.getByText('3 to be added, 1 already there, 1 invalid.').waitFor();
    await expectText(many.getByRole('table', { name: 'Invalid rows' }).getByRole('row').nth(1)).toMatch(
      /^3\s*no such thing\s*value: /,
    );
    await button(many, 'Back').click();
    expect(await field(many, 'One entry per line').inputValue()).toContain('no such thing');
    await field(many, 'One entry per line').fill('spam.com, bought lists\nsuch-a-thing.com\n192.0.2.0/24');
    await button(many, 'Preview').click();
    await button(many, 'Import 3 filters').click();
    await many.getByText('3 added, 0 already there, 0 invalid.').waitFor();
    await button(many, 'Done').click();
    await many.waitFor({ state: 'hidden' });

    await field(page, 'Search').fill('bought');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await rowOf(page, 'spam.com').waitFor();
    await field(page, 'Search').fill('');
    await button(page, 'Type').click();
    await page.getByRole('menuitemradio', { name: 'IP networks' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await rowOf(page, '192.0.2.0/24').waitFor();
  });

  it('adds one that allows, edits it, and undoes its removal without turning it around', async () => {
    const { page, api } = await member();
    await button(page, 'Add filter').click();
    await dialog(page).getByLabel('Allow').check();
    await fillIn(dialog(page), { Value: 'J.Ane+x@gmail.com', Reason: 'A customer' });
    await field(dialog(page), 'Covers').selectOption('Every spelling of the mailbox of this address');
    await fillIn(dialog(page), { 'Expiry date': '2030-01-31' });
    await button(dialog(page), 'Add').click();
    await says(page, /Mailbox jane@gmail\.com added\. This allows every spelling of this mailbox\./);
    const row = rowOf(page, 'jane@gmail.com').filter({ hasText: 'Allow' });
    await row.filter({ hasText: '2030' }).waitFor();
    const stored = async () => (await api.call('GET', '/v1/filters')).json.filters;
    const settings = {
      action: 'allow',
      match: 'mailbox',
      expires_at: '2030-01-31T00:00:00.000Z',
      reason: 'A customer',
    };
    expect(await stored()).toMatchObject([settings]);

    await button(page, 'Remove jane@gmail.com').click();
    await says(page, 'No filters yet');
    await button(page, 'Undo').click();
    await row.waitFor();
    expect(await stored()).toMatchObject([settings]);

    await button(page, 'Edit jane@gmail.com').click();
    await dialog(page).getByLabel('Block').check();
    await fillIn(dialog(page), { Reason: 'No longer one' });
    await button(dialog(page), 'Save').click();
    await rowOf(page, 'jane@gmail.com').filter({ hasText: 'Block' }).waitFor();
    expect(await stored()).toMatchObject([{ ...settings, action: 'block', reason: 'No longer one' }]);
    expect((await api.verify('ja.ne@gmail.com')).json).toMatchObject({ reason: 'blocked_by_filter' });
    await page.reload();
    await expectText(rowOf(page, 'jane@gmail.com').locator('td:nth-child(6)')).toBe('1');
  });

  it('warns of a mail host that many domains share', async () => {
    const { page } = await member();
    await button(page, 'Add filter').click();
    await fillIn(dialog(page), { Value: 'aspmx.l.google.com' });
    await field(dialog(page), 'Covers').selectOption('Domains with this mail host, or *.suffix');
    await button(dialog(page), 'Add').click();
    await says(page, /covers mail hosts of google/);
  });

  it('sorts them, on every page of the table', async () => {
    const { page, api } = await member();
    const values = ['b.com', 'jane@good.com', 'a.com'];
    for (const value of values)
      await api.call('POST', '/v1/filters', { value, reason: value === 'b.com' ? 'Spam' : null });
    await page.reload();
    const shown = () => page.getByRole('row').locator('td:nth-child(2)').allInnerTexts();
    const head = (name: string) => page.getByRole('columnheader', { name });
    const sort = (name: string) => head(name).getByRole('link').click();
    await expect.poll(shown).toEqual(values.toReversed());
    expect(await head('Added').getAttribute('aria-sort')).toBe('descending');
    await sort('Value');
    await expect.poll(shown).toEqual(['a.com', 'b.com', 'jane@good.com']);
    await sort('Value');
    await expect.poll(shown).toEqual(['jane@good.com', 'b.com', 'a.com']);
    expect([await head('Value').getAttribute('aria-sort'), new URL(page.url()).search]).toEqual([
      'descending',
      '?sort=value&order=desc',
    ]);
    await sort('Reason');
    await expect.poll(async () => (await shown())[0]).toBe('b.com');
    await page.reload();
    await expect.poll(async () => (await shown())[0]).toBe('b.com');
    await button(page, 'Type').click();
    await page.getByRole('menuitemradio', { name: 'Domains' }).click();
    await expect.poll(shown).toEqual(['b.com', 'a.com']);
    expect(page.url()).toContain('sort=reason');
  });

  it('removes several at once, and undoes that', async () => {
    const { page, api } = await member();
    for (const value of ['one.com', 'two.com', 'three.com']) await api.call('POST', '/v1/filters', { value });
    await page.reload();
    await page.getByLabel('Select two.com').check();
    await page.getByRole('group', { name: 'Selected rows' }).getByText('1 selected').waitFor();
    await page.getByLabel('Select all on this page').check();
    await page.getByLabel('Select two.com').uncheck();
    await button(page, 'Remove 2 filters').click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await rowOf(page, 'two.com').waitFor();
    expect(await page.getByRole('group', { name: 'Selected rows' }).count()).toBe(0);
    await button(page, 'Undo').click();
    await expect.poll(() => page.getByRole('row').count()).toBe(4);
  });

  it('offers to undo what was removed of several where one fails', async () => {
    const { page, api, unwatch } = await member();
    for (const value of ['one.com', 'two.com', 'three.com']) await api.call('POST', '/v1/filters', { value });
    await page.reload();
    unwatch();
    let calls = 0;
    await page.route(/\/filters\/\d+$/, (route) => (++calls === 3 ? route.fulfill({ status: 503 }) : route.continue()));
    await page.getByLabel('Select all on this page').check();
    await button(page, 'Remove 3 filters').click();
    await says(page, 'The service returned status 503. Try again.');
    await says(page, 'Removed 2 filters.');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await button(page, 'Undo').click();
    await expect.poll(() => page.getByRole('row').count()).toBe(4);
  });

  it('imports a file of any form, showing how it was read, and exports all filters as one', async () => {
    const { page } = await member();
    await button(page, 'Import').click();
    const many = dialog(page, 'Import filters');
    const chosen = page.waitForEvent('filechooser');
    await button(many, 'Choose a file').click();
    const csv = 'Typ;Eintrag;Bemerkung;Nr\r\ndomain;spam.com;"Bought, in März";1\r\nemail;=jane@good.com;;2\r\n';
    await (await chosen).setFiles({ name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(csv, 'latin1') });
    await button(many, 'Preview').click();
    await many
      .getByText(/^Read as CSV, windows-1252, header in row 1; .*value in “Eintrag”, reason in “Bemerkung”/)
      .waitFor();
    await many.getByRole('list', { name: 'Warnings' }).getByText('Columns that are not used: "Nr".').waitFor();
    await button(many, 'Import 2 filters').click();
    await many.getByText('2 added, 0 already there, 0 invalid.').waitFor();
    await button(many, 'Done').click();
    await many.waitFor({ state: 'hidden' });
    await rowOf(page, 'Bought, in März').waitFor();

    const arrived = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download CSV' }).click();
    const lines = readFileSync(await (await arrived).path(), 'utf8')
      .trim()
      .split(/\r?\n/);
    expect(lines[0]?.replace('\uFEFF', '')).toMatch(/^filter_type,value,reason/);
    expect(lines.slice(1).toSorted()).toEqual([
      expect.stringMatching(/^domain,spam\.com,"Bought, in März"/),
      // What a spreadsheet would take for a formula is text.
      expect.stringMatching(/^email,'=jane@good\.com,/),
    ]);
  });
});
