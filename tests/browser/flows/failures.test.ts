/** What a page says where a part of it cannot be loaded. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { type Person, person } from '../../lab/person.ts';
import { type Lab, type Member, request, startLab } from '../../lab/service.ts';
import { button, dialog, field, fillIn, heading, rowOf, says } from '../steps.ts';

describeBrowser('a part that cannot be loaded', (browser) => {
  let lab: Lab;
  let api: Member;
  let owner: Person;
  let ready: string;
  beforeAll(async () => {
    lab = await startLab();
    api = await lab.member({ credits: 100 });
    owner = await person(lab, { account: api.account.id });
    await api.verify('jane@good.com');
    const draft = { emails: ['jane@good.com'], name: 'spring.csv', start: false };
    ready = (await request(lab.url, 'POST', '/v1/lists', draft, { authorization: `Bearer ${api.key}` })).json.id;
  });
  afterAll(() => lab.close());

  /** A page whose requests to `path` fail until `mend` is called. */
  async function broken(at: string, title: string, path: RegExp) {
    const { page, unwatch } = await browser.visit(`${lab.url}/docs`, { as: owner });
    unwatch();
    await page.route(path, (route) =>
      route.fulfill({ status: 500, json: { error: 'Out of order.', code: 'internal' } }),
    );
    await page.goto(lab.url + at);
    await heading(page, title).waitFor();
    return { page, mend: () => page.unroute(path) };
  }

  const PARTS = [
    ['/settings/keys', 'API keys', /\/key-usage/, 'What the keys were used for could not be loaded.'],
    ['/log', 'Log', /\/usage\?/, 'The chart of the time could not be loaded.'],
    ['/lists/:ready', 'spring.csv', /\/overview/, 'Your balance could not be loaded.'],
  ] as const;
  for (const [at, title, path, text] of PARTS)
    it(`${at}: ${text}`, async () => {
      const { page, mend } = await broken(at.replace(':ready', ready), title, path);
      await says(page, text);
      await mend();
      await button(page, 'Try again').click();
      await expect.poll(() => page.getByText(text).count()).toBe(0);
    });

  it('what does not come is said to take long, on a page and before there is one', async () => {
    for (const path of [/\/filters\?/, /\/dashboard\/session$/]) {
      const { page, context, unwatch } = await browser.visit(`${lab.url}/docs`, { as: owner });
      unwatch();
      await context.clock.install();
      await page.route(path, () => undefined);
      await page.goto(`${lab.url}/filters`);
      await page.getByRole('status', { name: 'Loading' }).first().waitFor();
      expect(await page.getByText('longer than usual').count()).toBe(0);
      await context.clock.runFor(11_000);
      await says(page, /longer than usual/);
    }
  });

  it('a page on a slow line is named at once, over its outline', async () => {
    const { page, unwatch } = await browser.visit(lab.url, { as: owner });
    await heading(page, 'Overview').waitFor();
    unwatch();
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    await page.route(/\/assets\/webhooks-[\w-]+\.js$/, async (route) => {
      await arrived;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByRole('main').getByRole('status', { name: 'Loading' }).first().waitFor();
    await page.getByRole('banner').getByText('Webhooks', { exact: true }).waitFor();
    expect(await page.title()).toBe('Webhooks · Mailvet');
    const line = page.getByRole('main').getByRole('status', { name: 'Loading' }).locator('i').first();
    expect(await line.isVisible()).toBe(true);
    arrive();
    await heading(page, 'Webhooks').waitFor();
  });

  it('saved views', async () => {
    const { page } = await broken('/log', 'Log', /\/views\?/);
    await rowOf(page, 'jane@good.com').waitFor();
    await button(page, 'Views').click();
    await says(page, 'The saved views could not be loaded.');
  });

  it('a page that is opened offline says so, keeps the navigation, and comes when the connection is back', async () => {
    const { page, context, unwatch } = await browser.visit(lab.url, { as: owner });
    await heading(page, 'Overview').waitFor();
    unwatch();
    await context.setOffline(true);
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await says(page, /You are offline/);
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    await context.setOffline(false);
    await heading(page, 'Webhooks').waitFor();
  });

  it('data that is asked for offline is said to wait, and comes by itself', async () => {
    const { page, context, unwatch } = await browser.visit(`${lab.url}/log`, { as: owner });
    await rowOf(page, 'jane@good.com').waitFor();
    unwatch();
    await context.setOffline(true);
    await rowOf(page, 'jane@good.com').click();
    await says(page, /You are offline/);
    await context.setOffline(false);
    await says(page, 'Mailbox exists');
    await expect.poll(() => page.getByText(/You are offline/).count()).toBe(0);
  });

  it('what opens on a page leaves the page as it is where it cannot be loaded', async () => {
    const { page, context, unwatch } = await browser.visit(`${lab.url}/verify`, { as: owner });
    unwatch();
    await field(page, 'Email address').fill('half an addr');
    await context.setOffline(true);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('ledger');
    await says(page, /You are offline/);
    expect(await dialog(page, 'Find').getByRole('textbox').inputValue()).toBe('ledger');
    await page.keyboard.press('Escape');
    await button(page, /account and settings$/).click();
    await says(page, /You are offline/);
    expect(await field(page, 'Email address').inputValue()).toBe('half an addr');
    await context.setOffline(false);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('ledger');
    await dialog(page, 'Find').getByRole('option', { name: 'Credit ledger' }).waitFor();
    expect(await field(page, 'Email address').inputValue()).toBe('half an addr');
  });

  const GONE = [
    ['/lists/lst_0VkP3Zq1n7Jc2mQ9sT4bXd', 'List'],
    ['/webhooks/whk_0VkP3Zq1n7Jc2mQ9sT4bXd', 'Webhook'],
    ['/log/ver_0VkP3Zq1n7Jc2mQ9sT4bXd', 'Verification'],
    ['/settings/keys/key_0VkP3Zq1n7Jc2mQ9sT4bXd', 'API key'],
    ['/no-such-page', 'Page'],
  ] as const;
  it.each(GONE)('%s is said not to exist, within the navigation', async (path, what) => {
    const { page, unwatch } = await browser.visit(`${lab.url}/docs`, { as: owner });
    unwatch();
    await page.goto(lab.url + path);
    await heading(page, `${what} not found`).waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    expect(await page.getByText('Something went wrong').count()).toBe(0);
    expect(await button(page, 'Try again').count()).toBe(0);
  });

  it('a wrong password and a broken link are said as they are', async () => {
    const { page, unwatch } = await browser.visit(`${lab.url}/sign-in`);
    unwatch();
    await fillIn(page, { Email: owner.email, Password: 'not the password' });
    await button(page, 'Sign in').click();
    await says(page, /email address or password is incorrect/);
    expect(await page.getByText('Something went wrong').count()).toBe(0);
    await page.goto(`${lab.url}/invitation#token=broken`);
    await says(page, /link is incomplete/);
    expect(await page.getByText('token must be').count()).toBe(0);
  });

  it('a picture that is dropped as a list is named as one', async () => {
    const { page, unwatch } = await browser.visit(`${lab.url}/lists/new`, { as: owner });
    unwatch();
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
    const file = { name: 'logo.png', mimeType: 'image/png', buffer: png };
    await page.locator('input[type=file]').setInputFiles(file);
    await says(page, /is a picture/);
    expect(await page.getByText('columns are').count()).toBe(0);
  });
});
