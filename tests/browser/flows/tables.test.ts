/** What all tables have in common. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { type Person, person } from '../../lab/person.ts';
import { type Lab, type Member, startLab } from '../../lab/service.ts';
import { heading, rowOf, sideways } from '../steps.ts';

const ROWS = 40;

/** Page, its heading, and something in its last row. */
const TABLES = [
  ['/log', 'Log', 'first.customer-of-the-year@good.com'],
  ['/filters', 'Filters', 'filter-0.example.com'],
] as const;

/** Words that are cut off by their own box, what reaches beyond the window, and addresses on more than one line. */
const CUT = `[...document.querySelectorAll('main button, main td a, main th, main .mantine-Badge-label, main td [class*="address"]')]
  .filter((part) => part.checkVisibility())
  .filter((part) => {
    const { overflowX } = getComputedStyle(part);
    const { left, right } = part.getBoundingClientRect();
    const lines = new Set([...part.getClientRects()].map(({ top }) => Math.round(top)));
    return (
      (overflowX !== 'visible' && part.scrollWidth > part.clientWidth + 1) ||
      left < 0 || right > innerWidth ||
      (part.className.includes?.('address') && lines.size > 1)
    );
  })
  .map((part) => part.outerHTML)`;

describeBrowser('tables', (browser) => {
  let lab: Lab;
  let member: Member;
  let owner: Person;
  beforeAll(async () => {
    lab = await startLab();
    member = await lab.member({ credits: 1000, rateLimit: 1000, allowIps: ['127.0.0.0/8', '2001:db8:85a3::/48'] });
    owner = await person(lab, { account: member.account.id, email: 'somebody.with-a-name@good.com' });
    await member.verify(TABLES[0][2]);
    for (let n = 0; n < ROWS; n++) {
      await member.call('POST', '/v1/filters', { value: `filter-${n}.example.com`, reason: 'Kept signing up' });
      await member.verify(`customer-number-${n}@good.com`);
    }
  });
  afterAll(() => lab.close());
  const open = async (page: Page, path: string, title: string) => {
    await page.goto(lab.url + path);
    await heading(page, title).waitFor();
  };

  it('keep their head in view', async () => {
    const { page } = await browser.visit(lab.url, { as: owner });
    for (const [path, title, last] of TABLES) {
      await open(page, path, title);
      await rowOf(page, last).scrollIntoViewIfNeeded();
      expect(await page.evaluate<number>('scrollY'), path).toBeGreaterThan(100);
      const head = await page.getByRole('columnheader').last().boundingBox();
      // Below the bar at the top.
      expect(head?.y, path).toBeGreaterThanOrEqual(40);
      expect(head?.y, path).toBeLessThan(60);
    }
  });

  it('have an outline until their rows are there', async () => {
    const { page } = await browser.visit(lab.url, { as: owner });
    for (const [path, title, last] of TABLES) {
      const held = Promise.withResolvers<void>();
      await page.route(new RegExp(`/dashboard/accounts/\\w+${path}\\?`), async (route) => {
        await held.promise;
        await route.continue();
      });
      await open(page, path, title);
      await page.getByRole('status', { name: 'Loading' }).first().waitFor();
      expect(await rowOf(page, last).count()).toBe(0);
      held.resolve();
      await rowOf(page, last).waitFor();
    }
  });

  it('cut off neither words nor buttons on a tablet, and break no address', async () => {
    const { page } = await browser.visit(lab.url, { width: 768, height: 1024, as: owner });
    for (const [path, title, text] of [
      ...TABLES,
      ['/account/members', 'Members', owner.email],
      ['/settings/keys', 'API keys', 'test'],
    ] as const) {
      await open(page, path, title);
      await rowOf(page, text).first().waitFor();
      expect(await page.evaluate<string[]>(CUT), path).toEqual([]);
    }
    // What is cut is found.
    await page.evaluate(
      `Object.assign(document.querySelector('main td button').style, { position: 'relative', left: '90px' })`,
    );
    expect((await page.evaluate<string[]>(CUT)).length).toBeGreaterThan(0);
  });

  it('scroll by themselves where a value is long, and the page does not', async () => {
    const api = await lab.member({ credits: 100 });
    const who = await person(lab, { account: api.account.id });
    const part = 'x'.repeat(60);
    const long = `${part}@${part}.${part}.${part}.com`;
    const added = await who.call('POST', `/dashboard/accounts/${api.account.id}/filters`, {
      value: long,
      reason: null,
    });
    expect(added.status).toBe(201);
    const { page } = await browser.visit(`${lab.url}/filters`, { width: 375, height: 740, as: who });
    await rowOf(page, long).waitFor();
    expect(await sideways(page)).toBe(0);
  });
});
