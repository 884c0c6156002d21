/** What a page shows before its scripts have arrived, and how React takes it over. */
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../lab/browser.ts';
import { type Person, person } from '../lab/person.ts';
import { type Lab, type Member, startLab } from '../lab/service.ts';
import { button, fillIn, heading, openAccountMenu, says } from './steps.ts';

describeBrowser('before its scripts have arrived', (browser) => {
  let lab: Lab;
  let api: Member;
  let owner: Person;
  beforeAll(async () => {
    lab = await startLab();
    api = await lab.member({ credits: 100 });
    owner = await person(lab, { account: api.account.id });
    await api.verify('jane@good.com');
    // The thread that renders takes its time to start; until then, pages are sent without.
    while (!(await owner.call('GET', '/', undefined, { accept: 'text/html' })).text.includes('data-first-view="'));
  });
  afterAll(() => lab.close());

  /** Opens a page whose scripts arrive when `release` is called. */
  async function visitHeld(path: string, as?: Person) {
    const url = new URL(path, lab.url).href;
    const { page, context, requests } = await browser.visit(new URL('/openapi.json', url).href, as ? { as } : {});
    const held: Route[] = [];
    let free = false;
    await context.route('**/assets/*.js', async (route) => {
      if (free) await route.continue();
      else held.push(route);
    });
    await page.goto(url, { waitUntil: 'commit' });
    const release = async () => {
      free = true;
      await Promise.all(held.map((route) => route.continue()));
    };
    return { page, requests, release };
  }
  const isEarly = (page: Page) => page.locator('#root[data-first-view]').count();

  it('the overview shows its figures, which stay when it reacts', async () => {
    const { page, requests, release } = await visitHeld('/', owner);
    const figures = page.getByRole('region', { name: 'Key figures' });
    await figures.getByText('Verifications').waitFor();
    expect(await isEarly(page)).toBe(1);
    const text = await figures.innerText();
    expect(text).toMatch(/Verifications\s+1\b/);
    expect(await page.getByRole('region', { name: 'Balance' }).innerText()).toContain('99');
    await release();
    await expect.poll(() => isEarly(page)).toBe(0);
    await openAccountMenu(page);
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
    expect(await figures.innerText()).toBe(text);
    expect(new URL(page.url()).pathname).toBe(`/accounts/${api.account.id}`);
    // What the HTML brought is not requested again.
    expect(requests.filter(({ url }) => /\/dashboard\/(session|.*\/overview)/.test(url))).toEqual([]);
  });

  it('the form of signing in can be filled in and sent; it is sent once the scripts are there', async () => {
    const { page, release } = await visitHeld('/sign-in');
    await fillIn(page, { Email: owner.email, Password: owner.password });
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('form[data-pressed]').count()).toBe(1);
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    await release();
    await heading(page, 'Overview').waitFor();
  });

  it('what is being typed stays, with the cursor', async () => {
    const { page, release } = await visitHeld('/sign-in');
    await fillIn(page, { Email: 'ada@example.com', Password: 'correct horse' });
    await page.keyboard.press('Home');
    await release();
    await expect.poll(() => isEarly(page)).toBe(0);
    await page.keyboard.type('in');
    expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe('incorrect horse');
    expect(await page.getByLabel('Email').inputValue()).toBe('ada@example.com');
  });

  it('a button that was pressed too early is pressed when it reacts', async () => {
    const { page, release } = await visitHeld('/', owner);
    await button(page, /account and settings$/).click();
    await release();
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
  });

  it('keys that were pressed too early are pressed when it reacts', async () => {
    const { page, release } = await visitHeld('/', owner);
    await heading(page, 'Overview').waitFor();
    await page.keyboard.press('Control+k');
    await release();
    await page.getByRole('dialog', { name: 'Find' }).getByRole('combobox').waitFor();
  });

  it.each(['/', '/log'])('the palette takes what is typed before the scripts of %s are there', async (path) => {
    const { page, release } = await visitHeld(path, owner);
    await page.getByRole('navigation', { name: 'Pages' }).or(page.locator('#root:empty')).first().waitFor({
      state: 'attached',
    });
    await page.keyboard.press('Control+k');
    const find = page.getByRole('dialog', { name: 'Find' });
    expect(await find.count()).toBe(1);
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Find a page, a record or an action');
    await page.keyboard.type('jk?/ledger');
    await release();
    const box = find.getByRole('combobox');
    await box.waitFor();
    expect(await box.inputValue()).toBe('jk?/ledger');
    expect(await find.count()).toBe(1);
    await page.keyboard.type('s');
    expect(await box.inputValue()).toBe('jk?/ledgers');
  });

  it('the palette that is entered or left too early is so', async () => {
    const { page, release } = await visitHeld('/', owner);
    await heading(page, 'Overview').waitFor();
    const find = page.getByRole('dialog', { name: 'Find' });
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Escape');
    expect(await find.count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('ledger');
    await page.keyboard.press('Enter');
    await release();
    await heading(page, 'Credit ledger').waitFor();
    expect(await find.count()).toBe(0);
  });

  it('there is no palette before somebody has signed in', async () => {
    const { page, release } = await visitHeld('/sign-in');
    await heading(page, 'Sign in').waitFor();
    await page.keyboard.press('Control+k');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await release();
  });

  it('a field that was left too early is checked when it reacts', async () => {
    const fresh = await startLab();
    const link = (await fresh.service.setupLink())!;
    while (!(await (await fetch(link)).text()).includes('data-first-view="'));
    const { page, release } = await visitHeld(link);
    await fillIn(page, { Email: 'kim@gmial.com', 'Your name': 'Kim' });
    expect(await isEarly(page)).toBe(1);
    await release();
    await says(page, 'Did you mean kim@gmail.com?');
    expect(await page.getByLabel('Your name').inputValue()).toBe('Kim');
    await fresh.close();
  });

  it.each([
    ['/sign-in#forgot', 'Reset your password'],
    ['/reset-password', 'Link required'],
    ['/invitation', 'Link required'],
    ['/setup', 'Link required'],
    ['/?from=never', 'Overview'],
  ])('%s is the page that only the browser knows', async (path, title) => {
    const { page, release } = await visitHeld(path, path.startsWith('/?') ? owner : undefined);
    await page.locator('#root[data-first-view]').waitFor({ state: 'attached' });
    await release();
    await heading(page, title).waitFor();
  });

  it('styles of elements are there before, as after', async () => {
    const { page, release } = await visitHeld('/', owner);
    await page.locator('[data-style]').first().waitFor({ state: 'attached' });
    const styles = () =>
      page.evaluate<string[]>(
        "[...document.querySelectorAll('main :is(h1, h2, button)[data-style]')].map((e) => e.getAttribute('style'))",
      );
    const before = await styles();
    expect(before.length).toBeGreaterThan(0);
    expect(before).not.toContain(null);
    await release();
    await expect.poll(() => isEarly(page)).toBe(0);
    expect(await styles()).toEqual(before);
  });

  it('a link keeps the focus', async () => {
    const { page, release } = await visitHeld('/', owner);
    await page.getByRole('link', { name: 'All lists' }).focus();
    await release();
    await expect.poll(() => isEarly(page)).toBe(0);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('All lists');
  });

  it('has the color scheme that was chosen', async () => {
    const { page, release } = await visitHeld('/sign-in');
    await heading(page, 'Sign in').waitFor();
    await page.evaluate("localStorage.setItem('mantine-color-scheme-value', 'dark')");
    await page.reload({ waitUntil: 'commit' });
    await heading(page, 'Sign in').waitFor();
    expect(await isEarly(page)).toBe(1);
    const scheme = () => page.evaluate('getComputedStyle(document.documentElement).colorScheme');
    await expect.poll(scheme).toBe('dark');
    await release();
    await expect.poll(() => isEarly(page)).toBe(0);
  });

  it('the overview without an account in its path shows none but the one that was opened last', async () => {
    const other = await lab.member({ credits: 5 });
    const actor = { kind: 'command', id: null, name: 'test', ip: null } as const;
    await lab.store.members.add(other.account.id, owner.id, 'owner', actor);
    const { page, release } = await visitHeld('/', owner);
    await page.locator('#root[data-first-view]').waitFor();
    const [first, second] = [api.account.id, other.account.id];
    const rendered = await page.evaluate<string>('document.documentElement.dataset.account');
    const last = rendered === first ? second : first;
    await page.evaluate(`localStorage.setItem('mailvet.account', '${last}')`);
    await page.reload({ waitUntil: 'commit' });
    await page.locator('#root[data-first-view]').waitFor({ state: 'attached' });
    await expect.poll(() => page.getByRole('region', { name: 'Key figures' }).isVisible()).toBe(false);
    await release();
    await page.getByRole('region', { name: 'Key figures' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/accounts/${last}`);
  });
});
