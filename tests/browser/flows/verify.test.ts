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
    await says(page, 'Costs at most 1 credit. 100 credits left.');
    await field(page, 'Email address').fill('jane@good.com');
    await button(page, 'Verify').click();
    const verdict = page.getByRole('region', { name: 'Verdict' });
    await expectText(verdict).toContain('Good: the domain accepts mail');
    await expectText(verdict).toContain('Cost: 1 credit. 99 credits left.');
    for (const check of ['Syntax', 'Your filters', 'Disposable lists', 'Domain', 'Mail servers', 'Catch-all'])
      await verdict.getByRole('term').filter({ hasText: check }).waitFor();
    await verdict.getByRole('row').filter({ hasText: 'mx.good.com' }).waitFor();

    await field(page, 'Email address').fill('not an address');
    await button(page, 'Verify').click();
    await expectText(verdict).toContain('Bad: not a valid email address');
    await says(page, /98 credits left/);
  });

  it('smtp: shows the SMTP transcript', async () => {
    const { page } = await member();
    await field(page, 'Email address').fill('jane@good.com');
    await page.getByRole('radio', { name: /^smtp/ }).check();
    await says(page, 'Costs at most 10 credits. 100 credits left.');
    await button(page, 'Verify').click();
    const verdict = page.getByRole('region', { name: 'Verdict' });
    await expectText(verdict).toContain('Good: the mailbox exists');
    await expectText(verdict).toContain('Cost: 10 credits. 90 credits left.');
    const lines = verdict.getByRole('list', { name: 'SMTP transcript' }).getByRole('listitem');
    await lines.first().waitFor();
    const said = (await lines.allTextContents()).join('\n');
    expect(said).toMatch(/Server.*220 mx\.good\.com ESMTP at your service/);
    expect(said).toMatch(/Mailvet.*EHLO verifier\.lab/);
    expect(said).toMatch(/Mailvet.*RCPT TO/);
    expect(said).not.toContain('jane');

    await field(page, 'Email address').fill('nobody@good.com');
    await button(page, 'Verify').click();
    await expectText(verdict).toContain('Bad: the mailbox does not exist');
    expect(await verdict.getByText(/550 5\.1\.1/).count()).toBeGreaterThan(0);
  });

  it('shows which plans include smtp, and insufficient credits', async () => {
    const starter = await member({ plan: 'starter', credits: 1 });
    await says(starter.page, 'Not included in the Starter plan.');
    expect(await starter.page.getByRole('radio', { name: /^smtp/ }).isDisabled()).toBe(true);
    await field(starter.page, 'Email address').fill('jane@good.com');
    await button(starter.page, 'Verify').click();
    await says(starter.page, '0 credits left');
    starter.refused(402, /\/verify$/);
    await button(starter.page, 'Verify').click();
    await expectText(starter.page.getByRole('alert')).toMatch(/credit/i);
  });

  it('the log finds entries by address, ID, reason and key, and shows their details', async () => {
    const { page, api } = await member({}, 'owner');
    const { json } = await api.verify('jane@good.com');
    await api.verify('joe@no-mail.com');
    await api.verify('jim@good.com', { validation_type: 'smtp' });
    await goTo(page, 'Log');
    await expect.poll(() => page.getByRole('row').count()).toBe(4);

    const search = page.getByRole('search', { name: 'Verifications' });
    await field(search, 'Address starts with').fill('JOE@');
    await button(search, 'Search').click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await rowOf(page, 'joe@no-mail.com').waitFor();
    await button(search, 'Clear').click();
    await expect.poll(() => page.getByRole('row').count()).toBe(4);
    await field(search, 'Reason').selectOption('no_mx_records');
    await field(search, 'Key').selectOption(api.keyId);
    await button(search, 'Search').click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await rowOf(page, 'joe@no-mail.com').waitFor();

    await page.goto(`${lab.url}/log?id=${json.id}`);
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await rowOf(page, 'jane@good.com').getByRole('link').first().click();
    await page.waitForURL(new RegExp(`/log/${json.id}$`));
    await says(page, 'Good: the domain accepts mail');
    await page.getByText(json.id).first().waitFor();
  });

  it('erases an address from the log but keeps its charges', async () => {
    const { page, api } = await member({}, 'owner');
    await api.verify('jane@good.com');
    await api.verify('jane@good.com');
    await api.verify('joe@good.com');
    await goTo(page, 'Log');
    await expect.poll(() => page.getByRole('row').count()).toBe(4);
    await button(page, 'Erase address').click();
    await field(dialog(page), /address/i)
      .first()
      .fill('jane@good.com');
    await button(dialog(page), 'Erase').click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await rowOf(page, 'joe@good.com').waitFor();
    expect((await lab.store.accounts.get(api.account.id))?.balance).toBe(97);
  });
});
