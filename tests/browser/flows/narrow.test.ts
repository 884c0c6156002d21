/** What is read on a phone: no page of the guide and of the API reference scrolls sideways at 375 pixels. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { heading, sideways } from '../steps.ts';

const PHONE = { width: 375, height: 740 };
const GUIDE = readdirSync(join(import.meta.dirname, '../../../dist/guide'))
  .filter((name) => name.endsWith('.html') && name !== '404.html')
  .map((name) => `/guide/${name.replace(/(index)?\.html$/, '')}`);

/** The elements of the page that reach furthest to the right, where none of what is around them scrolls. */
const WIDEST = `[...document.querySelectorAll('body *')]
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
  .map((one) => one.tagName.toLowerCase() + (one.className ? '.' + one.className : '') + ' ' + one.textContent.slice(0, 60))
  .slice(0, 3)`;

describeBrowser('on a phone', (browser) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab.close());

  async function tooWide(page: Page, path: string): Promise<string[]> {
    const pixels = await sideways(page);
    return pixels > 0 ? [`${path}: ${pixels} pixels, ${(await page.evaluate<string[]>(WIDEST)).join(' | ')}`] : [];
  }

  it('no page of the guide scrolls sideways', async () => {
    const { page } = await browser.visit(`${lab.url}/guide/`, PHONE);
    const wide: string[] = [];
    for (const path of GUIDE) {
      await page.goto(lab.url + path);
      await page.evaluate('document.fonts.ready');
      wide.push(...(await tooWide(page, path)));
    }
    expect(wide).toEqual([]);
    expect(GUIDE.length).toBeGreaterThan(50);
  });

  it('no page of the API reference scrolls sideways', async () => {
    const { page } = await browser.visit(`${lab.url}/docs`, PHONE);
    await heading(page, 'API reference').waitFor();
    const links = `[...new Set([...document.querySelectorAll('a[href^="/docs/"]')].map((link) => link.pathname))]`;
    const paths = await page.evaluate<string[]>(links);
    const wide: string[] = [];
    let before = 'API reference';
    for (const path of paths) {
      await page.evaluate(`history.pushState({}, '', ${JSON.stringify(path)})`);
      const shown = () => page.getByRole('heading', { level: 1 }).textContent();
      await expect.poll(shown, { interval: 20 }).not.toBe(before);
      before = (await shown()) ?? '';
      wide.push(...(await tooWide(page, path)));
    }
    expect(wide).toEqual([]);
    expect(paths.length).toBeGreaterThan(50);
  });
});
