/** What can be seen of a verification afterwards, and done with its row: each task with its number of clicks. */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Lab, type Member, request, startLab } from '../../lab/service.ts';
import { type SmtpLab, startSmtp } from '../../lab/smtp.ts';
import { button, countClicks, dialog, expectText, heading, rowOf, says } from '../steps.ts';

describeBrowser('the row of a verification', (browser) => {
  let lab: Lab;
  let mail: SmtpLab;
  let api: Member;
  beforeAll(async () => {
    mail = await startSmtp({
      on: (c) => (c.verb === 'RCPT' ? '550 5.2.1 Account jane is disabled; call our desk' : undefined),
    });
    lab = await startLab({ MAILVET_SMTP_PORT: `${mail.port}`, MAILVET_SMTP_RATE_PER_OPERATOR: '0' });
    api = await lab.member({ credits: 1000 });
    const headers = { authorization: `Bearer ${api.key}` };
    const body = { email: 'jane@good.com', validation_type: 'smtp' };
    expect((await request(lab.url, 'POST', '/v1/verify', body, headers)).json.reason).toBe('mailbox_disabled');
    await api.verify('nobody@no-mail.com');
    const list = {
      emails: ['one@nowhere.test', 'two@nowhere.test', 'three@good.com'],
      name: 'people.csv',
      validation_type: 'mx',
    };
    const { json } = await request(lab.url, 'POST', '/v1/lists', list, headers);
    const status = async () => (await request(lab.url, 'GET', `/v1/lists/${json.id}`, undefined, headers)).json.status;
    while ((await status()) !== 'completed') await new Promise((resolve) => setTimeout(resolve, 50));
  });
  afterAll(async () => {
    await lab.close();
    await mail.close();
  });

  async function visit(path: string, title: string | RegExp, role: 'owner' | 'member' = 'member') {
    const who = await person(lab, { account: api.account.id, role });
    const visitor = await browser.visit(lab.url + path, { as: who });
    await heading(visitor.page, title).waitFor();
    return { ...visitor, clicks: await countClicks(visitor.page) };
  }
  const row = (page: Page, text: string) => rowOf(page, text).first();

  it('has the sentence of the mail server, without the address', async () => {
    const { page } = await visit('/log', 'Log');
    await row(page, 'jane@good.com').click();
    const drawer = page.getByRole('region', { name: 'Verification of jane@good.com' });
    await expectText(drawer.getByLabel('What the mail server said')).toBe(
      '550 5.2.1 Account *** is disabled; call our desk',
    );
    await drawer.getByRole('link', { name: /^API key/ }).click();
    await page.getByText(api.key.slice(-4)).first().waitFor();
  });

  it('blocks the domain in three clicks, and undoes it', async () => {
    const { page, clicks } = await visit('/log', 'Log');
    await row(page, 'nobody@no-mail.com').click();
    await button(page, 'Block domain').click();
    await button(dialog(page, 'Block no-mail.com?'), 'Block').click();
    await says(page, /no-mail\.com is blocked/);
    expect(await clicks()).toBeLessThanOrEqual(3);
    const blocked = async () => (await api.verify('nobody@no-mail.com')).json.reason;
    await expect.poll(blocked).toBe('blocked_by_filter');
    await button(page, 'Undo').click();
    await expect.poll(blocked).not.toBe('blocked_by_filter');
  });

  it('is verified again, and copied as address and as command', async () => {
    const { page, context } = await visit('/log', 'Log');
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: lab.url });
    await row(page, 'jane@good.com').click();
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
    await button(page, 'Copy address').click();
    await expect.poll(copied).toBe('jane@good.com');
    await button(page, 'Copy as curl').click();
    await expect.poll(copied).toContain('"validation_type":"smtp"');
    await page.getByRole('link', { name: 'Verify again' }).click();
    await heading(page, 'Verify').waitFor();
    expect(await page.getByLabel('Email address').inputValue()).toBe('jane@good.com');
  });

  it('exports the rows of one reason of a list in three clicks, under a name that says so', async () => {
    const { page, context, clicks } = await visit('/lists', 'Lists');
    await page.getByRole('link', { name: 'people.csv' }).click();
    await heading(page, 'people.csv').waitFor();
    const before = await clicks();
    await page.getByRole('link', { name: /^Domain not found\s*2/ }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('reason')).toBe('domain_not_found');
    await button(page, 'Download').click();
    const shown = dialog(page, 'Download').getByRole('link', { name: /^Rows shown: Domain not found\s*2/ });
    const [file] = await Promise.all([page.waitForEvent('download'), shown.click()]);
    expect((await clicks()) - before).toBeLessThanOrEqual(3);
    expect(file.suggestedFilename()).toBe('people.domain_not_found.xlsx');
    await dialog(page, 'Download').getByText('JSON Lines', { exact: true }).click();
    const [lines] = await Promise.all([page.waitForEvent('download'), shown.click()]);
    const text = await readFile(await lines.path(), 'utf8');
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).email),
    ).toEqual(['one@nowhere.test', 'two@nowhere.test']);
    await page.keyboard.press('Escape');
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: lab.url });
    await button(page, /^Copy 2 addresses/).click();
    await says(page, 'Copied 2 addresses.');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('one@nowhere.test\ntwo@nowhere.test');
  });

  it('of a list has what the file has in that row', async () => {
    const headers = { authorization: `Bearer ${api.key}`, 'content-type': 'text/csv' };
    const csv = 'email,name,customer\nada@good.com,Ada Lovelace,C-1815\n';
    const sent = await fetch(`${lab.url}/v1/lists?name=crm.csv&validation_type=mx`, {
      method: 'POST',
      headers,
      body: csv,
    });
    const { id } = (await sent.json()) as { id: string };
    const { page } = await visit(`/lists/${id}`, 'crm.csv');
    await row(page, 'ada@good.com').getByText('Domain accepts mail').last().waitFor();
    await row(page, 'ada@good.com').click();
    await expectText(page.getByRole('region', { name: 'Row 1 of the file' })).toMatch(/name\s*Ada Lovelace.*C-1815/);
  });

  it('exports the log of one reason under a name that says so, with its day', async () => {
    const { page, clicks } = await visit('/log?reason=domain_not_found', 'Log');
    await row(page, 'one@nowhere.test').waitFor();
    await button(page, 'Export').click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      dialog(page, 'Export').getByRole('link', { name: 'Rows of this search' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^log\.domain_not_found\.\d{4}-\d\d-\d\d\.csv$/);
    expect(await clicks()).toBeLessThanOrEqual(3);
  });
});
