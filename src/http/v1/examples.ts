/** Examples for the document of the API; a test checks them against its schemas. */
import type { TSchema } from 'typebox';
import { ERRORS, PUBLIC_CODES } from '../../kernel/errors.ts';
import { PLANS } from '../../kernel/facts/plans.ts';
import { NO_RULES } from '../../kernel/facts/policies.ts';
import { TEST_ERRORS } from '../../service/test-errors.ts';

const ACCOUNT_TIME = '2026-11-20T10:00:00.000Z';
const PAGINATION = { current_page: 1, per_page: 25, total_pages: 1, total_count: 1 };

const CHECKS = {
  syntax: { result: 'pass' },
  filter: { result: 'pass' },
  disposable: { result: 'pass', list_version: '2026-11-20' },
  domain: { result: 'pass' },
  mx: { result: 'pass', records: [{ host: 'mx.example.net', priority: 10 }], provider: null, provider_kind: null },
  smtp: {
    result: 'pass',
    host: 'mx.example.net',
    stage: 'rcpt',
    code: 250,
    enhanced_code: '2.1.5',
    tls: true,
    rule: null,
  },
  catch_all: { result: 'fail', checked_at: '2026-11-20T07:12:00.000Z' },
};
const VERDICT = {
  status: 'good',
  deliverability: 'risky',
  reason: 'catch_all',
  did_you_mean: null,
  validation_type: 'smtp',
  credits_used: 10,
  is_disposable: false,
  is_role: false,
  is_free: false,
  is_relay: false,
  is_catch_all: true,
  checks: CHECKS,
};

const FILTER = {
  id: 17,
  filter_type: 'domain',
  value: 'spam.example.com',
  reason: 'abuse in October',
  action: 'block',
  match: 'exact',
  expires_at: null,
  expired: false,
  hits: 12,
  last_hit_at: '2026-11-24T08:15:00.000Z',
  created_at: ACCOUNT_TIME,
};

const POLICY = {
  name: 'b2b',
  built_in: false,
  signals: { ...NO_RULES.signals, disposable: 'reject', free: 'review' },
  validation_type: NO_RULES.level,
  timeout_ms: NO_RULES.timeoutMs,
  on_outage: NO_RULES.onOutage,
  messages: { free: { en: 'Use the address of your company.', de: 'Nehmen Sie Ihre Firmenadresse.' } },
  created_at: ACCOUNT_TIME,
  changed_at: ACCOUNT_TIME,
};

const LIST = {
  id: 'lst_0VkP3Zq1n7Jc2mQ9sT4bXd',
  name: 'newsletter.csv',
  status: 'running',
  validation_type: 'smtp',
  policy: null,
  dedupe: 'address',
  rows: { total: 1000, addresses: 980, duplicates: 15, blank: 5, unreadable: 0 },
  progress: { done: 490, waiting: 12, good: 440, bad: 50, percent: 50, per_second: 12.5, eta_seconds: 40 },
  deliverability: { deliverable: 400, undeliverable: 45, risky: 25, unknown: 20 },
  by_reason: { mailbox_not_found: 45, catch_all: 25 },
  credits: { price: 9800, held: 5200, used: 4600 },
  read: {
    ...{ format: 'csv', delimiter: ',', encoding: 'utf-8', sheet: null, entry: null, header_row: 1 },
    ...{ column: 'email', columns: ['email'], other_address_columns: [] },
    addresses_per_row: { max: 1, rows_with_several: 0 },
  },
  warnings: [],
  error: null,
  patience_minutes: 240,
  created_at: ACCOUNT_TIME,
  started_at: '2026-11-20T10:00:01.000Z',
  finished_at: null,
  expires_at: '2026-12-20T10:00:00.000Z',
};

const WEBHOOK = {
  id: 'whk_0VkP3Zq1n7Jc2mQ9sT4bXd',
  url: 'https://example.com/hooks/mailvet',
  events: ['list.completed', 'credits.low'],
  description: null,
  enabled: true,
  disabled_reason: null,
  disabled_at: null,
  failing_since: null,
  previous_secret_until: null,
  created_at: ACCOUNT_TIME,
};
const WITH_SECRET = { ...WEBHOOK, secret: 'whsec_bm90IGEgcmVhbCBzZWNyZXQsIGJ1dCBhbiBleGFtcGxl' };

const DELIVERY = {
  id: 'dlv_0VkP3Zq1n7Jc2mQ9sT4bXd',
  webhook_id: WEBHOOK.id,
  event_id: 'msg_0VkP3Zq1n7Jc2mQ9sT4bXd',
  event: 'list.completed',
  status: 'delivered',
  attempts: [{ at: ACCOUNT_TIME, status: 200, error: null, duration_ms: 84, response: 'ok' }],
  next_attempt_at: null,
  created_at: ACCOUNT_TIME,
  finished_at: '2026-11-20T10:00:00.084Z',
};

/** As events have it. */
const KEY = {
  id: 'key_0VkP3Zq1n7Jc2mQ9sT4bXd',
  name: 'shop',
  key: 'mv_live_…wxyz',
  allow_ips: [],
  scopes: ['verify'],
  monthly_credits: null,
  created_at: ACCOUNT_TIME,
  expires_at: null,
  revoked_at: null,
};
const ENDED = { ...LIST, status: 'completed', finished_at: '2026-11-20T10:01:00.000Z' };
const eventOf = (type: string, data: object) => ({ type, timestamp: '2026-11-20T10:01:00.000Z', data });

const warnings: readonly string[] = [];

/** Of requests and replies, by the title of their schema. */
const EXAMPLES: Readonly<Record<string, object>> = {
  VerifyRequest: { email: 'jane.doe@example.com', validation_type: 'smtp', policy: 'signup', scope: 'signup' },
  Verification: {
    email: 'jane.doe@example.com',
    ...VERDICT,
    normalized_email: 'jane.doe@example.com',
    canonical_email: 'jane.doe@example.com',
    canonical_rule: null,
    seen: { before: true, count: 2, first_at: '2026-10-03T08:12:44.120Z', same_spelling: true },
    relay_provider: null,
    local_part: 'jane.doe',
    domain: 'example.com',
    tag: null,
    is_mailbox_full: false,
    is_disabled: false,
    retry_after: null,
    warnings,
    id: 'ver_0VkP3Zq1n7Jc2mQ9sT4bXd',
    duration_ms: 1840,
    verified_at: ACCOUNT_TIME,
    decision: { action: 'accept', because: [], message: null },
  },
  Forgotten: { forgotten: 1, warnings },
  Usage: {
    plan: 'premium',
    period: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
    credits: { total: 45_230, locked: 0, used: 4770, remaining: 45_230 },
    rate_limit: { limit: 300, remaining: 295, window_seconds: 300, reset_at: '2026-11-20T10:05:00.000Z' },
    storage: {
      list_bytes: { used: 480_000, limit: PLANS.premium.listBytes },
      filters: { used: 12, limit: PLANS.premium.filters },
    },
    validation_types: { mx: { credits: 1, available: true }, smtp: { credits: 10, available: true } },
    totals: { requests: 4300, good: 3900, bad: 400, by_reason: { disposable_domain: 210 } },
    warnings,
  },
  FilterRequest: { filter_type: 'domain', value: 'spam.example.com', reason: 'abuse in October' },
  FilterAdded: { ...FILTER, warnings },
  FilterDetails: { ...FILTER, warnings },
  FilterChangeRequest: { action: 'allow', expires_at: '2027-01-31T00:00:00Z' },
  Filters: { filters: [FILTER], pagination: PAGINATION, warnings },
  FilterRemoved: { status: 'success', message: 'Filter 17 was removed.', warnings },
  PolicyRequest: { signals: { disposable: 'reject', free: 'review' }, messages: POLICY.messages },
  PolicyDetails: { ...POLICY, warnings },
  PolicyList: { policies: [POLICY], warnings },
  PolicyDeleted: { status: 'success', message: 'The policy b2b was deleted.', warnings },
  List: LIST,
  ListPatch: { read: { columns: ['email'] } },
  Lists: { lists: [LIST], pagination: PAGINATION, warnings },
  ListRows: {
    rows: [
      {
        ...{ row: 1, part: null, parts: null, column: null, email: 'jane.doe@example.com', ...VERDICT },
        ...{ relay_provider: null, canonical_email: 'jane.doe@example.com', is_duplicate: false },
        ...{ attempts: 1, verified_at: ACCOUNT_TIME, problem: null, decision: null, egress: 'default' },
      },
    ],
    next: null,
    warnings,
  },
  ListRemoved: { status: 'success', message: `List ${LIST.id} was removed.`, warnings },
  WebhookRequest: { url: WEBHOOK.url, events: WEBHOOK.events },
  WebhookChange: { enabled: false },
  WebhookDetails: { ...WEBHOOK, warnings },
  WebhookCreated: { ...WITH_SECRET, warnings },
  WebhookList: { webhooks: [WEBHOOK], warnings },
  WebhookDeleted: { status: 'success', message: `Webhook ${WEBHOOK.id} was deleted.`, warnings },
  Delivery: DELIVERY,
  DeliveryDetails: { ...DELIVERY, warnings },
  ListCompletedEvent: eventOf('list.completed', ENDED),
  ListFailedEvent: eventOf('list.failed', { ...ENDED, status: 'failed' }),
  ListCancelledEvent: eventOf('list.cancelled', { ...ENDED, status: 'cancelled' }),
  CreditsLowEvent: eventOf('credits.low', {
    credits: { total: 90, locked: 0, used: 4910, remaining: 90 },
    low_balance: 100,
  }),
  KeyCreatedEvent: eventOf('key.created', KEY),
  KeyRevokedEvent: eventOf('key.revoked', { ...KEY, revoked_at: ACCOUNT_TIME }),
  PingEvent: eventOf('ping', { webhook_id: WEBHOOK.id }),
  Deliveries: { deliveries: [DELIVERY], pagination: PAGINATION, warnings },
};

export const exampleOf = (schema: TSchema): object | undefined =>
  'title' in schema ? EXAMPLES[String(schema.title)] : undefined;

/** One for each code that has this status. */
export const errorExamples = (status: number): Readonly<Record<string, { readonly value: object }>> =>
  Object.fromEntries(
    PUBLIC_CODES.filter((code) => ERRORS[code].status === status).map((code) => [
      code,
      { value: { error: ERRORS[code].message, code, request_id: 'req_0VkP3Zq1n7Jc2mQ9sT4bXd', ...TEST_ERRORS[code] } },
    ]),
  );
