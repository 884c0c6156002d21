/** The command palette and the shortcuts, by keyboard. */
import type { Locator, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { type Person, person } from '../../lab/person.ts';
import { type Lab, type Member, request, startLab } from '../../lab/service.ts';
import { button, dialog, expectText, field, heading, says, stored } from '../steps.ts';

describeBrowser('the command palette', (browser) => {
  let lab: Lab;
  let api: Member;
  let owner: Person;
  let verification: string;
  beforeAll(async () => {
    lab = await startLab();
    api = await lab.member({ credits: 1000 });
    owner = await person(lab, { account: api.account.id });
    const headers = { authorization: `Bearer ${api.key}` };
    verification = (await request(lab.url, 'POST', '/v1/verify', { email: 'jane@good.com' }, headers)).json.id;
    const list = { emails: ['jane@good.com'], name: 'newsletter-november.csv', start: false };
    await request(lab.url, 'POST', '/v1/lists', list, headers);
  });
  afterAll(() => lab.close());

  const combobox = (page: Page): Locator => dialog(page, 'Find').getByRole('combobox');
  const chosen = (page: Page): Locator => dialog(page, 'Find').getByRole('option', { selected: true });

  async function visit(path = '/', as: Person = owner) {
    const visitor = await browser.visit(lab.url + path, { as });
    await ready(visitor.page);
    return visitor;
  }
  const ready = (page: Page) => page.getByRole('heading', { level: 1 }).waitFor();

  async function find(page: Page, text: string): Promise<void> {
    await page.keyboard.press('Control+k');
    await combobox(page).waitFor();
    await page.keyboard.type(text);
  }
  async function run(page: Page, text: string, option: string | RegExp): Promise<void> {
    await find(page, text);
    await expectText(chosen(page)).toMatch(option);
    await page.keyboard.press('Enter');
    await dialog(page, 'Find').waitFor({ state: 'hidden' });
  }

  it('opens pages, records and what belongs to an address', async () => {
    const { page } = await visit();
    await run(page, 'ledger', 'Credit ledger');
    await heading(page, 'Credit ledger').waitFor();
    await run(page, 'test', /^test/);
    await heading(page, 'test').waitFor();
    await run(page, 'november', /newsletter-november\.csv.*not started/);
    await heading(page, 'newsletter-november.csv').waitFor();
    await run(page, verification, `Verification ${verification}`);
    await heading(page, 'Verification').waitFor();
    await run(page, 'good.com', 'Log of good.com');
    await heading(page, 'Log').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('query')).toBe('good.com');
    await run(page, 'max@good.com', /^Verify max@good\.com/);
    await heading(page, 'Verify').waitFor();
    await expect.poll(() => field(page, 'Email address').inputValue()).toBe('max@good.com');
    // Nothing is charged before somebody asks for it.
    expect(await button(page, 'Verify').isEnabled()).toBe(true);
    expect(page.url()).not.toContain('max');
  });

  it('starts actions in their dialogs, once', async () => {
    const { page } = await visit();
    await run(page, 'create api', 'Create API key');
    await dialog(page, 'Create API key').waitFor();
    await expect.poll(() => page.url()).not.toContain('create');
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'hidden' });
    await page.reload();
    await heading(page, 'API keys').waitFor();
    expect(await dialog(page).count()).toBe(0);

    await find(page, 'spam.test');
    await page.keyboard.press('ArrowUp');
    await expectText(chosen(page)).toMatch('Block spam.test with a filter');
    await page.keyboard.press('Enter');
    await dialog(page, 'Add filter').waitFor();
    expect(await field(dialog(page), 'Value').inputValue()).toBe('spam.test');
  });

  it('shows what was open lately, and keeps no names', async () => {
    const { page } = await visit('/settings/keys');
    await run(page, 'test', /^test/);
    await heading(page, 'test').waitFor();
    // With its scripts, which take the key.
    await page.goto(lab.url, { waitUntil: 'networkidle' });
    await heading(page, 'Overview').waitFor();
    await find(page, '');
    const recent = dialog(page, 'Find').getByRole('group', { name: 'Recent' }).getByRole('option');
    await expect.poll(() => recent.allTextContents()).toEqual([expect.stringMatching(/^test/), 'API keys']);
    expect(await stored(page)).not.toMatch(/newsletter|"test"/);
  });

  it('is a combobox, and gives the focus back', async () => {
    const { page } = await visit();
    await button(page, 'Find').focus();
    await page.keyboard.press('Enter');
    await combobox(page).waitFor();
    const active = () => combobox(page).getAttribute('aria-activedescendant');
    const first = await active();
    await page.keyboard.press('ArrowDown');
    await expect.poll(active).not.toBe(first);
    await expect.poll(async () => chosen(page).getAttribute('id')).toBe(await active());
    await page.keyboard.type('no such thing at all, anywhere');
    await says(page, 'Search the log for “no such thing at all, anywhere”');
    await page.keyboard.press('Escape');
    await dialog(page, 'Find').waitFor({ state: 'hidden' });
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toMatch(/^Find/);
  });

  it('has its field at once, and takes what is typed while it loads', async () => {
    const { page, context } = await visit('/log');
    const held: Route[] = [];
    await context.route('**/assets/palette-*.js', (route) => void held.push(route));
    // Nothing is waited for, as somebody who types.
    await page.keyboard.press('Control+k');
    await page.keyboard.type('jk?/Credit ledgers');
    const box = dialog(page, 'Find').getByLabel('Find a page, a record or an action');
    expect(await box.inputValue()).toBe('jk?/Credit ledgers');
    expect(await dialog(page).count()).toBe(1);
    expect(new URL(page.url()).pathname).toMatch(/\/log$/);
    await page.keyboard.press('Backspace');
    for (let n = 0; n < 'Credit ledger'.length; n++) await page.keyboard.press('ArrowLeft');
    for (let n = 0; n < 'jk?/'.length; n++) await page.keyboard.press('Backspace');
    await page.keyboard.press('Enter');
    expect(await combobox(page).count()).toBe(0);
    await expect.poll(() => held.length).toBe(1);
    await held[0]?.continue();
    await heading(page, 'Credit ledger').waitFor();
    await dialog(page).waitFor({ state: 'hidden' });
  });

  it('can be left while it loads', async () => {
    const { page, context } = await visit();
    await context.route('**/assets/palette-*.js', () => undefined);
    await button(page, 'Find').focus();
    await page.keyboard.press('Control+k');
    expect(await dialog(page, 'Find').count()).toBe(1);
    await page.keyboard.press('Escape');
    await dialog(page, 'Find').waitFor({ state: 'hidden' });
    expect(await page.evaluate('document.activeElement.textContent')).toMatch(/^Find/);
  });

  it('loses no key between its two fields', async () => {
    const { page, context } = await visit();
    await context.route('**/assets/palette-*.js', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    const typed = 'abcdefghijklmnopqrstuvwxyz0123456789';
    await page.keyboard.type(typed, { delay: 25 });
    expect(await combobox(page).inputValue()).toBe(typed);
  });

  it('offers members only what they may do', async () => {
    const { page } = await visit(
      '/',
      await person(lab, { account: api.account.id, role: 'member', email: 'member@good.com' }),
    );
    await find(page, 'create');
    await says(page, 'Search the log for “create”');
    const options = dialog(page, 'Find').getByRole('option');
    expect((await options.allTextContents()).filter((text) => text.startsWith('Create'))).toEqual([]);
    await page.keyboard.press('Escape');
    await page.goto(`${lab.url}/settings/keys?create=true`);
    await heading(page, 'API keys').waitFor();
    await expect.poll(() => page.url()).not.toContain('create');
    expect(await dialog(page).count()).toBe(0);
  });

  it('a question mark lists the shortcuts; single keys do nothing in fields, and can be switched off', async () => {
    const { page } = await visit('/verify');
    await field(page, 'Email address').fill('');
    await page.keyboard.type('why?');
    expect(await field(page, 'Email address').inputValue()).toBe('why?');
    expect(await dialog(page).count()).toBe(0);
    await heading(page, 'Verify').click();
    await page.keyboard.press('?');
    await dialog(page, 'Keyboard shortcuts').waitFor();
    await says(page, 'Open the next row');
    await dialog(page).getByRole('switch', { name: 'Shortcuts of a single key' }).uncheck();
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'hidden' });
    await page.keyboard.press('?');
    // Those with Ctrl go on working, as this one shows: had the other opened its dialog, it would be there by now.
    await find(page, 'shortcuts');
    expect(await dialog(page).count()).toBe(1);
  });

  it('a slash goes to the search field of the page', async () => {
    const { page } = await visit('/log');
    await page.keyboard.press('/');
    await page.keyboard.type('a/b');
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('a/b');
  });

  it('does not open over a dialog that shows a key', async () => {
    const { page } = await visit('/settings/keys');
    await button(page, 'Create API key').click();
    await field(dialog(page), 'Name').fill('Shown once');
    await button(dialog(page), 'Create key').click();
    await says(page, /shown only once/);
    await page.keyboard.press('Control+k');
    await page.keyboard.press('?');
    expect(await dialog(page).count()).toBe(1);
    await button(dialog(page), 'Done').click();
    await dialog(page).waitFor({ state: 'hidden' });
    await find(page, '');
  });
});
