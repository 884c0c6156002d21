import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { button, expectText, field, goTo, heading, rowOf, says } from '../steps.ts';

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

  it('shows balance, plan, rate limit and month, and keys to review', async () => {
    const { page, api } = await admin();
    await page.getByRole('region', { name: 'Get started' }).waitFor();
    for (const email of ['jane@good.com', 'joe@no-mail.com', 'jim@good.com']) await api.verify(email);
    await page.reload();
    const card = (name: string) => page.getByRole('region', { name });
    await expectText(card('Balance')).toContain('97 credits');
    await expectText(card('Plan')).toContain('Premium');
    await expectText(card('Rate limit')).toContain('297 of 300 left');
    await expectText(card('This month')).toContain('3 verifications');
    await expectText(card('This month')).toContain('2 good, 1 bad');
    await card('API keys to review').getByRole('link', { name: '1 key allowed from any IP address' }).click();
    await heading(page, 'API keys').waitFor();
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
    await goTo(page, 'Usage');
    const chart = page.getByRole('figure', { name: 'Verifications' });
    await chart.getByRole('img', { name: /^Chart: Verifications\./ }).waitFor();
    // It is drawn: some of its dots have a colour.
    await chart.locator('canvas').waitFor();
    const drawn = `[...document.querySelectorAll('figure canvas')].map((canvas) =>
      canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((octet) => octet !== 0))`;
    await expect.poll(() => page.evaluate<boolean[]>(drawn)).toEqual([true, true, true]);
    await chart.getByText('Data: verifications').click();
    const numbers = chart.getByRole('table', { name: 'Data: verifications' });
    await expectText(numbers.getByRole('row').last()).toMatch(/21$/);
    await rowOf(page, 'No mx records').waitFor();
    await expectText(page.getByRole('table', { name: 'By key' })).toContain('test33100%');

    const arrived = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download CSV' }).click();
    const lines = readFileSync(await (await arrived).path(), 'utf8')
      .trim()
      .split(/\r?\n/);
    expect(lines[0]).toMatch(/requests/);
    expect(lines.length).toBeGreaterThan(2);
  });

  it('keeps a range of days in the URL', async () => {
    const { page, api } = await admin();
    await api.verify('jane@good.com');
    await goTo(page, 'Usage');
    await field(page, 'From (UTC)').fill('2026-01-31');
    await field(page, 'To (inclusive)').fill('2026-01-01');
    await button(page, 'Apply').click();
    await expect.poll(() => page.locator('[aria-invalid=true]').count()).toBe(1);
    await field(page, 'From (UTC)').fill('2025-12-01');
    await button(page, 'Apply').click();
    await says(page, 'No requests in this period');
    expect(new URL(page.url()).search).toContain('2025-12-01');
    await page.goBack();
    await page.getByRole('figure', { name: 'Verifications' }).waitFor();
  });
});
