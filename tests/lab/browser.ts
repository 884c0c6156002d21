/**
 * The dashboard as people use it. One browser for a test file, one context for each visitor; every test ends with the
 * assertion that its pages made no console error, broke no content policy, asked no other host for anything, and were
 * refused nothing that the test did not announce.
 */
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { carry, type Look, launch, whyNoBrowser, windowOptions } from './chromium.ts';
import { type Asked, type PageWatch, watchPages } from './page-watch.ts';
import type { Person } from './person.ts';

/** One person at one browser. */
export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Announces a refusal that the test brings about: each once, and it must happen. */
  refused(status: number, path: string | RegExp): void;
  /** From here on the test brings about what would be a fault elsewhere. */
  unwatch(): void;
  /** Every request that was made so far. */
  readonly requests: readonly Asked[];
}

export interface BrowserLab {
  /** A browser of its own at `url`: nothing stored but the session of `as`. Closed at the end of the test. */
  visit(url: string, how?: Look & { as?: Pick<Person, 'jar'> }): Promise<Visitor>;
}

const PATIENCE_MS = 10_000;

/** A suite in the browser. Left out, loudly, where there is none; an error with MAILVET_TEST_BROWSER=required. */
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
      expect(faults, 'what the pages did that no test asked for').toEqual([]);
    });
    suite({
      async visit(url, { as: person, ...look } = {}) {
        const context = await running.browser.newContext(windowOptions(look));
        if (person) await carry(person, context, url);
        context.setDefaultTimeout(PATIENCE_MS);
        const watch = await watchPages(context, new URL(url).origin);
        open.push({ context, watch });
        const page = await context.newPage();
        await page.goto(url);
        return { page, context, refused: watch.refused, unwatch: watch.unwatch, requests: watch.requests };
      },
    });
  });
}

/** Of a test that failed: what its pages showed. */
async function describeLastView(context: BrowserContext): Promise<void> {
  for (const page of context.pages()) {
    const text = await page.evaluate<string>('document.body.innerText').catch(() => '');
    console.error(`${page.url()} showed:\n${text.slice(0, 3000)}`);
  }
}

const idle: BrowserLab = {
  visit: () => {
    throw new Error('There is no browser here.');
  },
};
