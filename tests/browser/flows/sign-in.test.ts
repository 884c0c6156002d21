import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { addPasskeyDevice } from '../../lab/passkey-device.ts';
import { forgetSignIns, PASSWORD, type Person, person as personOf } from '../../lab/person.ts';
import { runCli } from '../../lab/process.ts';
import { totp } from '../../lab/second-factor.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { button, dialog, expectText, field, fillIn, goTo, heading, rowOf, says, signInAs, signOut } from '../steps.ts';

describeBrowser('signing in', (browser) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab.close());

  const somebody = async (): Promise<Person> => {
    const account = await lab.store.accounts.create({ name: 'Acme', plan: 'premium', rateLimit: null, credits: 100 });
    await forgetSignIns(lab);
    return personOf(lab, { account: account.id });
  };

  it('with email and password, to the requested page; and out again', async () => {
    const person = await somebody();
    const { page } = await browser.visit(`${lab.url}/filters`);
    await heading(page, 'Sign in').waitFor();
    await signInAs(page, person);
    await heading(page, 'Filters').waitFor();
    expect(new URL(page.url()).pathname).toMatch(/^\/accounts\/acc_\w+\/filters$/);
    await signOut(page);
    await page.goto(`${lab.url}/settings/keys`);
    await heading(page, 'Sign in').waitFor();
  });

  it('gives the same message for an unknown address and a wrong password', async () => {
    const person = await somebody();
    const { page, refused } = await browser.visit(`${lab.url}/sign-in`);
    const words: string[] = [];
    for (const attempt of [
      { email: person.email, password: 'not the password' },
      { email: 'nobody-at-all@good.com', password: person.password },
    ]) {
      refused(401, '/dashboard/sign-in');
      await signInAs(page, attempt);
      const alert = page.getByRole('alert');
      await alert.waitFor();
      words.push((await alert.textContent()) ?? '');
      await field(page, 'Password').fill('');
      await page.reload();
    }
    expect(words[0]).not.toBe('');
    expect(words[1]).toBe(words[0]);
  });

  it('with an authenticator app, or a recovery code if it is lost', async () => {
    const person = await somebody();
    const { page, refused } = await browser.visit(`${lab.url}/security`, { as: person });
    await button(page, 'Set up authenticator app').click();
    const setUp = dialog(page, 'Set up authenticator app');
    await field(setUp, 'Password').fill(person.password);
    await button(setUp, 'Continue').click();
    const secret = (await setUp.getByLabel('secret', { exact: true }).textContent()) ?? '';
    const codes = ((await setUp.getByLabel('recovery codes', { exact: true }).textContent()) ?? '').split('\n');
    expect(codes.length).toBeGreaterThanOrEqual(8);

    refused(422, '/dashboard/totp/confirm');
    await field(setUp, 'Authenticator code').fill('000000');
    await button(setUp, 'Confirm').click();
    await expectText(setUp).toMatch(/code/i);
    const used = totp(secret);
    await field(setUp, 'Authenticator code').fill(used);
    await button(setUp, 'Confirm').click();
    await says(page, 'Authenticator app added.');
    await says(page, 'Two-factor authentication is on.');

    await signOut(page);
    await signInAs(page, person);
    await heading(page, 'Two-factor authentication').waitFor();
    refused(401, '/dashboard/sign-in/code');
    await field(page, 'Authenticator code').fill(used);
    await button(page, 'Sign in').click();
    await page.getByText(/code/i).first().waitFor();
    await field(page, 'Authenticator code').fill(totp(secret, 1));
    await button(page, 'Sign in').click();
    await heading(page, 'Overview').waitFor();

    await signOut(page);
    await signInAs(page, person);
    await button(page, 'Use a recovery code').click();
    await field(page, 'Recovery code').fill(codes[0]!);
    await button(page, 'Sign in').click();
    await heading(page, 'Overview').waitFor();

    await goTo(page, 'Sign-in and security');
    await button(page, 'Remove authenticator app').click();
    await field(dialog(page), 'Password').fill(person.password);
    await button(dialog(page), 'Remove').click();
    await says(page, 'Authenticator app removed.');
  });

  it('with a passkey', async () => {
    const person = await somebody();
    // Browsers have passkeys for names, not for IP addresses.
    const origin = lab.url.replace('127.0.0.1', 'localhost');
    const { page } = await browser.visit(`${origin}/sign-in`);
    const device = await addPasskeyDevice(page);
    await signInAs(page, person);
    await goTo(page, 'Sign-in and security');
    await button(page, 'Add passkey').click();
    await field(dialog(page), 'Passkey name').fill('This laptop');
    await field(dialog(page), 'Password').fill(PASSWORD);
    await button(dialog(page), 'Continue').click();
    await rowOf(page, 'This laptop').waitFor();
    expect(await device.credentials()).toBe(1);

    await signOut(page);
    await button(page, 'Sign in with a passkey').click();
    await heading(page, 'Overview').waitFor();

    await goTo(page, 'Sign-in and security');
    await button(page, 'Add passkey').click();
    await field(dialog(page), 'Passkey name').fill('Another');
    await button(dialog(page), 'Use a passkey you have').click();
    await says(page, 'Your browser first asks for a passkey that you have, then for the new one.');
    await button(dialog(page), 'Use your password').click();
    await field(dialog(page), 'Password').waitFor();
    await page.keyboard.press('Escape');
    await button(page, 'Remove This laptop').click();
    await button(dialog(page), 'Remove').click();
    await says(page, 'No passkeys yet.');
  });

  it('changing the password ends other sessions; signing out everywhere ends all', async () => {
    const person = await somebody();
    const [here, there] = [await browser.visit(lab.url), await browser.visit(lab.url)];
    for (const { page } of [here, there]) {
      await signInAs(page, person);
      await heading(page, 'Overview').waitFor();
    }
    await goTo(here.page, 'Sign-in and security');
    const password = 'another battery staple';
    await fillIn(here.page, { 'Current password': person.password, 'New password': password });
    await button(here.page, 'Change password').click();
    await says(here.page, /^Password changed\./);

    there.refused(401, /^\/dashboard\//);
    await there.page.getByRole('link', { name: 'Filters', exact: true }).click();
    await heading(there.page, 'Sign in').waitFor();
    await signInAs(there.page, { email: person.email, password });
    await heading(there.page, 'Filters').waitFor();

    await here.page.reload();
    // One by one, and all others.
    const other = here.page.getByRole('row').filter({ hasText: '127.0.0.1' }).filter({ hasNotText: 'This device' });
    await other.waitFor();
    expect(await rowOf(here.page, 'This device').textContent()).toContain('Chrome on Linux');
    await button(here.page, 'Sign out Chrome on Linux, 127.0.0.1').click();
    await button(dialog(here.page), 'Sign out').click();
    await other.waitFor({ state: 'detached' });
    there.refused(401, /^\/dashboard\//);
    await there.page.getByRole('link', { name: 'Members', exact: true }).click();
    await heading(there.page, 'Sign in').waitFor();
    await signInAs(there.page, { email: person.email, password });
    await heading(there.page, 'Members').waitFor();
    await here.page.reload();
    await button(here.page, 'Sign out all other sessions').click();
    await button(dialog(here.page), 'Sign out').click();
    await says(here.page, 'All your other sessions have been signed out.');
    there.refused(401, /^\/dashboard\//);
    await there.page.getByRole('link', { name: 'Filters', exact: true }).click();
    await heading(there.page, 'Sign in').waitFor();

    await button(here.page, 'Sign out everywhere').click();
    await button(dialog(here.page), 'Sign out everywhere').click();
    await heading(here.page, 'Sign in').waitFor();
    await there.page.reload();
    await heading(there.page, 'Sign in').waitFor();
  });

  it('a forgotten password is reset by the link of the command line, once', async () => {
    const person = await somebody();
    const options = { MAILVET_DATABASE_URL: lab.databaseUrl, MAILVET_PUBLIC_URL: lab.url };
    const ran = await runCli(['user', 'reset-password', person.email, '--json'], options);
    expect(ran).toMatchObject({ code: 0 });
    const { url: link } = JSON.parse(ran.out) as { url: string };
    // What is signed in is shown, and ends unless it is kept.
    const [kept, lost] = [await browser.visit(lab.url), await browser.visit(lab.url, { as: person })];
    await signInAs(kept.page, person);
    await heading(kept.page, 'Overview').waitFor();
    const { page, refused } = await browser.visit(link);
    const password = 'a wholly new pass phrase';
    await field(page, 'New password').fill(password);
    expect(page.url()).not.toContain('token');
    const keep = page.getByRole('checkbox', { name: 'Keep Chrome on Linux, 127.0.0.1' });
    expect(await keep.isChecked()).toBe(false);
    await keep.check();
    await button(page, 'Set password').click();
    await heading(page, 'Password set').waitFor();
    await kept.page.reload();
    await heading(kept.page, 'Overview').waitFor();
    await lost.page.reload();
    await heading(lost.page, 'Sign in').waitFor();
    await page.getByRole('link', { name: /sign in/i }).click();
    await signInAs(page, { email: person.email, password });
    await heading(page, 'Overview').waitFor();

    await page.goto('about:blank');
    await page.goto(link);
    refused(410, '/dashboard/password/reset/lookup');
    await heading(page, 'This link is no longer valid').waitFor();
  });
});
