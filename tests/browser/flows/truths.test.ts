/**
 * Figures and sentences that were once untrue, each as the page says it; the addresses of a key are in volume.test.ts.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/kernel/clock.ts';
import { describeBrowser } from '../../lab/browser.ts';
import type { Zone } from '../../lab/dns.ts';
import { person } from '../../lab/person.ts';
import { type Lab, type Member, request, startLab } from '../../lab/service.ts';
import { expectText, goTo, heading, rowOf, says } from '../steps.ts';

/** Nobody listens on the port of its mail server. */
const CLOSED: Zone = { 'one.com': { MX: [[5, 'mx.one.com']] }, 'mx.one.com': { A: ['127.0.8.1'] } };
const HELD = 300;

describeBrowser('what was untrue is said as it is:', (browser) => {
  let lab: Lab;
  let api: Member;
  beforeAll(async () => {
    lab = await startLab({ MAILVET_SMTP_PORT: '9', MAILVET_SMTP_RATE_PER_OPERATOR: '0' }, { net: CLOSED });
    api = await lab.member({ credits: 500 });
    // 20 credits on the first day: 20 a day.
    for (let n = 0; n < 19; n += 1) await api.verify(`p${n}@good.com`);
    const asked = await api.verify('jane@one.com', { validation_type: 'smtp' });
    expect(asked.json).toMatchObject({ validation_type: 'mx', deliverability: 'unknown' });
    const hold = { id: 'lst_held', account: api.account.id, keyId: api.keyId, lifeMs: DAY_MS, amount: HELD };
    expect(await lab.store.sharedHolds.open(hold)).toMatchObject({ outcome: 'held' });
  });
  afterAll(() => lab.close());

  async function open(path: string, title: string | RegExp) {
    const who = await person(lab, { account: api.account.id, role: 'owner' });
    const visitor = await browser.visit(`${lab.url}${path}`, { as: who });
    await heading(visitor.page, title).waitFor();
    return visitor;
  }

  it('1. no share of deliverable mailboxes, and no operator that answered, where nobody was asked', async () => {
    const { page } = await open('/', 'Overview');
    await expectText(page.getByRole('region', { name: 'Key figures' })).toContain('Deliverable, where asked–');
    const operators = page.getByRole('table', { name: 'Mail operators' });
    await expectText(operators.getByRole('row').nth(1)).toContain('1not reached–');
  });

  it('2. the forecast divides, and the sentence and the axis name one day', async () => {
    const { page } = await open('/', 'Overview');
    const balance = page.getByRole('region', { name: 'Balance' });
    await expectText(balance).toContain('Without lists: about 20 a day');
    const text = (await balance.textContent()) ?? '';
    const days = [...text.matchAll(/about (\d{1,2} [A-Z][a-z]{2} \d{4})/g)].map(([, day]) => day);
    expect(days).toHaveLength(2);
    expect(new Set(days).size).toBe(1);
    // 180 credits at 20 a day.
    const left = (Date.parse(`${days[0]} UTC`) - Math.floor(Date.now() / DAY_MS) * DAY_MS) / DAY_MS;
    expect(left).toBe(9);
  });

  it('3. one number of available credits on every page, with what is held apart', async () => {
    const { page } = await open('/', 'Overview');
    const balance = page.getByRole('region', { name: 'Balance' });
    await expectText(balance).toContain('180 credits available');
    await expectText(balance).toContain('300 more credits held');
    await goTo(page, 'Verify');
    await says(page, /180 credits available/);
    await goTo(page, 'Credit ledger');
    await expectText(page.getByRole('main')).toMatch(/Available: 180/);
    await page.goto(`${lab.url}/account`);
    await heading(page, 'Account').waitFor();
    await expectText(page.getByRole('main')).toMatch(/180/);
    expect(await page.getByRole('main').textContent()).not.toContain('480 credits');
  });

  it('4. the level that was asked for, beside the one that was charged', async () => {
    const { page } = await open('/log?level=smtp', 'Log');
    await expectText(rowOf(page, 'jane@one.com')).toContain('smtp, charged as mx');
    await page.goto(`${lab.url}/log?level=mx`);
    await rowOf(page, 'p0@good.com').waitFor();
    expect(await rowOf(page, 'jane@one.com').count()).toBe(0);
  });

  it('5. test mode charges nothing, and says so', async () => {
    const { page } = await open(`/accounts/${api.account.id}_test/verify`, 'Verify');
    await says(page, /Test mode: nothing is charged\./);
    const main = page.getByRole('main');
    expect(await main.textContent()).not.toMatch(/Charged to the account|Costs at most|credits? available/);
  });

  it('6. a key that does not exist has no page of zeros', async () => {
    const { page, unwatch } = await open('/settings/keys', 'API keys');
    unwatch();
    await page.goto(`${lab.url}/settings/keys/key_none`);
    await heading(page, 'API key not found').waitFor();
    expect(await page.getByRole('region', { name: 'Key figures' }).count()).toBe(0);
  });

  it('7. rows of a canceled list were not verified, and never will be', async () => {
    const headers = { authorization: `Bearer ${api.key}` };
    const list = { emails: ['a@one.com', 'b@one.com'], name: 'spring.csv', validation_type: 'mx', start: false };
    const { id } = (await request(lab.url, 'POST', '/v1/lists', list, headers)).json;
    await request(lab.url, 'POST', `/v1/lists/${id}/cancel`, undefined, headers);
    const { page } = await open(`/lists/${id}`, 'spring.csv');
    await expectText(rowOf(page, 'a@one.com')).toContain('Not verified');
    expect(await page.getByText('Not verified yet').count()).toBe(0);
  });

  it('8. an operation has the errors that it can have, and no others', async () => {
    const { page } = await open('/docs/verify', 'Verify one address');
    const main = page.getByRole('main');
    await expectText(main).toContain('insufficient_credits');
    const text = (await main.textContent()) ?? '';
    for (const code of ['list_state', 'webhook_disabled', 'too_many_lists', 'filter_exists'])
      expect(text, code).not.toContain(code);
  });
});
