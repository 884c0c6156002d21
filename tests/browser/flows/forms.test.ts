/** What all forms have in common. */
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../../src/kernel/clock.ts';
import { sha256Hex } from '../../../src/kernel/ids.ts';
import { describeBrowser } from '../../lab/browser.ts';
import { type MailSink, startMailSink } from '../../lab/mail-sink.ts';
import { forgetSignIns, PASSWORD, type Person, peopleOf, person } from '../../lab/person.ts';
import { totp } from '../../lab/second-factor.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { FORMS, type FormRow, OUTSIDE } from '../forms.ts';
import { button, dialog, field, fillIn, heading, says, signInAs } from '../steps.ts';

/** The label of what has the focus, and what a screen reader says of it as an error. */
const FOCUSED = `(() => {
  const field = document.activeElement;
  const described = (field.getAttribute('aria-describedby') ?? '').split(' ');
  const errors = described.map((id) => document.getElementById(id)).filter((one) => one?.matches('.mantine-InputWrapper-error'));
  return [field.labels?.[0]?.textContent ?? '', field.getAttribute('aria-invalid'), errors.map((one) => one.textContent).join()];
})()`;

/** The form of a row, which is opened first where it is not there yet. */
async function opened(page: Page, { open = [], action, draft }: FormRow): Promise<Locator> {
  for (const [i, name] of open.entries())
    await (i === 0 ? page.getByRole('button', { name }).first() : page.getByRole('menuitem', { name })).click();
  const [label] = Object.keys(draft ?? {});
  const forms = page.locator('form').filter({ has: page.getByRole('button', { name: action, exact: true }) });
  const form = label === undefined ? forms : forms.filter({ has: page.getByLabel(label, { exact: true }) });
  await form.waitFor();
  return form;
}

async function walk(page: Page, row: FormRow): Promise<void> {
  const { action, cancel = true, type = {}, lines = false, wrong } = row;
  const form = await opened(page, row);
  if (cancel) {
    const names = await form.getByRole('button').allTextContents();
    expect(names.slice(-2)).toEqual(['Cancel', action]);
  }
  if (wrong === null) return;
  await fillIn(form, type);
  const first = form.locator('input:not([hidden], [type=radio], [readonly]), textarea').first();
  if (lines) await button(form, action).click();
  else await first.press('Enter');
  await expect
    .poll(() => page.evaluate<string[]>(FOCUSED))
    .toEqual([wrong, 'true', expect.stringMatching(/^[A-Z].*\.$/)]);
}

/** Of a form that is not opened by its path. */
const NOTHING_KEPT = { path: '', draft: null } as const;

describeBrowser('forms', (browser) => {
  let mail: MailSink;
  let lab: Lab;
  let member: Member;
  let owner: Person;
  /** An account without members. */
  let empty: Member;
  let webhook: string;
  /** Browsers have passkeys for names, not for IP addresses. */
  let origin: string;
  beforeAll(async () => {
    mail = await startMailSink();
    lab = await startLab({
      MAILVET_SIGNUP: 'open',
      MAILVET_MAIL_URL: mail.url,
      MAILVET_MAIL_FROM: 'mailvet@good.com',
    });
    member = await lab.member({ credits: 100 });
    owner = await person(lab, { account: member.account.id, operator: true });
    empty = await lab.member();
    // What the forms save is more: for less, the page would ask first.
    const kept = await owner.call('PATCH', `/dashboard/accounts/${member.account.id}`, { retention_days: 5 });
    expect(kept.status).toBe(200);
    origin = lab.url.replace('127.0.0.1', 'localhost');
    const endpoint = { url: 'http://127.0.0.1:9/webhooks', events: ['key.created'], description: null };
    webhook = (await member.call('POST', '/v1/webhooks', endpoint)).json.id;
    for (const name of ['Another view', 'A view'])
      await owner.call('POST', `/dashboard/accounts/${member.account.id}/views`, {
        page: 'log',
        name,
        search: 'query=y',
      });
  });
  afterAll(async () => {
    await lab.close();
    await mail.close();
  });
  const pathOf = ({ path }: FormRow): string => path.replace(':account', empty.account.id).replace(':webhook', webhook);

  it('have cancel left and the action right; Enter sends them, and the first field that is wrong says why', async () => {
    const { page } = await browser.visit(origin, { as: owner });
    let shown = '';
    for (const row of FORMS) {
      const path = pathOf(row);
      if (path !== shown) await page.goto(origin + path);
      shown = path;
      await walk(page, row).catch((error: unknown) => {
        throw new Error(`${row.path}, ${row.action}`, { cause: error });
      });
      await page.keyboard.press('Escape');
    }
  });

  it('of those who are not signed in do the same', async () => {
    const { page } = await browser.visit(`${lab.url}/sign-in`);
    const token = 'i'.repeat(43);
    const by = { kind: 'user', id: owner.id, name: owner.email, ip: null } as const;
    const invited = { email: 'invited@good.com', role: 'member', tokenHash: sha256Hex(token) } as const;
    await lab.store.members.invite(member.account.id, { ...invited, expiresAt: Date.now() + HOUR_MS }, by);
    const reset = await peopleOf(lab).passwordToken(owner.id, HOUR_MS);
    for (const row of OUTSIDE) {
      await page.goto('about:blank');
      await page.goto(lab.url + row.path.replace(':invitation', token).replace(':reset', reset));
      await walk(page, row);
    }
  });

  it('of the second factor do the same', async () => {
    const guarded = await person(lab, { account: member.account.id });
    const { json: app } = await guarded.call('POST', '/dashboard/totp', { password: PASSWORD });
    const confirmed = await guarded.call('POST', '/dashboard/totp/confirm', { code: totp(app.secret) });
    expect(confirmed.status).toBe(200);
    const { page } = await browser.visit(`${lab.url}/security`, { as: guarded });
    await walk(page, { open: ['Remove authenticator app'], action: 'Remove', wrong: 'Password', ...NOTHING_KEPT });
    await page.context().clearCookies();
    await page.goto(`${lab.url}/sign-in`);
    await forgetSignIns(lab);
    await signInAs(page, guarded);
    await heading(page, 'Two-factor authentication').waitFor();
    await walk(page, { action: 'Sign in', cancel: false, wrong: 'Authenticator code', ...NOTHING_KEPT });
    await walk(page, {
      open: ['Use a recovery code'],
      action: 'Sign in',
      cancel: false,
      wrong: 'Recovery code',
      ...NOTHING_KEPT,
    });

    const fresh = await person(lab, { account: member.account.id });
    const setUp = await browser.visit(`${lab.url}/security`, { as: fresh });
    await button(setUp.page, 'Set up authenticator app').click();
    await field(dialog(setUp.page), 'Password').fill(PASSWORD);
    await button(dialog(setUp.page), 'Continue').click();
    await walk(setUp.page, { action: 'Confirm', wrong: 'Authenticator code', ...NOTHING_KEPT });
  });

  it('keep what was typed when the session ends, each of them', async () => {
    const { page, unwatch } = await browser.visit(origin, { as: owner });
    unwatch();
    const typed = FORMS.filter(({ draft }) => draft !== null);
    // Those of one page are kept together.
    const groups = Object.values(Object.groupBy(typed, ({ path, open = [] }) => `${path} ${open.join()}`));
    expect(groups.length).toBeGreaterThan(15);
    const fieldsOf = (row: FormRow) => Object.entries(row.draft ?? {});
    let shown = '';
    for (const group of groups as FormRow[][]) {
      const [first] = group as [FormRow];
      // As by a link: the document stays, which takes less time than loading it for each form.
      if (pathOf(first) !== shown) await page.evaluate(`history.pushState({}, '', '${pathOf(first)}')`);
      shown = pathOf(first);
      let form: Locator | undefined;
      for (const row of group) {
        form = await opened(page, row);
        for (const [label, value] of fieldsOf(row)) await field(form, label).fill(value);
        const password = field(form, 'Password');
        if ((await password.count()) > 0) await password.fill(PASSWORD);
      }
      await page.context().clearCookies();
      await button(form!, group.at(-1)!.action).click();
      await heading(page, 'Sign in').waitFor();
      await forgetSignIns(lab);
      await signInAs(page, owner);
      await heading(page, 'Sign in').waitFor({ state: 'detached' });
      for (const row of group) {
        form = await opened(page, row);
        for (const [label, value] of fieldsOf(row))
          await expect.poll(() => field(form!, label).inputValue(), { message: `${row.path}: ${label}` }).toBe(value);
      }
      await page.keyboard.press('Escape');
    }
  });

  it('keep what was typed once, with its choices, and forget it when someone else signs in', async () => {
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

    it('is not, once something else is typed', async () => {
      const { page } = await browser.visit(`${lab.url}/sign-up`);
      let answer = () => {};
      const asked = new Promise<void>((resolve) => {
        answer = resolve;
      });
      await page.route('**/dashboard/suggestion', async (route) => {
        await asked;
        await route.continue();
      });
      await field(page, 'Email').fill('kim@gmial.com');
      await field(page, 'Email').blur();
      await field(page, 'Email').fill('kim@good.com');
      const answered = page.waitForResponse('**/dashboard/suggestion');
      answer();
      await (await answered).finished();
      await page.waitForTimeout(100);
      expect(await page.getByText('Did you mean').count()).toBe(0);
    });

    it('is pointed out in an invitation, to the operator, and to who signs up', async () => {
      const { page } = await browser.visit(`${lab.url}/account/members`, { as: owner });
      await button(page, 'Invite member').click();
      await corrected(page);
      await page.goto(`${lab.url}/operator/accounts/${empty.account.id}`);
      await corrected(page);
      const stranger = await browser.visit(`${lab.url}/sign-up`);
      await corrected(stranger.page);
    });

    it('is pointed out in the setup; before it, signing in names the command', async () => {
      const fresh = await startLab();
      const { page } = await browser.visit(fresh.url);
      await heading(page, 'Not set up yet').waitFor();
      await says(page, 'user create --email you@example.com --operator');
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

  it('a chart whose script is gone leaves the page as it is, until it is reloaded on request', async () => {
    const { page, unwatch } = await browser.visit(lab.url, { as: owner });
    await heading(page, 'Overview').waitFor();
    unwatch();
    // This page has a chart itself, whose script would be known.
    await page.goto('about:blank');
    let isGone = true;
    await page.route(/\/assets\/(plot|uPlot)[\w.-]*\.js$/, (route) => (isGone ? route.abort() : route.continue()));
    await member.verify('jane@good.com');
    await page.goto(`${lab.url}/usage`, { waitUntil: 'commit' });
    await says(page, /This part of the dashboard could not be loaded/);
    await heading(page, 'Usage').waitFor();
    expect(await page.getByText(/dynamically imported|TypeError/).count()).toBe(0);
    isGone = false;
    await page.getByRole('button', { name: 'Reload' }).first().click();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  });
});
