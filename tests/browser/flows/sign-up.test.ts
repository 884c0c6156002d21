import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { type MailSink, startMailSink } from '../../lab/mail-sink.ts';
import { PASSWORD, person } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { button, expectText, field, fillIn, heading, says, signInAs, signOut } from '../steps.ts';

describeBrowser('open sign-up', (browser) => {
  let mail: MailSink;
  let lab: Lab;
  beforeAll(async () => {
    mail = await startMailSink();
    lab = await startLab({
      MAILVET_SIGNUP: 'open',
      MAILVET_MAIL_URL: mail.url,
      MAILVET_MAIL_FROM: 'mailvet@good.com',
    });
  });
  afterAll(async () => {
    await lab.close();
    await mail.close();
  });

  it('creates an account after the address is confirmed by the link in an email', async () => {
    const { page, refused } = await browser.visit(`${lab.url}/sign-in`);
    await page.getByRole('link', { name: 'Sign up' }).click();
    // Judged by our own engine first.
    refused(400, '/dashboard/sign-up');
    await fillIn(page, { 'Your name': 'Ada Lind', Email: 'ada@no-mail.com', Password: 'password1234!' });
    await button(page, 'Sign up').click();
    await says(page, 'password must not be one of the most common passwords');
    expect(await field(page, 'Password').getAttribute('aria-invalid')).toBe('true');
    refused(422, '/dashboard/sign-up');
    await fillIn(page, { 'Your name': 'Ada Lind', Email: 'ada@no-mail.com', Password: PASSWORD });
    await button(page, 'Sign up').click();
    await expect.poll(() => page.locator('[aria-invalid=true]').count()).toBe(1);
    await field(page, 'Email').fill('ada@good.com');
    await button(page, 'Sign up').click();
    await heading(page, 'Check your email').waitFor();

    const { token } = await mail.next('ada@good.com');
    await page.goto(`${lab.url}/verify-email#token=${token}`);
    await heading(page, 'Confirm your email address').waitFor();
    expect(page.url()).not.toContain('token');
    await button(page, 'Confirm').click();
    await heading(page, 'Overview').waitFor();
    await expectText(page.getByRole('region', { name: 'Balance' })).toContain('100 credits');
    await expectText(page.getByRole('region', { name: 'Balance' })).toContain('Rate limit: 60 of 60');
    await signOut(page);
    await signInAs(page, { email: 'ada@good.com', password: PASSWORD });
    await heading(page, 'Overview').waitFor();
  });

  it('a forgotten password is reset by email; the reply is the same for an unknown address', async () => {
    const api = await lab.member();
    const { email } = await person(lab, { account: api.account.id, email: 'forgetful@good.com' });
    const { page } = await browser.visit(`${lab.url}/sign-in`);
    const answers: string[] = [];
    for (const address of ['nobody-at-all@good.com', email]) {
      await page.goto(`${lab.url}/sign-in`);
      await page.getByRole('link', { name: 'Forgot your password?' }).click();
      await field(page, 'Email').fill(address);
      await button(page, 'Send email').click();
      await heading(page, 'Check your email').waitFor();
      answers.push((await page.getByRole('main').textContent()) ?? '');
    }
    expect(answers[1]).toBe(answers[0]);
    const { token } = await mail.next(email);
    await page.goto(`${lab.url}/reset-password#token=${token}`);
    const password = 'a wholly new pass phrase';
    await field(page, 'New password').fill(password);
    await button(page, 'Set password').click();
    await says(page, /Sign in with the new password\./);
    await page.getByRole('link', { name: /sign in/i }).click();
    await signInAs(page, { email, password });
    await heading(page, 'Overview').waitFor();
    expect(mail.mails.some(({ to }) => to.includes('nobody-at-all@good.com'))).toBe(false);
  });
});
