import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from '../../lab/browser.ts';
import { SAMPLE_BODIES, SIGNED } from '../../lab/hook-callers.ts';
import { person } from '../../lab/person.ts';
import { type Lab, request, startLab } from '../../lab/service.ts';
import { button, dialog, expectText, field, heading, rowOf, says, stored } from '../steps.ts';

describeBrowser('auth hooks', (browser) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab.close());

  /** Somebody at the page of hooks of an account of their own. */
  async function somebody(role: 'admin' | 'member' = 'admin') {
    const api = await lab.member();
    const who = await person(lab, { account: api.account.id, role, email: `hooks-${api.keyId}@good.com` });
    const visitor = await browser.visit(`${lab.url}/settings/hooks`, { as: who });
    await heading(visitor.page, 'Auth hooks').waitFor();
    return { ...visitor, api };
  }
  const call = (url: string, secret: string, email: string) => {
    const body = JSON.stringify(SAMPLE_BODIES.supabase(email));
    const headers = SIGNED.supabase({ secret, body, id: `msg_${email}`, at: Date.now() });
    return request(lab.url, 'POST', new URL(url).pathname, body, headers);
  };

  it('are created with a secret that is shown once, called, edited, rolled and deleted', async () => {
    const { page } = await somebody();
    await button(page, 'Create auth hook').click();
    await button(dialog(page), 'Create auth hook').click();
    await says(page, 'Enter a name.');
    await field(dialog(page), 'Name').fill('Shop');
    await dialog(page).getByLabel('Policy').selectOption('strict');
    await field(dialog(page), 'Time limit of the auth server').fill('100');
    await button(dialog(page), 'Create auth hook').click();
    await expectText(dialog(page)).toContain('Enter a whole number');
    await field(dialog(page), 'Time limit of the auth server').fill('4000');
    await button(dialog(page), 'Create auth hook').click();
    const secret = (await dialog(page).getByLabel('signing secret', { exact: true }).textContent()) ?? '';
    expect(secret).toMatch(/^v1,whsec_/);
    const url = (await dialog(page).getByLabel('URL', { exact: true }).textContent()) ?? '';
    await button(dialog(page), 'Done').click();
    await expectText(rowOf(page, 'Shop')).toContain('Never');
    expect(await page.content()).not.toContain(secret);
    expect(await stored(page)).not.toContain(secret);

    expect((await call(url, secret, 'jane@mailinator.com')).json).toMatchObject({ error: { http_code: 400 } });
    await button(rowOf(page, 'Shop'), 'Edit Shop').click();
    await field(dialog(page), 'Name').fill('Shop, production');
    await button(dialog(page), 'Save').click();
    await says(page, 'Auth hook saved.');

    await button(page, 'Roll secret of Shop, production').click();
    await page.getByRole('radio', { name: 'is refused from now on' }).check();
    await button(dialog(page), 'Roll secret').click();
    const rolled = (await dialog(page).getByLabel('signing secret', { exact: true }).textContent()) ?? '';
    await button(dialog(page), 'Done').click();
    expect((await call(url, secret, 'bob@good.com')).status).toBe(401);
    expect((await call(url, rolled, 'bob@good.com')).json).toEqual({});

    await page.getByRole('link', { name: 'Shop, production' }).click();
    await heading(page, 'Log').waitFor();
    await says(page, 'jane@mailinator.com');
    await page.goBack();
    await button(page, 'Delete Shop, production').click();
    await button(dialog(page), 'Delete').click();
    await says(page, 'No auth hooks yet');
    expect((await call(url, rolled, 'cy@good.com')).status).toBe(401);
  });

  it('of an auth server that makes the secret say that it is missing, and take it', async () => {
    const { page } = await somebody();
    await button(page, 'Create auth hook').click();
    await dialog(page).getByLabel('Auth server', { exact: true }).selectOption('WorkOS');
    await field(dialog(page), 'Name').fill('Users');
    await button(dialog(page), 'Create auth hook').click();
    await expectText(dialog(page)).toContain('WorkOS shows a secret once it knows the URL');
    await button(dialog(page), 'Done').click();
    await expectText(rowOf(page, 'Users')).toContain('Calls are refused until you enter the secret');
    await button(page, 'Enter secret of Users').click();
    await dialog(page).getByLabel('Secret').first().fill('secret-of-workos');
    await button(dialog(page), 'Save secret').click();
    await says(page, 'Secret saved.');
    await expectText(rowOf(page, 'Users')).not.toContain('Calls are refused');
    expect(await page.content()).not.toContain('secret-of-workos');
  });

  it('are shown to members, who cannot change them', async () => {
    const { page } = await somebody('member');
    await says(page, 'Only admins and owners can create and change auth hooks.');
    expect(await button(page, 'Create auth hook').count()).toBe(0);
  });
});
