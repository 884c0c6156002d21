/** With the keyboard alone: every element is reached by Tab, opened by Enter or Space, and left by Escape. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../lab/browser.ts';
import { person } from '../lab/person.ts';
import { type Lab, request, startLab } from '../lab/service.ts';
import { dialog, expectText, heading, rowOf } from './steps.ts';

/** Name and role of what has the focus, as a screen reader would say them. */
const FOCUSED = `(() => {
  const at = document.activeElement;
  if (at === null || at === document.body) return 'nothing';
  const label = at.getAttribute('aria-label') ?? at.labels?.[0]?.textContent ?? at.textContent ?? '';
  return (at.getAttribute('role') ?? at.tagName.toLowerCase()) + ' ' + label.trim();
})()`;
const focused = (page: Page): Promise<string> => page.evaluate<string>(FOCUSED);
/** Whether the focus can be seen: an outline, or a border or background that it changes. */
const OUTLINED = `(() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
  return outlineStyle !== 'none' && outlineWidth !== '0px';
})()`;

/** Presses Tab until what is wanted has the focus; fails where it is not reached. */
async function tabTo(page: Page, wanted: RegExp): Promise<void> {
  const met: string[] = [];
  for (let n = 0; n < 60; n++) {
    await page.keyboard.press('Tab');
    const at = await focused(page);
    if (wanted.test(at)) return;
    met.push(at);
  }
  throw new Error(`${wanted} is not reached by Tab. Met: ${met.join(' | ')}`);
}

describeBrowser('the keyboard alone', (browser) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab.close());

  it('signs in, creates a key, revokes it and signs out', async () => {
    const api = await lab.member({ credits: 100 });
    const who = await person(lab, { account: api.account.id });
    const { page } = await browser.visit(lab.url);
    const { keyboard } = page;
    await heading(page, 'Sign in').waitFor();
    // The page puts the focus where one begins.
    await expect.poll(() => focused(page)).toMatch(/^input Email/);
    await keyboard.type(who.email);
    await tabTo(page, /^input Password/);
    await keyboard.type(who.password);
    await keyboard.press('Enter');
    await heading(page, 'Overview').waitFor();

    await tabTo(page, /^a API keys$/);
    expect(await page.evaluate<boolean>(OUTLINED)).toBe(true);
    await keyboard.press('Enter');
    await heading(page, 'API keys').waitFor();
    await rowOf(page, 'test').waitFor();
    await tabTo(page, /^button Create API key/);
    await keyboard.press('Space');
    await dialog(page, 'Create API key').waitFor();
    await expect.poll(() => focused(page)).toMatch(/^input Name/);
    await keyboard.type('By keyboard');
    await keyboard.press('Enter');
    const value = dialog(page).getByLabel('API key', { exact: true });
    await value.waitFor();
    const key = (await value.textContent()) ?? '';
    // The focus does not leave the dialog.
    for (let n = 0; n < 12; n++) {
      await keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.closest("[role=dialog]") !== null')).toBe(true);
    }
    await keyboard.press('Escape');
    await expect.poll(() => focused(page)).toMatch(/^button Keep it open/);
    await tabTo(page, /^button Close$/);
    await keyboard.press('Enter');
    await dialog(page).waitFor({ state: 'hidden' });
    expect(await page.content()).not.toContain(key);
    // And goes back to where it came from.
    await expect.poll(() => focused(page)).toMatch(/^button Create API key/);

    await tabTo(page, /^button Actions for By keyboard/);
    await keyboard.press('Enter');
    await page.getByRole('menu').waitFor();
    await keyboard.press('ArrowDown');
    for (let n = 0; n < 5 && !/Revoke$/.test(await focused(page)); n++) await keyboard.press('ArrowDown');
    await keyboard.press('Enter');
    await dialog(page, 'Revoke “By keyboard”').waitFor();
    await expect.poll(() => focused(page)).toMatch(/^input Type “By keyboard” to confirm/);
    await keyboard.type('By keyboard');
    await keyboard.press('Enter');
    await expectText(rowOf(page, 'By keyboard')).toContain('Revoked');
    const headers = { authorization: `Bearer ${key}` };
    expect((await request(lab.url, 'POST', '/v1/verify', { email: 'jane@good.com' }, headers)).status).toBe(401);

    await page.reload();
    await heading(page, 'API keys').waitFor();
    await tabTo(page, /account and settings$/);
    await keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
    for (let n = 0; n < 10 && !/Sign out$/.test(await focused(page)); n++) await keyboard.press('ArrowDown');
    await keyboard.press('Enter');
    await heading(page, 'Sign in').waitFor();
  });

  it('skips the navigation and focuses the new page after a link', async () => {
    const api = await lab.member();
    const { page } = await browser.visit(lab.url, { as: await person(lab, { account: api.account.id }) });
    await heading(page, 'Overview').waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('a Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true);
    await page.getByRole('link', { name: /^Filters( \d+)?$/ }).focus();
    await page.keyboard.press('Enter');
    await heading(page, 'Filters').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.closest("main") !== null')).toBe(true);
  });
});
