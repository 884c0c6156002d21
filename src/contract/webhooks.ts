import Type, { type Static, type TSchema } from 'typebox';
import { ALERTS } from '../kernel/facts/alerts.ts';
import { MAIL_SERVER_PROBLEMS } from '../kernel/facts/checks.ts';
import {
  ATTEMPT_ERRORS,
  DELIVERY_STATUSES,
  DISABLED_REASONS,
  EVERY_EVENT,
  WEBHOOK_EVENT_TYPES,
  WEBHOOK_FORMATS,
  type WebhookEventType,
} from '../kernel/facts/events.ts';
import { WEBHOOK_SECRET_OVERLAP_HOURS } from '../kernel/facts/lifetimes.ts';
import {
  CONTRADICTIONS_LISTED,
  DELIVERIES_PAGE,
  DELIVERIES_PER_PAGE,
  WEBHOOK_DESCRIPTION_LENGTH,
  WEBHOOK_RESPONSE_BYTES,
  WEBHOOK_URL_LENGTH,
} from '../kernel/facts/limits.ts';
import { choice, grouped, kibibytes } from '../kernel/format.ts';
import { ListReply } from './lists.ts';
import { ContradictionFields } from './outcomes.ts';
import { DecodedAs, Nullable, OneOf, Pagination, Text, Time, WholeNumber, WithWarnings } from './schema.ts';
import { Credits } from './usage.ts';

// What webhooks receive: the body of each event.

const KeyData = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    key: Type.String({ description: '`mv_live_…` and the last four characters.' }),
    allow_ips: Type.Array(Type.String()),
    scopes: Type.Array(Type.String()),
    monthly_credits: Nullable(Type.Integer({ description: 'Null: no budget.' })),
    created_at: Time,
    expires_at: Nullable(Time),
    revoked_at: Nullable(Type.String({ format: 'date-time', description: 'From then on it is refused.' })),
  },
  { title: 'Key' },
);

const AccountData = Type.Object({
  id: Type.String(),
  name: Type.String(),
  external_id: Nullable(Type.String()),
});

const LowBalanceData = Type.Object({
  credits: Credits,
  low_balance: Type.Integer({ description: 'The alert threshold of the account.' }),
  account: Type.Optional(AccountData),
});

interface EventRow {
  /** When it is sent. */
  readonly summary: string;
  readonly body: TSchema;
}

const eventRow = (title: string, type: WebhookEventType, summary: string, data: TSchema): EventRow => ({
  summary,
  body: Type.Object({ type: Type.Literal(type), timestamp: Time, data }, { title }),
});

export const WEBHOOK_EVENTS: Readonly<Record<WebhookEventType, EventRow>> = {
  'list.completed': eventRow(
    'ListCompletedEvent',
    'list.completed',
    'Every address of a list has its result',
    ListReply,
  ),
  'list.failed': eventRow('ListFailedEvent', 'list.failed', 'A list failed because of an internal error', ListReply),
  'list.cancelled': eventRow('ListCancelledEvent', 'list.cancelled', 'A list was canceled', ListReply),
  'credits.low': eventRow(
    'CreditsLowEvent',
    'credits.low',
    'The balance fell below the alert threshold of the account',
    LowBalanceData,
  ),
  'account.created': eventRow(
    'AccountCreatedEvent',
    'account.created',
    'An account was created; for operators',
    Type.Object({
      account: AccountData,
      plan: Type.String(),
      credits: Type.Integer({ description: 'The opening balance.' }),
    }),
  ),
  'credits.granted': eventRow(
    'CreditsGrantedEvent',
    'credits.granted',
    'Credits were granted or taken back; for operators',
    Type.Object({
      account: AccountData,
      credits: Type.Integer({ description: 'Negative: taken back.' }),
      note: Type.String(),
      balance: Type.Integer({ description: 'After it.' }),
    }),
  ),
  'credits.exhausted': eventRow(
    'CreditsExhaustedEvent',
    'credits.exhausted',
    'An account has no credits left; for operators',
    Type.Object({ account: AccountData }),
  ),
  'key.created': eventRow('KeyCreatedEvent', 'key.created', 'An API key was created', KeyData),
  'key.revoked': eventRow('KeyRevokedEvent', 'key.revoked', 'An API key was revoked, or rolled', KeyData),
  'outcomes.contradiction': eventRow(
    'ContradictionEvent',
    'outcomes.contradiction',
    'The outcome of mail contradicts verdicts',
    Type.Object({
      total: Type.Integer({ description: 'How many verdicts.' }),
      contradictions: Type.Array(Type.Object(ContradictionFields, { title: 'Contradiction' }), {
        description: `At most ${CONTRADICTIONS_LISTED} of them; all are in the calibration.`,
      }),
    }),
  ),
  'rejections.high': eventRow(
    'RejectionsHighEvent',
    'rejections.high',
    ALERTS['rejections.high'].condition,
    Type.Object({
      rejected: Type.Integer({ description: 'Since then.' }),
      usual: Type.Integer({ description: 'In as long a time, on average of the week before.' }),
      since: Time,
    }),
  ),
  'unknowns.high': eventRow(
    'UnknownsHighEvent',
    'unknowns.high',
    ALERTS['unknowns.high'].condition,
    Type.Object({
      unknown: Type.Integer({ description: 'Since then.' }),
      share: Type.Number({ description: 'Of all that was asked about, from 0 to 1.' }),
      usual_share: Type.Number({ description: 'Of the week before.' }),
      since: Time,
    }),
  ),
  'budget.low': eventRow(
    'BudgetLowEvent',
    'budget.low',
    ALERTS['budget.low'].condition,
    Type.Object({
      key_id: Type.String(),
      name: Type.String(),
      monthly_credits: Type.Integer(),
      used: Type.Integer(),
      resets_at: Time,
    }),
  ),
  'webhook.failing': eventRow(
    'WebhookFailingEvent',
    'webhook.failing',
    ALERTS['webhook.failing'].condition,
    Type.Object({
      webhook_id: Type.String(),
      url: Type.String({ description: 'Without what may be a secret.' }),
      failing_since: Time,
    }),
  ),
  'smtp.unreachable': eventRow(
    'SmtpUnreachableEvent',
    'smtp.unreachable',
    ALERTS['smtp.unreachable'].condition,
    Type.Object({ state: OneOf(MAIL_SERVER_PROBLEMS), since: Time }),
  ),
  ping: eventRow('PingEvent', 'ping', 'A test was sent', Type.Object({ webhook_id: Type.String() })),
};

const SUBSCRIPTIONS = [...WEBHOOK_EVENT_TYPES, EVERY_EVENT] as const;
const Subscription = OneOf(SUBSCRIPTIONS);

const webhookFields = {
  id: Type.String(),
  url: Type.String({ description: 'Of a chat: without the part that is its secret.' }),
  format: OneOf(WEBHOOK_FORMATS, {
    description: '`events`: signed JSON; `slack`: `{"text": …}` for a chat, of those events that are alerts.',
  }),
  events: Type.Array(Subscription, { description: `The events that it receives; \`${EVERY_EVENT}\`: all of them.` }),
  description: Nullable(Type.String()),
  enabled: Type.Boolean(),
  disabled_reason: Nullable(
    OneOf(DISABLED_REASONS, {
      description: '`manual`: by a request; `gone`: it answered 410; `failing`: every attempt failed for days.',
    }),
  ),
  disabled_at: Nullable(Time),
  failing_since: Nullable(Type.String({ format: 'date-time', description: 'Every attempt since then has failed.' })),
  previous_secret_until: Nullable(
    Type.String({ format: 'date-time', description: 'Until then the secrets before the last rotation sign as well.' }),
  ),
  created_at: Time,
};

export const WebhookReply = Type.Object(webhookFields, { title: 'Webhook' });
export type WebhookReply = Static<typeof WebhookReply>;
/** The dashboard shows it with its deliveries of the last RECENT_DAYS. */
export const WebhookHere = Type.Object(
  {
    ...webhookFields,
    delivered: Type.Integer(),
    failed: Type.Integer(),
    last_delivery_at: Nullable(Time),
  },
  { title: 'WebhookHere' },
);
export type WebhookHere = Static<typeof WebhookHere>;
export const WebhooksHere = Type.Object({ webhooks: Type.Array(WebhookHere) }, { title: 'WebhooksHere' });
export const WebhookDetailsReply = WithWarnings('WebhookDetails', WebhookReply);

export const WebhookCreatedReply = Type.Object(
  { ...webhookFields, secret: Type.String({ description: 'Signs what is sent; shown only now.' }) },
  { title: 'WebhookWithSecret' },
);
export const WebhookMadeReply = WithWarnings('WebhookCreated', WebhookCreatedReply);

const WebhooksReply = Type.Object({ webhooks: Type.Array(WebhookReply) }, { title: 'Webhooks' });
export const WebhookListReply = WithWarnings('WebhookList', WebhooksReply);

const Url = Text('url', WEBHOOK_URL_LENGTH, {
  description: 'https, with a host that has a public address. Redirects are not followed.',
});
const Events = Type.Array(Subscription, {
  minItems: 1,
  maxItems: SUBSCRIPTIONS.length,
  'x-error': `events must be a list of at least one of ${choice(SUBSCRIPTIONS)}.`,
});
const Description = DecodedAs(
  'plain',
  Type.Union([Type.String({ maxLength: WEBHOOK_DESCRIPTION_LENGTH.max }), Type.Null()], {
    'x-error': `description must be null or a string of at most ${grouped(WEBHOOK_DESCRIPTION_LENGTH.max)} characters, without control or invisible characters.`,
  }),
);

const Format = OneOf(WEBHOOK_FORMATS, {
  default: 'events',
  'x-error': `format must be ${choice(WEBHOOK_FORMATS)}.`,
});

export const WebhookRequest = Type.Object(
  { url: Url, format: Type.Optional(Format), events: Events, description: Type.Optional(Description) },
  { title: 'WebhookRequest' },
);
export const WebhookChangeRequest = Type.Object(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    description: Type.Optional(Description),
    enabled: Type.Optional(
      Type.Boolean({
        description: 'A webhook that is disabled gets no events; what was to be sent to it has failed.',
        'x-error': 'enabled must be true or false.',
      }),
    ),
  },
  { title: 'WebhookChange' },
);

export const WebhookDeleted = Type.Object(
  { status: Type.String(), message: Type.String() },
  { title: 'WebhookDeleted' },
);
/** Adds warnings, for the public API. */
export const WebhookDeletedReply = WithWarnings('WebhookDeleted', WebhookDeleted);

export const DeliveryReply = Type.Object(
  {
    id: Type.String(),
    webhook_id: Type.String({ description: 'The webhook that it is sent to.' }),
    event_id: Type.String({ description: 'The header `webhook-id`: the same in each attempt and replay.' }),
    event: OneOf(WEBHOOK_EVENT_TYPES),
    status: OneOf(DELIVERY_STATUSES),
    attempts: Type.Array(
      Type.Object({
        at: Time,
        status: Nullable(Type.Integer({ description: 'Of the HTTP reply; null: there was none.' })),
        error: Nullable(OneOf(ATTEMPT_ERRORS, { description: 'Why there was no reply.' })),
        duration_ms: Type.Integer(),
        response: Nullable(
          Type.String({ description: `The first ${kibibytes(WEBHOOK_RESPONSE_BYTES)} of the reply’s body.` }),
        ),
      }),
      { description: 'In order of time.' },
    ),
    next_attempt_at: Nullable(Time),
    created_at: Time,
    finished_at: Nullable(Time),
  },
  { title: 'Delivery' },
);
export type DeliveryReply = Static<typeof DeliveryReply>;
export const DeliveryDetailsReply = WithWarnings('DeliveryDetails', DeliveryReply);

export const DeliveryHere = Type.Object(
  {
    delivery: DeliveryReply,
    payload: Type.String({ description: 'What is sent, JSON.' }),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'Of the last attempt, or the one to come; the signature is made anew for each and is not kept.',
    }),
  },
  { title: 'DeliveryHere' },
);

export const DeliveriesQuery = Type.Object({
  page: Type.Optional(WholeNumber('page', DELIVERIES_PAGE)),
  per_page: Type.Optional(WholeNumber('per_page', DELIVERIES_PER_PAGE)),
});

export const DeliveriesHereQuery = Type.Object({
  ...DeliveriesQuery.properties,
  status: Type.Optional(OneOf(DELIVERY_STATUSES, { 'x-error': `status must be ${choice(DELIVERY_STATUSES)}.` })),
});

export const DeliveriesReply = Type.Object(
  {
    deliveries: Type.Array(DeliveryReply),
    pagination: Pagination,
  },
  { title: 'Deliveries' },
);
/** Adds warnings, for the public API. */
export const DeliveryPageReply = WithWarnings('Deliveries', DeliveriesReply);

export const SECRET_ROTATED = `The new secret. The one before signs alongside for ${WEBHOOK_SECRET_OVERLAP_HOURS} hours.`;
