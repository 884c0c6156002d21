/**
 * Debian's Chromium, driven as a person drives it. One browser for a test file, one context for each visitor; every test
 * ends with the assertion that its pages made no console error, broke no content policy, asked no other host for
 * anything, and were refused nothing that the test did not announce.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { watchPages } from './page-watch.ts';

const CHROMIUM = '/usr/bin/chromium';
const SWITCHES = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Why there is no browser here, or null. With MAILVET_TEST_BROWSER=required a reason is an error. */
function whyNoBrowser(): string | null {
  if (existsSync(CHROMIUM)) return null;
  const reason = `there is no ${CHROMIUM} (Debian's package chromium)`;
  if (process.env.MAILVET_TEST_BROWSER === 'required') throw new Error(reason);
  return reason;
}

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
}

/** One person at one browser window. */
export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Announces a refusal that the test brings about: each once, and it must happen. */
  refused(status: number, path: string | RegExp): void;
  /** Every request that the window made. */
  readonly requests: readonly { readonly method: string; readonly url: string; readonly body: string }[];
}

export interface BrowserLab {
  /** A window of its own at `url`: no cookies, nothing stored. Closed at the end of the test. */
  visit(url: string, look?: Look): Promise<Visitor>;
}

/** A browser with an empty profile, and how to end it. */
export async function launch(): Promise<{ browser: Browser; close(): Promise<void> }> {
  const profile = mkdtempSync(join(tmpdir(), 'mailvet-browser-'));
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: SWITCHES, env: home(profile) });
  return {
    browser,
    async close() {
      await browser.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** Chromium keeps caches and crash reports in the home folder: an empty one. */
const home = (folder: string) => ({
  PATH: process.env.PATH ?? '',
  HOME: folder,
  XDG_CONFIG_HOME: folder,
  LANG: 'C.UTF-8',
});

/** What all windows have in common: words and times do not depend on the machine, and nothing moves. */
export const windowOptions = ({ width = 1280, height = 800, scheme = 'light' }: Look) =>
  ({
    viewport: { width, height },
    colorScheme: scheme,
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  }) as const;

/** A suite in the browser. Left out, loudly, where there is none. */
export function describeBrowser(name: string, suite: (lab: BrowserLab) => void): void {
  const reason = whyNoBrowser();
  if (reason !== null) {
    console.warn(`LEFT OUT: "${name}" in the browser, as ${reason}.`);
    describe.skip(`${name} (${reason})`, () => suite(idle));
    return;
  }
  describe(name, () => {
    let running: Awaited<ReturnType<typeof launch>>;
    const open: { context: BrowserContext; faults: () => Promise<string[]> }[] = [];
    beforeAll(async () => {
      running = await launch();
    });
    afterAll(() => running.close());
    afterEach(async () => {
      const faults: string[] = [];
      for (const { context, faults: told } of open.splice(0)) {
        faults.push(...(await told()));
        await context.close();
      }
      expect(faults, 'what the pages did that no test asked for').toEqual([]);
    });
    suite({
      async visit(url, look = {}) {
        const context = await running.browser.newContext(windowOptions(look));
        context.setDefaultTimeout(10_000);
        const watch = await watchPages(context, new URL(url).origin);
        open.push({ context, faults: watch.faults });
        const page = await context.newPage();
        await page.goto(url);
        return { page, context, refused: watch.refused, requests: watch.requests };
      },
    });
  });
}

const idle: BrowserLab = {
  visit: () => {
    throw new Error('There is no browser here.');
  },
};
