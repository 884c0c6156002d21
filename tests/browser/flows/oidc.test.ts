import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { type OidcLab, startOidc, verified } from '../../lab/oidc.ts';
import { type Person, person as personOf } from '../../lab/person.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import { button, heading } from '../steps.ts';

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
    expect(new URL(page.url()).search).toBe('');
    await page.goBack();
    expect(page.url()).not.toContain('code=');
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
    if (process.env.MAILVET_TEST_LOOK)
      await page.screenshot({ path: `${process.env.MAILVET_TEST_LOOK}/${colorScheme}.png` });
  });
});
