/** The API reference: for everybody, of the document that the service serves. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { violations } from '../../lab/axe.ts';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Lab, type Member, request, startLab } from '../../lab/service.ts';
import { transferred } from '../../lab/transfer.ts';
import { button, dialog, expectText, field, goTo, heading, says, sideways, signInAs, stored } from '../steps.ts';

/** With the dashboard's own scripts and the document; it was 1,255 KB. */
const MOST_KB = 255;

describeBrowser('the API reference', (browser) => {
  let lab: Lab;
  let member: Member;
  beforeAll(async () => {
    lab = await startLab();
    member = await lab.member({ credits: 100 });
  });
  afterAll(() => lab.close());

  it('is read without a session: every operation and event, with errors, at a URL of its own', async () => {
    const { page, requests } = await browser.visit(`${lab.url}/docs`);
    await heading(page, 'API reference').waitFor();
    const { json } = await request(lab.url, 'GET', '/openapi.json');
    const described = [json.paths, json.webhooks].flatMap((paths) =>
      Object.values<Record<string, { operationId: string; summary: string }>>(paths).flatMap((methods) =>
        Object.values(methods),
      ),
    );
    const menu = page.getByRole('navigation', { name: 'API reference' });
    expect(await menu.getByRole('listitem').count()).toBe(described.length);
    for (const { operationId, summary } of described.filter((_, n) => n % 6 === 0)) {
      await menu.locator(`a[href="/docs/${operationId}"]`).click();
      await heading(page, summary).waitFor();
      expect(page.url()).toBe(`${lab.url}/docs/${operationId}`);
    }
    await page.goto(`${lab.url}/docs/addFilter`);
    await heading(page, 'Add a filter').waitFor();
    expect(await page.title()).toBe('Add a filter · Mailvet');
    await page.locator('summary', { hasText: 'filter_exists' }).click();
    await expectText(page.getByLabel('example of filter_exists', { exact: true })).toContain('existing_id');
    await page.goto(`${lab.url}/docs/nothing`);
    await heading(page, 'Page not found').waitFor();
    // The session is nobody's business here.
    expect(requests.filter(({ url }) => url.includes('/dashboard/'))).toEqual([]);
  });

  it('is searched with the keyboard', async () => {
    const { page } = await browser.visit(`${lab.url}/docs`);
    await heading(page, 'API reference').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('transcript');
    await says(page, /entr(y|ies) found/);
    await page.keyboard.press('Enter');
    await heading(page, 'Verify one address').waitFor();
    await field(page, 'Search the API reference').fill('zebra crossing');
    await says(page, 'Nothing found.');
    // An error that nearly every operation has.
    await field(page, 'Search the API reference').fill('rate_limit_exceeded');
    await page
      .getByRole('navigation', { name: 'API reference' })
      .getByRole('link', { name: 'rate_limit_exceeded' })
      .waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${lab.url}/guide/errors**`);
    await page.getByRole('cell', { name: 'rate_limit_exceeded' }).waitFor();
  });

  it('fills in a key that is pasted, in each language, and keeps it nowhere', async () => {
    const { page, context } = await browser.visit(`${lab.url}/docs/usage`);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const sample = (language: string) => page.getByLabel(`sample in ${language}`, { exact: true });
    await expectText(sample('curl')).toContain('$MAILVET_KEY');
    await field(page, 'API key in the samples').fill('password');
    await says(page, /This is not an API key/);
    await expectText(sample('curl')).toContain('$MAILVET_KEY');
    await field(page, 'API key in the samples').fill(member.key);
    await says(page, /live key: requests with it cost credits/);
    for (const language of ['TypeScript', 'Python', 'PHP', 'curl']) {
      await page.getByText(language, { exact: true }).click();
      await expectText(sample(language)).toContain(member.key);
    }
    await button(page, 'Copy sample in curl').click();
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
    await expect.poll(copied).toContain(`curl -sS ${lab.url}/v1/usage`);
    expect(await copied()).toContain(member.key);
    await page.getByRole('link', { name: 'Remove a filter' }).click();
    await expectText(sample('curl')).toContain(member.key);
    expect(await stored(page)).not.toContain(member.key);
    await page.reload();
    await expectText(sample('curl')).toContain('$MAILVET_KEY');
  });

  it('fills in the test key that was just created, and leads back', async () => {
    const who = await person(lab, { account: member.account.id, role: 'admin' });
    const { page } = await browser.visit(`${lab.url}/settings/keys`, { as: who });
    await page.getByRole('navigation', { name: 'Mode' }).getByRole('link', { name: 'Test' }).click();
    await page.waitForURL(/\/accounts\/.+/);
    await heading(page, 'API keys').waitFor();
    await button(page, 'Create API key').click();
    await field(dialog(page), 'Name').fill('Samples');
    await button(dialog(page), 'Create key').click();
    const key = (await dialog(page).getByLabel('API key', { exact: true }).textContent()) ?? '';
    expect(key).toMatch(/^mv_test_/);
    await button(dialog(page), 'Done').click();
    await goTo(page, 'API reference');
    await expectText(page.getByLabel('sample in curl', { exact: true })).toContain(key);
    await page.getByRole('navigation', { name: 'API reference' }).locator('a[href="/docs/verify"]').click();
    const tried = page.getByRole('region', { name: 'Try it' });
    await field(tried, 'Body').fill('{"email": "mailbox_full@example.com", "validation_type": "smtp"}');
    await button(tried, 'Send with the test key').click();
    await expectText(tried.getByLabel('reply to the request', { exact: true })).toContain('"reason": "mailbox_full"');
    expect(await violations(page)).toEqual([]);
    await page.setViewportSize({ width: 375, height: 740 });
    await expect.poll(() => sideways(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await heading(page, 'Overview').waitFor();
    expect(page.url()).toMatch(/\/accounts\/[^/]+$/);
  });

  it('leads to signing in without a session, and costs little', async () => {
    // Before the first user, it would lead to the setup.
    const who = await person(lab, { account: member.account.id });
    const { page, requests } = await browser.visit(`${lab.url}/docs/verify`);
    await heading(page, 'Verify one address').waitFor();
    const loaded = requests.map(({ url }) => url).filter((url) => /\.(js|css)$|openapi\.json$/.test(url));
    const { bytes, codings } = await transferred(loaded);
    expect(codings).toEqual(new Set(['gzip']));
    expect(bytes / 1000).toBeLessThanOrEqual(MOST_KB);
    expect(bytes / 1000).toBeGreaterThan(50);
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await heading(page, 'Sign in').waitFor();
    await signInAs(page, who);
    await heading(page, 'Overview').waitFor();
  });

  it('has a guide whose search finds titles first', async () => {
    const { page } = await browser.visit(`${lab.url}/guide/`);
    const first = page.getByRole('option').first();
    for (const [words, title] of [
      ['port 25', 'Port 25, name and address'],
      ['rate limit', 'Rate limit'],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.getByRole('searchbox').fill(words);
      await expectText(first).toContain(title);
      await page.keyboard.press('Escape');
    }
  });
});
