import { FRESH_SIGN_IN_DAYS } from './facts/lifetimes.ts';
import {
  BODY_BYTES,
  BODY_WITHIN_SECONDS,
  HEADER_BYTES,
  HEADERS_WITHIN_SECONDS,
  HOOK_MARGIN_MS,
  HOOKS_MAX,
  KEYS_MAX,
  LISTS_MAX,
  OUTCOME_SOURCES_MAX,
  POLICIES_MAX,
  SAVED_VIEWS_MAX,
  WEBHOOKS_MAX,
} from './facts/limits.ts';
import type { ListStatus } from './facts/lists.ts';
import { LEVELS } from './facts/plans.ts';
import type { Decision } from './facts/policies.ts';
import type { KeyScope, OperatorScope } from './facts/scopes.ts';
import { choice, counted, kibibytes } from './format.ts';

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
  oidc_refused: {
    status: 403,
    message: 'The sign-in with the OpenID provider was refused.',
    fix: 'The message says why, and `reason` names it; [OpenID Connect](oidc.md#when-a-sign-in-is-refused) has all of them.',
  },
  passwords_off: {
    status: 403,
    message: 'On this service, people sign in with its OpenID provider alone.',
    fix: 'Sign in with the provider. Whoever is locked out asks the operator for a link (`mailvet user sign-in`).',
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
  job_already_open: {
    status: 422,
    message: 'The same job is already waiting or running.',
    fix: 'Drop the failed job.',
  },
  too_many_hooks: {
    status: 422,
    message: `An account can have at most ${counted(HOOKS_MAX, 'auth hook')}.`,
    fix: 'Delete a hook that nothing calls any more.',
  },
  too_many_outcome_sources: {
    status: 422,
    message: `An account can have at most ${counted(OUTCOME_SOURCES_MAX, 'connection')} with providers that send mail.`,
    fix: 'Delete a connection that nothing is reported to any more.',
  },
  hook_secret_missing: {
    status: 422,
    message: 'The secret of this kind of hook is made by the caller.',
    fix: 'Send as `secret` what the auth server shows for its endpoint.',
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

/**
 * What happens to calls of hooks. Only the first one is a reply; the others are in the log, and say why a sign-up was
 * answered without a verdict.
 */
export const HOOK_ERRORS = {
  invalid_signature: {
    status: 401,
    message: 'The signature is missing, malformed, too old, or does not fit the secret of what is called.',
    fix: 'Compare URL and secret with those that the dashboard shows, and check the clock of the caller.',
  },
  hook_without_address: {
    status: 422,
    message: 'The request has no email address, as with a sign-up by phone. It was accepted, and nothing was charged.',
    fix: 'Nothing, if people sign up without an address. Otherwise, see the page of hooks for where it is looked for.',
  },
  hook_out_of_time: {
    status: 504,
    message: `There was no verdict ${HOOK_MARGIN_MS} ms before the time limit of the caller.`,
    fix: 'Give the caller more time where it can be set, or let the policy use the level mx.',
  },
} as const satisfies Record<string, ErrorRow>;

export const PUBLIC_ERRORS = {
  invalid_json: {
    status: 400,
    message: 'The request body is not valid JSON.',
    fix: 'Send one JSON object, encoded as UTF-8.',
  },
  missing_parameter: {
    status: 400,
    message: 'A required parameter is missing.',
    fix: 'Send the parameter that `field` names.',
  },
  invalid_parameter: {
    status: 400,
    message: 'A parameter has an invalid value.',
    fix: 'Correct the parameter that `field` names; the message says what it accepts.',
  },
  missing_api_key: {
    status: 401,
    message: 'No API key was sent. Send "Authorization: Bearer <key>".',
    fix: 'Add the header `Authorization: Bearer mv_live_…`.',
  },
  malformed_authorization: {
    status: 401,
    message: 'The Authorization header is malformed. Send "Bearer", exactly one space, and the key.',
    fix: 'The word `Bearer` once, exactly one space, the key, nothing else.',
  },
  invalid_api_key: {
    status: 401,
    message: 'The API key is not valid.',
    fix: 'Check the key for missing characters, or create a new one.',
  },
  revoked_api_key: {
    status: 401,
    message: 'The API key has been revoked.',
    fix: 'Revocation is final. Create a new key.',
  },
  expired_api_key: {
    status: 401,
    message: 'The API key has expired.',
    fix: 'Edit the key and set a later expiry date, or create a new one. `expired_at` says when it expired.',
  },
  insufficient_credits: {
    status: 402,
    message: 'The account does not have enough credits for this request.',
    fix: 'Grant credits to the account; `GET /v1/usage` shows the balance.',
  },
  plan_upgrade_required: {
    status: 402,
    message: 'The account\'s plan does not include the "smtp" validation type.',
    fix: 'Use `mx`, or move the account to the plan that `upgrade_required` names.',
  },
  key_budget_spent: {
    status: 402,
    message: 'The monthly budget of this API key does not cover this request.',
    fix: 'Wait until `resets_at`, use another key, or raise the monthly budget of the key, which `budget` names.',
  },
  ip_not_allowed: {
    status: 403,
    message: "The caller's IP address is not on this key's allowlist.",
    fix: 'Call from a listed address, or edit the allowlist of the key.',
  },
  scope_missing: {
    status: 403,
    message: 'The API key lacks the scope that this request needs.',
    fix: 'Add the scope that `scope` names to the key, or use another key.',
  },
  api_key_required: {
    status: 403,
    message: 'This is an operator key. It works for /v1/operator alone; here, the API key of an account is needed.',
    fix: 'Use an API key of the account. `POST /v1/operator/accounts/:id/keys` creates one.',
  },
  operator_key_required: {
    status: 403,
    message: 'This is the API key of an account. The operator API needs an operator key.',
    fix: 'Create an operator key with `mailvet operator-key create`.',
  },
  malformed_request: {
    status: 400,
    message: 'The request is not well-formed HTTP.',
    fix: 'Use an HTTP client. The connection is closed after this reply.',
  },
  request_timeout: {
    status: 408,
    message: 'The request took too long to arrive.',
    fix: `Send the headers within ${HEADERS_WITHIN_SECONDS} seconds, and the body within ${BODY_WITHIN_SECONDS} seconds after them. The connection is closed after this reply.`,
  },
  headers_too_large: {
    status: 431,
    message: `The request headers are larger than ${kibibytes(HEADER_BYTES)}.`,
    fix: 'Send fewer or shorter headers.',
  },
  not_found: { status: 404, message: 'Not found.', fix: 'Check the path and the id.' },
  method_not_allowed: {
    status: 405,
    message: 'This path does not support that method.',
    fix: 'Use a method listed in the `Allow` header.',
  },
  idempotency_in_progress: {
    status: 409,
    message: 'A request with this Idempotency-Key is still being processed.',
    fix: 'Wait `Retry-After` seconds, then send the same request again.',
  },
  balance_too_small: {
    status: 409,
    message: 'The account has fewer credits than that. Nothing was changed.',
    fix: 'Take back at most the remaining credits.',
  },
  grant_conflict: {
    status: 409,
    message: 'This external_id belongs to another grant. Nothing was changed.',
    fix: 'Repeat a grant with the account and credits that it had, or use a new `external_id`.',
  },
  list_state: {
    status: 409,
    message: 'The list does not allow this in its current status.',
    fix: 'See the `status` of the list, which `status` names here as well, and the page of lists.',
  },
  list_too_large: {
    status: 413,
    message: 'The list is too large.',
    fix: 'Split the file; the message names the limit, and `limit` is its value.',
  },
  body_too_large: {
    status: 413,
    message: `The request body is larger than ${kibibytes(BODY_BYTES)}.`,
    fix: 'Send one address per request.',
  },
  unsupported_media_type: {
    status: 415,
    message: 'The request body must be sent as "Content-Type: application/json".',
    fix: 'Set the header `Content-Type: application/json`.',
  },
  invalid_validation_type: {
    status: 422,
    message: `validation_type must be ${choice(LEVELS)}.`,
    fix: 'Send `mx` or `smtp`, or omit the field for `mx`.',
  },
  webhook_disabled: {
    status: 409,
    message: 'The webhook is disabled.',
    fix: 'Enable the webhook, then replay the delivery.',
  },
  test_in_progress: {
    status: 409,
    message: 'Other tests of webhooks of this account are still running.',
    fix: 'Wait for the reply to the last test.',
  },
  invalid_webhook_url: {
    status: 422,
    message: 'The URL cannot receive webhooks.',
    fix: 'Use an https URL whose host name has a public address; the message says what is wrong.',
  },
  too_many_webhooks: {
    status: 422,
    message: `An account can have at most ${counted(WEBHOOKS_MAX, 'webhook')}.`,
    fix: 'Delete a webhook, or let one receive several events.',
  },
  too_many_lists: {
    status: 422,
    message: `An account can keep at most ${counted(LISTS_MAX, 'list')}.`,
    fix: 'Delete lists whose results you have.',
  },
  list_storage_full: {
    status: 422,
    message: 'The lists of the account take as much storage as its plan has.',
    fix: 'Delete lists whose results you have, or change the plan. `limit` is in bytes; `storage` of the usage says what is used.',
  },
  too_many_filters: {
    status: 422,
    message: 'The account has as many filters as its plan has room for.',
    fix: 'Remove filters, or block a domain instead of its addresses; or change the plan. `limit` is the number.',
  },
  too_many_mailboxes: {
    status: 422,
    message: 'The account remembers as many mailboxes as its plan has room for. Nothing was charged.',
    fix: 'Forget scopes that you no longer use (`DELETE /v1/seen`), or change the plan; or send no `scope`. `limit` is the number.',
  },
  seen_disabled: {
    status: 422,
    message: 'This service remembers no mailboxes, so it cannot tell whether one was seen before. Nothing was charged.',
    fix: 'Send no `scope`. Operators turn the memory on with `MAILVET_SEEN_DAYS`.',
  },
  invalid_filter: {
    status: 422,
    message: 'The filter is not valid.',
    fix: 'The message says what is wrong with the field that `field` names.',
  },
  filter_exists: {
    status: 422,
    message: 'Value has already been taken',
    fix: 'The filter already exists, with the id in `existing_id`.',
  },
  policy_not_found: {
    status: 422,
    message: 'There is no such policy.',
    fix: 'Use one of the names in `policies`, or make the policy first. Test mode has its own policies.',
  },
  policy_built_in: {
    status: 422,
    message: 'This policy comes with the service: it can be used and copied, not changed or deleted.',
    fix: 'Save its rules under another name.',
  },
  policy_in_use: {
    status: 422,
    message: 'Auth hooks use this policy: without it, they would accept everything.',
    fix: 'Give the hooks that `hooks` names another policy, or delete them first.',
  },
  invalid_policy: {
    status: 422,
    message: 'The policy is not valid.',
    fix: 'The message says what is wrong with the field that `field` names. Nothing was saved.',
  },
  too_many_policies: {
    status: 422,
    message: `An account can have at most ${POLICIES_MAX} policies of its own.`,
    fix: 'Delete a policy that you no longer use.',
  },
  too_many_keys: {
    status: 422,
    message: `An account can have at most ${counted(KEYS_MAX, 'API key')}, not counting revoked ones.`,
    fix: 'Revoke a key that is no longer used. A rolled key counts until its grace period ends.',
  },
  external_id_taken: {
    status: 422,
    message: 'Another account has this external_id.',
    fix: 'Use the account that `account` names, or another `external_id`.',
  },
  idempotency_key_reused: {
    status: 422,
    message: 'This Idempotency-Key was used with a different request body.',
    fix: 'Use a new key for each different request.',
  },
  unreadable_file: {
    status: 422,
    message: 'The file cannot be read.',
    fix: 'The message says why, and `line` where. Send CSV, plain text, NDJSON or XLSX.',
  },
  no_address_column: {
    status: 422,
    message: 'No column of the file holds email addresses.',
    fix: 'Name the column in `column`; `columns` lists those of the file.',
  },
  no_addresses: {
    status: 422,
    message: 'No row of the list has an address.',
    fix: 'See `read` and `warnings` of the list; read it in another way, or upload another file.',
  },
  few_addresses: {
    status: 422,
    message: 'Less than a third of the rows have an address.',
    fix: 'See `read` and `warnings` of the list; then start it, or read it in another way.',
  },
  rate_limit_exceeded: {
    status: 429,
    message: 'Too many requests.',
    fix: 'Wait `Retry-After` seconds. The `RateLimit` headers show what is left.',
  },
  internal_error: {
    status: 500,
    message: 'Something went wrong on our side. Nothing was charged.',
    fix: 'Retry. If it happens again, search the server log for the `request_id`.',
  },
  verification_unavailable: {
    status: 503,
    message: 'Verification is not possible right now. Nothing was charged.',
    fix: 'Retry after `Retry-After` seconds. Operators find the cause in `/readyz`.',
  },
  overloaded: {
    status: 503,
    message: 'The service is at capacity right now. Nothing was charged.',
    fix: 'Retry after `Retry-After` seconds.',
  },
} as const satisfies Record<string, ErrorRow>;

export interface ErrorRow {
  readonly status: number;
  /** Used if the error was thrown without a more specific message. */
  readonly message: string;
  /** What the caller can do about it; for the docs. */
  readonly fix: string;
}

/**
 * The catalog of errors: one row per stable code. The HTTP layer, the command line and the errors page of the docs all
 * use it; statuses and default messages are defined nowhere else.
 */
export const ERRORS = { ...PUBLIC_ERRORS, ...HOOK_ERRORS, ...DASHBOARD_ERRORS } as const;

export type PublicCode = keyof typeof PUBLIC_ERRORS;
type DashboardCode = keyof typeof DASHBOARD_ERRORS;
export type ErrorCode = PublicCode | keyof typeof HOOK_ERRORS | DashboardCode;

export const isOfDashboard = (code: ErrorCode): code is DashboardCode => code in DASHBOARD_ERRORS;

const isPublicCode = (code: string): code is PublicCode => code in PUBLIC_ERRORS;
/** Codes that clients of the public API can receive. */
export const PUBLIC_CODES: readonly PublicCode[] = Object.keys(PUBLIC_ERRORS).filter(isPublicCode);

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);
export const ERROR_CODES: readonly ErrorCode[] = Object.keys(ERRORS).filter(isErrorCode);

/** Fields that help the caller fix the request, in addition to `error`, `code` and `request_id`. */
export interface ErrorDetails {
  field?: string;
  limit?: number;
  /** The delay is in seconds, and also sent as `Retry-After`. */
  retry_after?: number;
  current_plan?: string;
  upgrade_required?: string;
  existing_id?: number;
  /** That the key lacks. */
  scope?: KeyScope | OperatorScope;
  /** Id of the account that has the `external_id`. */
  account?: string;
  /** RFC 3339. */
  expired_at?: string;
  /** The credits that the key may spend in a calendar month. */
  budget?: number;
  /** RFC 3339: when the budget is whole again. */
  resets_at?: string;
  /** Credits that an action costs, and what the account has. */
  needed?: number;
  available?: number;
  status?: ListStatus;
  /** A file cannot be read in this line; `columns` are those of the file. */
  line?: number;
  columns?: readonly string[];
  /** So many filters were added before an import ended early. */
  added?: number;
  /** Names of the auth hooks that use a policy. */
  hooks?: readonly string[];
  /** Names of the policies there are. */
  policies?: readonly string[];
  /** The policy that the request names decides this about the address, although there is no verdict. */
  decision?: Decision;
  /** Dashboard only: why a sign-in with the OpenID provider was refused. */
  reason?: string;
  /** Dashboard only: the lowest role that is allowed to do this. */
  required_role?: string;
}

/** Why a request failed: the caller's mistake or our failure. A verdict is never an error. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  constructor(code: ErrorCode, message?: string, details: ErrorDetails = {}, cause?: unknown) {
    super(message ?? ERRORS[code].message, cause === undefined ? undefined : { cause });
    this.name = 'ApiError';
    this.code = code;
    this.details = details;
  }
  get status(): number {
    return ERRORS[this.code].status;
  }
  /** Returns the same error, with more that helps. */
  withDetails(more: ErrorDetails): this {
    return Object.assign(this, { details: { ...this.details, ...more } });
  }
}

/** Whether another request with the same Idempotency-Key is under way, or has ended first. */
export const isInProgress = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'idempotency_in_progress';

/** An error that a test key has asked for: nothing failed. */
export class SimulatedError extends ApiError {}

/** The client of this request has disconnected: nobody gets the error, and nothing failed. */
export class UnawaitedError extends ApiError {}

/** Any other error is a failure of ours. */
export const toApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError('internal_error', undefined, {}, error);

/** What a thrown value says. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
