import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Lab, type Reply, request, startLab } from '../../lab/service.ts';
import { runSql } from '../../lab/stores.ts';
import { button, dialog, expectText, field, goTo, heading, rowOf, says, stored } from '../steps.ts';

describeBrowser('API keys', (browser) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab.close());

  /** Somebody with an account that has one key already, at the page of keys. */
  async function somebody(role: 'owner' | 'admin' | 'member' = 'admin') {
    const api = await lab.member({ credits: 10_000, plan: 'enterprise' });
    const who = await person(lab, { account: api.account.id, role, email: `somebody-${api.keyId}@good.com` });
    const visitor = await browser.visit(`${lab.url}/settings/keys`, { as: who });
    await heading(visitor.page, 'API keys').waitFor();
    return { ...visitor, api };
  }
  const verifyWith = (key: string): Promise<Reply> =>
    request(lab.url, 'POST', '/v1/verify', { email: 'jane@good.com' }, { authorization: `Bearer ${key}` });

  /** Leaves the dialog open that shows the key. */
  async function create(page: Page, name: string): Promise<string> {
    await button(page, 'Create API key').click();
    await field(dialog(page), 'Name').fill(name);
    await button(dialog(page), 'Create key').click();
    return (await dialog(page).getByLabel('API key', { exact: true }).textContent()) ?? '';
  }
  async function act(page: Page, name: string, action: string): Promise<void> {
    await button(page, new RegExp(`^Actions for ${name}`)).click();
    await page.getByRole('menuitem', { name: action }).click();
  }

  it('creates one that works immediately, shown once with a curl command', async () => {
    const { page, context } = await somebody();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await button(page, 'Create API key').click();
    await button(dialog(page), 'Create key').click();
    await says(page, 'Enter a name.');
    await field(dialog(page), 'Name').fill('Sign-up form');
    await button(dialog(page), 'Create key').click();
    const key = (await dialog(page).getByLabel('API key', { exact: true }).textContent()) ?? '';
    expect(key).toMatch(/^mv_live_\w{20,}$/);
    await says(page, /shown only once/);
    expect(await dialog(page).getByLabel('curl command', { exact: true }).textContent()).toContain(
      `-H 'Authorization: Bearer ${key}'`,
    );
    await button(dialog(page), 'Copy API key').click();
    await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(key);
    await button(dialog(page), 'Test key').click();
    await expectText(dialog(page)).toContain('The key works. Good: the domain accepts mail.');
    // It is not lost by accident.
    await page.keyboard.press('Escape');
    await button(dialog(page), 'Keep it open').click();
    expect(await dialog(page).getByLabel('API key', { exact: true }).textContent()).toBe(key);
    await button(dialog(page), 'Done').click();
    const row = rowOf(page, 'Sign-up form');
    await expectText(row).toContain(`mv_live_…${key.slice(-4)}`);
    await expectText(row).toContain('from 127.0.0.1');
    expect((await verifyWith(key)).json).toMatchObject({ status: 'good' });

    // Its page has what it was used for, from where, and its log.
    await row.getByRole('link', { name: 'Sign-up form' }).click();
    await heading(page, 'Sign-up form').waitFor();
    await expectText(page.getByRole('region', { name: 'Key figures' })).toMatch(/Verifications[12]/);
    await rowOf(page, '127.0.0.1').waitFor();
    await page.getByRole('link', { name: 'Open log' }).click();
    await rowOf(page, 'jane@good.com').waitFor();
    await expectText(page.getByRole('search')).toContain('Key is Sign-up form');
  });

  it('keeps the value in the open dialog only', async () => {
    const { page, requests } = await somebody();
    const seen: string[] = [];
    page.on('console', (message) => seen.push(message.text()));
    const key = await create(page, 'Secret');
    expect(key).toMatch(/^mv_live_/);
    await button(dialog(page), 'Done').click();
    await rowOf(page, 'Secret').waitFor();
    await expect.poll(() => page.content()).not.toContain(key);
    expect(await stored(page)).toContain('"databases":[],"caches":[]');
    for (const place of [await stored(page), seen.join('\n'), JSON.stringify(requests)])
      expect(place).not.toContain(key);
    expect(await page.evaluate<string>('JSON.stringify(performance.getEntriesByType("resource"))')).not.toContain(key);
    // Neither does it come back with the page, nor with anything that the page can ask for.
    await page.goBack();
    await page.goForward();
    await page.reload();
    await rowOf(page, 'Secret').waitFor();
    expect(await page.content()).not.toContain(key);
  });

  it('edits name and allowed addresses, and warns if the list excludes the user', async () => {
    const { page, refused, api } = await somebody();
    await act(page, 'test', 'Edit');
    const edit = dialog(page);
    await field(edit, 'Allowed IP addresses').fill('192.0.2.0/33');
    await says(page, 'Your own IP address is not on this list');
    refused(400, /\/keys\/key_/);
    await button(edit, 'Save').click();
    await expectText(edit).toMatch(/"192\.0\.2\.0\/33" is not an IP address/);
    await field(edit, 'Allowed IP addresses').fill('192.0.2.0/24; ::1,');
    await field(edit, 'Name').fill('Office');
    await button(edit, 'Save').click();
    await expectText(rowOf(page, 'Office')).toMatch(/192\.0\.2\.0\/24, ::1/);
    expect((await api.verify('jane@good.com')).status).toBe(403);

    await act(page, 'Office', 'Edit');
    await button(dialog(page), 'Add my IP').click();
    expect(await page.getByText('Your own IP address is not on this list').count()).toBe(0);
    await button(dialog(page), 'Save').click();
    await expectText(rowOf(page, 'Office')).toContain('127.0.0.1');
    expect((await api.verify('jane@good.com')).status).toBe(200);
  });

  it('limits a key: scopes, a monthly budget and an expiry date', async () => {
    const { page, api, refused } = await somebody();
    await act(page, 'test', 'Edit');
    const edit = dialog(page);
    await edit.getByRole('checkbox', { name: 'usage' }).uncheck();
    await field(edit, 'Monthly budget').fill('1');
    await field(edit, 'Expiry date').fill('2020-01-01');
    refused(400, /\/keys\/key_/);
    await button(edit, 'Save').click();
    await expectText(edit).toContain('expires_at must be in the future');
    await field(edit, 'Expiry date').fill('2999-01-01');
    await button(edit, 'Save').click();
    await expectText(rowOf(page, 'test')).toContain('0 of 1 credit this month');
    await expectText(rowOf(page, 'test')).toContain('verify, lists, filters, webhooks');
    await expectText(rowOf(page, 'test')).toMatch(/Active until .*2999/);
    expect((await api.call('GET', '/v1/usage')).json.code).toBe('scope_missing');
    expect((await api.verify('jane@good.com')).status).toBe(200);
    expect((await api.verify('jane@good.com')).json.code).toBe('key_budget_spent');
    await page.reload();
    await expectText(rowOf(page, 'test')).toContain('budget spent');
  });

  it('revokes a key in use: its next request is rejected', async () => {
    const { page } = await somebody();
    const key = await create(page, 'Leaked');
    await button(dialog(page), 'Done').click();
    const answers: number[] = [];
    let calling = true;
    const program = (async () => {
      while (calling) answers.push((await verifyWith(key)).status);
    })();
    await expect.poll(() => answers.length).toBeGreaterThan(2);

    await act(page, 'Leaked', 'Revoke');
    expect(await button(dialog(page), 'Revoke').isDisabled()).toBe(true);
    await field(dialog(page), 'Type “Leaked” to confirm').fill('leaked');
    expect(await button(dialog(page), 'Revoke').isDisabled()).toBe(true);
    await field(dialog(page), 'Type “Leaked” to confirm').fill('Leaked');
    const revoked = page.waitForResponse((response) => response.url().endsWith('/revoke'));
    await button(dialog(page), 'Revoke').click();
    expect((await revoked).status()).toBe(200);
    expect(await verifyWith(key)).toMatchObject({ status: 401 });
    calling = false;
    await program;
    expect(new Set(answers)).toEqual(new Set([200, 401]));
    // Once refused, always refused.
    expect(answers.indexOf(401)).toBeGreaterThan(answers.lastIndexOf(200));
    await expectText(rowOf(page, 'Leaked')).toMatch(/Revoked/);
    expect(await button(page, /^Actions for Leaked/).count()).toBe(0);
  });

  it('rolls: a new key with the same settings, the old one valid for the grace period', async () => {
    const { page, api } = await somebody();
    await act(page, 'test', 'Roll');
    await page.getByRole('radio', { name: 'After 1 hour' }).check();
    await button(dialog(page), 'Roll key').click();
    const value = dialog(page).getByLabel('API key', { exact: true });
    const fresh = (await value.textContent()) ?? '';
    await says(page, /remains valid for 1 hour/);
    await button(dialog(page), 'Done').click();
    await expectText(rowOf(page, 'Rolled; expires')).toContain('test');
    expect([(await api.verify('jane@good.com')).status, (await verifyWith(fresh)).status]).toEqual([200, 200]);

    await act(page, `test, mv_live_…${fresh.slice(-4)}`, 'Roll');
    await page.getByRole('radio', { name: 'Immediately' }).check();
    await button(dialog(page), 'Roll key').click();
    await expect.poll(() => value.textContent()).not.toBe(fresh);
    await says(page, /is revoked\./);
    const fresher = (await value.textContent()) ?? '';
    expect([(await verifyWith(fresh)).status, (await verifyWith(fresher)).status]).toEqual([401, 200]);
  });

  it('names the keys to review in one line, and shows those with one notice', async () => {
    const { page, api } = await somebody();
    await api.verify('jane@good.com');
    for (const name of ['Never touched', 'Spare', 'Limited']) {
      await create(page, name);
      await button(dialog(page), 'Done').click();
      await rowOf(page, name).waitFor();
    }
    // In their first week, nothing is said of them.
    expect(await page.getByRole('region', { name: /to review$/ }).count()).toBe(0);
    await runSql(
      lab.databaseUrl,
      `UPDATE keys SET created_at = created_at - ${8 * 86_400_000} WHERE account_id = '${api.account.id}'`,
    );
    await page.reload();
    const review = page.getByRole('region', { name: '4 keys to review' });
    await expectText(review).toContain('Never used: 3 keys.');
    await expectText(review).toContain('Allowed from any IP address: 4 keys.');
    await review.getByRole('link', { name: '3 keys' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(4);
    expect(page.url()).toContain('show=never_used');
    await says(page, /an unused key is only a risk/);
    await page.getByRole('link', { name: 'Show all keys' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(5);
    // Few are named, with a link to the key itself.
    for (const name of ['Limited', 'Spare']) {
      await act(page, name, 'Revoke');
      await field(dialog(page), `Type “${name}” to confirm`).fill(name);
      await button(dialog(page), 'Revoke').click();
      await dialog(page).waitFor({ state: 'hidden' });
    }
    const rest = page.getByRole('region', { name: '2 keys to review' });
    await expectText(rest).toContain('Never used: Never touched.');
    await rest.getByRole('link', { name: 'test' }).click();
    await heading(page, 'test').waitFor();
    await page.goBack();
    await button(rest, 'Dismiss').click();
    await rest.waitFor({ state: 'hidden' });
    await page.reload();
    await rowOf(page, 'Never touched').waitFor();
    expect(await page.getByRole('region', { name: /to review$/ }).count()).toBe(0);
  });

  it('sorts them by what the table says of them, and counts rejected requests, which open in the log', async () => {
    const { page, api } = await somebody();
    const spare = await create(page, 'Spare');
    await button(dialog(page), 'Done').click();
    await api.verify('jane@good.com');
    await request(lab.url, 'POST', '/v1/verify', {}, { authorization: `Bearer ${spare}` });
    // Written every few seconds.
    await expect.poll(async () => (await lab.store.rejectedRequests.countByKey(api.account.id, 0)).size).toBe(1);
    await page.reload();
    const first = () => expectText(page.getByRole('row').nth(1));
    const head = (name: string) => page.getByRole('columnheader', { name });
    const sort = (name: string) => head(name).getByRole('link').click();
    await first().toContain('Spare');
    expect(await head('Created').getAttribute('aria-sort')).toBe('descending');
    await sort('30 days');
    await first().toContain('test');
    await sort('Key');
    await first().toContain('Spare');
    await sort('Key');
    await first().toContain('test');
    expect([await head('Key').getAttribute('aria-sort'), new URL(page.url()).search]).toEqual([
      'descending',
      '?sort=name&order=desc',
    ]);
    expect(await head('Created').getAttribute('aria-sort')).toBe('none');
    await sort('Rejected');
    await first().toContain('Spare');
    await rowOf(page, 'Spare').getByRole('link', { name: '1', exact: true }).click();
    await says(page, 'POST /v1/verify');
  });

  it('has the first request in each language', async () => {
    const { page, api } = await somebody();
    const sample = (language: string) => page.getByRole('group', { name: `sample in ${language}` });
    await expectText(sample('curl')).toContain('Authorization: Bearer $MAILVET_KEY');
    await expectText(sample('curl')).toContain(`${lab.url}/v1/verify`);
    await page.getByText('Python', { exact: true }).click();
    await expectText(sample('Python')).toContain(`email="somebody-${api.keyId}@good.com"`.toLowerCase());
    await page.getByText('TypeScript', { exact: true }).click();
    await expectText(sample('TypeScript')).toContain('mailvet.verify({ email:');
  });

  it('a member can only view them', async () => {
    const { page, api } = await somebody('member');
    await says(page, 'Only admins and owners can create, edit and revoke API keys.');
    await rowOf(page, 'test').waitFor();
    expect(await button(page, 'Create API key').count()).toBe(0);
    expect(await button(page, /^Actions/).count()).toBe(0);
    await goTo(page, 'Members');
    const keys = `${lab.url}/dashboard/accounts/${api.account.id}/keys`;
    const answer = await page.request.post(keys, { data: { name: 'mine' } });
    expect(answer.status()).toBe(403);
  });
});
