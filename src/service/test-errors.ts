/** The errors that the local part of an address selects in test mode; docs/testing.md is generated from this table. */
import type { Selector } from '../engine/test-mode.ts';
import { type ErrorDetails, type PublicCode, SimulatedError } from '../kernel/errors.ts';
import { LIST_ROWS, POLICIES_MAX } from '../kernel/facts/limits.ts';
import { DEFAULT_PLANS, termsOf } from '../kernel/facts/plans.ts';
import { BUILT_IN_POLICIES } from '../kernel/facts/policies.ts';

const EXAMPLE = termsOf(DEFAULT_PLANS, 'starter');

/** What helps to fix it, as an example. */
export const TEST_ERRORS: Readonly<Record<PublicCode, ErrorDetails>> = {
  invalid_json: {},
  missing_parameter: { field: 'email' },
  invalid_parameter: { field: 'email' },
  missing_api_key: {},
  malformed_authorization: {},
  invalid_api_key: {},
  revoked_api_key: {},
  expired_api_key: { expired_at: '2026-01-01T00:00:00.000Z' },
  insufficient_credits: {},
  plan_upgrade_required: { current_plan: 'starter', upgrade_required: 'premium' },
  key_budget_spent: { budget: 1_000, resets_at: '2100-01-01T00:00:00.000Z' },
  ip_not_allowed: {},
  scope_missing: { scope: 'verify' },
  api_key_required: {},
  operator_key_required: {},
  malformed_request: {},
  request_timeout: {},
  headers_too_large: {},
  not_found: {},
  method_not_allowed: {},
  idempotency_in_progress: { retry_after: 1 },
  balance_too_small: { field: 'credits' },
  grant_conflict: { field: 'external_id' },
  list_state: { status: 'running' },
  list_too_large: { limit: LIST_ROWS.max },
  body_too_large: {},
  unsupported_media_type: {},
  invalid_validation_type: { field: 'validation_type' },
  webhook_disabled: {},
  test_in_progress: {},
  invalid_webhook_url: { field: 'url' },
  too_many_webhooks: {},
  too_many_lists: {},
  list_storage_full: { limit: EXAMPLE.listBytes },
  too_many_mailboxes: { field: 'scope', limit: EXAMPLE.mailboxes },
  seen_disabled: { field: 'scope' },
  too_many_filters: { limit: EXAMPLE.filters },
  unreadable_file: { line: 1 },
  no_address_column: { field: 'column', columns: [] },
  invalid_filter: { field: 'value' },
  filter_exists: { field: 'value', existing_id: 1 },
  policy_not_found: { field: 'policy', policies: BUILT_IN_POLICIES.map(({ name }) => name) },
  policy_built_in: { field: 'name' },
  policy_in_use: { hooks: ['Sign-up form'] },
  invalid_policy: { field: 'messages.typo.en' },
  too_many_policies: { limit: POLICIES_MAX },
  no_addresses: {},
  few_addresses: {},
  too_many_keys: {},
  external_id_taken: { field: 'external_id', account: 'acc_0VkP3Zq1n7Jc2mQ9sT4bXd' },
  idempotency_key_reused: {},
  rate_limit_exceeded: { limit: EXAMPLE.requestsPerWindow, retry_after: 30 },
  internal_error: {},
  verification_unavailable: { retry_after: 5 },
  overloaded: { retry_after: 1 },
};

const isSimulated = (name: string): name is PublicCode => Object.hasOwn(TEST_ERRORS, name);

/** Returns the error that the local part names; null for any other. */
export const simulatedError = ({ name }: Selector): SimulatedError | null =>
  isSimulated(name) ? new SimulatedError(name, undefined, TEST_ERRORS[name]) : null;
