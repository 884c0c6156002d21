import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../src/kernel/clock.ts';
import { violations } from '../../lab/axe.ts';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { volumeOf } from '../../lab/volume.ts';
import { button, dialog, expectText, field, goTo, heading, rowOf, says } from '../steps.ts';

describeBrowser('overview and usage', (browser) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab.close());

  async function admin() {
    const api = await lab.member({ credits: 100 });
    const who = await person(lab, { account: api.account.id, role: 'admin' });
    const visitor = await browser.visit(lab.url, { as: who });
    await heading(visitor.page, 'Overview').waitFor();
    return { ...visitor, api };
  }

  it('ticks the steps of the first hour by itself, until they are done or dismissed', async () => {
    const { page, api } = await admin();
    const steps = page.getByRole('region', { name: 'Get started' });
    await expectText(steps).toContain('1 of 5 done');
    await steps.getByText('Done: Create an API key').waitFor();
    await api.verify('jane@good.com');
    await page.reload();
    await steps.getByText('Done: Send the first request').waitFor();
    await steps.getByRole('link', { name: 'Invite a second person' }).click();
    await dialog(page).getByLabel('Email').waitFor();
    await page.keyboard.press('Escape');
    await page.goBack();
    await steps.getByRole('link', { name: 'Set an alert' }).click();
    await heading(page, 'Alerts').waitFor();
    await page.goBack();
    await button(steps, 'Dismiss').click();
    await steps.waitFor({ state: 'hidden' });
    await page.reload();
    await page.getByRole('region', { name: 'Key figures' }).waitFor();
    expect(await steps.count()).toBe(0);
  });

  it('shows figures, days, reasons and balance, each opening its rows', async () => {
    const { page, api } = await admin();
    for (const email of ['jane@good.com', 'joe@no-mail.com', 'jim@good.com']) await api.verify(email);
    await api.call('POST', '/v1/verify', {});
    await page.reload();
    const figures = page.getByRole('region', { name: 'Key figures' });
    await expectText(figures).toContain('Verifications3');
    await expectText(figures).toContain('Undeliverable33.3 %');
    const balance = page.getByRole('region', { name: 'Balance' });
    await expectText(balance).toContain('97 credits available');
    await expectText(balance).toContain('Without lists: about 3 a day');
    await expectText(balance).toMatch(/Rate limit: 29\d of 300/);

    // By the keyboard: today's bar says all its values, and Enter opens its log.
    const days = page.getByRole('toolbar', { name: 'Days' });
    const today = days.getByRole('link').last();
    await expect
      .poll(() => today.getAttribute('aria-label'))
      .toMatch(/: 3 verifications; 2 mailbox not checked, 1 undel/);
    await today.focus();
    await page.keyboard.press('ArrowLeft');
    const focused = () => page.evaluate<string>('document.activeElement.getAttribute("aria-label")');
    await expect.poll(focused).toBe(await days.getByRole('link').nth(-2).getAttribute('aria-label'));
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await heading(page, 'Log').waitFor();
    await rowOf(page, 'joe@no-mail.com').waitFor();
    await button(page, 'Clear Time').waitFor();
    await page.goBack();

    await rowOf(page, 'No mail servers').getByRole('link').click();
    await rowOf(page, 'joe@no-mail.com').waitFor();
    await expect.poll(() => page.locator('tr[data-entry]').count()).toBe(1);
    await page.goBack();
    // Rejected requests are counted every few seconds.
    const rejected = async () => {
      await page.reload();
      await figures.waitFor();
      return rowOf(page, '400 Missing parameter').count();
    };
    await expect.poll(rejected).toBe(1);
    await button(page, 'As a table').click();
    const numbers = page.getByRole('table', { name: 'Data: verifications a day' });
    // The last number, of rejected requests, follows a few seconds after the row.
    await expectText(numbers.getByRole('row').nth(1)).toMatch(/302001[01]?$/);
    await rowOf(page, '400 Missing parameter').getByRole('link').click();
    await page.getByRole('region', { name: 'Rejected request' }).getByText('400 Missing parameter').waitFor();
    await goTo(page, 'API keys');
    await rowOf(page, 'mv_live_').getByRole('link', { name: 'test', exact: true }).click();
    await rowOf(page, '400 Missing parameter').waitFor();
  });

  it('opens as many rows as each of its numbers says', async () => {
    const api = await lab.member({ credits: 1000, rateLimit: 1000 });
    await volumeOf(lab, { calls: 900, rows: 60, of: api.account });
    for (const email of ['jane@good.com', 'joe@no-mail.com']) await api.verify(email);
    for (const body of [{}, { email: 'jane@good.com', validation_type: 'none' }])
      await api.call('POST', '/v1/verify', body);
    const outcomes = [{ email: 'jane@good.com', outcome: 'delivered', at: new Date().toISOString() }];
    expect((await api.call('POST', '/v1/outcomes', { outcomes })).json.recorded).toBe(1);
    const who = await person(lab, { account: api.account.id, role: 'owner', operator: true });
    const { page } = await browser.visit(lab.url, { as: who });
    // Rejected requests are counted every few seconds.
    const counted = async () => {
      await page.reload();
      return page.getByRole('region', { name: 'Key figures' }).getByRole('link').last().textContent();
    };
    await expect.poll(counted).toMatch(/^Rejected requests2/);

    const opened = async (search: URLSearchParams) => {
      const { text } = await who.call('GET', `/dashboard/accounts/${api.account.id}/log.jsonl?${withTimes(search)}`);
      return text.split('\n').length - 1;
    };
    const wrong: string[] = [];
    let followed = 0;
    for (const [path, title, least] of FIGURE_PAGES) {
      await page.goto(lab.url + path.replace(':key', api.keyId));
      await heading(page, title).waitFor();
      await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count()).toBe(0);
      // Some come with a reply of their own.
      await expect.poll(async () => (await figuresOf(page)).length, { message: path }).toBeGreaterThanOrEqual(least);
      const figures = await figuresOf(page);
      // Of the many bars, the highest and one with nothing.
      const [bars, others] = [true, false].map((isBar) => figures.filter(({ text }) => /^\d/.test(text) === isBar));
      const highest = (bars ?? []).toSorted((a, b) => b.says - a.says);
      for (const { href, text, says } of [...(others ?? []), ...highest.slice(0, 4), ...highest.slice(-1)]) {
        const rows = await opened(new URL(href).searchParams);
        if (rows !== says) wrong.push(`${path} “${text}” opens ${rows}: ${href}`);
      }
      const [few] = figures.filter(({ says }) => says > 0 && says < 50);
      if (few === undefined) continue;
      await page.goto(few.href);
      await expect.poll(() => page.locator('tr[data-entry]').count(), { message: few.href }).toBe(few.says);
      followed++;
    }
    expect(wrong).toEqual([]);
    expect(followed).toBeGreaterThan(3);
  });

  it('sets a low-balance threshold and shows a banner below it', async () => {
    const { page, api } = await admin();
    await button(page, 'Set low-balance threshold').click();
    const line = field(page, 'Alert when the balance falls below');
    await line.fill('few');
    await button(page, 'Save').click();
    await says(page, /whole number/);
    await line.fill('100');
    await button(page, 'Save').click();
    await says(page, 'Low-balance alert below 100 credits.');
    expect(await page.getByText('Low balance', { exact: true }).count()).toBe(0);
    await api.verify('jane@good.com');
    await goTo(page, 'Filters');
    await page.reload();
    await page.getByText('Low balance', { exact: true }).waitFor();
    await says(page, '99 credits left');
  });

  it('charts requests, latency and rejections, with their data, by reason and by key', async () => {
    const { page, api } = await admin();
    for (const email of ['jane@good.com', 'joe@no-mail.com', 'jim@good.com']) await api.verify(email);
    await page.goto(`${lab.url}/usage`);
    await page.getByRole('region', { name: 'Verifications' }).locator('canvas').waitFor();
    await page.getByRole('figure', { name: 'Rejected requests' }).locator('canvas').waitFor();
    // They are drawn: some of their dots have a color.
    const drawn = `[...document.querySelectorAll('main canvas')].map((canvas) =>
      canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((octet) => octet !== 0))`;
    await expect.poll(() => page.evaluate<boolean[]>(drawn)).toEqual([true, true, true]);
    const hours = page.getByRole('toolbar', { name: 'Days: latency at the mx level' }).getByRole('link');
    // It follows a few seconds after the rows.
    const latest = async () => {
      await page.reload();
      return hours.last().getAttribute('aria-label');
    };
    await expect.poll(latest).toMatch(/: Median [\d.]+ ms, 95th percentile [\d.]+ ms$/);
    await page.getByText('Data: latency at the mx level').click();
    await page.getByRole('table', { name: 'Data: latency at the mx level' }).waitFor();
    await hours.last().press('Enter');
    await button(page, 'Clear Level').waitFor();
    await rowOf(page, 'joe@no-mail.com').waitFor();
    await page.goBack();
    await rowOf(page, 'No mail servers').waitFor();
    // The credits stand twice: below the name where the table is narrow.
    await expectText(page.getByRole('table', { name: 'By key' })).toMatch(/testCredits 33030$/);

    const arrived = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download CSV' }).click();
    const lines = readFileSync(await (await arrived).path(), 'utf8')
      .trim()
      .split(/\r?\n/);
    expect(lines[0]).toMatch(/requests/);
    expect(lines.length).toBeGreaterThan(2);
  });

  it('what could not be loaded is said once, and nothing goes on loading', async () => {
    const { page, unwatch } = await admin();
    unwatch();
    await page.route(/\/(overview|usage)(\?|$)/, (route) => route.fulfill({ status: 500, json: {} }));
    await page.goto(`${lab.url}/log`);
    await goTo(page, 'Overview');
    await expect.poll(() => page.getByRole('alert').count()).toBe(2);
    await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count()).toBe(0);
    await page.unroute(/\/(overview|usage)(\?|$)/);
    for (const _ of [1, 2]) await button(page, 'Try again').first().click();
    await page.getByRole('region', { name: 'Balance' }).waitFor();
    await page.getByRole('region', { name: 'Lists' }).waitFor();
  });

  it('keeps the time from page to page, in the URL', async () => {
    const { page, api } = await admin();
    await api.verify('jane@good.com');
    await page.reload();
    const days = async (from: string, to: string) => {
      await field(dialog(page, 'Time'), 'From (UTC)').fill(from);
      await field(dialog(page, 'Time'), 'To (inclusive)').fill(to);
      await button(dialog(page, 'Time'), 'Apply').click();
    };
    await button(page, /^Time is /).click();
    await page.getByRole('menuitem', { name: 'Custom…' }).click();
    await days('2026-01-31', '2026-01-01');
    await expect.poll(() => page.locator('[aria-invalid=true]').count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    await days('2025-12-01', '2026-01-01');
    const time = '?from=2025-12-01&to=2026-01-01';
    await expect.poll(() => new URL(page.url()).search).toBe(time);
    await button(page, 'Time is 1 Dec 2025 – 1 Jan 2026').waitFor();
    await goTo(page, 'Usage');
    await says(page, 'No requests in this period');
    expect(new URL(page.url()).search).toBe(time);
    // Over a page that has none.
    await goTo(page, 'API keys');
    await rowOf(page, 'mv_live_').getByRole('link', { name: 'test', exact: true }).click();
    await heading(page, 'test').waitFor();
    expect(new URL(page.url()).search).toBe(time);
    await goTo(page, 'Log');
    await says(page, 'No matches');
    expect(new URL(page.url()).search).toBe(time);
    await button(page, 'Time is 1 Dec 2025 – 1 Jan 2026').click();
    const chosen = page.getByRole('menuitemradio', { name: '1 Dec 2025 – 1 Jan 2026' });
    await expect.poll(() => chosen.getAttribute('aria-checked')).toBe('true');
    await page.keyboard.press('Escape');
    await button(page, 'Clear Time').click();
    await goTo(page, 'Usage');
    await page.getByRole('region', { name: 'Verifications' }).waitFor();
    expect(new URL(page.url()).search).toBe('');
  });

  it('takes the time from bars that are dragged over', async () => {
    const { page, api } = await admin();
    await api.verify('jane@good.com');
    await page.goto(`${lab.url}/usage`);
    const bars = page.getByRole('region', { name: 'Verifications' }).getByRole('toolbar').getByRole('link');
    await bars.nth(29).waitFor();
    await bars.nth(20).hover();
    await page.mouse.down();
    await bars.nth(29).hover();
    await page.mouse.up();
    await expect.poll(() => bars.count()).toBe(10);
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    expect(new URL(page.url()).search).toBe(`?from=${day(9)}&to=${day(0)}`);
  });
});

/** Pages with numbers that lead to the log, and how many of them there are at least. */
const FIGURE_PAGES = [
  ['/', 'Overview', 35],
  ['/?source=api', 'Overview', 35],
  ['/usage?range=24h', 'Usage', 35],
  ['/usage?source=list', 'Usage', 35],
  ['/settings/keys', 'API keys', 4],
  ['/settings/keys/:key', 'test', 30],
  ['/outcomes', 'Outcomes', 2],
  ['/webhooks', 'Webhooks', 0],
  ['/operator', 'Accounts', 0],
  ['/operator/service', 'Service', 0],
] as const;

/** The filters of the log's URL, with its time as the service takes it. */
function withTimes(search: URLSearchParams): URLSearchParams {
  const { range, hour, from, to, ...filters } = Object.fromEntries(search);
  const last = (size: number) => Math.ceil((Date.now() + 1) / size) * size;
  const times = {
    ...(range === '24h' && { from: last(HOUR_MS) - DAY_MS }),
    ...(range === '30d' && { from: last(DAY_MS) - 30 * DAY_MS }),
    ...(hour !== undefined && { from: Date.parse(hour), to: Date.parse(hour) + HOUR_MS }),
    ...(from !== undefined && to !== undefined && { from: Date.parse(from), to: Date.parse(to) + DAY_MS }),
  };
  const query = new URLSearchParams(filters);
  for (const [name, at] of Object.entries(times)) query.set(name, new Date(at).toISOString());
  return query;
}

const numbersIn = (text: string): number[] =>
  (text.match(/\d{1,3}(?:,\d{3})+|\d+/g) ?? []).map((number) => Number(number.replaceAll(',', '')));

/**
 * How many rows the text of a link says that there are; null: it says a share or a time, or no number. A bar has its
 * time first, and then numbers that come together in its rows: verified and rejected ones, or rejected by two statuses.
 */
function saidBy(text: string): number | null {
  const [, bar] = /^[^:]*\d[^:]*(?::\d\d[^:]*)*: (.+)$/.exec(text) ?? [];
  if (/ (?:ms|s|min)\b|[%–]/.test(text)) return null;
  if (bar === undefined) return numbersIn(text)[0] ?? null;
  const verified = /^([\d,]+) verifications.*? ([\d,]+) requests rejected/.exec(bar);
  const parts = verified === null ? bar.split(', ').map((part) => part.split(' ').at(-1) ?? '') : verified.slice(1);
  return parts.flatMap(numbersIn).reduce((sum, n) => sum + n, 0);
}

/** Links to the log that say how many rows they open, not those of single rows. Key figures have their change last. */
async function figuresOf(page: Page) {
  const links = await page.evaluate<{ href: string; text: string }[]>(
    `[...document.querySelectorAll('main a[href*="/log?"]')].filter(({ href }) => !/[?&]open=/.test(href))
      .map((link) => {
        const figure = link.closest('[aria-label="Key figures"]') && [...link.children].slice(0, 2);
        const text = figure ? figure.map((part) => part.textContent).join(' ') : link.textContent;
        return { href: link.href, text: link.getAttribute('aria-label') ?? text };
      })`,
  );
  return links.flatMap((link) => {
    const says = saidBy(link.text);
    return says === null ? [] : [{ ...link, says }];
  });
}
