/** Questions that people ask of an account with 60,000 verifications, each with the clicks it takes. */
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey } from '../../../src/service/keys.ts';
import { violations } from '../../lab/axe.ts';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Lab, request, startLab } from '../../lab/service.ts';
import { runSql } from '../../lab/stores.ts';
import { type Volume, volumeOf } from '../../lab/volume.ts';
import { button, dialog, expectText, field, heading, rowOf, says } from '../steps.ts';

describeBrowser('an account with 60,000 verifications', (browser) => {
  let lab: Lab;
  let volume: Volume;
  beforeAll(async () => {
    lab = await startLab();
    volume = await volumeOf(lab);
  });
  afterAll(() => lab.close());

  /** A page of the account, and how often was clicked on it. */
  async function open(path: string, title: string) {
    const who = await person(lab, { account: volume.account.id, role: 'owner' });
    const { page } = await browser.visit(`${lab.url}${path}`, { as: who });
    await heading(page, title).waitFor();
    let clicks = 0;
    const click = async (on: Locator) => {
      clicks += 1;
      await on.click();
    };
    return { page, click, clicks: () => clicks };
  }
  const rows = (page: Page) => page.locator('tr[data-entry]').count();
  const more = (page: Page) => button(page, 'Load more').count();

  it('shows its unknown ones at once, although a list ran in between: 2 clicks', async () => {
    const { page, click, clicks } = await open('/log', 'Log');
    await click(button(page, 'Views'));
    await click(page.getByRole('menuitemradio', { name: 'Unknown, last 7 days' }));
    await expect.poll(() => rows(page), { timeout: 10_000 }).toBe(50);
    expect(clicks()).toBe(2);
  });

  it('opens exactly the rows of a reason that a number counts, from all of a month: 1 click', async () => {
    const { page, click, clicks } = await open('/usage?range=30d', 'Usage');
    const failures = rowOf(page, 'DNS failure');
    const counted = Number(/\d+/.exec((await failures.getByRole('cell').nth(1).textContent()) ?? '')?.[0]);
    expect(counted).toBeGreaterThan(3);
    await click(failures.getByRole('link').first());
    await heading(page, 'Log').waitFor();
    await expect.poll(() => rows(page), { timeout: 10_000 }).toBe(counted);
    await says(page, `All ${counted} matches are shown.`);
    expect(await more(page)).toBe(0);
    expect(clicks()).toBe(1);
  });

  it('finds what was asked for at the level smtp and charged as mx: several reasons by name, no Load more', async () => {
    const { page, click, clicks } = await open('/log?level=smtp', 'Log');
    await click(button(page, /Reason$/));
    const item = (name: string) => page.getByRole('menuitemcheckbox', { name });
    await item('Greylisted').waitFor();
    // Typing goes to the item.
    await page.keyboard.type('grey');
    await page.keyboard.press('Enter');
    await expect.poll(() => item('Greylisted').getAttribute('aria-checked')).toBe('true');
    await click(item('DNS failure'));
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect.poll(() => rows(page), { timeout: 10_000 }).toBe(50);
    await button(page, /^Reason is DNS failure or Greylisted|^Reason is Greylisted or DNS failure/).waitFor();
    await expectText(page.locator('tr[data-entry]').first()).toContain('smtp, charged as mx');
    expect(new URL(page.url()).searchParams.get('reason')?.split(',').sort()).toEqual(['dns_failure', 'greylisted']);
    expect(clicks()).toBe(2);
  });

  it('shows which key causes most unknowns, and opens them: 2 clicks', async () => {
    const { page, click, clicks } = await open('/', 'Overview');
    const table = page.getByRole('table', { name: 'By key' });
    await click(table.getByRole('link', { name: 'Unknown' }));
    await expect.poll(() => new URL(page.url()).search).toBe('?sort=unknown');
    const first = table.getByRole('row').nth(1);
    await expectText(first).toContain('Partner API');
    await click(first.getByRole('link').nth(1));
    await expect.poll(() => rows(page)).toBe(50);
    expect(new URL(page.url()).searchParams.get('deliverability')).toBe('unknown');
    expect(clicks()).toBe(2);
  });

  it('shows calls without the list that hides them: 1 click, and the rows are those', async () => {
    const { page, click, clicks } = await open('/', 'Overview');
    const figures = page.getByRole('region', { name: 'Key figures' });
    const verified = async () => {
      const text = /Verifications(\d{1,3}(?:,\d{3})*)/.exec((await figures.textContent()) ?? '')?.[1];
      return Number(text?.replaceAll(',', ''));
    };
    const all = await verified();
    await click(page.getByRole('group', { name: 'Source' }).getByRole('button', { name: 'API' }));
    await expect.poll(verified).toBe(all - 5_000);
    expect(clicks()).toBe(1);
    await figures.getByRole('link').first().click();
    await expect.poll(() => rows(page)).toBe(50);
    expect(new URL(page.url()).searchParams.get('origin')).toBe('list');
    expect(await rowOf(page, /row\d+@/).count()).toBe(0);
  });

  it('has bars of the search and its time, and takes two dates', async () => {
    const { page, click, clicks } = await open('/log?range=7d&reason=greylisted', 'Log');
    const strip = page.getByRole('region', { name: 'Verifications by time' });
    await strip.getByRole('toolbar', { name: 'Days' }).getByRole('button').nth(6).waitFor();
    const total = Number(/^[\d,]+/.exec((await strip.textContent()) ?? '')?.[0].replaceAll(',', ''));
    // One in ten of about 6,400 calls of a week.
    expect(total).toBeGreaterThan(500);
    expect(total).toBeLessThan(800);
    await click(button(page, /^Time is/));
    await click(page.getByRole('menuitemradio', { name: 'Custom…' }));
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    await field(dialog(page, 'Time'), 'From (UTC)').fill(day(5));
    await field(dialog(page, 'Time'), 'To (inclusive)').fill(day(4));
    expect(await violations(page)).toEqual([]);
    await click(button(dialog(page, 'Time'), 'Apply'));
    await expect.poll(() => new URL(page.url()).searchParams.get('from')).toBe(day(5));
    await strip.getByRole('toolbar', { name: 'Hours' }).getByRole('button').nth(47).waitFor();
    await expect.poll(() => rows(page)).toBe(50);
    expect(clicks()).toBe(3);
  });

  it('opens exactly the rows that a figure of seven days counts: 1 click', async () => {
    const { page, click, clicks } = await open('/usage?range=7d', 'Usage');
    const failures = rowOf(page, 'DNS failure');
    const counted = Number((await failures.getByRole('cell').nth(1).textContent()) ?? '');
    expect(counted).toBeGreaterThan(0);
    await click(failures.getByRole('link').first());
    await button(page, 'Time is Last 7 days').waitFor();
    await says(page, counted === 1 ? 'The only match is shown.' : `All ${counted} matches are shown.`);
    await expect.poll(() => rows(page)).toBe(counted);
    expect(clicks()).toBe(1);
  });

  it('allows the address of a rejected request: 3 clicks', async () => {
    const allowIps = ['203.0.113.1'];
    const { value } = await createKey(lab.store, volume.account.id, { name: 'Locked', allowIps });
    const verified = async () => {
      const headers = { authorization: `Bearer ${value}` };
      return (await request(lab.url, 'POST', '/v1/verify', { email: 'jane@good.com' }, headers)).status;
    };
    expect(await verified()).toBe(403);
    const { page, click, clicks } = await open('/log?status=rejected', 'Log');
    // It is written a few seconds later.
    const shown = async () => {
      await page.reload();
      await heading(page, 'Log').waitFor();
      await page.getByRole('search', { name: 'Verifications' }).waitFor();
      return rowOf(page, 'Locked').count();
    };
    await expect.poll(shown).toBe(1);
    await click(rowOf(page, 'Locked'));
    const drawer = page.getByRole('region', { name: 'Rejected request' });
    await expectText(drawer).toContain('“Locked” allows 203.0.113.1.');
    await expectText(drawer).toContain('1 request with “Locked” was rejected today (UTC)');
    await click(button(drawer, 'Allow 127.0.0.1'));
    expect(await violations(page)).toEqual([]);
    await click(button(dialog(page, 'Allow 127.0.0.1'), 'Allow'));
    await says(page, '“Locked” allows 127.0.0.1.');
    expect(clicks()).toBe(3);
    await expect.poll(verified).toBe(200);
  });

  it('flags a list that failed, and verifies its rest: 3 clicks', async () => {
    const { value } = await createKey(lab.store, volume.account.id, { name: 'Lists', allowIps: [] });
    const headers = { authorization: `Bearer ${value}` };
    const draft = { emails: ['jane@good.com', 'joe@good.com'], name: 'autumn.csv', start: false };
    const { id } = (await request(lab.url, 'POST', '/v1/lists', draft, headers)).json;
    await runSql(lab.databaseUrl, `UPDATE lists SET status = 'failed', finished_at = ${Date.now()} WHERE id = '${id}'`);
    const { page, click, clicks } = await open('/', 'Overview');
    const flagged = page.getByRole('region', { name: 'Lists that failed' });
    await click(flagged.getByRole('link', { name: /autumn\.csv/ }));
    await heading(page, 'autumn.csv').waitFor();
    await click(button(page, /^Verify the rest/));
    expect(await violations(page)).toEqual([]);
    await click(dialog(page).getByRole('button', { name: /Verify/ }));
    await expect.poll(() => page.url()).not.toContain(id);
    expect(clicks()).toBe(3);
    await page.goto(`${lab.url}/lists`);
    await flagged.getByRole('link', { name: /autumn\.csv/ }).waitFor();
  });

  it('says that there is nothing when there is nothing', async () => {
    const { page } = await open('/log?reason=mailbox_full', 'Log');
    await says(page, 'Nothing in the log matches.');
    expect(await more(page)).toBe(0);
  });
});
