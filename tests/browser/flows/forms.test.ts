/** What all forms have in common. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { type Person, person } from '../../lab/person.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { button, dialog, field, fillIn, heading, says, signInAs } from '../steps.ts';

/** Dialogs with a form: the page, what opens it, and the first field that is wrong when nothing is filled in. */
const FORMS: readonly (readonly [path: string, opener: string, firstWrong: string | null])[] = [
  ['/settings/keys', 'Create API key', 'Name'],
  ['/webhooks', 'Create webhook', 'URL'],
  ['/filters', 'Add filter', 'Value'],
  ['/account/members', 'Invite member', 'Email'],
  ['/operator', 'Create account', 'Name'],
  ['/log', 'Erase address', 'Email address'],
];

describeBrowser('forms', (browser) => {
  let lab: Lab;
  let member: Member;
  let owner: Person;
  beforeAll(async () => {
    lab = await startLab();
    member = await lab.member({ credits: 100 });
    owner = await person(lab, { account: member.account.id, operator: true });
  });
  afterAll(() => lab.close());

  it('have cancel left and the action right, and focus the first field that is wrong', async () => {
    const { page } = await browser.visit(lab.url, { as: owner });
    for (const [path, opener, firstWrong] of FORMS) {
      await page.goto(lab.url + path);
      await button(page, opener).click();
      const form = dialog(page).locator('form');
      await form.waitFor();
      const buttons = form.getByRole('button');
      const submit = form.locator('[type="submit"]');
      const names = await buttons.allTextContents();
      expect([path, names.at(-1)]).toEqual([path, await submit.textContent()]);
      expect([path, names.at(-2)]).toEqual([path, 'Cancel']);
      await submit.click();
      if (firstWrong !== null)
        await expect
          .poll(() => page.evaluate<string>('document.activeElement.labels?.[0]?.textContent ?? ""'), { message: path })
          .toBe(firstWrong);
    }
  });

  it('keep what was typed when the session ends, and forget it when someone else signs in', async () => {
    const { page, unwatch } = await browser.visit(`${lab.url}/webhooks`, { as: owner });
    unwatch();
    const type = async () => {
      await button(page, 'Create webhook').click();
      await field(dialog(page), 'URL').fill('https://example.com/kept');
      await page.getByRole('radio', { name: 'Only these' }).check();
      await page.getByRole('checkbox', { name: /^A list was completed/ }).check();
      await page.context().clearCookies();
      await button(dialog(page), 'Create webhook').click();
      await heading(page, 'Sign in').waitFor();
    };
    await type();
    await signInAs(page, owner);
    await heading(page, 'Webhooks').waitFor();
    await button(page, 'Create webhook').click();
    await expect.poll(() => field(dialog(page), 'URL').inputValue()).toBe('https://example.com/kept');
    await expect.poll(() => page.getByRole('checkbox', { name: /^A list was completed/ }).isChecked()).toBe(true);
    await button(dialog(page), 'Cancel').click();
    // Once.
    await button(page, 'Create webhook').click();
    expect(await field(dialog(page), 'URL').inputValue()).toBe('');
    await button(dialog(page), 'Cancel').click();

    await type();
    const other = await person(lab, { account: member.account.id, email: 'other@good.com' });
    await signInAs(page, other);
    await heading(page, 'Webhooks').waitFor();
    await button(page, 'Create webhook').click();
    await field(dialog(page), 'URL').waitFor();
    await page.waitForTimeout(300);
    expect(await field(dialog(page), 'URL').inputValue()).toBe('');
  });

  describe('an address with a typo', () => {
    const corrected = async (page: Page): Promise<void> => {
      await field(page, 'Email').fill('kim@gmial.com');
      await field(page, 'Email').blur();
      await says(page, 'Did you mean kim@gmail.com?');
      await button(page, 'Use kim@gmail.com').click();
      expect(await field(page, 'Email').inputValue()).toBe('kim@gmail.com');
      expect(await page.getByText('Did you mean').count()).toBe(0);
    };

    it('is pointed out in an invitation, and to the operator', async () => {
      const { page } = await browser.visit(`${lab.url}/account/members`, { as: owner });
      await button(page, 'Invite member').click();
      await corrected(page);
      const empty = await lab.member();
      await page.goto(`${lab.url}/operator/accounts/${empty.account.id}`);
      await corrected(page);
    });

    it('is pointed out in the setup; before it, signing in leads to the setup link', async () => {
      const fresh = await startLab();
      const { page } = await browser.visit(fresh.url);
      await heading(page, 'Not set up yet').waitFor();
      await says(page, 'npm run up');
      expect(await page.getByText('Forgot your password?').count()).toBe(0);
      await page.goto((await fresh.service.setupLink())!);
      await corrected(page);
      await fillIn(page, { 'Your name': 'Kim', Password: 'a long enough pass phrase' });
      await button(page, 'Set up').click();
      await heading(page, 'Overview').waitFor();
      await page.context().clearCookies();
      await page.goto(`${fresh.url}/sign-in`);
      await page.getByText('Forgot your password?').waitFor();
      await fresh.close();
    });
  });

  it('a chart whose script is gone is loaded again with the page, once', async () => {
    const { page, unwatch } = await browser.visit(lab.url, { as: owner });
    await heading(page, 'Overview').waitFor();
    unwatch();
    let tries = 0;
    await page.route(/\/assets\/(plot|uPlot)[\w.-]*\.js$/, (route) => {
      tries++;
      return route.abort();
    });
    await member.verify('jane@good.com');
    await page.goto(`${lab.url}/usage`);
    await says(page, /A part of the dashboard could not be loaded/);
    expect(tries).toBeGreaterThan(1);
    expect(await page.getByText(/dynamically imported|TypeError/).count()).toBe(0);
  });
});
