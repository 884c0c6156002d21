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

  it('mx: the cost before and after, and the verdict in words with each check', async () => {
    const { page } = await member();
    await says(page, 'This costs at most 1 credit; 100 credits left.');
    await field(page, 'Address').fill('jane@good.com');
    await button(page, 'Verify').click();
    const verdict = page.getByRole('region', { name: 'Verdict' });
    await expectText(verdict).toContain('Good: the domain takes mail');
    await expectText(verdict).toContain('It cost 1 credit; 99 credits left.');
    for (const check of ['Syntax', 'Your filters', 'Disposable lists', 'Domain', 'Mail servers', 'Other mailboxes'])
      await verdict.getByRole('term').filter({ hasText: check }).waitFor();
    await verdict.getByRole('row').filter({ hasText: 'mx.good.com' }).waitFor();

    await field(page, 'Address').fill('not an address');
    await button(page, 'Verify').click();
    await expectText(verdict).toContain('Bad: not an email address');
    await says(page, '98 credits left');
  });

  it('smtp: what was said between us and the mail server', async () => {
    const { page } = await member();
    await field(page, 'Address').fill('jane@good.com');
    await page.getByRole('radio', { name: /^smtp/ }).check();
    await says(page, 'This costs up to 10 credits; 100 credits left.');
    await button(page, 'Verify').click();
    const verdict = page.getByRole('region', { name: 'Verdict' });
    await expectText(verdict).toContain('Good: the mailbox exists');
    await expectText(verdict).toContain('It cost 10 credits; 90 credits left.');
    const lines = verdict.getByRole('list', { name: 'The dialogue with the mail server' }).getByRole('listitem');
    await lines.first().waitFor();
    const said = (await lines.allTextContents()).join('\n');
    expect(said).toMatch(/Server.*220 mx\.good\.com ESMTP at your service/);
    expect(said).toMatch(/Mailvet.*EHLO verifier\.lab/);
    expect(said).toMatch(/Mailvet.*RCPT TO/);
    expect(said).not.toContain('jane');

    await field(page, 'Address').fill('nobody@good.com');
    await button(page, 'Verify').click();
    await expectText(verdict).toContain('Bad: there is no such mailbox');
    expect(await verdict.getByText(/550 5\.1\.1/).count()).toBeGreaterThan(0);
  });

  it('says which plan has smtp, and that the credits are too few', async () => {
    const starter = await member({ plan: 'starter', credits: 1 });
    await says(starter.page, 'Not in the plan Starter');
    expect(await starter.page.getByRole('radio', { name: /^smtp/ }).isDisabled()).toBe(true);
    await field(starter.page, 'Address').fill('jane@good.com');
    await button(starter.page, 'Verify').click();
    await says(starter.page, '0 credits left');
    starter.refused(402, /\/verify$/);
    await button(starter.page, 'Verify').click();
    await expectText(starter.page.getByRole('alert')).toMatch(/credit/i);
  });

  it('the log finds an entry by address, id, reason and key, and opens it to its reply', async () => {
    const { page, api } = await member({}, 'owner');
    const { json } = await api.verify('jane@good.com');
    await api.verify('joe@no-mail.com');
    await api.verify('jim@good.com', { validation_type: 'smtp' });
    await goTo(page, 'Log');
    await expect.poll(() => page.getByRole('row').count()).toBe(4);

    const search = page.getByRole('search', { name: 'Verifications' });
    await field(search, 'Address or its beginning').fill('JOE@');
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
    await page.waitForURL(`${lab.url}/log/${json.id}`);
    await says(page, 'Good: the domain takes mail');
    await page.getByText(json.id).first().waitFor();
  });

  it('erases an address from the log: gone there, and its charge stays', async () => {
    const { page, api } = await member({}, 'owner');
    await api.verify('jane@good.com');
    await api.verify('jane@good.com');
    await api.verify('joe@good.com');
    await goTo(page, 'Log');
    await expect.poll(() => page.getByRole('row').count()).toBe(4);
    await button(page, 'Erase an address').click();
    await field(dialog(page), /address/i)
      .first()
      .fill('jane@good.com');
    await button(dialog(page), 'Erase').click();
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
    await rowOf(page, 'joe@good.com').waitFor();
    expect((await lab.store.accounts.get(api.account.id))?.balance).toBe(97);
  });
});
