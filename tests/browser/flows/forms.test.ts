/** What all forms have in common. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { type MailSink, startMailSink } from '../../lab/mail-sink.ts';
import { type Person, person } from '../../lab/person.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { button, dialog, field, fillIn, heading, says, signInAs } from '../steps.ts';

interface FormRow {
  /** `:account`: one without members. */
  readonly path: string;
  /** What opens it, where it is a dialog or opens on the page: buttons and items of menus, one after the other. */
  readonly open?: readonly string[];
  /** What its own button says; empty: it has no form. */
  readonly action: string;
  /** False: it is part of a page, and there is nothing to cancel. */
  readonly cancel?: boolean;
  /** What to type. */
  readonly type?: Readonly<Record<string, string>>;
  /** Its first field takes several lines: Enter begins another. */
  readonly lines?: boolean;
  /** The first field that is wrong, focused after Enter; null: nothing can be. */
  readonly wrong: string | null;
}

/** Every form but those of signing in and of passkeys, for which a page needs a host name, in the order of their pages. */
const FORMS: readonly FormRow[] = [
  { path: '/', open: ['Set low-balance threshold'], action: 'Save', wrong: 'Alert when the balance falls below' },
  { path: '/verify', action: 'Verify', cancel: false, wrong: 'Email address' },
  { path: '/usage', action: 'Apply', cancel: false, type: { 'From (UTC)': '' }, wrong: 'From (UTC)' },
  { path: '/log?query=x', open: ['Erase address'], action: 'Erase', wrong: 'Email address' },
  { path: '/log?query=x', open: ['Views', 'Save this search'], action: 'Save', wrong: 'Name' },
  { path: '/filters', open: ['Add filter'], action: 'Add', wrong: 'Value' },
  { path: '/filters', open: ['Import'], action: 'Import', lines: true, wrong: 'One entry per line' },
  { path: '/settings/keys', open: ['Create API key'], action: 'Create key', wrong: 'Name' },
  { path: '/settings/keys', open: ['Actions for', 'Edit'], action: 'Save', type: { Name: '' }, wrong: 'Name' },
  { path: '/settings/keys', open: ['Actions for', 'Roll'], action: 'Roll key', wrong: null },
  { path: '/settings/keys', open: ['Actions for', 'Revoke'], action: 'Revoke', wrong: null },
  { path: '/webhooks', open: ['Create webhook'], action: 'Create webhook', wrong: 'URL' },
  { path: '/account', action: 'Save', cancel: false, type: { Name: '' }, wrong: 'Name' },
  { path: '/account', open: ['Delete this account'], action: 'Delete permanently', wrong: null },
  { path: '/account/members', open: ['Invite member'], action: 'Invite', wrong: 'Email' },
  { path: '/account/members', open: ['Change role'], action: 'Save', wrong: null },
  { path: '/security', action: 'Save name', cancel: false, type: { 'Your name': '' }, wrong: 'Your name' },
  { path: '/security', action: 'Change password', cancel: false, wrong: 'Current password' },
  { path: '/security', open: ['Set up authenticator app'], action: 'Continue', wrong: 'Password' },
  { path: '/operator', open: ['Create account'], action: 'Create', wrong: 'Name' },
  { path: '/operator/accounts/:account', action: 'Invite', cancel: false, wrong: 'Email' },
  { path: '/operator/accounts/:account', action: 'Grant', cancel: false, wrong: 'Credits' },
  { path: '/operator/accounts/:account', action: 'Save', cancel: false, type: { Name: '' }, wrong: 'Name' },
  { path: '/operator/accounts/:account', open: ['Suspend this account'], action: 'Suspend', wrong: null },
];

const OUTSIDE: readonly FormRow[] = [
  { path: '/sign-in', action: 'Sign in', cancel: false, wrong: 'Email' },
  { path: '/sign-in#forgot', action: 'Send email', cancel: false, wrong: 'Email' },
  { path: '/sign-up', action: 'Sign up', cancel: false, wrong: 'Your name' },
  { path: '/setup#token=0123456789abcdef', action: 'Set up', cancel: false, wrong: 'Your name' },
];

/** The label of what has the focus, and what a screen reader says of it as an error. */
const FOCUSED = `(() => {
  const field = document.activeElement;
  const described = (field.getAttribute('aria-describedby') ?? '').split(' ');
  const errors = described.map((id) => document.getElementById(id)).filter((one) => one?.matches('.mantine-InputWrapper-error'));
  return [field.labels?.[0]?.textContent ?? '', field.getAttribute('aria-invalid'), errors.map((one) => one.textContent).join()];
})()`;

async function walk(
  page: Page,
  { open = [], action, cancel = true, type = {}, lines = false, wrong }: FormRow,
): Promise<void> {
  for (const [i, name] of open.entries())
    await (i === 0 ? page.getByRole('button', { name }).first() : page.getByRole('menuitem', { name })).click();
  const form = page.locator('form').filter({ has: page.getByRole('button', { name: action, exact: true }) });
  await form.waitFor();
  if (cancel) {
    const names = await form.getByRole('button').allTextContents();
    expect(names.slice(-2)).toEqual(['Cancel', action]);
  }
  if (wrong === null) return;
  await fillIn(form, type);
  const first = form.locator('input:not([hidden]):not([type=radio]), textarea').first();
  if (lines) await button(form, action).click();
  else await first.press('Enter');
  await expect
    .poll(() => page.evaluate<string[]>(FOCUSED))
    .toEqual([wrong, 'true', expect.stringMatching(/^[A-Z].*\.$/)]);
}

describeBrowser('forms', (browser) => {
  let mail: MailSink;
  let lab: Lab;
  let member: Member;
  let owner: Person;
  beforeAll(async () => {
    mail = await startMailSink();
    lab = await startLab({
      MAILVET_SIGNUP: 'open',
      MAILVET_MAIL_URL: mail.url,
      MAILVET_MAIL_FROM: 'mailvet@good.com',
    });
    member = await lab.member({ credits: 100 });
    owner = await person(lab, { account: member.account.id, operator: true });
  });
  afterAll(async () => {
    await lab.close();
    await mail.close();
  });

  it('have cancel left and the action right; Enter sends them, and the first field that is wrong says why', async () => {
    const { page } = await browser.visit(lab.url, { as: owner });
    const empty = await lab.member();
    let shown = '';
    for (const row of FORMS) {
      const path = row.path.replace(':account', empty.account.id);
      if (path !== shown) await page.goto(lab.url + path);
      shown = path;
      await walk(page, row).catch((error: unknown) => {
        throw new Error(`${row.path}, ${row.action}`, { cause: error });
      });
      await page.keyboard.press('Escape');
    }
  });

  it('of those who are not signed in do the same', async () => {
    const { page } = await browser.visit(`${lab.url}/sign-in`);
    for (const row of OUTSIDE) {
      await page.goto('about:blank');
      await page.goto(lab.url + row.path);
      await walk(page, row);
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

    it('is pointed out in an invitation, to the operator, and to who signs up', async () => {
      const { page } = await browser.visit(`${lab.url}/account/members`, { as: owner });
      await button(page, 'Invite member').click();
      await corrected(page);
      const empty = await lab.member();
      await page.goto(`${lab.url}/operator/accounts/${empty.account.id}`);
      await corrected(page);
      const stranger = await browser.visit(`${lab.url}/sign-up`);
      await corrected(stranger.page);
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
