/**
 * The dashboard in a browser. One browser per test file, one context per user. Every test ends with the assertion that
 * its pages caused no console errors, no violations of the content security policy, no requests to other hosts, and no
 * failed requests except those the test announced.
 */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { carry, type Look, launch, whyNoBrowser, windowOptions } from './chromium.ts';
import { type Asked, type PageWatch, watchPages } from './page-watch.ts';
import type { Person } from './person.ts';

/** One user in one browser context. */
interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Announces a failed request that the test causes; it must happen exactly once. */
  refused(status: number, path: string | RegExp): void;
  /** From here on, the test causes failures deliberately. */
  unwatch(): void;
  /** All requests so far. */
  readonly requests: readonly Asked[];
}

interface BrowserLab {
  /**
   * A new context at `url` with nothing stored but the session of `as`. Its clock always shows `now`, if given, but
   * timers run. Closed at the end of the test.
   */
  visit(url: string, how?: Look & { as?: Pick<Person, 'jar'>; now?: number }): Promise<Visitor>;
  /** From the hook `beforeAll` on; for pages of no visitor. */
  chromium(): Browser;
}

const WAIT_MAX_MS = 30_000;

/** A suite in the browser. Skipped with a message if there is none; an error with MAILVET_TEST_BROWSER=required. */
export function describeBrowser(name: string, suite: (lab: BrowserLab) => void): void {
  const reason = whyNoBrowser();
  if (reason !== null && process.env.MAILVET_TEST_BROWSER === 'required') throw new Error(reason);
  if (reason !== null) {
    console.warn(`LEFT OUT: "${name}" in the browser, as ${reason}.`);
    describe.skip(`${name} (${reason})`, () => suite(idle));
    return;
  }
  describe(name, () => {
    let running: Awaited<ReturnType<typeof launch>>;
    const open: { context: BrowserContext; watch: PageWatch }[] = [];
    beforeAll(async () => {
      running = await launch();
    });
    afterAll(() => running.close());
    afterEach(async ({ task }) => {
      const faults: string[] = [];
      for (const { context, watch } of open.splice(0)) {
        faults.push(...(await watch.faults()));
        if (task.result?.state === 'fail') await describeLastView(context);
        await context.close();
      }
      expect(faults, `what the pages did that no test asked for: ${faults.join('; ')}`).toEqual([]);
    });
    suite({
      chromium: () => running.browser,
      async visit(url, { as: person, now, ...look } = {}) {
        const context = await running.browser.newContext(windowOptions(look));
        if (person) await carry(person, context, url);
        if (now !== undefined) await context.clock.setFixedTime(now);
        context.setDefaultTimeout(WAIT_MAX_MS);
        const watch = await watchPages(context, new URL(url).origin);
        open.push({ context, watch });
        const page = await context.newPage();
        await page.goto(url);
        // Keys and clicks do nothing before the page reacts.
        await page.locator('[data-first-view]').waitFor({ state: 'detached' });
        return { page, context, refused: watch.refused, unwatch: watch.unwatch, requests: watch.requests };
      },
    });
  });
}

/** Screenshots of a failed test. */
async function describeLastView(context: BrowserContext): Promise<void> {
  for (const page of context.pages()) {
    const text = await page.evaluate<string>('document.body.innerText').catch(() => '');
    console.error(`${page.url()} showed:\n${text.slice(0, 3000)}`);
  }
}

const none = () => {
  throw new Error('There is no browser here.');
};
const idle: BrowserLab = { visit: none, chromium: none };
