/**
 * The catalogue of everything the service can refuse: one row per stable code. The HTTP layer, the CLI and the
 * errors page of the docs all read this table; nothing else spells a status or a sentence.
 */
export interface CatalogueRow {
  /** HTTP status, RFC 9110. */
  readonly status: number;
  /** One plain sentence, used when the thrower has no more precise one. */
  readonly sentence: string;
  /** What the caller can do about it; only for the docs. */
  readonly fix: string;
  /** Only the dashboard's private API answers it: it stands apart on the docs page and is not in the public document. */
  readonly dashboard?: true;
}

export const ERRORS = {
  invalid_json: {
    status: 400,
    sentence: 'The request body is not valid JSON.',
    fix: 'Send one JSON object, encoded as UTF-8.',
  },
  missing_parameter: {
    status: 400,
    sentence: 'A required parameter is missing.',
    fix: 'Send the parameter that `field` names.',
  },
  invalid_parameter: {
    status: 400,
    sentence: 'A parameter has an unusable value.',
    fix: 'Correct the parameter that `field` names; the sentence says what it takes.',
  },
  missing_api_key: {
    status: 401,
    sentence: 'No API key was sent. Send "Authorization: Bearer <key>".',
    fix: 'Add the header `Authorization: Bearer mv_live_…`.',
  },
  malformed_authorization: {
    status: 401,
    sentence: 'The Authorization header is malformed. Send "Bearer", exactly one space, and the key.',
    fix: 'The word `Bearer` once, exactly one space, the key, nothing else.',
  },
  invalid_api_key: {
    status: 401,
    sentence: 'The API key is not valid.',
    fix: 'Check the key for missing characters, or create a new one.',
  },
  revoked_api_key: {
    status: 401,
    sentence: 'The API key has been revoked.',
    fix: 'Revocation is final: create a new key.',
  },
  insufficient_credits: {
    status: 402,
    sentence: 'The account does not have enough credits for this request.',
    fix: 'Grant credits to the account; `GET /v1/usage` shows the balance.',
  },
  plan_upgrade_required: {
    status: 402,
    sentence: 'The account\'s plan does not include the "smtp" validation type.',
    fix: 'Use `mx`, or move the account to the plan that `upgrade_required` names.',
  },
  ip_not_allowed: {
    status: 403,
    sentence: "The caller's IP address is not on this key's allowlist.",
    fix: 'Call from a listed address, or edit the allowlist of the key.',
  },
  malformed_request: {
    status: 400,
    sentence: 'The request is not well-formed HTTP.',
    fix: 'Use an HTTP client; the connection is closed after this reply.',
  },
  request_timeout: {
    status: 408,
    sentence: 'The request took too long to arrive.',
    fix: 'Send headers within 10 and the whole request within 15 seconds.',
  },
  headers_too_large: {
    status: 431,
    sentence: 'The request headers are larger than 16 KiB.',
    fix: 'Send fewer or shorter headers.',
  },
  not_found: { status: 404, sentence: 'Nothing is here.', fix: 'Check the path and the id.' },
  method_not_allowed: {
    status: 405,
    sentence: 'This path does not take that method.',
    fix: 'Use a method that the `Allow` header names.',
  },
  idempotency_in_progress: {
    status: 409,
    sentence: 'A request with this Idempotency-Key is still being processed.',
    fix: 'Wait for `Retry-After` seconds and send the same request again.',
  },
  body_too_large: {
    status: 413,
    sentence: 'The request body is larger than 16 KiB.',
    fix: 'Send one address per request.',
  },
  unsupported_media_type: {
    status: 415,
    sentence: 'The request body must be sent as "Content-Type: application/json".',
    fix: 'Set the header `Content-Type: application/json`.',
  },
  invalid_validation_type: {
    status: 422,
    sentence: 'validation_type must be "mx" or "smtp".',
    fix: 'Send `mx` or `smtp`, or leave the field out for `mx`.',
  },
  invalid_filter: {
    status: 422,
    sentence: 'The filter is not usable.',
    fix: 'The sentence says what is wrong with the field that `field` names.',
  },
  filter_exists: {
    status: 422,
    sentence: 'Value has already been taken',
    fix: 'The filter is there already, under the id that `existing_id` names.',
  },
  idempotency_key_reused: {
    status: 422,
    sentence: 'This Idempotency-Key was used with a different request body.',
    fix: 'Use a new key for each different request.',
  },
  rate_limit_exceeded: {
    status: 429,
    sentence: 'Too many requests.',
    fix: 'Wait for `Retry-After` seconds; the `RateLimit` headers show what is left.',
  },
  internal_error: {
    status: 500,
    sentence: 'Something went wrong on our side. Nothing was charged.',
    fix: 'Try again; if it stays, look for the `request_id` in the server log.',
  },
  verification_unavailable: {
    status: 503,
    sentence: 'Verification is not possible right now. Nothing was charged.',
    fix: 'Try again after `Retry-After` seconds; the operator finds the cause in `/readyz`.',
  },
  overloaded: {
    status: 503,
    sentence: 'The service is at its limit right now. Nothing was charged.',
    fix: 'Try again after `Retry-After` seconds.',
  },
  not_signed_in: {
    status: 401,
    sentence: 'Nobody is signed in here, or the session has ended. Sign in.',
    fix: 'Sign in; an API key does not open the dashboard.',
    dashboard: true,
  },
  sign_in_failed: {
    status: 401,
    sentence: 'The email address or the password is not right.',
    fix: 'Correct them, or choose a new password; nobody is told which of the two was wrong.',
    dashboard: true,
  },
  second_factor_failed: {
    status: 401,
    sentence: 'The code is not right, or it was used before.',
    fix: "Wait for the authenticator app's next code, or use a recovery code.",
    dashboard: true,
  },
  sign_in_again: {
    status: 403,
    sentence: 'This takes a sign-in that is not older than a day. Sign out, sign in, and try again.',
    fix: 'Sign in again.',
    dashboard: true,
  },
  link_expired: {
    status: 410,
    sentence: 'The link was used, or it is too old.',
    fix: 'Ask for a new one.',
    dashboard: true,
  },
  wrong_password: {
    status: 422,
    sentence: 'The password is not right.',
    fix: 'Send the password that signs you in now.',
    dashboard: true,
  },
  wrong_code: {
    status: 422,
    sentence: 'The code is not right, or it was used before.',
    fix: "Wait for the authenticator app's next code; both clocks must be right.",
    dashboard: true,
  },
  second_factor_exists: {
    status: 422,
    sentence: 'A code is asked at your sign-in already.',
    fix: 'Remove the second factor first.',
    dashboard: true,
  },
  passkey_refused: {
    status: 422,
    sentence: 'The passkey was not accepted.',
    fix: 'Begin again; the sentence says more where there is more to say.',
    dashboard: true,
  },
  email_refused: {
    status: 422,
    sentence: 'Mail to this address would not arrive.',
    fix: 'Sign up with another address; the sentence says what is wrong with this one.',
    dashboard: true,
  },
  role_not_sufficient: {
    status: 403,
    sentence: 'Your role in this account does not allow this.',
    fix: 'Ask somebody with the role that `required_role` names.',
    dashboard: true,
  },
  cross_origin: {
    status: 403,
    sentence: 'The request came from a page of another site.',
    fix: 'Use the dashboard at its own address; behind a proxy, pass `Host` on or set `MAILVET_PUBLIC_URL`.',
    dashboard: true,
  },
  account_suspended: {
    status: 403,
    sentence: 'The account is suspended: nothing can be verified.',
    fix: 'Ask the people who run the service.',
    dashboard: true,
  },
  confirmation_mismatch: {
    status: 422,
    sentence: 'The confirmation is not the same. Nothing was changed.',
    fix: 'Type exactly what the page asks for.',
    dashboard: true,
  },
  key_revoked: {
    status: 422,
    sentence: 'The key is revoked, or about to be.',
    fix: 'Revocation is final: make a new key.',
    dashboard: true,
  },
  last_owner: {
    status: 422,
    sentence: 'An account keeps at least one owner. Make somebody else an owner first.',
    fix: 'Make another member an owner, or delete the account.',
    dashboard: true,
  },
  already_member: {
    status: 422,
    sentence: 'Somebody with this address is a member already.',
    fix: "Change the member's role instead.",
    dashboard: true,
  },
  retention_too_long: {
    status: 422,
    sentence: 'The server does not keep verifications for that long.',
    fix: 'Give at most the days that the sentence names; the server keeps them for `MAILVET_RETENTION_DAYS`.',
    dashboard: true,
  },
  balance_too_small: {
    status: 422,
    sentence: 'The account has fewer credits than that. Nothing was changed.',
    fix: 'Take back at most what is left.',
    dashboard: true,
  },
  lists_not_updated: {
    status: 503,
    sentence: 'The lists could not be fetched. Those in use stay in use.',
    fix: 'The sentence says why; try again later.',
    dashboard: true,
  },
} as const satisfies Record<string, CatalogueRow>;

export type ErrorCode = keyof typeof ERRORS;

export const isOfDashboard = (code: ErrorCode): boolean => (ERRORS[code] as CatalogueRow).dashboard === true;

/** Codes that a client of the public API can meet. */
export const PUBLIC_CODES = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !isOfDashboard(code));

/** Fields that help the caller to fix the request; they stand beside `error`, `code` and `request_id`. */
export interface ErrorDetails {
  field?: string;
  limit?: number;
  /** Seconds; also sent as `Retry-After`. */
  retry_after?: number;
  current_plan?: string;
  upgrade_required?: string;
  existing_id?: number;
  /** Of the dashboard: the least role that may do this. */
  required_role?: string;
}

/** A refusal: the caller erred, or we cannot serve. A verdict is never one of these. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  constructor(code: ErrorCode, sentence?: string, details: ErrorDetails = {}, cause?: unknown) {
    super(sentence ?? ERRORS[code].sentence, cause === undefined ? undefined : { cause });
    this.name = 'Refusal';
    this.code = code;
    this.details = details;
  }
  get status(): number {
    return ERRORS[this.code].status;
  }
}
