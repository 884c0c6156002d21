import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { type SmtpLab, startSmtp } from '../../lab/smtp.ts';
import { button, dialog, expectText, field, goTo, heading, rowOf, says } from '../steps.ts';

describeBrowser('verifying, and the log of it', (browser) => {
  let lab: Lab;
  let mail: SmtpLab;
  beforeAll(async () => {
    mail = await startSmtp({ banner: '220 mx.good.com ESMTP at your service', mailboxes: ['jane'] });
    lab = await startLab({ MAILVET_SMTP_PORT: `${mail.port}`, MAILVET_SMTP_RATE_PER_OPERATOR: '0' });
  });
  afterAll(async () => {
    await lab.close();
    await mail.close();
  });

  async function member(options: Parameters<Lab['member']>[0] = {}, role: 'owner' | 'member' = 'member') {
    const api = await lab.member({ credits: 100, ...options });
    const who = await person(lab, { account: api.account.id, role });
    const visitor = await browser.visit(`${lab.url}/verify`, { as: who });
    await heading(visitor.page, 'Verify').waitFor();
    return { ...visitor, api };
  }

  it('mx: shows the cost before and after, the verdict and each check', async () => {
    const { page } = await member();
    await says(page, 'Costs at most 1 credit. 100 credits available.');
    await field(page, 'Email address').fill('jane@good.com');
    await button(page, 'Verify').click();
    const verdict = page.getByRole('region', { name: 'Verdict' });
    await expectText(verdict).toContain('The domain accepts mail');
    await expectText(verdict).toMatch(/ for 1 credit\..*99 credits available\./s);
    for (const check of ['Syntax', 'Your filters', 'Disposable lists', 'Domain', 'Mail servers', 'Catch-all'])
      await verdict.getByRole('term').filter({ hasText: check }).waitFor();
    await verdict.getByRole('row').filter({ hasText: 'mx.good.com' }).waitFor();

    await field(page, 'Email address').fill('not an address');
    await button(page, 'Verify').click();
    await expectText(verdict).toContain('Not a valid email address');
    await says(page, /98 credits available/);
  });

  it('smtp: shows the SMTP transcript', async () => {
    const { page } = await member();
    await field(page, 'Email address').fill('jane@good.com');
    await page.getByRole('radio', { name: /^smtp/ }).check();
    await says(page, 'Costs at most 10 credits. 100 credits available.');
    await button(page, 'Verify').click();
    const verdict = page.getByRole('region', { name: 'Verdict' });
    await expectText(verdict).toContain('The mailbox exists');
    await expectText(verdict).toMatch(/ for 10 credits\..*90 credits available\./s);
    const lines = verdict.getByRole('list', { name: 'SMTP transcript' }).getByRole('listitem');
    await lines.first().waitFor();
    const said = (await lines.allTextContents()).join('\n');
    expect(said).toMatch(/Server.*220 mx\.good\.com ESMTP at your service/);
    expect(said).toMatch(/Mailvet.*EHLO verifier\.lab/);
    expect(said).toMatch(/Mailvet.*RCPT TO/);
    expect(said).not.toContain('jane');

    await field(page, 'Email address').fill('nobody@good.com');
    await button(page, 'Verify').click();
    await expectText(verdict).toContain('The mailbox does not exist');
    expect(await verdict.getByText(/550 5\.1\.1/).count()).toBeGreaterThan(0);
  });

  it('shows which plans include smtp, and insufficient credits', async () => {
    const starter = await member({ plan: 'starter', credits: 1 });
    await says(starter.page, 'Not included in the Starter plan.');
    expect(await starter.page.getByRole('radio', { name: /^smtp/ }).isDisabled()).toBe(true);
    await field(starter.page, 'Email address').fill('jane@good.com');
    await button(starter.page, 'Verify').click();
    await says(starter.page, '0 credits available');
    starter.refused(402, /\/verify$/);
    await button(starter.page, 'Verify').click();
    await expectText(starter.page.getByRole('alert')).toMatch(/credit/i);
  });

  it('the log finds entries by a part of the address, ID, reason and key, and shows one beside the others', async () => {
    const { page, api } = await member({}, 'owner');
    const { json } = await api.verify('jane@good.com');
    await api.verify('joe@no-mail.com');
    await api.verify('jim@good.com', { validation_type: 'smtp' });
    await goTo(page, 'Log');
    const entries = () => page.locator('tr[data-entry]').count();
    await expect.poll(entries).toBe(3);

    const search = page.getByRole('search', { name: 'Verifications' });
    const box = field(search, 'Address, domain or ID');
    await box.fill('good.com');
    await expect.poll(entries).toBe(2);
    expect(new URL(page.url()).searchParams.get('query')).toBe('good.com');
    await box.fill('OE@no');
    await rowOf(page, 'joe@no-mail.com').waitFor();
    await expect.poll(entries).toBe(1);
    await box.fill('');
    await expect.poll(entries).toBe(3);
    await button(search, 'Reason').click();
    await page.getByRole('menuitemcheckbox', { name: 'No mail servers' }).click();
    await page.keyboard.press('Escape');
    await expect.poll(entries).toBe(1);
    await button(search, 'Key').click();
    await page.getByRole('menuitemcheckbox', { name: /^test/ }).click();
    await page.keyboard.press('Escape');
    await button(search, /^Key is/).waitFor();
    await page.reload();
    await expect.poll(entries).toBe(1);
    await rowOf(page, 'joe@no-mail.com').waitFor();
    // The others: rows that do not have this reason.
    await button(search, /^Reason is/).click();
    await page.getByRole('menuitemcheckbox', { name: 'Is not' }).click();
    await page.keyboard.press('Escape');
    await button(search, 'Reason is not No mail servers').waitFor();
    await expect.poll(entries).toBe(2);
    expect(page.url()).toContain('not=reason');
    await button(search, 'Clear Reason').click();
    await expect.poll(entries).toBe(3);
    expect(page.url()).not.toContain('not=');
    await page.getByRole('region', { name: 'Verifications by time' }).getByText('3 verifications').waitFor();

    // Hours are dragged over, or chosen with Shift.
    await button(search, 'Clear Key').click();
    const hours = page.getByRole('toolbar', { name: 'Hours' }).getByRole('button');
    const pressed = () => page.getByRole('toolbar', { name: 'Hours' }).getByRole('button', { pressed: true }).count();
    await hours.nth(5).hover();
    await page.mouse.down();
    await hours.nth(2).hover();
    await expect.poll(pressed).toBe(4);
    await page.mouse.up();
    await says(page, 'No matches');
    expect(await pressed()).toBe(4);
    expect(page.url()).toMatch(/hour=.*&until=/);
    await hours.last().click({ modifiers: ['Shift'] });
    await expect.poll(pressed).toBe(22);
    await expect.poll(entries).toBe(3);
    await button(search, 'Clear Time').click();
    await expect.poll(pressed).toBe(0);
    expect(new URL(page.url()).search).toBe('');

    await page.goto(`${lab.url}/log?query=${json.id}`);
    await rowOf(page, 'jane@good.com').getByRole('link').click();
    const drawer = page.getByRole('region', { name: 'Verification of jane@good.com' });
    await expectText(drawer).toContain('The domain accepts mail');
    await drawer.getByRole('link', { name: 'Open as a page' }).click();
    await page.waitForURL(new RegExp(`/log/${json.id}$`));
    await says(page, 'The domain accepts mail');
    await page.getByText(json.id).first().waitFor();
  });

  it('the log has rejected requests among the verifications, and says what to do about one', async () => {
    const { page, api } = await member({}, 'owner');
    await api.verify('jane@good.com');
    await api.call('POST', '/v1/verify', {}, { 'x-request-id': 'trace-77' });
    await goTo(page, 'Log');
    await expect
      .poll(
        async () => {
          await page.reload();
          await rowOf(page, 'jane@good.com').waitFor();
          return page.locator('tr[data-entry]').count();
        },
        { timeout: 30_000 },
      )
      .toBe(2);
    await button(page, 'Status').click();
    await page.getByRole('menuitemcheckbox', { name: 'Rejected request' }).click();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('tr[data-entry]').count()).toBe(1);
    await rowOf(page, 'POST /v1/verify').locator('time').click();
    const drawer = page.getByRole('region', { name: 'Rejected request' });
    await expectText(drawer).toContain('400 Missing parameter');
    await expectText(drawer).toContain('What to do: Send the parameter');
    await expectText(drawer).toContain('trace-77');
    await button(drawer, 'Copy request ID').waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'hidden' });
    await field(page, 'Address, domain or ID').fill('trace-77');
    await expect.poll(() => new URL(page.url()).searchParams.get('query')).toBe('trace-77');
    await rowOf(page, 'POST /v1/verify').waitFor();
  });

  it('in the log, J and K move from entry to entry, Escape closes, and new ones are announced', async () => {
    const { page, api } = await member({}, 'owner');
    for (const email of ['one@good.com', 'two@good.com', 'three@good.com']) await api.verify(email);
    await goTo(page, 'Log');
    await expect.poll(() => page.locator('tr[data-entry]').count()).toBe(3);
    const drawer = (email: string) => page.getByRole('region', { name: `Verification of ${email}` });
    await rowOf(page, 'three@good.com').locator('time').click();
    await drawer('three@good.com').waitFor();
    await page.keyboard.press('j');
    await drawer('two@good.com').waitFor();
    await page.keyboard.press('k');
    await drawer('three@good.com').waitFor();
    await page.keyboard.press('Escape');
    await drawer('three@good.com').waitFor({ state: 'hidden' });
    const focused = 'document.activeElement.closest("tr")?.textContent';
    await expect.poll(() => page.evaluate<string>(focused)).toContain('three@good.com');

    await api.verify('four@good.com');
    await button(page, '1 new').click();
    await rowOf(page, 'four@good.com').waitFor();
    expect(await page.getByRole('button', { name: /new$/ }).count()).toBe(0);
  });

  it('erases an address from the log but keeps its charges', async () => {
    const { page, api } = await member({}, 'owner');
    await api.verify('jane@good.com');
    await api.verify('jane@good.com');
    await api.verify('joe@good.com');
    await goTo(page, 'Log');
    const entries = () => page.locator('tr[data-entry]').count();
    await expect.poll(entries).toBe(3);
    await button(page, 'Erase address').click();
    await field(dialog(page), /address/i)
      .first()
      .fill('jane@good.com');
    await button(dialog(page), 'Erase').click();
    await expect.poll(entries).toBe(1);
    await rowOf(page, 'joe@good.com').waitFor();
    expect((await lab.store.accounts.get(api.account.id))?.balance).toBe(97);
  });
});
