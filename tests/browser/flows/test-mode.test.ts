import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { person } from '../../lab/person.ts';
import { type Lab, request, startLab } from '../../lab/service.ts';
import { button, dialog, expectText, field, fillIn, goTo, heading, rowOf, says } from '../steps.ts';

describeBrowser('test mode', (browser) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab.close());

  it('is switched to on any page, shows test data alone, and says so', async () => {
    const api = await lab.member();
    const live = api.account.id;
    const who = await person(lab, { account: live, role: 'admin', email: 'ada@good.com' });
    const { page } = await browser.visit(`${lab.url}/settings/keys`, { as: who });
    await heading(page, 'API keys').waitFor();
    const mode = page.getByRole('navigation', { name: 'Mode' });
    const edge = page.locator('[class*=edge]');
    await rowOf(page, 'mv_live_…').waitFor();
    expect(await edge.count()).toBe(0);

    await mode.getByRole('link', { name: 'Test' }).click();
    await says(page, 'No API keys yet');
    expect(page.url()).toBe(`${lab.url}/accounts/${live}_test/settings/keys`);
    expect(await mode.getByRole('link', { name: 'Test' }).getAttribute('aria-current')).toBe('true');
    expect(await edge.count()).toBe(1);

    await button(page, 'Create API key').first().click();
    await fillIn(dialog(page), { Name: 'CI' });
    await button(dialog(page), 'Create key').click();
    const key = (await dialog(page).getByLabel('API key', { exact: true }).textContent()) ?? '';
    expect(key).toMatch(/^mv_test_\w{32}$/);
    await says(page, /Costs nothing\./);
    await button(dialog(page), 'Test key').click();
    await expectText(dialog(page)).toContain('The key works.');
    await button(dialog(page), 'Done').click();
    await rowOf(page, 'CI').waitFor();
    const bearer = { authorization: `Bearer ${key}` };
    const email = 'mailbox_not_found@nowhere.example';
    await request(lab.url, 'POST', '/v1/verify', { email, validation_type: 'smtp' }, bearer);

    await goTo(page, 'Log');
    await rowOf(page, email).waitFor();
    expect(page.url()).toContain(`/accounts/${live}_test/`);
    await goTo(page, 'Verify');
    await field(page, 'Email address').fill('disposable_domain@nowhere.example');
    await button(page, 'Verify').click();
    await says(page, /disposable address/i);

    // Reloaded, it is still test mode.
    await page.goto(`${lab.url}/accounts/${live}_test/log`);
    await rowOf(page, 'disposable_domain@nowhere.example').waitFor();
    await mode.getByRole('link', { name: 'Live' }).click();
    await says(page, /No verifications/);
    expect(page.url()).toBe(`${lab.url}/accounts/${live}/log`);
    expect(await edge.count()).toBe(0);
  });

  it('has no settings, members and credits', async () => {
    const api = await lab.member();
    const who = await person(lab, { account: api.account.id, role: 'owner', email: 'owner@good.com' });
    const { page } = await browser.visit(`${lab.url}/accounts/${api.account.id}_test/account`, { as: who });
    await heading(page, 'Not in test mode').waitFor();
    const pages = page.getByRole('navigation', { name: 'Pages' });
    expect(await pages.getByRole('link', { name: 'Members' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Switch to live mode' }).click();
    await heading(page, 'Account').waitFor();
    expect(await pages.getByRole('link', { name: 'Members' }).count()).toBe(1);
  });
});
