import {
  BODY_BYTES,
  BODY_WITHIN_SECONDS,
  HEADER_BYTES,
  HEADERS_WITHIN_SECONDS,
  LISTS_MAX,
  WEBHOOKS_MAX,
} from '../facts/limits.ts';
import { LEVELS } from '../facts/plans.ts';
import { choice, counted, kibibytes } from '../format.ts';
import type { ErrorRow } from './row.ts';

/** Errors of the public API. */
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
