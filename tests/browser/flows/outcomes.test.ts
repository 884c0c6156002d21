import { afterAll, beforeAll, expect, it } from 'vitest';
import { violations } from '../../lab/axe.ts';
import { describeBrowser } from '../../lab/browser.ts';
import { EVENT_BODIES, SIGNED_CALLS } from '../../lab/outcome-providers.ts';
import { person } from '../../lab/person.ts';
import { type Lab, type Member, request, startLab } from '../../lab/service.ts';
import { button, dialog, expectText, field, heading, rowOf, says, stored } from '../steps.ts';

const SOON = { timeout: 30_000 };
/** As few verdicts as say how often they were right. */
const ENOUGH = 50;

describeBrowser('outcomes', (browser) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab.close());

  /** Somebody at the page of outcomes of an account of their own. */
  async function somebody(role: 'admin' | 'member' = 'admin') {
    const api = await lab.member({ credits: 1000, rateLimit: 1000 });
    const who = await person(lab, { account: api.account.id, role, email: `outcomes-${api.keyId}@good.com` });
    const visitor = await browser.visit(`${lab.url}/outcomes`, { as: who });
    await heading(visitor.page, 'Outcomes').waitFor();
    return { ...visitor, api, who };
  }
  const report = async (api: Member, from: number, to: number) => {
    const emails = Array.from({ length: to - from }, (_, i) => `user${from + i}@good.com`);
    for (const email of emails) expect((await api.verify(email)).status).toBe(200);
    const at = new Date().toISOString();
    const outcomes = emails.map((email) => ({ email, outcome: 'delivered', at }));
    const reply = await api.call('POST', '/v1/outcomes', { outcomes });
    expect([reply.status, reply.json.recorded], reply.text).toEqual([200, emails.length]);
  };

  it('of a provider that is connected are counted, and so are those that are reported', async () => {
    const { page, api, who } = await somebody();
    await says(page, 'No outcomes yet');
    await button(page, 'Connect provider').click();
    await button(dialog(page), 'Connect provider').click();
    await says(page, 'Enter a name.');
    await dialog(page).getByLabel('Provider', { exact: true }).selectOption('Postmark');
    await field(dialog(page), 'Name').fill('Newsletter');
    await button(dialog(page), 'Connect provider').click();
    const secret = (await dialog(page).getByLabel('signing secret', { exact: true }).textContent()) ?? '';
    expect(secret.length).toBeGreaterThan(20);
    await expectText(dialog(page)).toContain('webhook for delivery, bounce and spam complaint');
    const url = (await dialog(page).getByLabel('URL', { exact: true }).textContent()) ?? '';
    expect(await violations(page, 'all', 'overlay')).toEqual([]);
    await button(dialog(page), 'Done').click();
    await expectText(rowOf(page, 'Newsletter')).toContain('None yet');
    expect(await page.content()).not.toContain(secret);
    expect(await stored(page)).not.toContain(secret);

    const email = 'jane@good.com';
    expect((await api.verify(email)).status).toBe(200);
    const call = (with_: string) => {
      const event = EVENT_BODIES.postmark({ email, outcome: 'bounced', at: Date.now() });
      const { body, headers } = SIGNED_CALLS.postmark(event, { secret: with_, id: 'one', at: Date.now() });
      return request(lab.url, 'POST', new URL(url).pathname, body, { 'content-type': 'application/json', ...headers });
    };
    expect((await call(secret)).json.results).toEqual([{ result: 'recorded', class: 'absent' }]);
    const sources = `/dashboard/accounts/${api.account.id}/outcome-sources`;
    expect((await who.call('GET', sources)).json.sources[0].received).toBe(1);
    await page.reload();
    const row = page.getByRole('table', { name: 'By verdict' }).getByRole('row').nth(1);
    await expectText(row).toMatch(/Domain accepts mail.*11Too few: 1 of 50/);
    await expectText(rowOf(page, 'Newsletter')).not.toContain('None yet');

    await report(api, 0, ENOUGH - 1);
    await page.reload();
    await expectText(row).toMatch(/5012 %0\.1 to 12 %/);
    await expectText(page.getByRole('region', { name: 'How much bounced' })).toContain('0.1 to 12 %, of 50');
    await says(page, 'No outcome contradicts its verdict.');
    await expectText(rowOf(page, 'POST /v1/outcomes')).toContain(`${ENOUGH - 1}`);
    expect(await violations(page)).toEqual([]);
    // Numbers lead to what they count.
    await row.getByRole('link', { name: '1', exact: true }).click();
    await heading(page, 'Log').waitFor();
    await says(page, email);
    await expectText(page.getByRole('search')).toContain('Bounced');
    await page.goBack();

    await button(page, 'Roll secret of Newsletter').click();
    await page.getByRole('radio', { name: 'is refused from now on' }).check();
    await button(dialog(page), 'Roll secret').click();
    const rolled = (await dialog(page).getByLabel('signing secret', { exact: true }).textContent()) ?? '';
    await button(dialog(page), 'Done').click();
    expect((await call(secret)).status).toBe(401);
    expect((await call(rolled)).status).toBe(200);
    await button(page, 'Delete Newsletter').click();
    await button(dialog(page), 'Delete').click();
    await says(page, 'No provider is connected.');
    expect((await call(rolled)).status).toBe(401);
    // What it reported still counts.
    await page.reload();
    await expectText(row).toContain('50');
  });

  it('show what replies predicted beside what came of it, and verdicts that mail contradicts', async () => {
    const { page, api } = await somebody();
    await report(api, 0, ENOUGH);
    await expect.poll(async () => (await api.verify('next@good.com')).json.confidence?.n, SOON).toBe(ENOUGH);
    // Those that are verified now have a confidence.
    await report(api, 100, 100 + ENOUGH);
    const { json } = await api.verify('someone@nomx.com');
    expect(json.deliverability).toBe('undeliverable');
    const at = new Date().toISOString();
    await api.call('POST', '/v1/outcomes', { outcomes: [{ verification_id: json.id, outcome: 'delivered', at }] });
    await page.reload();
    await expectText(rowOf(page, '90 to 100 %')).toMatch(/50.*100 %/);
    await page.getByRole('img', { name: 'Predicted and arrived mail' }).getByText('n = 50').waitFor();
    const contradictions = page.getByRole('table', { name: 'Contradictions' });
    await expectText(contradictions.getByRole('row').nth(1)).toContain('Delivered');
    expect(await violations(page)).toEqual([]);
    await contradictions.getByRole('link').first().click();
    await heading(page, 'Verification').waitFor();
    await says(page, 'someone@nomx.com');
    await page.goBack();
    const undeliverable = page
      .getByRole('table', { name: 'By verdict' })
      .getByRole('row', { name: 'Domain not found' });
    await undeliverable.getByRole('link', { name: '1', exact: true }).click();
    await heading(page, 'Log').waitFor();
    await says(page, 'someone@nomx.com');
  });

  it('of a provider that makes the secret need it, and take it', async () => {
    const { page } = await somebody();
    await button(page, 'Connect provider').click();
    await dialog(page).getByLabel('Provider', { exact: true }).selectOption('Mailgun');
    await field(dialog(page), 'Name').fill('Shop');
    await button(dialog(page), 'Connect provider').click();
    await expectText(dialog(page)).toContain('enter what Mailgun shows: HTTP webhook signing key');
    await button(dialog(page), 'Done').click();
    await expectText(rowOf(page, 'Shop')).toContain('Requests are refused until you enter');
    await button(page, 'Enter secret of Shop').click();
    await field(dialog(page), 'HTTP webhook signing key').fill('b2c1d0e9f8a7968574635241302f1e0d');
    await button(dialog(page), 'Save secret').click();
    await says(page, 'Secret saved.');
    await expectText(rowOf(page, 'Shop')).not.toContain('Requests are refused');
  });

  it('that bounced are trusted for as long as an admin says', async () => {
    const { page, refused } = await somebody();
    await says(page, 'Verdicts do not depend on your bounces.');
    refused(400, /\/dashboard\/accounts\/[^/]+$/);
    await field(page, 'Trust bounces (days)').fill('366');
    await button(page, 'Save').click();
    await says(page, 'trust_bounces_days must be a whole number from 1 to 365');
    await field(page, 'Trust bounces (days)').fill('30');
    await button(page, 'Save').click();
    await says(page, 'For 30 days, an address that bounced for its own reason');
    await field(page, 'Trust bounces (days)').fill('');
    await button(page, 'Save').click();
    await says(page, 'Verdicts do not depend on your bounces.');
  });

  it('are shown to members, who cannot change them', async () => {
    const { page } = await somebody('member');
    await says(page, 'No outcomes yet');
    await says(page, 'Only admins and owners can change this.');
    expect(await button(page, 'Connect provider').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
  });
});
