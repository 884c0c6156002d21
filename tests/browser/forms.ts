/** Every form of the dashboard: how it is opened, and what is to be seen of it. */

export interface FormRow {
  /** `:account` is one without members; `:webhook`, `:reset` and `:invitation` are filled in, too. */
  readonly path: string;
  /** What opens it, where it is a dialog or opens on the page: buttons and items of menus, one after the other. */
  readonly open?: readonly string[];
  /** What its own button says; empty: it has no form. */
  readonly action: string;
  /** False: it is part of a page, and there is nothing to cancel. */
  readonly cancel?: boolean;
  /** What to type. */
  readonly type?: Readonly<Record<string, string>>;
  /**
   * What comes back after the session has ended, if it was typed; by label. Null: nothing can be typed, or nothing is
   * kept.
   */
  readonly draft: Readonly<Record<string, string>> | null;
  /** Its first field takes several lines: Enter begins another. */
  readonly lines?: boolean;
  /** The first field that is wrong, focused after Enter; null: nothing can be. */
  readonly wrong: string | null;
}

/** Every form of those who are signed in, in the order of their pages. */
export const FORMS: readonly FormRow[] = [
  {
    path: '/',
    open: ['Set low-balance threshold'],
    action: 'Save',
    wrong: 'Alert when the balance falls below',
    draft: { 'Alert when the balance falls below': '77' },
  },
  {
    path: '/verify',
    action: 'Verify',
    cancel: false,
    wrong: 'Email address',
    draft: { 'Email address': 'kept@good.com' },
  },
  {
    path: '/usage',
    open: ['Time is Last 30 days', 'Custom…'],
    action: 'Apply',
    type: { 'From (UTC)': '' },
    wrong: 'From (UTC)',
    // It sends nothing.
    draft: null,
  },
  {
    path: '/log?query=x',
    open: ['Erase address'],
    action: 'Erase',
    wrong: 'Email address',
    draft: { 'Email address': 'kept@good.com' },
  },
  { path: '/log?query=x', open: ['Views', 'Save this search'], action: 'Save', wrong: 'Name', draft: { Name: 'Kept' } },
  {
    path: '/log?query=x',
    open: ['Views', 'Rename or delete'],
    action: 'Rename',
    cancel: false,
    type: { 'A view': '' },
    wrong: 'A view',
    draft: { 'A view': 'Kept' },
  },
  {
    path: '/filters',
    open: ['Add filter'],
    action: 'Add',
    wrong: 'Value',
    draft: { Value: 'kept.com', Reason: 'Kept' },
  },
  {
    path: '/filters',
    open: ['Import'],
    action: 'Preview',
    lines: true,
    wrong: 'One entry per line',
    draft: { 'One entry per line': 'kept.com' },
  },
  { path: '/settings/keys', open: ['Create API key'], action: 'Create key', wrong: 'Name', draft: { Name: 'Kept' } },
  {
    path: '/settings/keys',
    open: ['Actions for', 'Edit'],
    action: 'Save',
    type: { Name: '' },
    wrong: 'Name',
    draft: { Name: 'Kept' },
  },
  { path: '/settings/keys', open: ['Actions for', 'Roll'], action: 'Roll key', wrong: null, draft: null },
  { path: '/settings/keys', open: ['Actions for', 'Revoke'], action: 'Revoke', wrong: null, draft: null },
  { path: '/outcomes', open: ['Connect provider'], action: 'Connect provider', wrong: 'Name', draft: { Name: 'Kept' } },
  {
    path: '/outcomes',
    action: 'Save',
    cancel: false,
    type: { 'Trust bounces (days)': 'ten' },
    wrong: 'Trust bounces (days)',
    draft: { 'Trust bounces (days)': '7' },
  },
  {
    path: '/webhooks',
    open: ['Create webhook'],
    action: 'Create webhook',
    wrong: 'URL',
    draft: { URL: 'https://example.com/kept', Description: 'Kept' },
  },
  {
    path: '/webhooks/:webhook',
    open: ['Edit'],
    action: 'Save',
    type: { URL: '' },
    wrong: 'URL',
    draft: { URL: 'https://example.com/kept', Description: 'Kept' },
  },
  {
    path: '/account',
    action: 'Save',
    cancel: false,
    type: { Name: '' },
    wrong: 'Name',
    draft: { Name: 'Kept', 'Retention (days)': '7' },
  },
  { path: '/account', open: ['Delete this account'], action: 'Delete permanently', wrong: null, draft: null },
  {
    path: '/account/members',
    open: ['Invite member'],
    action: 'Invite',
    wrong: 'Email',
    draft: { Email: 'kept@good.com' },
  },
  { path: '/account/members', open: ['Change role'], action: 'Save', wrong: null, draft: null },
  {
    path: '/security',
    action: 'Save name',
    cancel: false,
    type: { 'Your name': '' },
    wrong: 'Your name',
    draft: { 'Your name': 'Kept' },
  },
  { path: '/security', action: 'Change password', cancel: false, wrong: 'Current password', draft: null },
  { path: '/security', open: ['Set up authenticator app'], action: 'Continue', wrong: 'Password', draft: null },
  {
    path: '/security',
    open: ['Add passkey'],
    action: 'Continue',
    wrong: 'Passkey name',
    draft: { 'Passkey name': 'Kept' },
  },
  { path: '/operator', open: ['Create account'], action: 'Create', wrong: 'Name', draft: { Name: 'Kept' } },
  {
    path: '/operator/accounts/:account',
    action: 'Invite',
    cancel: false,
    wrong: 'Email',
    draft: { Email: 'kept@good.com' },
  },
  {
    path: '/operator/accounts/:account',
    action: 'Grant',
    cancel: false,
    wrong: 'Credits',
    draft: { Credits: '77', Note: 'Kept' },
  },
  {
    path: '/operator/accounts/:account',
    action: 'Save',
    cancel: false,
    type: { Name: '' },
    wrong: 'Name',
    draft: { Name: 'Kept' },
  },
  { path: '/operator/accounts/:account', open: ['Suspend this account'], action: 'Suspend', wrong: null, draft: null },
  {
    path: '/operator/replies',
    action: 'Explain',
    cancel: false,
    lines: true,
    wrong: 'Reply of a mail server',
    draft: { 'Reply of a mail server': '550 5.1.1 Kept', 'Mail host (optional)': 'mx.kept.com' },
  },
];

export const OUTSIDE: readonly FormRow[] = [
  { path: '/sign-in', action: 'Sign in', cancel: false, wrong: 'Email', draft: null },
  { path: '/sign-in#forgot', action: 'Send email', cancel: false, wrong: 'Email', draft: null },
  { path: '/sign-up', action: 'Sign up', cancel: false, wrong: 'Your name', draft: null },
  { path: '/setup#token=0123456789abcdef', action: 'Set up', cancel: false, wrong: 'Your name', draft: null },
  { path: '/reset-password#token=:reset', action: 'Set password', cancel: false, wrong: 'New password', draft: null },
  { path: '/invitation#token=:invitation', action: 'Join', cancel: false, wrong: 'Your name', draft: null },
];
