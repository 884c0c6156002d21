import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
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
    await says(page, '6 rows, CSV, semicolons, a row of names, an address in 4.');
    const column = field(page, 'Column with the addresses');
    expect(await column.inputValue()).toBe('2');
    await button(page, 'Start, for up to 3 credits').waitFor();
    await page.getByRole('radio', { name: /^smtp/ }).check();
    await button(page, 'Start, for up to 30 credits').waitFor();
    await column.selectOption('Other, column 3');
    await button(page, 'Start, for up to 20 credits').waitFor();
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
    const coming = page.waitForEvent('download');
    // Not the link of the same name above the rows.
    await page
      .getByRole('dialog', { name: 'Download' })
      .getByRole('link', { name: /^Undeliverable/ })
      .click();
    const file = await coming;
    expect(file.suggestedFilename()).toBe('people.results.csv');
    expect((await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n')).toHaveLength(4);
    await page.keyboard.press('Escape');

    // The log names the list, and leads back to it.
    await goTo(page, 'Log');
    await button(page, 'Origin').click();
    await page.getByRole('menuitemradio', { name: 'List' }).click();
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
    await button(page, 'Retry 1 unknown address').click();
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
    await page.getByLabel('First row has names').click();
    await button(page, 'Start, for up to 1 credit').waitFor();
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
