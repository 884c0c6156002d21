import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { type OidcLab, startOidc, verified } from '../../lab/oidc.ts';
import { type Person, person as personOf } from '../../lab/person.ts';
import { totp } from '../../lab/second-factor.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { button, dialog, heading } from '../steps.ts';

async function look(page: Page, name: string): Promise<void> {
  if (process.env.MAILVET_TEST_LOOK) await page.screenshot({ path: `${process.env.MAILVET_TEST_LOOK}/${name}.png` });
}

describeBrowser('signing in with an OpenID provider', (browser) => {
  let oidc: OidcLab;
  let lab: Lab;
  let jane: Person;
  beforeAll(async () => {
    oidc = await startOidc();
    lab = await startLab({}, { oidc });
    const account = await lab.store.accounts.create({ name: 'Acme', plan: 'premium', rateLimit: null, credits: 100 });
    jane = await personOf(lab, { account: account.id });
  });
  afterAll(async () => {
    await lab.close();
    await oidc.close();
  });

  it('leads to the requested page, and leaves nothing of the answer in the address', async () => {
    const { page, unwatch } = await browser.visit(`${lab.url}/filters`);
    // The provider is another site.
    unwatch();
    oidc.person = verified(String(oidc.person.sub), jane.email);
    await button(page, 'Continue with Lab ID').click();
    await heading(page, 'Filters').waitFor();
    expect(await page.getByText('are not valid and were ignored').count()).toBe(0);
    expect(new URL(page.url()).search).toBe('');
    await page.goBack();
    expect(page.url()).not.toContain('code=');
  });

  it('confirms a user without a password, who then sets up an authenticator app', async () => {
    const { page, unwatch } = await browser.visit(`${lab.url}/security`, { as: jane });
    unwatch();
    oidc.person = verified(jane.id, jane.email);
    await page.getByText('You have no password here.').waitFor();
    await button(page, 'Set up authenticator app').click();
    const before = dialog(page, 'Set up authenticator app');
    expect(await button(before, 'Continue').isDisabled()).toBe(true);
    await look(page, 'before');
    // A confirmation of somebody else shows why it failed, and the session goes on.
    oidc.person = verified('somebody else', jane.email);
    await button(before, 'Confirm with Lab ID').click();
    await page.getByText('You signed in as somebody else at Lab ID.').waitFor();
    await look(page, 'refused');
    oidc.person = verified(jane.id, jane.email);
    await page.getByText('Back to sign-in and security').click();
    await button(page, 'Set up authenticator app').click();
    await button(dialog(page), 'Confirm with Lab ID').click();
    await page.getByText('You have confirmed with Lab ID that it is you.').waitFor();
    expect(page.url()).toBe(`${lab.url}/security`);
    await look(page, 'confirmed');
    await button(dialog(page), 'Continue').click();
    const secret = await dialog(page)
      .getByText(/^[A-Z2-7]{32,}$/)
      .innerText();
    await dialog(page).getByLabel('Authenticator code').fill(totp(secret));
    await button(dialog(page), 'Confirm').click();
    await page.getByText('Two-factor authentication is on.').waitFor();
  });

  it.each(['light', 'dark'] as const)('says why it failed, and goes nowhere else; %s', async (colorScheme) => {
    const { page, unwatch } = await browser.visit(`${lab.url}/sign-in`, { scheme: colorScheme });
    unwatch();
    oidc.lie = 'denies';
    await button(page, 'Continue with Lab ID').click();
    await heading(page, 'You are not signed in').waitFor();
    await page.getByText('Lab ID refused to sign you in (access_denied).').waitFor();
    const { origin, pathname, search } = new URL(page.url());
    expect([origin, pathname, search]).toEqual([lab.url, '/sign-in/oidc', '']);
    oidc.lie = null;
    await page.getByText('Back to sign-in').click();
    await heading(page, 'Sign in').waitFor();
    await look(page, colorScheme);
  });
});
