/**
 * The eleven tasks of people who look after an account, each with the clicks it takes at most, and what else they ask
 * of an account with 60,000 verifications.
 */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/kernel/clock.ts';
import { RECENT_DAYS } from '../../../src/kernel/facts/limits.ts';
import { createKey } from '../../../src/service/keys.ts';
import { violations } from '../../lab/axe.ts';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Receiver, startReceiver } from '../../lab/receiver.ts';
import { type Lab, request, startLab } from '../../lab/service.ts';
import { type SmtpLab, startSmtp } from '../../lab/smtp.ts';
import { runSql } from '../../lab/stores.ts';
import { type Volume, volumeOf } from '../../lab/volume.ts';
import { button, countClicks, dialog, expectText, field, goTo, heading, rowOf, says } from '../steps.ts';

describeBrowser('an account with 60,000 verifications', (browser) => {
  let lab: Lab;
  let volume: Volume;
  let mail: SmtpLab;
  let receiver: Receiver;
  beforeAll(async () => {
    mail = await startSmtp({
      on: (c) => (c.verb === 'RCPT' ? '550 5.2.1 Account jane is disabled; call our desk' : undefined),
    });
    receiver = await startReceiver();
    lab = await startLab({ MAILVET_SMTP_PORT: `${mail.port}`, MAILVET_SMTP_RATE_PER_OPERATOR: '0' });
    volume = await volumeOf(lab);
  });
  afterAll(async () => {
    await lab.close();
    await receiver.close();
    await mail.close();
  });

  /** A page of the account, and how often was clicked on it. */
  async function open(path: string, title: string) {
    const who = await person(lab, { account: volume.account.id, role: 'owner' });
    const visitor = await browser.visit(`${lab.url}${path}`, { as: who });
    await heading(visitor.page, title).waitFor();
    return { ...visitor, clicks: await countClicks(visitor.page) };
  }
  const rows = (page: Page) => page.locator('tr[data-entry]').count();
  const more = (page: Page) => button(page, 'Load more').count();
  /** In the last 30 days, as pages show them unless another time is chosen. */
  const inStore = async (condition: string): Promise<number> => {
    const from = Math.ceil((Date.now() + 1) / DAY_MS) * DAY_MS - 30 * DAY_MS;
    const own = `account_id = '${volume.account.id}' AND created_at >= ${from}`;
    const rows = await runSql(
      lab.databaseUrl,
      `SELECT count(*) AS n FROM verifications WHERE ${own} AND (${condition})`,
    );
    return Number(rows[0]?.n);
  };
  const numberIn = (text: string | null | undefined): number =>
    Number(/\d{1,3}(?:,\d{3})*/.exec(text ?? '')?.[0].replaceAll(',', ''));

  describe('task', () => {
    it('1. opens exactly the rows that a number counts: 1 click', async () => {
      const { page, clicks } = await open('/usage?range=30d', 'Usage');
      const failures = rowOf(page, 'DNS failure');
      const counted = Number(/\d+/.exec((await failures.getByRole('cell').nth(1).textContent()) ?? '')?.[0]);
      expect(counted).toBeGreaterThan(3);
      await failures.getByRole('link').first().click();
      await heading(page, 'Log').waitFor();
      await expect.poll(() => rows(page), { timeout: 10_000 }).toBe(counted);
      await says(page, `All ${counted} matches are shown.`);
      expect(await more(page)).toBe(0);
      expect(await clicks()).toBeLessThanOrEqual(1);
    });

    it('2. sees which key causes most unknown results, and opens them: 2 clicks', async () => {
      const { page, clicks } = await open('/', 'Overview');
      const table = page.getByRole('table', { name: 'By key' });
      await table.getByRole('link', { name: 'Unknown' }).click();
      await expect.poll(() => new URL(page.url()).search).toBe('?sort=unknown');
      const first = table.getByRole('row').nth(1);
      await expectText(first).toContain('Partner API');
      const counted = numberIn(await first.getByRole('link').nth(1).textContent());
      const partner = "(SELECT id FROM keys WHERE name = 'Partner API')";
      const unknown = `deliverability = 'unknown' AND reason IS NOT NULL AND key_id = ${partner}`;
      expect(counted).toBe(await inStore(unknown));
      await first.getByRole('link').nth(1).click();
      await expect.poll(() => rows(page)).toBe(50);
      expect(new URL(page.url()).searchParams.get('deliverability')).toBe('unknown');
      expect(await clicks()).toBeLessThanOrEqual(2);
    });

    it('3. sees calls without the list that hides them: 1 click', async () => {
      const { page, clicks } = await open('/', 'Overview');
      const figures = page.getByRole('region', { name: 'Key figures' });
      const verified = async () => numberIn(/Verifications[\d,]+/.exec((await figures.textContent()) ?? '')?.[0]);
      expect(await verified()).toBe(await inStore('true'));
      await page.getByRole('group', { name: 'Source' }).getByRole('button', { name: 'API' }).click();
      const calls = await inStore('hold_id IS NULL');
      await expect.poll(verified).toBe(calls);
      expect(await clicks()).toBeLessThanOrEqual(1);
      await figures.getByRole('link').first().click();
      await expect.poll(() => rows(page)).toBe(50);
      expect(new URL(page.url()).searchParams.get('origin')).toBe('list');
      expect(await rowOf(page, /row\d+@/).count()).toBe(0);
    });

    it('4. blocks the domain of a row: 3 clicks', async () => {
      const { page, clicks } = await open('/log', 'Log');
      const row = page.locator('tr[data-entry]').first();
      const [domain = ''] = /company\d+\.com/.exec((await row.textContent()) ?? '') ?? [];
      await row.click();
      await button(page, 'Block domain').click();
      await button(dialog(page, `Block ${domain}?`), 'Block').click();
      await says(page, `${domain} is blocked`);
      expect(await clicks()).toBeLessThanOrEqual(3);
      const { value } = await createKey(lab.store, volume.account.id, { name: 'Blocked', allowIps: [] });
      const headers = { authorization: `Bearer ${value}` };
      const asked = await request(lab.url, 'POST', '/v1/verify', { email: `x@${domain}` }, headers);
      expect(asked.json.reason).toBe('blocked_by_filter');
    });

    it('5. exports the rows of one reason: 3 clicks', async () => {
      const { page, clicks } = await open('/', 'Overview');
      await page.getByRole('table', { name: 'Top reasons' }).getByRole('link', { name: 'Greylisted' }).click();
      await heading(page, 'Log').waitFor();
      await button(page, 'Export').click();
      const rowsOfSearch = page.getByRole('link', { name: 'Rows of this search' });
      const [file] = await Promise.all([page.waitForEvent('download'), rowsOfSearch.click()]);
      expect(await clicks()).toBeLessThanOrEqual(3);
      const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n');
      expect(lines.length - 1).toBe(await inStore("reason = 'greylisted'"));
      expect(file.suggestedFilename()).toContain('greylisted');
    });

    it('6. reads what the mail server said about an address: 2 clicks', async () => {
      const { value } = await createKey(lab.store, volume.account.id, { name: 'Desk', allowIps: [] });
      const headers = { authorization: `Bearer ${value}` };
      const body = { email: 'jane@good.com', validation_type: 'smtp' };
      expect((await request(lab.url, 'POST', '/v1/verify', body, headers)).json.reason).toBe('mailbox_disabled');
      const { page, clicks } = await open('/', 'Overview');
      await goTo(page, 'Log');
      await page.locator('tr[data-entry]').filter({ hasText: 'jane@good.com' }).first().click();
      const said = page.getByLabel('What the mail server said');
      await expectText(said).toBe('550 5.2.1 Account *** is disabled; call our desk');
      expect(await clicks()).toBeLessThanOrEqual(2);
    });

    it('7. sees that a list failed and why, and verifies the rest: 3 clicks', async () => {
      const { value } = await createKey(lab.store, volume.account.id, { name: 'Lists', allowIps: [] });
      const headers = { authorization: `Bearer ${value}` };
      const draft = { emails: ['jane@good.com', 'joe@good.com'], name: 'autumn.csv', start: false };
      const { id } = (await request(lab.url, 'POST', '/v1/lists', draft, headers)).json;
      await runSql(
        lab.databaseUrl,
        `UPDATE lists SET status = 'failed', finished_at = ${Date.now()} WHERE id = '${id}'`,
      );
      const { page, clicks } = await open('/', 'Overview');
      const flagged = page.getByRole('region', { name: 'Lists that failed' });
      await flagged.getByRole('link', { name: /autumn\.csv/ }).click();
      await heading(page, 'autumn.csv').waitFor();
      await says(page, /2 addresses were not verified, and not charged/);
      await button(page, /^Verify the rest/).click();
      expect(await violations(page)).toEqual([]);
      await dialog(page)
        .getByRole('button', { name: /Verify/ })
        .click();
      await expect.poll(() => page.url()).not.toContain(id);
      expect(await clicks()).toBeLessThanOrEqual(3);
      await page.goto(`${lab.url}/lists`);
      await flagged.getByRole('link', { name: /autumn\.csv/ }).waitFor();
    });

    it('8. sees why a webhook failed, and replays it with the result: 3 clicks', async () => {
      const { value } = await createKey(lab.store, volume.account.id, { name: 'Hooks', allowIps: [] });
      const headers = { authorization: `Bearer ${value}` };
      receiver.respond((reply) => reply.writeHead(500).end('broken'));
      const wanted = { url: receiver.url, events: ['key.created'] };
      const { id } = (await request(lab.url, 'POST', '/v1/webhooks', wanted, headers)).json;
      await request(lab.url, 'POST', `/v1/webhooks/${id}/test`, undefined, headers);
      receiver.respond((reply) => reply.end('thanks'));
      const { page, clicks } = await open('/', 'Overview');
      await goTo(page, 'Webhooks');
      await page.getByRole('link', { name: receiver.url }).click();
      await expectText(rowOf(page, 'ping')).toContain('status 500');
      await button(page, /^Replay ping/).click();
      await says(page, /^Replay of ping: attempt \d, status 200 after \d+ ms\.$/);
      expect(await clicks()).toBeLessThanOrEqual(3);
    });

    it('9. invites somebody who may only read: 4 clicks', async () => {
      const { page, clicks } = await open('/', 'Overview');
      await goTo(page, 'Members');
      await button(page, 'Invite member').click();
      await page.locator('input[name=email]:focus').waitFor();
      await page.keyboard.type('auditor@good.com');
      await page.getByRole('radio', { name: 'Viewer' }).click();
      await button(dialog(page), 'Invite').click();
      await dialog(page).getByLabel('invitation link', { exact: true }).waitFor();
      expect(await clicks()).toBeLessThanOrEqual(4);
      const invited = await lab.store.members.invitations(volume.account.id);
      expect(invited).toMatchObject([{ email: 'auditor@good.com', role: 'viewer' }]);
    });

    it('10. has alerts sent to a chat, and sees one arrive: 4 clicks', async () => {
      const { page, clicks } = await open('/', 'Overview');
      await goTo(page, 'Alerts');
      await button(page, 'Add chat').click();
      await page.locator('input[type=url]:focus').waitFor();
      await page.keyboard.type(`${receiver.url}/services/T0/alerts`);
      await button(dialog(page), 'Add chat').click();
      await button(page, /^Test /).click();
      await says(page, /^The test arrived at /);
      expect(await clicks()).toBeLessThanOrEqual(4);
      const { body } = receiver.received.findLast(({ path }) => path.endsWith('/alerts'))!;
      expect(JSON.parse(body).text).toContain('Test of alerts');
    });

    it('11. finds an address on a slow line without losing a key: 0 clicks', async () => {
      const { page, context, clicks } = await open('/log', 'Log');
      const line = await context.newCDPSession(page);
      await line.send('Network.enable');
      await line.send('Network.setCacheDisabled', { cacheDisabled: true });
      const speed = { downloadThroughput: 50_000, uploadThroughput: 50_000, latency: 300, offline: false };
      await line.send('Network.emulateNetworkConditions', speed);
      await page.reload({ waitUntil: 'commit' });
      // From here on keys reach the page; its palette has not been loaded yet.
      await page.locator('[data-first-view]').waitFor({ state: 'detached' });
      await page.keyboard.press('Control+k');
      await page.keyboard.type('jk@company17.com');
      const box = dialog(page, 'Find').getByLabel('Find a page, a record or an action');
      await expect.poll(() => box.inputValue()).toBe('jk@company17.com');
      await says(page, 'Log of jk@company17.com');
      expect(await box.inputValue()).toBe('jk@company17.com');
      expect(new URL(page.url()).pathname).toMatch(/\/log$/);
      expect(new URL(page.url()).searchParams.has('open')).toBe(false);
      expect(await clicks()).toBe(0);
    });
  });

  it('shows its unknown ones at once, although a list ran in between: 2 clicks', async () => {
    const { page, clicks } = await open('/log', 'Log');
    await button(page, 'Views').click();
    await page.getByRole('menuitemradio', { name: 'Unknown, last 7 days' }).click();
    await expect.poll(() => rows(page), { timeout: 10_000 }).toBe(50);
    expect(await clicks()).toBe(2);
  });

  it('finds what was asked for at the level smtp and charged as mx: several reasons by name, no Load more', async () => {
    const { page, clicks } = await open('/log?level=smtp', 'Log');
    await button(page, /Reason$/).click();
    const item = (name: string) => page.getByRole('menuitemcheckbox', { name });
    await item('Greylisted').waitFor();
    // Typing goes to the item.
    await page.keyboard.type('grey');
    await page.keyboard.press('Enter');
    await expect.poll(() => item('Greylisted').getAttribute('aria-checked')).toBe('true');
    await item('DNS failure').click();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await expect.poll(() => rows(page), { timeout: 10_000 }).toBe(50);
    await button(page, /^Reason is DNS failure or Greylisted|^Reason is Greylisted or DNS failure/).waitFor();
    await expectText(page.locator('tr[data-entry]').first()).toContain('smtp, charged as mx');
    expect(new URL(page.url()).searchParams.get('reason')?.split(',').sort()).toEqual(['dns_failure', 'greylisted']);
    expect(await clicks()).toBe(2);
  });

  it('has bars of the search and its time, and takes two dates', async () => {
    const { page, clicks } = await open('/log?range=7d&reason=greylisted', 'Log');
    const strip = page.getByRole('region', { name: 'Verifications by time' });
    await strip.getByRole('toolbar', { name: 'Days' }).getByRole('button').nth(6).waitFor();
    const total = Number(/^[\d,]+/.exec((await strip.textContent()) ?? '')?.[0].replaceAll(',', ''));
    // One in ten of about 6,400 calls of a week.
    expect(total).toBeGreaterThan(500);
    expect(total).toBeLessThan(800);
    await button(page, /^Time is/).click();
    await page.getByRole('menuitem', { name: 'Custom…' }).click();
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    await field(dialog(page, 'Time'), 'From (UTC)').fill(day(5));
    await field(dialog(page, 'Time'), 'To (inclusive)').fill(day(4));
    expect(await violations(page)).toEqual([]);
    await button(dialog(page, 'Time'), 'Apply').click();
    await expect.poll(() => new URL(page.url()).searchParams.get('from')).toBe(day(5));
    await strip.getByRole('toolbar', { name: 'Hours' }).getByRole('button').nth(47).waitFor();
    await expect.poll(() => rows(page)).toBe(50);
    expect(await clicks()).toBe(3);
  });

  it('opens exactly the rows that a figure of seven days counts: 1 click', async () => {
    const { page, clicks } = await open('/usage?range=7d', 'Usage');
    const failures = rowOf(page, 'DNS failure');
    const counted = Number((await failures.getByRole('cell').nth(1).textContent()) ?? '');
    expect(counted).toBeGreaterThan(0);
    await failures.getByRole('link').first().click();
    await button(page, 'Time is Last 7 days').waitFor();
    await says(page, counted === 1 ? 'The only match is shown.' : `All ${counted} matches are shown.`);
    await expect.poll(() => rows(page)).toBe(counted);
    expect(await clicks()).toBe(1);
  });

  it('allows the address of a rejected request: 3 clicks', async () => {
    const allowIps = ['203.0.113.1'];
    const { key, value } = await createKey(lab.store, volume.account.id, { name: 'Locked', allowIps });
    const verified = async () => {
      const headers = { authorization: `Bearer ${value}` };
      return (await request(lab.url, 'POST', '/v1/verify', { email: 'jane@good.com' }, headers)).status;
    };
    expect(await verified()).toBe(403);
    // It is written a few seconds later.
    const written = () => runSql(lab.databaseUrl, `SELECT 1 FROM rejected_requests WHERE key_id = '${key.id}'`);
    await expect.poll(written).toHaveLength(1);
    const { page, clicks } = await open('/log?status=rejected', 'Log');
    await rowOf(page, 'Locked').click();
    const drawer = page.getByRole('region', { name: 'Rejected request' });
    await expectText(drawer).toContain('“Locked” allows 203.0.113.1.');
    await expectText(drawer).toContain('1 request with “Locked” was rejected today (UTC)');
    await button(drawer, 'Allow 127.0.0.1').click();
    expect(await violations(page)).toEqual([]);
    await button(dialog(page, 'Allow 127.0.0.1'), 'Allow').click();
    await says(page, '“Locked” allows 127.0.0.1.');
    expect(await clicks()).toBe(3);
    await expect.poll(verified).toBe(200);
    await drawer.getByRole('link', { name: 'Open as a page' }).click();
    await heading(page, 'Rejected request').waitFor();
    expect(new URL(page.url()).pathname).toMatch(/\/log\/rejected-\d+$/);
    await page.reload();
    await says(page, '“Locked” allows 127.0.0.1 by now.');
  });

  it('has the addresses of a key, although a list of another one ran in between', async () => {
    const [key] = await runSql(lab.databaseUrl, "SELECT id FROM keys WHERE name = 'Sign-up form'");
    const { page } = await open(`/settings/keys/${key?.id}`, 'Sign-up form');
    const clients = page.getByRole('table', { name: /^IP addresses/ });
    const from = Date.now() - RECENT_DAYS * DAY_MS;
    const calls = await runSql(
      lab.databaseUrl,
      `SELECT count(*) AS n FROM verifications WHERE key_id = '${key?.id}' AND created_at >= ${from}`,
    );
    await expectText(clients.getByRole('row').nth(1)).toContain('198.51.100.7');
    expect(numberIn(await clients.getByRole('row').nth(1).getByRole('cell').nth(1).textContent())).toBe(calls[0]?.n);
    expect(await clients.getByRole('row').count()).toBe(2);
  });

  it('says that there is nothing when there is nothing', async () => {
    const { page } = await open('/log?reason=mailbox_full', 'Log');
    await says(page, 'Nothing in the log matches.');
    expect(await more(page)).toBe(0);
  });
});
