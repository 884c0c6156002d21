/** Debian's Chromium, with an empty profile of its own. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import type { Person } from './person.ts';

const CHROMIUM = '/usr/bin/chromium';
const SWITCHES = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Letters are drawn alike on every machine.
  '--font-render-hinting=none',
];

/** Why there is no browser here, or null. */
export const whyNoBrowser = (): string | null =>
  existsSync(CHROMIUM) ? null : `there is no ${CHROMIUM} (Debian's package chromium)`;

/** What it keeps in the home folder (caches, crash reports) goes with it. */
export async function launch(): Promise<{ browser: Browser; close(): Promise<void> }> {
  const home = mkdtempSync(join(tmpdir(), 'mailvet-browser-'));
  const env = { PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8' };
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: SWITCHES, env });
  return {
    browser,
    async close() {
      await browser.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
}

/** Of every window: words and times do not depend on the machine, and little moves. */
export const windowOptions = ({ width = 1280, height = 800, scheme = 'light' }: Look): BrowserContextOptions => ({
  viewport: { width, height },
  colorScheme: scheme,
  locale: 'en-GB',
  timezoneId: 'UTC',
  reducedMotion: 'reduce',
});

/** Puts a session that is there into a browser. */
export async function carry({ jar }: Pick<Person, 'jar'>, context: BrowserContext, url: string): Promise<void> {
  // Of the origin: a cookie for a deep address would be sent to the pages below it only.
  const how = { url: new URL(url).origin, httpOnly: true, sameSite: 'Strict' } as const;
  await context.addCookies([...jar].map(([name, value]) => ({ name, value, ...how })));
}
