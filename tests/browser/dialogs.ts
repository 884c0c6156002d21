/** What opens on pages, and states that pages have beside the usual one. */
import type { Locator, Page } from 'playwright-core';
import { PASSWORD } from '../lab/person.ts';
import { button, dialog, field, fillIn, openAccountMenu, says } from './steps.ts';

/** Some answer with what is to be done once it was looked at. */
type Open = (page: Page) => Promise<void | (() => Promise<void>)>;

interface Row {
  readonly name: string;
  readonly open: Open;
  /** False: it is the page itself that looks different. */
  readonly opens: boolean;
}

const row = (name: string, open: Open, opens = true): Row => ({ name, open, opens });
const press = (label: string | RegExp) => (page: Page) => button(page, label).first().click();
const click = (name: string, label: string | RegExp = name): Row => row(name, press(label));
const state = (name: string, open: Open): Row => row(name, open, false);

/**
 * By path, which is loaded once; between rows, what is open is closed. What Escape does not close, and what changes the
 * page, comes last. tests/browser/overlays.ts finds what no row opens.
 */
export const DIALOGS: readonly (readonly [path: string, rows: readonly Row[]])[] = [
  [
    '/',
    [
      row('the command palette', find),
      row('the menu of the account', openAccountMenu),
      row('the time zones', chooseZone),
      row('the shortcuts', (page) => page.keyboard.press('?').then(() => says(page, 'Open the next row'))),
      state('the low-balance threshold', press('Set low-balance threshold')),
    ],
  ],
  ['/', [row('the command palette while it is loaded', findEarly)]],
  ['/', [state('test mode', testMode)]],
  ['/', [state('an unknown page', (page) => page.evaluate(`history.pushState({}, '', '/nothing')`))]],
  [
    '/usage',
    [
      click('the times', /^Time is /),
      row('a time of one’s own', (page) => choose(page, button(page, /^Time is /), 'Custom…')),
      state('the data of a chart', press('As a table')),
    ],
  ],
  ['/verify', [state('a verdict with its evidence', ask)]],
  [
    '/log',
    [
      click('the views of the log', 'Views'),
      click('the exports of the log', 'Export'),
      click('Reason'),
      click('Time'),
      click('Erase address'),
      row('an entry while it is loaded', openRowEarly),
      row('an entry beside the log', openRow),
      row('blocking a domain', (page) => openRow(page).then(() => press('Block domain')(page))),
    ],
  ],
  ['/log?reason=mailbox_not_found', [click('a filter that is set', /^Reason is/)]],
  [
    '/log?operator=google&reported=api',
    [click('an operator', /^Mail operator/), click('a way', /^Outcome reported by/)],
  ],
  ['/log?query=nothing-like-this', [state('a log without matches', (page) => says(page, 'No matches'))]],
  [
    '/log?query=x',
    [
      row('saving a search', (page) => choose(page, button(page, 'Views'), 'Save this search')),
      row('the saved searches', rename),
    ],
  ],
  ['/log?status=rejected', [row('a rejected request', openRow)]],
  [
    '/log?status=rejected',
    [row('allowing an IP address', (page) => openRow(page).then(() => press('Allow 203.0.113.99')(page)))],
  ],
  ['/lists', [click('State')]],
  ['/lists/:list', [click('the downloads of a list', 'Download'), click('Delete'), row('a row of a list', openRow)]],
  ['/lists/:running', [click('Cancel')]],
  ['/lists/:unknown', [click('verifying what is unknown', /^Retry \d/)]],
  ['/lists/:cancelled', [click('Verify the rest')]],
  ['/lists/:unchecked', [click('checking mailboxes', /^Check \d/)]],
  ['/outcomes', [click('Connect provider'), row('a new connection', connect)]],
  ['/outcomes', [click('entering a secret', /^(Enter|Roll) secret of /), click('deleting a connection', /^Delete /)]],
  [
    '/filters',
    [
      click('Type'),
      click('Add filter'),
      click('editing a filter', /^Edit /),
      click('Import'),
      row('the preview of an import', addMany),
      state('filters that are selected', (page) => page.getByLabel('Select all on this page').check()),
    ],
  ],
  ['/policies', [click('Create policy')]],
  ['/policies/shop', [click('Delete')]],
  ['/policies/strict', [state('what a policy would have said', press(/^Try the last/))]],
  [
    '/settings/keys',
    [
      click('the actions of a key', /^Actions for CRM/),
      row('editing a key', (page) => act(page, 'Edit')),
      row('rolling a key', (page) => act(page, 'Roll')),
      row('revoking a key', (page) => act(page, 'Revoke')),
      click('Create API key'),
      row('a new key with its value', make),
    ],
  ],
  [
    '/settings/hooks',
    [
      click('Create auth hook'),
      click('editing a hook', /^Edit /),
      click('the secret of a hook', /^(Enter|Roll) secret of /),
      click('deleting a hook', /^Delete /),
    ],
  ],
  ['/webhooks', [row('creating a webhook', openWebhookForm)]],
  [
    '/webhooks/:webhook',
    [
      click('Status'),
      click('Edit'),
      click('Disable'),
      click('Delete'),
      click('Rotate secret'),
      click('the attempts of a delivery', /^1 attempt at ping/),
      row('a new secret', rotate),
    ],
  ],
  ['/alerts', [click('Add chat')]],
  ['/account', [click('Delete this account'), row('keeping verifications for less time', shorten)]],
  [
    '/account/members',
    [
      click('changing a role', /^Change role of karl/),
      click('changing one’s own role', /^Change role of ada/),
      click('removing a member', /^Remove karl/),
      click('Leave account'),
      click('revoking an invitation', /^Revoke invitation for sam/),
      row('an invitation', invite),
    ],
  ],
  [
    '/security',
    [
      click('Set up authenticator app'),
      click('Sign out all other sessions'),
      click('Sign out everywhere'),
      click('signing out elsewhere', /^Sign out .*, /),
      row('an authenticator app with its code', setUp),
      click('Add passkey'),
    ],
  ],
  ['/operator', [click('Create account')]],
  ['/operator/accounts/:account', [click('Suspend this account')]],
  ['/operator/accounts/:suspended', [click('Resume this account')]],
  ['/operator/jobs', [click('dropping a job', /^Drop /)]],
  ['/operator/keys', [click('Create key'), row('a new operator key with its value', makeOperatorKey)]],
  ['/operator/keys', [click('revoking an operator key', /^Revoke /)]],
];

/** Of a user who signed in with a second factor. */
export const DIALOGS_WITH_SECOND_FACTOR: typeof DIALOGS = [
  ['/security', [click('Remove authenticator app'), click('removing a passkey', /^Remove This laptop/)]],
  ['/account', [click('Require a second factor'), row('a second factor no more', makeOptional)]],
];

async function choose(page: Page, menu: Locator, name: string): Promise<void> {
  await menu.click();
  await page.getByRole('menuitem', { name }).click();
}
/** What is opened stays without what it asks for until it was looked at. */
async function whileLoading(page: Page, asked: RegExp, open: () => Promise<void>): Promise<() => Promise<void>> {
  const seen = Promise.withResolvers<void>();
  const arrived = page.waitForResponse(asked);
  await page.route(asked, (route) => seen.promise.then(() => route.continue()), { times: 1 });
  await open();
  return async () => {
    seen.resolve();
    await (await arrived).finished();
  };
}
function findEarly(page: Page): Promise<() => Promise<void>> {
  return whileLoading(page, /\/palette-[^/]+\.js$/, () => page.keyboard.press('Control+k'));
}
async function find(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').waitFor();
  await page.keyboard.type('fabrikam.test');
  await says(page, 'Block fabrikam.test with a filter');
}
async function openRow(page: Page): Promise<void> {
  await page.locator('tr[data-entry] a').first().click();
}
function openRowEarly(page: Page): Promise<() => Promise<void>> {
  return whileLoading(page, /\/log\/ver_\w+$/, () => openRow(page));
}
async function act(page: Page, action: string): Promise<void> {
  await choose(page, button(page, /^Actions for CRM/), action);
}
async function make(page: Page): Promise<void> {
  await button(page, 'Create API key').click();
  await field(dialog(page), 'Name').fill('Made to be looked at');
  await button(dialog(page), 'Create key').click();
  await says(page, /shown only once/);
}
async function makeOperatorKey(page: Page): Promise<void> {
  await button(page, 'Create key').click();
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
  await fillIn(dialog(page), { Name: 'Billing', 'Allowed IP addresses': '192.0.2.10', 'Expiry date': tomorrow });
  await dialog(page).getByRole('checkbox').first().check();
  await button(dialog(page), 'Create key').click();
  await dialog(page, 'Operator key created').waitFor();
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
async function connect(page: Page): Promise<void> {
  await button(page, 'Connect provider').click();
  await field(dialog(page), 'Name').fill('Newsletter');
  await button(dialog(page), 'Connect provider').click();
  await button(dialog(page), 'Done').waitFor();
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
async function shorten(page: Page): Promise<void> {
  await field(page, 'Retention (days)').fill('1');
  await button(page.getByRole('region', { name: 'Name and retention' }), 'Save').click();
}
async function rotate(page: Page): Promise<void> {
  await button(page, 'Rotate secret').click();
  await button(dialog(page), 'Rotate secret').click();
  await dialog(page, 'New secret').waitFor();
}
async function rename(page: Page): Promise<void> {
  await choose(page, button(page, 'Views'), 'Save this search');
  await field(dialog(page), 'Name').fill('Everything with an x');
  await button(dialog(page), 'Save').click();
  await says(page, 'View Everything with an x saved.');
  await choose(page, button(page, 'Views'), 'Rename or delete');
}
async function setUp(page: Page): Promise<void> {
  await button(page, 'Set up authenticator app').click();
  await field(dialog(page), 'Password').fill(PASSWORD);
  await button(dialog(page), 'Continue').click();
  await dialog(page).getByLabel('recovery codes', { exact: true }).waitFor();
}
async function makeOptional(page: Page): Promise<void> {
  await button(page, 'Require a second factor').click();
  await button(dialog(page), 'Require a second factor').click();
  await button(page, 'Make it optional').click();
}
async function chooseZone(page: Page): Promise<void> {
  await openAccountMenu(page);
  await page.getByRole('menuitem', { name: 'Other time zone…' }).click();
}
async function testMode(page: Page): Promise<void> {
  const link = page.getByRole('link', { name: 'Test', exact: true });
  await link.click();
  await link.and(page.locator('[aria-current]')).waitFor();
  await page.getByRole('region', { name: 'Key figures' }).waitFor();
}
