/** What people do again and again, by what they see: roles and labels. */
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { OPEN, type Part, settled } from '../lab/axe.ts';
import type { Person } from '../lab/person.ts';

export const heading = (page: Page, name: string | RegExp): Locator => page.getByRole('heading', { level: 1, name });
export const button = (within: Page | Locator, name: string | RegExp): Locator =>
  within.getByRole('button', { name, exact: typeof name === 'string' });
/** Fields whose label is the text, and nothing else. */
export const field = (within: Page | Locator, label: string | RegExp): Locator =>
  within.getByLabel(label, { exact: typeof label === 'string' }).and(within.locator('input, textarea, select'));
export const dialog = (page: Page, name?: string | RegExp): Locator => page.getByRole('dialog', name ? { name } : {});

/** Waits until the page says this somewhere in its main part, or in a note. */
export const says = (page: Page, text: string | RegExp): Promise<void> =>
  page.getByText(text).filter({ visible: true }).first().waitFor();

/** A row of a table by something that stands in it. */
export const rowOf = (page: Page, text: string | RegExp): Locator => page.getByRole('row').filter({ hasText: text });

export async function fillIn(within: Page | Locator, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(values)) await field(within, label).fill(value);
}

/** On the page of signing in. */
export async function signInAs(page: Page, { email, password }: Pick<Person, 'email' | 'password'>): Promise<void> {
  await fillIn(page, { Email: email, Password: password });
  await button(page, 'Sign in').click();
}

/** On narrow screens it is in the menu of pages. */
export async function openAccountMenu(page: Page): Promise<void> {
  const burger = button(page, 'Open menu');
  if (await burger.isVisible()) await burger.click();
  await button(page, /account and settings$/).click();
}

export async function signOut(page: Page): Promise<void> {
  await openAccountMenu(page);
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await heading(page, 'Sign in').waitFor();
}

/** By the menu of pages; answers when the page's own heading is there. */
export async function goTo(page: Page, link: string, title: string | RegExp = link): Promise<void> {
  const pages = page.getByRole('navigation', { name: /^(Pages|Operator)$/ });
  // Beside some there is a count.
  await pages.getByRole('link', { name: new RegExp(`^${link}( \\d.*)?$`) }).click();
  await heading(page, title).waitFor();
}

/** Everything that the page keeps in this browser, in words. */
export async function stored(page: Page): Promise<string> {
  const kept = await page.evaluate<unknown>(`(async () => ({
    local: { ...localStorage },
    session: { ...sessionStorage },
    databases: await indexedDB.databases(),
    caches: await caches.keys(),
    cookies: document.cookie,
    history: history.state,
    address: location.href,
    title: document.title,
    name: window.name,
  }))()`);
  return JSON.stringify(kept) + JSON.stringify(await page.context().cookies());
}

/** How far the page, or what is open over it, can be scrolled sideways, in pixels. */
export const sideways = (page: Page): Promise<number> =>
  page.evaluate<number>(
    `Math.max(...[document.documentElement, ...${OPEN}].map((one) => one.scrollWidth - one.clientWidth))`,
  );

/**
 * Texts of which a part cannot be seen: beyond the window, the edge of a box that hides what does not fit, or that of a
 * table. What is for screen readers only, and code that scrolls by itself, is left out.
 */
export const cutTexts = (page: Page, part: Part = 'document'): Promise<readonly string[]> =>
  page.evaluate(`(${CUT_TEXTS})(${part === 'overlay' ? OPEN : '[]'})`);

const CUT_TEXTS = `(open) => {
  const hides = (element) => {
    const { overflowX } = getComputedStyle(element);
    return ['hidden', 'clip'].includes(overflowX) || (overflowX === 'auto' && element.querySelector(':scope > table'));
  };
  const scrolls = (element) => ['auto', 'scroll'].includes(getComputedStyle(element).overflowX);
  const isCut = (element, { left, right }) => {
    for (let box = element; box !== null && box !== document.body; box = box.parentElement) {
      const edge = box.getBoundingClientRect();
      if (edge.width <= 1) return false;
      if (hides(box)) {
        if (left < edge.left - 1 || right > edge.right + 1) return true;
      } else if (scrolls(box)) return false;
      // Only the window cuts it, not the boxes around it.
      if (getComputedStyle(box).position === 'fixed') break;
    }
    return left < -1 || right > innerWidth + 1;
  };
  const found = new Set();
  const parts = open.length > 0 ? open : [document.querySelector('main') ?? document.body];
  for (const texts of parts.map((part) => document.createTreeWalker(part, NodeFilter.SHOW_TEXT)))
    while (texts.nextNode()) {
      const { currentNode: text } = texts;
      if (text.data.trim() === '' || !text.parentElement.checkVisibility({ visibilityProperty: true })) continue;
      const range = document.createRange();
      range.selectNodeContents(text);
      if ([...range.getClientRects()].some((rect) => rect.width > 0 && isCut(text.parentElement, rect)))
        found.add(text.data.trim());
    }
  return [...found];
}`;

/** Closes what is open. Throws where Escape does not. */
export async function closeAll(page: Page): Promise<void> {
  // A dialog may be open over a drawer.
  for (let left = 3; left > 0; left--) {
    if ((await page.evaluate<number>(`${OPEN}.length`)) === 0) return;
    await page.keyboard.press('Escape');
    await settled(page);
  }
  throw new Error('Escape does not close what is open.');
}

/** Asserts the text of a locator once it is there. */
export const expectText = (locator: Locator): ReturnType<typeof expect.poll> =>
  expect.poll(async () => (await locator.textContent()) ?? '');

/** From here on, counts how often the mouse is pressed in a page, also when it is loaded anew. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(COUNT_PRESSES);
  await page.evaluate(COUNT_PRESSES);
  return async () => Number(await page.evaluate<string>('sessionStorage.pressed ?? "0"'));
}
const COUNT_PRESSES = `addEventListener('pointerdown', ({ isTrusted }) => {
  if (isTrusted) sessionStorage.pressed = Number(sessionStorage.pressed ?? 0) + 1;
}, true)`;
