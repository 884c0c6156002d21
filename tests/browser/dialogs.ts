/** What opens on pages, and states that pages have beside the usual one. */
import type { Page } from 'playwright-core';
import { PASSWORD } from '../lab/person.ts';
import { button, dialog, field, fillIn, openAccountMenu, says } from './steps.ts';

/** What is opened on a page, and how. */
export const DIALOGS: readonly (readonly [name: string, path: string, open: (page: Page) => Promise<void>])[] = [
  ['the menu of the account', '/', openAccountMenu],
  ['the command palette', '/', find],
  ['the shortcuts', '/', (page) => page.keyboard.press('?').then(() => says(page, 'Open the next row'))],
  ['test mode', '/', testMode],
  ['an unknown page', '/', (page) => page.evaluate(`history.pushState({}, '', '/nothing')`)],
  ['the low-balance threshold', '/', (page) => button(page, 'Set low-balance threshold').click()],
  ['creating a key', '/settings/keys', (page) => button(page, 'Create API key').click()],
  ['a new key with its value', '/settings/keys', make],
  ['the actions of a key', '/settings/keys', (page) => button(page, /^Actions for CRM/).click()],
  ['editing a key', '/settings/keys', (page) => act(page, 'Edit')],
  ['rolling a key', '/settings/keys', (page) => act(page, 'Roll')],
  ['revoking a key', '/settings/keys', (page) => act(page, 'Revoke')],
  ['creating an auth hook', '/settings/hooks', (page) => button(page, 'Create auth hook').click()],
  ['connecting a provider', '/outcomes', (page) => button(page, 'Connect provider').click()],
  ['creating a webhook', '/webhooks', openWebhookForm],
  ['editing a webhook', '/webhooks/:webhook', (page) => button(page, 'Edit').click()],
  ['rotating a secret', '/webhooks/:webhook', (page) => button(page, 'Rotate secret').click()],
  ['a new secret', '/webhooks/:webhook', rotate],
  ['the attempts of a delivery', '/webhooks/:webhook', (page) => button(page, /^1 attempt at ping/).click()],
  ['a verdict with its evidence', '/verify', ask],
  ['adding a filter', '/filters', (page) => button(page, 'Add filter').click()],
  [
    'editing a filter',
    '/filters',
    (page) =>
      button(page, /^Edit /)
        .first()
        .click(),
  ],
  ['filters that are selected', '/filters', (page) => page.getByLabel('Select all on this page').check()],
  ['creating a policy', '/policies', (page) => button(page, 'Create policy').click()],
  ['what a policy would have said', '/policies/strict', (page) => button(page, /^Try the last/).click()],
  ['importing filters', '/filters', (page) => button(page, 'Import').click()],
  ['the preview of an import', '/filters', addMany],
  ['an entry beside the log', '/log', (page) => page.locator('tr[data-entry] time').first().click()],
  ['a filter of the log', '/log', (page) => button(page, 'Reason').click()],
  ['a filter of the log that is set', '/log?reason=mailbox_not_found', (page) => button(page, /^Reason is/).click()],
  ['a log without matches', '/log?query=nothing-like-this', (page) => says(page, 'No matches')],
  ['views of the log', '/log?query=x', (page) => button(page, 'Views').click()],
  ['saving a search', '/log?query=x', save],
  ['the exports of the log', '/log', (page) => button(page, 'Export').click()],
  ['the downloads of a list', '/lists/:list', (page) => button(page, 'Download').click()],
  ['deleting a list', '/lists/:list', (page) => button(page, 'Delete').click()],
  ['erasing an address', '/log', (page) => button(page, 'Erase address').click()],
  ['an invitation', '/account/members', invite],
  ['changing a role', '/account/members', (page) => button(page, /^Change role of karl/).click()],
  ['removing a member', '/account/members', (page) => button(page, /^Remove karl/).click()],
  ['revoking an invitation', '/account/members', (page) => button(page, /^Revoke invitation for sam/).click()],
  ['deleting the account', '/account', (page) => button(page, 'Delete this account').click()],
  ['the data of a chart', '/usage', (page) => button(page, 'As a table').click()],
  ['an authenticator app', '/security', (page) => button(page, 'Set up authenticator app').click()],
  ['an authenticator app with its code', '/security', setUp],
  ['signing out everywhere', '/security', (page) => button(page, 'Sign out everywhere').click()],
  ['a new account', '/operator', (page) => button(page, 'Create account').click()],
  ['suspending an account', '/operator/accounts/:account', (page) => button(page, 'Suspend this account').click()],
];

async function find(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  await page.keyboard.type('fabrikam.test');
  await says(page, 'Block fabrikam.test with a filter');
}
async function act(page: Page, action: string): Promise<void> {
  await button(page, /^Actions for CRM/).click();
  await page.getByRole('menuitem', { name: action }).click();
}
async function make(page: Page): Promise<void> {
  await button(page, 'Create API key').click();
  await field(dialog(page), 'Name').fill('Made to be looked at');
  await button(dialog(page), 'Create key').click();
  await says(page, /shown only once/);
}
async function openWebhookForm(page: Page): Promise<void> {
  await button(page, 'Create webhook').click();
  await page.getByRole('radio', { name: 'Only these' }).check();
}
async function ask(page: Page): Promise<void> {
  await field(page, 'Email address').fill('no.such.person@fabrikam.test');
  await page.getByRole('radio', { name: /^smtp/ }).check();
  await button(page, 'Verify').click();
  await page.getByRole('list', { name: 'SMTP transcript' }).waitFor();
}
async function addMany(page: Page): Promise<void> {
  await button(page, 'Import').click();
  await field(dialog(page), 'One entry per line').fill('a-filter-that-is-new.com\nno such thing');
  await button(dialog(page), 'Preview').click();
  await dialog(page).getByText('2 rows read. Nothing has changed yet.').waitFor();
}
async function invite(page: Page): Promise<void> {
  await button(page, 'Invite member').click();
  await fillIn(dialog(page), { Email: 'new@good.com' });
  await button(dialog(page), 'Invite').click();
  await dialog(page).getByLabel('invitation link', { exact: true }).waitFor();
}
async function rotate(page: Page): Promise<void> {
  await button(page, 'Rotate secret').click();
  await button(dialog(page), 'Rotate secret').click();
  await dialog(page, 'New secret').waitFor();
}
async function save(page: Page): Promise<void> {
  await button(page, 'Views').click();
  await page.getByRole('menuitem', { name: 'Save this search' }).click();
}
async function setUp(page: Page): Promise<void> {
  await button(page, 'Set up authenticator app').click();
  await field(dialog(page), 'Password').fill(PASSWORD);
  await button(dialog(page), 'Continue').click();
  await dialog(page).getByLabel('recovery codes', { exact: true }).waitFor();
}
async function testMode(page: Page): Promise<void> {
  const link = page.getByRole('link', { name: 'Test', exact: true });
  await link.click();
  await link.and(page.locator('[aria-current]')).waitFor();
  await page.getByRole('region', { name: 'Key figures' }).waitFor();
}
