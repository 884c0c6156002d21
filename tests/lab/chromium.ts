/** Debian's Chromium without windows, which takes half the CPU time, with an empty profile. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import type { Person } from './person.ts';

const CHROMIUM = '/usr/bin/chromium-headless-shell';
const SWITCHES = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Renders text identically on every machine.
  '--font-render-hinting=none',
];

/** Why no browser is available, or null. */
export const whyNoBrowser = (): string | null =>
  existsSync(CHROMIUM) ? null : `there is no ${CHROMIUM} (Debian's package chromium-headless-shell)`;

/** Caches and crash reports in the home folder are deleted too. */
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
  readonly locale?: string;
  readonly timeZone?: string;
}

/** Makes language, time zone and animations independent of the machine. */
export const windowOptions = ({
  width = 1280,
  height = 800,
  scheme = 'light',
  locale = 'en-GB',
  timeZone = 'UTC',
}: Look): BrowserContextOptions => ({
  viewport: { width, height },
  colorScheme: scheme,
  locale,
  timezoneId: timeZone,
  reducedMotion: 'reduce',
});

/** Adds an existing session to a browser context. */
export async function carry({ jar }: Pick<Person, 'jar'>, context: BrowserContext, url: string): Promise<void> {
  // For the origin: a cookie for a deeper URL would be sent only to pages below it.
  const how = { url: new URL(url).origin, httpOnly: true, sameSite: 'Strict' } as const;
  await context.addCookies([...jar].map(([name, value]) => ({ name, value, ...how })));
}
