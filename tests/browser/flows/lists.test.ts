import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { readSheet } from 'read-excel-file/node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { violations } from '../../lab/axe.ts';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { type SmtpLab, startSmtp } from '../../lab/smtp.ts';
import { button, dialog, expectText, field, goTo, heading, rowOf, says, signInAs } from '../steps.ts';

const PEOPLE = `Name;E-Mail;Other
Ada;good@good.com;x@good.com
Bo;nobody@good.com;
Cy;cy@no-mail.com;y@good.com
Cy;cy@NO-mail.com;
Di;;
"broken;z@good.com;
`;

const HEADER = 'Header row (0: none)';
/** The label of the option that is chosen. */
const picked = (select: Locator) => select.locator('option:checked').textContent();

describeBrowser('lists', (browser) => {
  let lab: Lab;
  let mail: SmtpLab;
  beforeAll(async () => {
    mail = await startSmtp({
      mailboxes: ['good'],
      on: ({ verb, path }) =>
        verb === 'RCPT' && path.startsWith('late@') ? '450 4.2.0 Greylisted, see you in 10 minutes' : undefined,
    });
    lab = await startLab({ MAILVET_SMTP_PORT: `${mail.port}`, MAILVET_SMTP_RATE_PER_OPERATOR: '0' });
  });
  afterAll(async () => {
    await lab.close();
    await mail.close();
  });

  const visitor = async (api: Member, path = '/lists') => {
    const who = await person(lab, { account: api.account.id, role: 'member' });
    return { who, ...(await browser.visit(lab.url + path, { as: who })) };
  };
  const choose = (page: Page, text: string, name = 'people.csv') =>
    page.getByLabel('File with addresses').setInputFiles({ name, mimeType: '', buffer: Buffer.from(text) });
  const finished = (page: Page) => page.getByText('finished', { exact: true }).waitFor();

  it('are uploaded, checked, started for the price that the button says, read, downloaded and retried', async () => {
    const api = await lab.member({ credits: 500 });
    const { page } = await visitor(api);
    await says(page, 'No lists yet');
    await page.getByRole('link', { name: 'Upload a file' }).click();
    await heading(page, 'New list').waitFor();
    const asked = page.waitForEvent('filechooser');
    await button(page, 'Choose a file').focus();
    await page.keyboard.press('Enter');
    await (await asked).setFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(PEOPLE) });

    await heading(page, 'people.csv').waitFor();
    await says(page, '6 rows, CSV, 4 with an address. Other columns come back unchanged.');
    const column = field(page, 'Addresses in');
    const reading = page.getByRole('group', { name: 'How to read the file' });
    expect(await column.inputValue()).toBe('2');
    expect(await field(reading, HEADER).inputValue()).toBe('1');
    expect(await picked(field(reading, 'Delimiter'))).toBe('Detected: semicolon');
    expect(await picked(field(reading, 'Encoding'))).toBe('Detected: utf-8');
    await says(page, 'Other columns hold addresses that are not verified: "Other" (2).');
    const preview = page.getByRole('region', { name: 'The first rows of the file' });
    const names = () => preview.getByRole('columnheader').allTextContents();
    await expect.poll(names).toEqual(['#', 'Name', 'E-Mail', 'Other']);
    await expectText(preview.getByRole('row').nth(1)).toBe('1Adagood@good.comx@good.com');
    await button(page, 'Start, for up to 3 credits').waitFor();
    await page.getByRole('radio', { name: /^smtp/ }).check();
    await button(page, 'Start, for up to 30 credits').waitFor();
    await column.focus();
    await column.selectOption('Other, column 3');
    await button(page, 'Start, for up to 20 credits').waitFor();
    expect(await column.and(page.locator(':focus')).count()).toBe(1);
    await column.selectOption('All columns with addresses');
    await button(page, 'Start, for up to 50 credits').waitFor();
    await field(reading, 'Delimiter').selectOption('comma');
    await expect.poll(names).toEqual(['#', 'Name;E-Mail;Other']);
    await field(reading, 'Delimiter').selectOption('Detect');
    await expect.poll(names).toEqual(['#', 'Name', 'E-Mail', 'Other']);
    // The level that was chosen is still chosen.
    await column.selectOption('E-Mail, column 2');
    await button(page, 'Start, for up to 30 credits').click();
    await finished(page);

    const facet = (name: string) => page.getByRole('link', { name: new RegExp(`^${name}\\s*\\d`) });
    await rowOf(page, 'nobody@good.com').getByText('Mailbox not found').last().waitFor();
    await facet('Undeliverable').click();
    expect(new URL(page.url()).search).toBe('?verdict=undeliverable');
    await expect.poll(() => page.getByRole('row').count()).toBe(4);
    expect(await rowOf(page, 'duplicate').count()).toBe(1);
    await page.keyboard.press('j');
    const drawer = page.getByRole('region', { name: 'Verification of nobody@good.com' });
    await expectText(drawer).toContain('people.csv');
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: '1 broken' }).click();
    await rowOf(page, 'Line 7: a quoted cell is not closed').waitFor();

    await button(page, 'Download').click();
    const menu = dialog(page, 'Download');
    const download = async (link: Locator) => {
      const coming = page.waitForEvent('download');
      await link.click();
      const file = await coming;
      return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
    };
    await expectText(menu.getByRole('link').first()).toBe('Everything but undeliverable');
    const book = await download(menu.getByRole('link').first());
    expect(book.name).toBe('people.deliverable-risky-unknown.xlsx');
    const rows = (await readSheet(book.bytes)).map((cells) => cells[1]);
    expect(rows.filter((email) => email !== null)).toEqual(['E-Mail', 'good@good.com']);
    await menu.getByText('CSV', { exact: true }).click();
    const file = await download(menu.getByRole('link', { name: /^Undeliverable/ }));
    expect(file.name).toBe('people.undeliverable.csv');
    expect(file.bytes.toString().trimEnd().split('\r\n')).toHaveLength(4);
    await page.keyboard.press('Escape');

    // The log names the list, and leads back to it.
    await goTo(page, 'Log');
    await button(page, 'Origin').click();
    await page.getByRole('menuitemcheckbox', { name: 'List' }).click();
    await page.keyboard.press('Escape');
    await rowOf(page, 'nobody@good.com').getByText('people.csv').waitFor();
    await page.getByRole('link', { name: 'nobody@good.com' }).click();
    await page
      .getByRole('region', { name: /^Verification of/ })
      .getByRole('link', { name: 'people.csv' })
      .click();
    await heading(page, 'people.csv').waitFor();

    await button(page, 'Delete').click();
    await expectText(dialog(page)).toMatch(/6 rows and 3 results are deleted/);
    await button(dialog(page), 'Delete').click();
    await heading(page, 'Lists').waitFor();
    await says(page, 'No lists yet');
    expect(await lab.store.accounts.audit()).toEqual([]);
  });

  it('at the level mx leave mailboxes unknown; these are retried as a list of its own', async () => {
    const api = await lab.member({ credits: 500 });
    const made = await api.call('POST', '/v1/lists', {
      emails: ['good@good.com', 'no@no-mail.com'],
      name: 'From the API',
    });
    const { page } = await visitor(api, `/lists/${made.json.id}`);
    await finished(page);
    await button(page, 'Check 1 mailbox').click();
    await button(dialog(page), 'Retry, for up to 10 credits').click();
    await heading(page, 'Retry of From the API').waitFor();
    await finished(page);
    await rowOf(page, 'good@good.com').getByText('Mailbox exists').last().waitFor();
    await goTo(page, 'Lists');
    await expect.poll(() => page.getByRole('row').count()).toBe(3);
    await page.getByRole('link', { name: 'Name' }).click();
    expect(new URL(page.url()).search).toBe('?sort=name');
    await expectText(page.getByRole('row').nth(1)).toContain('From the API');
    await button(page, 'State').click();
    await page.getByRole('menuitemradio', { name: 'running' }).click();
    await says(page, 'No matches');
  });

  it('are paused, resumed and canceled, which says what is lost; deferred addresses have a time', async () => {
    const api = await lab.member({ credits: 500 });
    const call = { emails: ['late@good.com', 'no@no-mail.com'], validation_type: 'smtp', name: 'Slow' };
    const made = await api.call('POST', '/v1/lists', call);
    const { page } = await visitor(api, `/lists/${made.json.id}`);
    await page.getByRole('link', { name: /^1, next attempt \d\d:\d\d:\d\d UTC$/ }).click();
    await rowOf(page, 'late@good.com').waitFor();
    await button(page, 'Pause').click();
    await says(page, 'Paused: no new addresses are taken');
    await button(page, 'Resume').click();
    await button(page, 'Pause').waitFor();
    await button(page, 'Cancel').click();
    await expectText(dialog(page)).toMatch(/1 address will have no verdict\. 10 held credits come back/);
    await button(dialog(page), 'Cancel the list').click();
    await page.getByText('canceled', { exact: true }).waitFor();
    expect((await api.call('GET', '/v1/usage')).json.credits.locked).toBe(0);
  });

  it('take the addresses of several columns, and count a mailbox once, as it is chosen', async () => {
    const api = await lab.member({ credits: 500 });
    const { page } = await visitor(api, '/lists/new');
    await field(page, 'Duplicates').selectOption('Same mailbox, other spelling');
    const rows = [
      'Name,Work,Home,Boss',
      'Ada,a.da@gmail.com,ada@home.com,x@good.com',
      'Bo,ada+x@gmail.com,,y@good.com',
    ];
    await choose(page, rows.join('\n'));
    await heading(page, 'people.csv').waitFor();
    const duplicates = field(page, 'Duplicates');
    expect(await picked(duplicates)).toBe('Same mailbox, other spelling');
    const column = field(page, 'Addresses in');
    await column.selectOption('Work, column 2');
    await button(page, 'Start, for up to 1 credit').waitFor();
    await column.selectOption('Several columns');
    const several = page.getByRole('group', { name: 'Columns with addresses' });
    await several.getByLabel('Home, column 3').check();
    await button(page, 'Start, for up to 2 credits').waitFor();
    expect(await picked(column)).toBe('Several columns');
    await says(page, /columns Work and 1 more$/);
    expect(await several.getByLabel('Work, column 2').isChecked()).toBe(true);
    await several.getByLabel('Work, column 2').uncheck();
    await button(page, 'Start, for up to 1 credit').waitFor();
    // One has to be left.
    expect(await several.getByLabel('Home, column 3').isDisabled()).toBe(true);
    await several.getByLabel('Work, column 2').check();
    await button(page, 'Start, for up to 2 credits').waitFor();
    await duplicates.selectOption('Same address');
    await button(page, 'Start, for up to 3 credits').waitFor();
    expect(await several.getByLabel('Home, column 3').isChecked()).toBe(true);
  });

  it('say what is wrong with a file, take another column, and what to do without credits', async () => {
    const api = await lab.member({ credits: 5 });
    const { page, refused, unwatch, who } = await visitor(api, '/lists/new');
    const path = `/dashboard/accounts/${api.account.id}/lists`;
    refused(422, path);
    await choose(page, '%PDF-1.7', 'report.pdf');
    await says(page, /The file cannot be read: it is a PDF/);
    await choose(page, '', 'empty.csv');
    await says(page, 'empty.csv is empty.');
    refused(422, path);
    await choose(page, 'Who,Where\nAda,Paris\n', 'places.csv');
    await says(page, /No column holds email addresses/);
    await field(page, 'Column with the addresses').selectOption('Where, column 2');
    await button(page, 'Upload with this column').click();
    await heading(page, 'places.csv').waitFor();
    await button(page, 'Start, for up to 2 credits').waitFor();
    const header = field(page, HEADER);
    expect(await header.inputValue()).toBe('0');
    await header.fill('1');
    await header.press('Enter');
    await button(page, 'Start, for up to 1 credit').waitFor();
    await header.fill('1.5');
    await header.press('Enter');
    await says(page, 'A whole number from 0 to 1,000.');
    // A file that cannot be read like that stays as it was read.
    refused(422, /\/lists\/lst_/);
    await header.fill('2');
    await header.press('Enter');
    await says(page, /it has a header, but no rows/);
    await expect.poll(() => header.inputValue()).toBe('1');
    await button(page, 'Start, for up to 1 credit').waitFor();
    await header.fill('9');
    await header.press('Enter');
    await button(page, 'Start, for up to 2 credits').waitFor();
    await expect.poll(() => header.inputValue()).toBe('0');
    await header.fill('1');
    await header.press('Enter');
    await button(page, 'Start, for up to 1 credit').waitFor();
    // What was chosen before is still chosen after the page is loaded again.
    await page.reload();
    await field(page, 'Encoding').selectOption('windows-1252');
    await expect.poll(() => picked(field(page, 'Encoding'))).toBe('windows-1252');
    await says(page, '1 row, CSV, 1 with an address. Other columns come back unchanged.');
    expect([await header.inputValue(), await picked(field(page, 'Addresses in'))]).toEqual(['1', 'Where, column 2']);
    await page.getByRole('radio', { name: /^smtp/ }).check();
    await says(page, '5 credits missing');
    expect(await button(page, /^Start/).getAttribute('aria-disabled')).toBe('true');
    expect(await violations(page)).toEqual([]);

    // The session ends; the list and the level are still there after the next sign-in.
    await page.getByRole('radio', { name: /^mx/ }).check();
    await button(page, 'Start, for up to 1 credit').waitFor();
    await page.context().clearCookies();
    unwatch();
    await page.reload();
    await heading(page, 'Sign in').waitFor();
    await signInAs(page, who);
    await heading(page, 'places.csv').waitFor();
    await button(page, 'Start, for up to 1 credit').click();
    await finished(page);
  });
});
