import { afterAll, beforeAll, expect, it } from 'vitest';
import { sha256Hex } from '../../../src/kernel/ids.ts';
import { hashPassword } from '../../../src/service/sign-in/passwords.ts';
import { describeBrowser } from '../../lab/browser.ts';
import { PASSWORD, peopleOf, person } from '../../lab/person.ts';
import { totp } from '../../lab/second-factor.ts';
import { type Lab, startLab } from '../../lab/service.ts';
import {
  button,
  countClicks,
  dialog,
  expectText,
  field,
  fillIn,
  goTo,
  heading,
  rowOf,
  says,
  signInAs,
} from '../steps.ts';

describeBrowser('the account', (browser) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab();
  });
  afterAll(() => lab.close());

  async function somebody(role: 'owner' | 'admin' = 'owner') {
    const api = await lab.member({ credits: 100 });
    const who = await person(lab, { account: api.account.id, role });
    const visitor = await browser.visit(`${lab.url}/account`, { as: who });
    await heading(visitor.page, 'Account').waitFor();
    return { ...visitor, api, who };
  }

  it('shows plan and prices, and every row of the ledger with its verification', async () => {
    const { page, api } = await somebody();
    const plan = page.getByRole('region', { name: 'Plan and limits' });
    await expectText(plan).toMatch(/Premium[\s\S]*300 requests per 5 minutes[\s\S]*1 credit[\s\S]*10 credits/);
    await api.verify('jane@good.com');
    await api.verify('jim@good.com');
    await goTo(page, 'Credit ledger');
    await says(page, 'Available: 98 credits.');
    const day = page.getByRole('table', { name: 'Charges by day' }).getByRole('row').nth(1);
    await expectText(day).toMatch(/2−2\+10098$/);
    await expectText(page.getByRole('table', { name: 'Grants' })).toContain('+100');
    await page.getByText('All transactions').click();
    // The first held its price, as it had to ask the DNS.
    const all = page.getByRole('table', { name: 'Credit ledger' });
    await expect.poll(() => all.getByRole('row').count()).toBe(5);
    await rowOf(page, 'Held for a verification').waitFor();
    await all.getByRole('row').filter({ hasText: 'Granted' }).filter({ hasText: '+100' }).waitFor();
    await rowOf(page, 'Charged').filter({ hasText: '−1' }).getByRole('link').click();
    await heading(page, 'Verification').waitFor();
    await says(page, 'jim@good.com');
  });

  it('invites a new user, who joins in another browser; changes their role; removes them', async () => {
    const { page, api } = await somebody();
    const name = api.account.name;
    await goTo(page, 'Members');
    await button(page, 'Invite member').click();
    await field(dialog(page), 'Email').fill('new-colleague@good.com');
    await page.getByRole('radio', { name: 'Admin' }).check();
    await button(dialog(page), 'Invite').click();
    const link = (await dialog(page).getByLabel('invitation link', { exact: true }).textContent()) ?? '';
    await button(dialog(page), 'Done').click();
    await rowOf(page, 'new-colleague@good.com').waitFor();

    const other = await browser.visit(link);
    await heading(other.page, `Join ${name}`).waitFor();
    expect(other.page.url()).not.toContain('token');
    await fillIn(other.page, { 'Your name': 'New Colleague', Password: PASSWORD });
    await button(other.page, 'Join').click();
    await heading(other.page, 'Overview').waitFor();
    await goTo(other.page, 'API keys');
    await button(other.page, 'Create API key').waitFor();

    await page.reload();
    expect(await page.getByRole('table', { name: 'Pending invitations' }).count()).toBe(0);
    await button(page, 'Change role of new-colleague@good.com').click();
    await page.getByRole('radio', { name: 'Member' }).check();
    await button(dialog(page), 'Save').click();
    await says(page, 'New Colleague is now a member.');
    await other.page.reload();
    await says(other.page, 'Only admins and owners can create, edit and revoke API keys.');

    await button(page, 'Remove new-colleague@good.com').click();
    await button(dialog(page), 'Remove').click();
    await says(page, 'New Colleague removed.');
    other.refused(404, `/dashboard/accounts/${api.account.id}/filters`);
    await other.page.getByRole('link', { name: 'Filters', exact: true }).click();
    await heading(other.page, 'No account').waitFor();
  });

  it('invites a viewer in four clicks, who sees everything and no action', async () => {
    const { page, api } = await somebody();
    await api.verify('jane@good.com');
    await page.goto(`${lab.url}/`);
    await heading(page, 'Overview').waitFor();
    const clicks = await countClicks(page);
    await goTo(page, 'Members');
    await button(page, 'Invite member').click();
    await page.locator('input[name=email]:focus').waitFor();
    await page.keyboard.type('auditor@good.com');
    await page.getByRole('radio', { name: 'Viewer' }).click();
    await button(dialog(page), 'Invite').click();
    const link = (await dialog(page).getByLabel('invitation link', { exact: true }).textContent()) ?? '';
    expect(await clicks()).toBe(4);

    const viewer = await browser.visit(link);
    await says(viewer.page, 'You are invited as a viewer');
    await fillIn(viewer.page, { 'Your name': 'Auditor', Password: PASSWORD });
    await button(viewer.page, 'Join').click();
    await heading(viewer.page, 'Overview').waitFor();
    const pages = viewer.page.getByRole('navigation', { name: 'Pages' });
    expect(await pages.getByRole('link', { name: 'Verify', exact: true }).count()).toBe(0);
    const actions = /^(New list|Add filter|Import|Create|Copy .|Edit|Remove|Invite|Erase|Verify|Block|Allow|Upload)\b/;
    for (const title of ['Lists', 'Filters', 'Policies', 'API keys', 'Webhooks', 'Usage', 'Members', 'Log']) {
      await goTo(viewer.page, title);
      await viewer.page.getByRole('main').getByText('Loading').waitFor({ state: 'detached' });
      for (const role of ['button', 'link'] as const)
        expect([
          title,
          await viewer.page.getByRole('main').getByRole(role, { name: actions }).allTextContents(),
        ]).toEqual([title, []]);
    }
    await viewer.page.getByRole('link', { name: 'jane@good.com' }).click();
    const able = viewer.page.getByRole('region', { name: 'Actions' });
    await button(able, 'Copy address').waitFor();
    expect(await button(able, /^(Block|Allow|Verify)/).count()).toBe(0);
    await viewer.page.goto(`${lab.url}/verify`);
    await says(viewer.page, 'Your role is viewer');
  });

  it('requires a second factor; a member without one is led to setting it up', async () => {
    const { page, who, api } = await somebody();
    const setting = page.getByRole('region', { name: 'Second factor' });
    await setting.getByRole('link', { name: 'set up an authenticator app' }).waitFor();
    const { secret } = (await who.call('POST', '/dashboard/totp', { password: who.password })).json;
    await who.call('POST', '/dashboard/totp/confirm', { code: totp(secret) });
    const jane = await person(lab, { account: api.account.id, role: 'member' });

    const strict = await browser.visit(`${lab.url}/account`, { as: who });
    await button(strict.page, 'Require a second factor').click();
    await button(dialog(strict.page), 'Require a second factor').click();
    await says(strict.page, 'Members can use this account only after signing in with a code');

    const other = await browser.visit(`${lab.url}/`, { as: jane });
    await heading(other.page, 'Second factor required').waitFor();
    await goTo(other.page, 'Members', 'Second factor required');
    await other.page.getByRole('link', { name: 'Set up a second factor' }).click();
    await button(other.page, 'Set up authenticator app').click();
    const setUp = dialog(other.page, 'Set up authenticator app');
    await field(setUp, 'Password').fill(jane.password);
    await button(setUp, 'Continue').click();
    const janes = (await setUp.getByLabel('secret', { exact: true }).textContent()) ?? '';
    await field(setUp, 'Authenticator code').fill(totp(janes));
    await button(setUp, 'Confirm').click();
    await says(other.page, 'Two-factor authentication is on.');
    await goTo(other.page, 'Members');
    await rowOf(other.page, jane.email).waitFor();
  });

  it('an existing user joins and switches between accounts; a revoked link is invalid', async () => {
    const mine = await lab.member({ credits: 5 });
    const known = await person(lab, { account: mine.account.id, email: 'known@good.com' });
    const { page, api } = await somebody('admin');
    const links: string[] = [];
    await goTo(page, 'Members');
    for (const email of [known.email, 'never-comes@good.com']) {
      await button(page, 'Invite member').click();
      await field(dialog(page), 'Email').fill(email);
      await button(dialog(page), 'Invite').click();
      links.push((await dialog(page).getByLabel('invitation link', { exact: true }).textContent()) ?? '');
      await button(dialog(page), 'Done').click();
    }
    await button(page, 'Revoke invitation for never-comes@good.com').click();
    await button(dialog(page), 'Revoke').click();
    await says(page, 'Invitation for never-comes@good.com revoked.');

    const other = await browser.visit(links[0]!);
    await other.page.getByRole('link', { name: 'Sign in' }).click();
    await field(other.page, 'Password').fill(known.password);
    await button(other.page, 'Sign in').click();
    await heading(other.page, `Join ${api.account.name}`).waitFor();
    await button(other.page, 'Join').click();
    await heading(other.page, 'Overview').waitFor();
    await says(other.page, api.account.name);
    await button(other.page, /account and settings$/).click();
    await other.page.getByRole('menuitemradio', { name: `${mine.account.name} (owner)` }).click();
    await expectText(other.page.getByRole('region', { name: 'Balance' })).toContain('5 credits');
    expect(new URL(other.page.url()).pathname).toBe(`/accounts/${mine.account.id}`);

    const dead = await browser.visit(lab.url);
    dead.refused(410, '/dashboard/invitation');
    await dead.page.goto(links[1]!);
    await heading(dead.page, 'This link is no longer valid').waitFor();
  });

  it('a signed-in user whose address is not confirmed proves it by the link, with a new password', async () => {
    const [mine, api] = [await lab.member(), await lab.member()];
    const email = 'unproven@good.com';
    const password = await hashPassword('the one of before');
    const user = await peopleOf(lab).create({ email, name: 'Whoever came first', password, proven: false });
    const by = { kind: 'command', id: null, name: 'test', ip: null } as const;
    await lab.store.members.add(mine.account.id, user!.id, 'member', by);
    const token = 'p'.repeat(43);
    const invitation = { email, role: 'member', tokenHash: sha256Hex(token), provesAddress: true } as const;
    await lab.store.members.invite(api.account.id, { ...invitation, expiresAt: Date.now() + 3_600_000 }, by);

    const { page } = await browser.visit(`${lab.url}/sign-in`);
    await signInAs(page, { email, password: 'the one of before' });
    await heading(page, 'Overview').waitFor();
    await page.goto(`${lab.url}/invitation#token=${token}`);
    await heading(page, `Join ${api.account.name}`).waitFor();
    await says(page, /ends all your sessions and removes all your passkeys/);
    await fillIn(page, { 'Your name': 'The Owner', 'New password': PASSWORD });
    await button(page, 'Join').click();
    await heading(page, 'Overview').waitFor();
    await says(page, api.account.name);
    expect(await lab.store.users.get(user!.id)).toMatchObject({ name: 'The Owner', emailVerified: true });
  });

  it('the audit log shows actors, events and IP addresses', async () => {
    const { page, api, who } = await somebody();
    await api.call('POST', '/v1/filters', { value: 'spam.com', reason: 'Complaints' });
    await field(page, 'Name').fill('Renamed Ltd');
    await button(page, 'Save').click();
    await says(page, 'Saved.');
    await goTo(page, 'Audit log');
    const renamed = rowOf(page, 'Renamed the account');
    await expectText(renamed).toContain(who.email);
    await expectText(renamed).toContain('127.0.0.1');
    await expectText(rowOf(page, 'Added a filter')).toContain('API key test');
    await expectText(rowOf(page, 'Added a member')).toContain('Command line');
  });

  it('a shorter retention period needs a confirmation', async () => {
    const { page, api, refused } = await somebody('admin');
    const days = field(page, 'Retention (days)');
    refused(422, `/dashboard/accounts/${api.account.id}`);
    await days.fill('31');
    await button(page, 'Save').click();
    await says(page, /retention_days must be at most 30/);
    await days.fill('7');
    await button(page, 'Save').click();
    await says(page, /older than 7 days are deleted/);
    await button(dialog(page), 'Delete older verifications').click();
    await says(page, 'Saved.');
    await expect.poll(async () => (await lab.store.accounts.get(api.account.id))?.retentionDays).toBe(7);
    expect(await button(page, 'Delete this account').count()).toBe(0);
  });

  it('is deleted by its owner with name and password: its keys are rejected immediately', async () => {
    const { page, api, who, refused } = await somebody();
    await button(page, 'Delete this account').click();
    await says(page, 'Users who are not members of another account can no longer sign in; this includes you.');
    await field(dialog(page), `Type “${api.account.name}” to confirm`).fill(api.account.name);
    await field(dialog(page), 'Your password').fill('not the password');
    refused(422, /\/delete$/);
    await button(dialog(page), 'Delete permanently').click();
    await expectText(dialog(page)).toMatch(/password/i);
    expect((await api.verify('jane@good.com')).status).toBe(200);
    await field(dialog(page), 'Your password').fill(who.password);
    await button(dialog(page), 'Delete permanently').click();
    await heading(page, 'Sign in').waitFor();
    expect((await api.verify('jane@good.com')).status).toBe(401);
    refused(401, '/dashboard/sign-in');
    await signInAs(page, who);
    await page.getByRole('alert').waitFor();
  });
});
