/** How long a page with many rows takes from an interaction to the next paint (Event Timing §2). */
import type { Browser, Page } from 'playwright-core';
import { carry, windowOptions } from '../../tests/lab/chromium.ts';

/** Rows on the page. */
export const ROWS = 1_000;
/** Down the rows, with the drawer of each. */
const STEPS = 6;
/** In which what an interaction has begun comes to its end, ms. */
const REST_MS = 400;

/** Runs first in the page. Shorter ones than 16 ms are not reported. */
const RECORD = `{
  window.interactions = [];
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries()) if (interactionId > 0) window.interactions.push(duration);
  }).observe({ type: 'event', durationThreshold: 16 });
}`;

/**
 * The longest of some interactions with the page at `url`: ms, in steps of 8. `narrow`: the last one, which shows fewer
 * rows.
 */
export async function longestInteraction(
  browser: Browser,
  url: string,
  jar: Map<string, string>,
  narrow: (page: Page) => Promise<void>,
): Promise<number> {
  const context = await browser.newContext(windowOptions({}));
  await carry({ jar }, context, url);
  await context.addInitScript(RECORD);
  const page = await context.newPage();
  await page.goto(url);
  const rows = page.locator('tr[data-entry]');
  await rows.first().waitFor();
  while ((await rows.count()) < ROWS) {
    const before = await rows.count();
    await page.getByRole('button', { name: 'Load more' }).click();
    await rows.nth(before).waitFor();
  }
  await page.waitForTimeout(REST_MS);
  await page.evaluate('window.interactions.length = 0');
  for (const key of [...Array.from({ length: STEPS }, () => 'j'), 'Escape']) {
    await page.keyboard.press(key);
    await page.waitForTimeout(REST_MS);
  }
  await narrow(page);
  await page.waitForTimeout(REST_MS);
  const longest = await page.evaluate<number>('Math.max(16, ...window.interactions)');
  await context.close();
  return longest;
}
