/** What a page says where a part of it cannot be loaded. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { type Person, person } from '../../lab/person.ts';
import { type Lab, type Member, request, startLab } from '../../lab/service.ts';
import { button, heading, rowOf, says } from '../steps.ts';

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

  it('saved views', async () => {
    const { page } = await broken('/log', 'Log', /\/views\?/);
    await rowOf(page, 'jane@good.com').waitFor();
    await button(page, 'Views').click();
    await says(page, 'Your saved views could not be loaded.');
  });
});
