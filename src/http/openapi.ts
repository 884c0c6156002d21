/** One generator makes OpenAPI 3.1 of rows, for the public and the private document. */

import { STATUS_CODES } from 'node:http';
import type { TSchema } from 'typebox';
import { DashboardErrorReply, ErrorReply } from '../contract/errors.ts';
import { WEBHOOK_EVENTS } from '../contract/webhooks.ts';
import { ERRORS, PUBLIC_CODES, type PublicCode } from '../kernel/errors.ts';
import { DEFAULT_PLANS, DEFAULT_PRICES, termsOf } from '../kernel/facts/plans.ts';
import { NO_RULES } from '../kernel/facts/policies.ts';
import { VERSION } from '../kernel/version.ts';
import { TEST_ERRORS } from '../service/test-errors.ts';
import { type Access, operatorScopeOf, type Route, type RouteDoc, type RouteOutput, scopeOf } from './route.ts';

const BY_ACCOUNT = [401, 403, 404, 429, 500, 503];
const BY_KEY = [401, 403, 429, 500, 503];

/** Statuses that every row of an access rule can return, beside its own and those of its input. */
const BY_ACCESS: Readonly<Record<Access, readonly number[]>> = {
  'api-key:verify': BY_KEY,
  'api-key:lists': BY_KEY,
  'api-key:filters': BY_KEY,
  'api-key:usage': BY_KEY,
  'api-key:webhooks': BY_KEY,
  'api-key:policies': BY_KEY,
  'api-key:outcomes': BY_KEY,
  'api-key:log': BY_KEY,
  'api-key:privacy': BY_KEY,
  'charged-api-key:verify': BY_KEY,
  hook: [400, 401, 413, 429, 500, 503],
  'outcome-source': [400, 401, 403, 413, 429, 500, 503],
  anybody: [500, 503],
  'signed-in': [401, 429, 500, 503],
  viewer: BY_ACCOUNT,
  member: BY_ACCOUNT,
  admin: BY_ACCOUNT,
  owner: BY_ACCOUNT,
  operator: [401, 404, 500, 503],
  'operator-key:accounts:read': BY_KEY,
  'operator-key:accounts:write': BY_KEY,
  'operator-key:credits': BY_KEY,
  'operator-key:usage': BY_KEY,
  page: [404, 500],
  open: [500],
  'metrics-token': [401, 404, 500],
};

/** Returns the statuses of errors that a row can return. */
export function errorsOf({ access, method, input = {}, doc }: Route): number[] {
  const own = (doc?.errors ?? []).map((error) => (typeof error === 'number' ? error : ERRORS[error].status));
  const found = new Set([...own, ...BY_ACCESS[access]]);
  if (input.body || input.query || input.headers) found.add(400);
  if (input.body) found.add(413).add(415);
  if (input.params) found.add(404);
  // The request may come from another site.
  if (scopeOf(access) === null && method !== 'GET') found.add(403);
  return [...found].sort((a, b) => a - b);
}

const WITH_KEY = [
  'missing_api_key',
  'malformed_authorization',
  'invalid_api_key',
  'revoked_api_key',
  'expired_api_key',
  'ip_not_allowed',
  'scope_missing',
  'rate_limit_exceeded',
  'internal_error',
  'overloaded',
  'verification_unavailable',
] satisfies readonly PublicCode[];

/** The codes of errors that a row of `/v1` can return, in the order of the catalog. */
function errorCodesOf({ path, access, input = {}, doc }: Route): PublicCode[] {
  const found = new Set<PublicCode | number>([...WITH_KEY, ...(doc?.errors ?? [])]);
  found.add(operatorScopeOf(access) === null ? 'api_key_required' : 'operator_key_required');
  if (path.includes(':')) found.add('not_found');
  if (input.query || input.body || input.headers) found.add('invalid_parameter').add('malformed_request');
  if (isRequired(input.query)) found.add('missing_parameter');
  if (input.headers && 'idempotency-key' in schemaProperties(input.headers))
    found.add('idempotency_in_progress').add('idempotency_key_reused');
  if (input.body) for (const code of errorsOfBody(input.body)) found.add(code);
  return PUBLIC_CODES.filter((code) => found.has(code));
}

function errorsOfBody(body: NonNullable<NonNullable<Route['input']>['body']>): PublicCode[] {
  const isJson = !('stream' in body) || body.stream.includes('application/json');
  const isAnyType = 'stream' in body && body.anyType === true;
  return [
    ...(isJson ? (['invalid_json', 'missing_parameter'] as const) : []),
    ...(isAnyType ? [] : (['unsupported_media_type'] as const)),
    'stream' in body && body.tooLarge === 'list_too_large' ? 'list_too_large' : 'body_too_large',
  ];
}

const schemaProperties = (schema: TSchema): object => ('properties' in schema ? Object(schema.properties) : {});
const isRequired = (schema: TSchema | undefined): boolean =>
  schema !== undefined && 'required' in schema && Array.isArray(schema.required) && schema.required.length > 0;

type OpenApiObject = Record<string, unknown>;

/** Two documents differ in this. */
interface Style {
  readonly security: (route: Route) => readonly OpenApiObject[];
  /** Titled schemas become components and are referred to, or are written where they are used. */
  readonly schemas: 'components' | 'inline';
  /** Returns the example of a request or reply of this schema. */
  readonly exampleOf: (schema: TSchema) => object | undefined;
  /** Schema keywords to omit. */
  readonly isPrivate: (keyword: string) => boolean;
  /** Responses of an operation that fails. */
  readonly errors: (route: Route) => OpenApiObject;
  /** Said of an operation beside what the standard has. */
  readonly more: (route: Route) => OpenApiObject;
  readonly replyHeaders: (route: Route, status: number, own: Readonly<Record<string, string>>) => OpenApiObject;
}

type Documented = Route & { readonly doc: RouteDoc; readonly output: RouteOutput };
const isDocumented = (route: Route): route is Documented => route.doc !== undefined && route.output !== undefined;

const exampled = (example: object | undefined): OpenApiObject => (example === undefined ? {} : { example });

/** Names of the path: `:id` is `{id}` in the document. */
const PATH_PARAMETERS = /:([a-z]+)/g;

interface Described {
  readonly paths: OpenApiObject;
  /** These belong to `components`, and are complete once everything was described. */
  readonly schemas: OpenApiObject;
  readonly contentOf: (content: RouteOutput['content']) => OpenApiObject;
}

/** Describes the rows that have a doc. */
function describeRoutes(routes: readonly Route[], style: Style): Described {
  const schemas: OpenApiObject = {};
  const paths: Record<string, OpenApiObject> = {};
  const schemaOf = (schema: unknown): unknown =>
    publicSchema(schema, style, style.schemas === 'inline' ? null : schemas);
  const contentOf = (content: RouteOutput['content']): OpenApiObject =>
    typeof content === 'string'
      ? { [content]: { schema: { type: 'string' } } }
      : { 'application/json': { schema: schemaOf(content), ...exampled(style.exampleOf(content)) } };
  for (const route of routes.filter(isDocumented)) {
    const path = route.path.replaceAll(PATH_PARAMETERS, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, style, contentOf) };
  }
  return { paths, schemas, contentOf };
}

function operationOf(
  route: Documented,
  style: Style,
  contentOf: (content: RouteOutput['content']) => OpenApiObject,
): OpenApiObject {
  const { doc, input = {}, output } = route;
  const { status = 200, description = doc.summary, headers = {} } = output;
  const parameters = [
    ...pathParameters(route.path, input.params),
    ...parametersIn('query', input.query),
    ...parametersIn('header', input.headers),
  ];
  return {
    operationId: doc.operationId,
    summary: doc.summary,
    tags: [doc.tag ?? 'Dashboard'],
    ...(doc.description ? { description: doc.description } : {}),
    ...(input.body ? { requestBody: requestBody(input.body, contentOf) } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    security: style.security(route),
    responses: {
      [status]: { description, ...style.replyHeaders(route, status, headers), content: contentOf(output.content) },
      ...style.errors(route),
    },
    ...style.more(route),
  };
}

function requestBody(
  body: NonNullable<NonNullable<Route['input']>['body']>,
  contentOf: (schema: TSchema) => OpenApiObject,
): OpenApiObject {
  if ('stream' in body) {
    if (body.schema !== undefined) return { required: true, content: contentOf(body.schema) };
    const content = body.stream.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]);
    return { required: true, content: Object.fromEntries(content) };
  }
  const described = 'description' in body ? { description: body.description } : {};
  return { required: true, content: contentOf(body), ...described };
}

const pathParameters = (path: string, params: TSchema | undefined): OpenApiObject[] => {
  const described = new Map(parametersIn('path', params).map((parameter) => [parameter.name, parameter]));
  const names = [...path.matchAll(PATH_PARAMETERS)].map(([, name]) => name);
  return names.map((name) => described.get(name) ?? { schema: { type: 'string' }, in: 'path', name, required: true });
};

/** One parameter for each property of the schema; keywords that only the reader needs are omitted. */
function parametersIn(place: 'path' | 'query' | 'header', schema: TSchema | undefined): OpenApiObject[] {
  if (schema === undefined || !('properties' in schema)) return [];
  const required = 'required' in schema && Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties as Readonly<Record<string, object>>).map(([name, property]) => {
    const { description, ...rest } = publicPart(property);
    return {
      schema: rest,
      in: place,
      name,
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
    };
  });
}
const publicPart = (property: object): OpenApiObject =>
  Object.fromEntries(Object.entries(property).filter(([keyword]) => !/^(x-|~)/.test(keyword)));

// Examples for the document of the API; a test checks them against its schemas.

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

const FILTER_DEFAULTS = { reason: null, action: 'block', match: 'exact', expires_at: null };

const EVENT_POLICY = {
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

const EVENT_LIST = {
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
    format: 'csv',
    delimiter: ',',
    encoding: 'utf-8',
    sheet: null,
    entry: null,
    header_row: 1,
    column: 'email',
    columns: ['email'],
    other_address_columns: [],
    addresses_per_row: { max: 1, rows_with_several: 0 },
  },
  warnings: [],
  error: null,
  retry_minutes: 240,
  patience_minutes: 240,
  created_at: ACCOUNT_TIME,
  started_at: '2026-11-20T10:00:01.000Z',
  finished_at: null,
  expires_at: '2026-12-20T10:00:00.000Z',
};

const WEBHOOK = {
  id: 'whk_0VkP3Zq1n7Jc2mQ9sT4bXd',
  url: 'https://example.com/hooks/mailvet',
  format: 'events',
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

const MANAGED = {
  id: 'acc_0VkP3Zq1n7Jc2mQ9sT4bXd',
  name: 'Contoso',
  plan: 'premium',
  rate_limit: 300,
  rate_limit_set: false,
  status: 'active',
  balance: 5000,
  locked: 0,
  allowance: 0,
  unlimited: false,
  members: 0,
  keys: 0,
  created_at: ACCOUNT_TIME,
  external_id: 'customer_4711',
  low_balance: null,
};
const OF_ACCOUNT = { id: MANAGED.id, name: MANAGED.name, external_id: MANAGED.external_id };
const GRANT = { credits: 5000, external_id: 'pi_3QxYzA2eZvKYlo2C', note: 'Invoice 2026-0042' };

/** As events have it. */
const EVENT_KEY = {
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
const ENDED_LIST = { ...EVENT_LIST, status: 'completed', finished_at: '2026-11-20T10:01:00.000Z' };
const PREMIUM = termsOf(DEFAULT_PLANS, 'premium');
const EVENT_CREDITS = {
  total: 45_230,
  locked: 0,
  remaining: 45_230,
  unlimited: false,
  allowance: 0,
  purchased: 45_230,
};
const USAGE = {
  plan: 'premium',
  period: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
  credits: { ...EVENT_CREDITS, used: 4770 },
  rate_limit: { limit: 300, remaining: 295, window_seconds: 300, reset_at: '2026-11-20T10:05:00.000Z' },
  storage: {
    list_bytes: { used: 480_000, limit: PREMIUM.listBytes },
    filters: { used: 12, limit: PREMIUM.filters },
  },
  validation_types: { mx: { credits: 1, available: true }, smtp: { credits: 10, available: true } },
  unknown_credits: DEFAULT_PRICES.unknown,
  totals: { requests: 4300, good: 3900, bad: 400, by_reason: { disposable_domain: 210 } },
};
const CONTRADICTION = {
  verification_id: 'ver_0VkP3Zq1n7Jc2mQ9sT4bXd',
  deliverability: 'deliverable',
  reason: null,
  validation_type: 'smtp',
  provider: null,
  outcome: 'bounced',
  at: ACCOUNT_TIME,
  rule: null,
  reply: '250 2.1.5',
  code: '550 5.1.1',
};
const eventExample = (type: string, data: object) => ({ type, timestamp: '2026-11-20T10:01:00.000Z', data });

const warnings: readonly string[] = [];

/** Maps titles of schemas to examples of requests and replies. */
const EXAMPLES: Readonly<Record<string, object>> = {
  VerifyRequest: { email: 'jane.doe@example.com', validation_type: 'smtp', policy: 'signup', scope: 'signup' },
  Verification: {
    email: 'jane.doe@example.com',
    ...VERDICT,
    normalized_email: 'jane.doe@example.com',
    canonical_email: 'jane.doe@example.com',
    canonical_rule: null,
    seen: { before: true, count: 2, first_at: '2026-10-03T08:12:44.120Z', same_spelling: true },
    history: { delivered_at: '2026-10-05T09:30:00.000Z', bounced_at: null, complained_at: null },
    confidence: { p: 0.97, low: 0.956, high: 0.981, n: 812, basis: 'account' },
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
  PrivacyExportRequest: { email: 'jane.doe@example.com', canonical: true },
  PrivacyExport: {
    email: 'jane.doe@example.com',
    canonical: true,
    exported_at: ACCOUNT_TIME,
    held: { filters: [{ id: 7, filter_type: 'email', value: 'jane.doe@example.com', action: 'block' }] },
  },
  PrivacyEraseRequest: { email: 'jane.doe@example.com' },
  PrivacyErased: { erased: 3, tables: { verifications: 2, seen: 1 }, kept: { filters: 1 }, warnings },
  OutcomesRequest: {
    outcomes: [
      { email: 'jane.doe@example.com', outcome: 'bounced', at: ACCOUNT_TIME, diagnostic: '550 5.1.1 User unknown' },
      { verification_id: 'ver_0VkP3Zq1n7Jc2mQ9sT4bXd', outcome: 'delivered', at: ACCOUNT_TIME, source: 'newsletter' },
    ],
  },
  Calibration: {
    verdicts: [
      {
        deliverability: 'deliverable',
        reason: null,
        validation_type: 'smtp',
        provider: null,
        sent: 4120,
        bounced: 17,
        bounce_rate: 0.0041,
        low: 0.0025,
        high: 0.0067,
      },
    ],
    reliability: [{ from: 0.9, to: 1, sent: 812, predicted: 0.971, delivered: 0.968, low: 0.9528, high: 0.9786 }],
    contradictions: [{ ...CONTRADICTION, template: 'user unknown' }],
    warnings,
  },
  OutcomesResult: {
    results: [
      { result: 'recorded', class: 'absent' },
      { result: 'duplicate', class: 'delivered' },
    ],
    recorded: 1,
    duplicates: 1,
    errors: 0,
    warnings,
  },
  OutcomeMessageResult: {
    outcomes: [{ email: 'jane.doe@example.com', outcome: 'bounced', result: 'recorded', class: 'absent' }],
    disregarded: [],
    warnings,
  },
  Verifications: {
    verifications: [
      {
        id: 'ver_0VkP3Zq1n7Jc2mQ9sT4bXd',
        email: 'jane.doe@example.com',
        status: 'good',
        deliverability: 'risky',
        reason: 'catch_all',
        requested: 'smtp',
        validation_type: 'smtp',
        credits_used: 10,
        duration_ms: 1840,
        client_ip: '203.0.113.7',
        key: { id: 'key_0VkP3Zq1n7Jc2mQ9sT4bXd', name: 'shop' },
        list: null,
        via: null,
        decision: 'accept',
        egress: 'default',
        created_at: ACCOUNT_TIME,
      },
    ],
    next: '1204',
    searched_to: ACCOUNT_TIME,
    warnings,
  },
  Usage: { ...USAGE, warnings },
  FilterRequest: { filter_type: 'domain', value: 'spam.example.com', reason: 'abuse in October' },
  FilterAdded: { ...FILTER, warnings },
  FilterDetails: { ...FILTER, warnings },
  FilterChangeRequest: { action: 'allow', expires_at: '2027-01-31T00:00:00Z' },
  Filters: { filters: [FILTER], pagination: PAGINATION, warnings },
  FilterImport: {
    dry_run: false,
    rows: 3,
    added: 1,
    existing: 1,
    invalid: 1,
    errors: [
      {
        row: 4,
        text: 'example.com,permit',
        field: 'action',
        error: 'action must be "block" or "allow": a filter can do nothing else.',
      },
    ],
    filters: [
      { row: 2, filter_type: 'domain', value: 'spam.example.com', ...FILTER_DEFAULTS },
      { row: 3, filter_type: 'ip_address', value: '192.0.2.0/24', ...FILTER_DEFAULTS },
    ],
    read: {
      format: 'csv',
      delimiter: ',',
      encoding: 'utf-8',
      sheet: null,
      entry: null,
      header_row: 1,
      columns: [
        { column: 'Domain', field: 'value' },
        { column: 'action', field: 'action' },
      ],
    },
    warnings,
  },
  FilterRemoved: { status: 'success', message: 'Filter 17 was removed.', warnings },
  PolicyRequest: { signals: { disposable: 'reject', free: 'review' }, messages: EVENT_POLICY.messages },
  PolicyDetails: { ...EVENT_POLICY, warnings },
  PolicyList: { policies: [EVENT_POLICY], warnings },
  PolicyDeleted: { status: 'success', message: 'The policy b2b was deleted.', warnings },
  List: EVENT_LIST,
  ListPatch: { read: { columns: ['email'] } },
  Lists: { lists: [EVENT_LIST], pagination: PAGINATION, warnings },
  ListRows: {
    rows: [
      {
        row: 1,
        part: null,
        parts: null,
        column: null,
        email: 'jane.doe@example.com',
        ...VERDICT,
        relay_provider: null,
        canonical_email: 'jane.doe@example.com',
        is_duplicate: false,
        attempts: 1,
        verified_at: ACCOUNT_TIME,
        problem: null,
        decision: null,
        egress: 'default',
      },
    ],
    next: null,
    warnings,
  },
  ListRemoved: { status: 'success', message: `List ${EVENT_LIST.id} was removed.`, warnings },
  WebhookRequest: { url: WEBHOOK.url, events: WEBHOOK.events },
  WebhookChange: { enabled: false },
  WebhookDetails: { ...WEBHOOK, warnings },
  WebhookCreated: { ...WITH_SECRET, warnings },
  WebhookList: { webhooks: [WEBHOOK], warnings },
  WebhookDeleted: { status: 'success', message: `Webhook ${WEBHOOK.id} was deleted.`, warnings },
  Delivery: DELIVERY,
  DeliveryDetails: { ...DELIVERY, warnings },
  ListCompletedEvent: eventExample('list.completed', ENDED_LIST),
  ListFailedEvent: eventExample('list.failed', { ...ENDED_LIST, status: 'failed' }),
  ListCancelledEvent: eventExample('list.cancelled', { ...ENDED_LIST, status: 'cancelled' }),
  CreditsLowEvent: eventExample('credits.low', {
    credits: { ...EVENT_CREDITS, total: 90, used: 4910, remaining: 90, purchased: 90 },
    low_balance: 100,
  }),
  AccountCreatedEvent: eventExample('account.created', { account: OF_ACCOUNT, plan: 'premium', credits: 0 }),
  CreditsGrantedEvent: eventExample('credits.granted', {
    account: OF_ACCOUNT,
    credits: GRANT.credits,
    note: GRANT.note,
    balance: 5000,
  }),
  CreditsExhaustedEvent: eventExample('credits.exhausted', { account: OF_ACCOUNT }),
  KeyCreatedEvent: eventExample('key.created', EVENT_KEY),
  KeyRevokedEvent: eventExample('key.revoked', { ...EVENT_KEY, revoked_at: ACCOUNT_TIME }),
  ContradictionEvent: eventExample('outcomes.contradiction', { total: 1, contradictions: [CONTRADICTION] }),
  RejectionsHighEvent: eventExample('rejections.high', { rejected: 480, usual: 12, since: ACCOUNT_TIME }),
  UnknownsHighEvent: eventExample('unknowns.high', { unknown: 300, share: 0.6, usual_share: 0.1, since: ACCOUNT_TIME }),
  BudgetLowEvent: eventExample('budget.low', {
    key_id: EVENT_KEY.id,
    name: EVENT_KEY.name,
    monthly_credits: 1000,
    used: 810,
    resets_at: '2026-12-01T00:00:00.000Z',
  }),
  WebhookFailingEvent: eventExample('webhook.failing', {
    webhook_id: WEBHOOK.id,
    url: WEBHOOK.url,
    failing_since: ACCOUNT_TIME,
  }),
  SmtpUnreachableEvent: eventExample('smtp.unreachable', { state: 'port_closed', since: ACCOUNT_TIME }),
  PingEvent: eventExample('ping', { webhook_id: WEBHOOK.id }),
  ManagedAccounts: { accounts: [MANAGED], pagination: PAGINATION, warnings },
  ManagedAccountRequest: {
    name: 'Contoso',
    plan: 'premium',
    external_id: MANAGED.external_id,
    owner: 'jane.doe@example.com',
  },
  ManagedAccountCreated: { ...MANAGED, balance: 0, invitation: { mailed: true, link: null }, warnings },
  ManagedAccountDetails: { ...MANAGED, warnings },
  ManagedAccountChange: { plan: 'enterprise', low_balance: 1000 },
  ManagedDone: { status: 'success', message: `Account ${MANAGED.id} was deleted.`, warnings },
  ExternalGrantRequest: GRANT,
  ExternalGrant: {
    account: MANAGED.id,
    ...GRANT,
    created_at: ACCOUNT_TIME,
    repeated: false,
    balance: 5000,
    warnings,
  },
  ManagedKeyRequest: { name: 'shop', scopes: ['verify'], monthly_credits: 1000 },
  ManagedKeyCreated: { ...EVENT_KEY, monthly_credits: 1000, value: `mv_live_${'x'.repeat(28)}wxyz`, warnings },
  ManagedKey: { ...EVENT_KEY, monthly_credits: 1000, revoked_at: ACCOUNT_TIME, warnings },
  ManagedUsage: { ...USAGE, warnings },
  ManagedLedger: {
    rows: [
      {
        id: '0.42.0',
        kind: 'grant',
        amount: 5000,
        charged: 0,
        verification_id: null,
        verifications: null,
        note: GRANT.note,
        created_at: ACCOUNT_TIME,
      },
    ],
    next: null,
    warnings,
  },
  Deliveries: { deliveries: [DELIVERY], pagination: PAGINATION, warnings },
};

const exampleOf = (schema: TSchema): object | undefined =>
  'title' in schema ? EXAMPLES[String(schema.title)] : undefined;

/** Returns an example for each code that has this status. */
const errorExamples = (status: number): Readonly<Record<string, { readonly value: object }>> =>
  Object.fromEntries(
    PUBLIC_CODES.filter((code) => ERRORS[code].status === status).map((code) => [
      code,
      { value: { error: ERRORS[code].message, code, request_id: 'req_0VkP3Zq1n7Jc2mQ9sT4bXd', ...TEST_ERRORS[code] } },
    ]),
  );

const BARE: Pick<Style, 'isPrivate'> = { isPrivate: (keyword) => /^(x-|~)/.test(keyword) };

/** The schema as JSON without private keywords; a titled one is put among `schemas` and referred to. */
function publicSchema(schema: unknown, style: Pick<Style, 'isPrivate'>, schemas: OpenApiObject | null): unknown {
  if (Array.isArray(schema)) return schema.map((item) => publicSchema(item, style, schemas));
  if (typeof schema !== 'object' || schema === null) return schema;
  const own = Object.entries(defaultInWords(schema)).filter(([keyword]) => !style.isPrivate(keyword));
  const made = Object.fromEntries(
    own.map(([keyword, value]) => withPatternProperties(keyword, publicSchema(value, style, schemas))),
  );
  if (schemas === null || !('title' in schema) || typeof schema.title !== 'string' || !('type' in schema)) return made;
  schemas[schema.title] = made;
  return { $ref: `#/components/schemas/${schema.title}` };
}

/**
 * A property with a default may be left out of a request, but generators of clients (openapi-typescript) take the
 * keyword to mean that it is always there.
 */
function defaultInWords(schema: object): object {
  if (!('default' in schema)) return schema;
  const { default: value, ...rest } = schema;
  const description = 'description' in rest ? `${String(rest.description)} ` : '';
  return { ...rest, description: `${description}Default: \`${String(value)}\`.` };
}

/** Returns a schema by itself, as plain JSON without private keywords. */
export const jsonSchemaOf = (schema: TSchema) => JSON.parse(JSON.stringify(publicSchema(schema, BARE, null)));

/**
 * TypeBox describes a record by one pattern that matches every name; generators of clients know the plainer keyword.
 */
function withPatternProperties(keyword: string, value: unknown): [string, unknown] {
  if (keyword !== 'patternProperties' || typeof value !== 'object' || value === null) return [keyword, value];
  return '^.*$' in value ? ['additionalProperties', value['^.*$']] : [keyword, value];
}

interface HeaderObject {
  readonly schema: { readonly type: 'string' | 'integer' };
  readonly description: string;
}

const textHeader = (description: string): HeaderObject => ({ schema: { type: 'string' }, description });
const integerHeader = (description: string): HeaderObject => ({ schema: { type: 'integer' }, description });

const RATE: Readonly<Record<string, HeaderObject>> = {
  'RateLimit-Policy': textHeader('The limit: `"premium";q=300;w=300` (draft-ietf-httpapi-ratelimit-headers).'),
  RateLimit: textHeader('What is left, and seconds until the window ends: `"premium";r=295;t=118`.'),
  'X-RateLimit-Limit': integerHeader('Requests in the window.'),
  'X-RateLimit-Remaining': integerHeader('Requests left in the window.'),
  'X-RateLimit-Reset': integerHeader('Unix time, in seconds, at which the window ends.'),
};

/** Headers that many replies of the public API have: `components.headers` of its document. */
const SHARED_HEADERS: Readonly<Record<string, HeaderObject>> = {
  'X-Request-Id': textHeader("The id of the request: the caller's own where it was well-formed."),
  'Cache-Control': textHeader('`no-store`'),
  'X-Mailvet-Mode': textHeader('`test` on replies to test keys; otherwise absent.'),
  'WWW-Authenticate': textHeader('`Bearer`'),
  ...RATE,
  'Retry-After': integerHeader('Seconds after which the request may succeed.'),
};

/** Headers that a reply of the public API can have with this status. `own`: those of the route's own reply. */
function replyHeaders(
  status: number,
  own: Readonly<Record<string, string>>,
  isOfAccount = true,
): Record<string, object> {
  const shared = ['X-Request-Id', 'Cache-Control'];
  if (isOfAccount) shared.push('X-Mailvet-Mode', ...(status === 401 ? [] : Object.keys(RATE)));
  if (status === 401) shared.push('WWW-Authenticate');
  if (status === 409 || status === 429 || status === 503) shared.push('Retry-After');
  return {
    ...Object.fromEntries(shared.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
    ...Object.fromEntries(Object.entries(own).map(([name, description]) => [name, textHeader(description)])),
  };
}

// The two documents of this service

const LICENSE = { name: 'Apache-2.0', identifier: 'Apache-2.0' };

const codesOfStatus = (status: number): string =>
  PUBLIC_CODES.filter((code) => ERRORS[code].status === status)
    .map((code) => `\`${code}\``)
    .join(', ');

const withExamples = (content: OpenApiObject, examples: OpenApiObject): OpenApiObject =>
  Object.fromEntries(Object.entries(content).map(([type, media]) => [type, { ...Object(media), examples }]));

const responseOf = (name: string): OpenApiObject => ({ $ref: `#/components/responses/${name}` });
/** `404` → `NotFound`. */
const errorName = (status: number): string => (STATUS_CODES[status] ?? `Error ${status}`).replaceAll(' ', '');

const PUBLIC: Style = {
  security: ({ access }) => {
    const scope = operatorScopeOf(access);
    if (scope !== null) return [{ operatorKey: [scope] }];
    return [{ key: [scopeOf(access)].filter((named) => named !== null) }];
  },
  schemas: 'components',
  isPrivate: (keyword) => keyword.startsWith('~'),
  errors: (route) => {
    const statuses = [...new Set(errorCodesOf(route).map((code) => ERRORS[code].status))].sort((a, b) => a - b);
    return Object.fromEntries(statuses.map((status) => [status, responseOf(errorName(status))]));
  },
  // Responses are shared: this says which of their errors the operation has.
  more: (route) => ({ 'x-error-codes': errorCodesOf(route) }),
  exampleOf,
  replyHeaders: ({ access }, status, own) => ({ headers: replyHeaders(status, own, operatorScopeOf(access) === null) }),
};

/** Makes OpenAPI 3.1 of `/v1`. */
export function publicDocument(routes: readonly Route[], url: string): OpenApiObject {
  const { paths, schemas, contentOf } = describeRoutes(routes, PUBLIC);
  const webhooks = webhooksOf(contentOf);
  const error = contentOf(ErrorReply);
  const codes = routes.filter(({ doc }) => doc).flatMap(errorCodesOf);
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort((a, b) => a - b);
  const responses = Object.fromEntries(
    statuses.map((status) => [
      errorName(status),
      {
        description: codesOfStatus(status),
        headers: replyHeaders(status, {}),
        content: withExamples(error, errorExamples(status)),
      },
    ]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mailvet',
      version: VERSION,
      summary: 'Is this address good or bad, why, and what did it cost?',
      description:
        'Verifies email addresses: one POST, one verdict. Every request to `/v1` carries an API key. ' +
        'Errors are JSON with `error`, `code` and `request_id`.',
      license: LICENSE,
    },
    components: {
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key: `mv_live_`, or `mv_test_` for test mode, and 32 characters. The names beside it are the scopes that a request needs.',
        },
        operatorKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An operator key: `mv_op_` and 32 characters. Likewise.',
        },
      },
      headers: SHARED_HEADERS,
      responses,
      schemas,
    },
    paths,
    webhooks,
    servers: [{ url }],
    tags: TAGS.map(([name, description]) => ({ name, description })),
  };
}

/** Requests that webhooks get, by event (OpenAPI 3.1, "webhooks"). */
const webhooksOf = (contentOf: (schema: TSchema) => OpenApiObject): OpenApiObject =>
  Object.fromEntries(
    Object.entries(WEBHOOK_EVENTS).map(([type, { summary, body }]) => [
      type,
      {
        post: {
          operationId: `receive_${type}`.replace(/[._](\w)/g, (_, letter: string) => letter.toUpperCase()),
          summary,
          tags: ['Webhooks'],
          // It is signed in headers instead.
          security: [],
          requestBody: { required: true, content: contentOf(body) },
          responses: {
            '2XX': { description: 'Received.' },
            '410': { description: 'Nothing more is sent: the webhook is disabled.' },
          },
        },
      },
    ]),
  );

const TAGS = [
  ['Verification', 'Verify addresses.'],
  ['Lists', 'Verify many addresses as one job.'],
  ['Usage', 'The balance, what was spent, and how many requests are left.'],
  ['Filters', 'What the account itself blocks and allows.'],
  ['Policies', 'What is decided from a verdict.'],
  ['Outcomes', 'Report what became of mail, and learn how often verdicts were right.'],
  ['Privacy', 'Export and erase what is held about a person.'],
  ['Webhooks', 'Receive events.'],
  ['Operator', 'Run the service: accounts, credits and keys, with an operator key.'],
] as const;

const PRIVATE: Style = {
  security: ({ access }) => (access === 'anybody' ? [] : [{ session: [] }]),
  schemas: 'components',
  isPrivate: (keyword) => keyword.startsWith('~') || keyword.startsWith('x-'),
  exampleOf: () => undefined,
  errors: () => ({ '4XX': responseOf('Error'), '5XX': responseOf('Error') }),
  more: () => ({}),
  replyHeaders: () => ({}),
};

/** Makes OpenAPI 3.1 of `/dashboard`: it is for the page's own client and its tests, not a promise to others. */
export function dashboardDocument(routes: readonly Route[], url: string): OpenApiObject {
  const { paths, schemas, contentOf } = describeRoutes(routes, PRIVATE);
  const error = { description: 'An error.', content: contentOf(DashboardErrorReply) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mailvet dashboard',
      version: VERSION,
      summary: 'The private API of the dashboard. It may change with every release.',
      license: LICENSE,
    },
    servers: [{ url }],
    tags: [{ name: 'Dashboard', description: 'Requests of the dashboard.' }],
    paths,
    components: {
      schemas,
      responses: { Error: error },
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'mailvet.session_token' } },
    },
  };
}
