import { FRESH_SIGN_IN_DAYS } from '../facts/lifetimes.ts';
import { KEYS_MAX, SAVED_VIEWS_MAX } from '../facts/limits.ts';
import { counted } from '../format.ts';
import type { ErrorRow } from './row.ts';

/** Errors that only the dashboard's private API returns, apart on the docs page and absent from the public document. */
export const DASHBOARD_ERRORS = {
  not_signed_in: {
    status: 401,
    message: 'You are not signed in, or your session has expired. Sign in to continue.',
    fix: 'Sign in. API keys do not work for the dashboard.',
  },
  sign_in_failed: {
    status: 401,
    message: 'The email address or password is incorrect.',
    fix: 'Correct them, or reset the password. For security, the reply does not say which of the two was wrong.',
  },
  second_factor_failed: {
    status: 401,
    message: 'The code is incorrect or has already been used.',
    fix: 'Wait for the next code in the authenticator app, or use a recovery code.',
  },
  sign_in_again: {
    status: 403,
    message: `This requires a sign-in within the last ${counted(24 * FRESH_SIGN_IN_DAYS, 'hour')}. Sign out, sign in again, and retry.`,
    fix: 'Sign in again.',
  },
  address_not_confirmed: {
    status: 403,
    message:
      'Nobody has confirmed yet that this email address is yours. Request a link to choose a new password by mail, or ask the operator for one.',
    fix: 'Set a password by a mailed link, or by one of the operator (`mailvet user reset-password`).',
  },
  link_expired: { status: 410, message: 'This link has expired or has already been used.', fix: 'Request a new one.' },
  account_has_members: {
    status: 422,
    message: 'This account has members.',
    fix: 'Its owners and admins invite others.',
  },
  wrong_password: { status: 422, message: 'The password is incorrect.', fix: 'Send your current password.' },
  wrong_code: {
    status: 422,
    message: 'The code is incorrect or has already been used.',
    fix: 'Wait for the next code in the authenticator app. Check that the clocks of both devices are correct.',
  },
  second_factor_required: {
    status: 403,
    message:
      'This account requires a second factor, and this session was begun without one. Set up an authenticator app, or sign in with a passkey.',
    fix: 'Set up an authenticator app, or a passkey to sign in with. If you have one already, sign out and sign in again.',
  },
  second_factor_missing: {
    status: 422,
    message:
      'You signed in without a second factor, so you would lock yourself out. Set up an authenticator app or sign in with a passkey first.',
    fix: 'Set up an authenticator app, or sign in with a passkey, before you require a second factor of all members.',
  },
  second_factor_exists: { status: 422, message: 'Two-factor authentication is already on.', fix: 'Turn it off first.' },
  passkey_refused: {
    status: 422,
    message: 'The passkey was not accepted.',
    fix: 'Try again. The message gives the reason where there is one.',
  },
  email_refused: {
    status: 422,
    message: 'This address cannot receive mail.',
    fix: 'Sign up with another address; the message says what is wrong with this one.',
  },
  role_not_sufficient: {
    status: 403,
    message: 'Your role in this account does not allow this.',
    fix: 'Ask a member with the role that `required_role` names.',
  },
  cross_origin: {
    status: 403,
    message: 'The request came from another site.',
    fix: 'Use the dashboard at its own address. Behind a proxy, forward `Host` or set `MAILVET_PUBLIC_URL`.',
  },
  account_suspended: {
    status: 403,
    message: 'This account is suspended. Its data can be read, downloaded and deleted; nothing else is possible.',
    fix: 'Contact the operator of the service.',
  },
  confirmation_mismatch: {
    status: 422,
    message: 'The confirmation does not match. Nothing was changed.',
    fix: 'Type exactly what the page asks for.',
  },
  key_revoked: {
    status: 422,
    message: 'This key has been revoked or is about to be.',
    fix: 'Revocation is final. Create a new key.',
  },
  key_expired: {
    status: 422,
    message: 'This key has expired.',
    fix: 'Set a later expiry date first, or create a new key.',
  },
  last_owner: {
    status: 422,
    message: 'An account must keep at least one owner. Make another member an owner first.',
    fix: 'Make another member an owner, or delete the account.',
  },
  already_member: {
    status: 422,
    message: 'Someone with this address is already a member.',
    fix: "Change the member's role instead.",
  },
  retention_too_long: {
    status: 422,
    message: 'The server does not keep verifications for that long.',
    fix: "Choose at most the number of days in the message; the server's own limit is `MAILVET_RETENTION_DAYS`.",
  },
  balance_too_small: {
    status: 422,
    message: 'The account has fewer credits than that. Nothing was changed.',
    fix: 'Take back at most the remaining credits.',
  },
  job_already_open: {
    status: 422,
    message: 'The same job is already waiting or running.',
    fix: 'Drop the failed job.',
  },
  too_many_keys: {
    status: 422,
    message: `An account can have at most ${counted(KEYS_MAX, 'API key')}, not counting revoked ones.`,
    fix: 'Revoke a key that is no longer used. A rolled key counts until its grace period ends.',
  },
  view_exists: {
    status: 422,
    message: 'You have a view of this name already.',
    fix: 'Choose another name, or delete the other view first.',
  },
  too_many_views: {
    status: 422,
    message: `You can save at most ${counted(SAVED_VIEWS_MAX, 'view')} in an account.`,
    fix: 'Delete a view that you no longer use.',
  },
  lists_not_updated: {
    status: 503,
    message: 'The lists could not be downloaded. The current lists stay in use.',
    fix: 'The message gives the reason. Try again later.',
  },
} as const satisfies Record<string, ErrorRow>;
