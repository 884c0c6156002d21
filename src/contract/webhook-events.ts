/** What webhooks receive: the body of each event. */
import Type, { type TSchema } from 'typebox';
import type { WebhookEventType } from '../kernel/facts/events.ts';
import { ListReply } from './lists.ts';
import { Nullable } from './schema.ts';
import { Credits } from './usage.ts';

const Moment = Type.String({ format: 'date-time' });

const KeyData = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    key: Type.String({ description: '`mv_live_…` and the last four characters.' }),
    allow_ips: Type.Array(Type.String()),
    scopes: Type.Array(Type.String()),
    monthly_credits: Nullable(Type.Integer({ description: 'Null: no budget.' })),
    created_at: Moment,
    expires_at: Nullable(Moment),
    revoked_at: Nullable(Type.String({ format: 'date-time', description: 'From then on it is refused.' })),
  },
  { title: 'Key' },
);

const LowBalanceData = Type.Object({
  credits: Credits,
  low_balance: Type.Integer({ description: 'The alert threshold of the account.' }),
});

interface EventRow {
  /** When it is sent. */
  readonly summary: string;
  readonly body: TSchema;
}

const row = (title: string, type: WebhookEventType, summary: string, data: TSchema): EventRow => ({
  summary,
  body: Type.Object({ type: Type.Literal(type), timestamp: Moment, data }, { title }),
});

export const WEBHOOK_EVENTS: Readonly<Record<WebhookEventType, EventRow>> = {
  'list.completed': row('ListCompletedEvent', 'list.completed', 'Every address of a list has its result', ListReply),
  'list.failed': row('ListFailedEvent', 'list.failed', 'A list failed because of an internal error', ListReply),
  'list.cancelled': row('ListCancelledEvent', 'list.cancelled', 'A list was canceled', ListReply),
  'credits.low': row(
    'CreditsLowEvent',
    'credits.low',
    'The balance fell below the alert threshold of the account',
    LowBalanceData,
  ),
  'key.created': row('KeyCreatedEvent', 'key.created', 'An API key was created', KeyData),
  'key.revoked': row('KeyRevokedEvent', 'key.revoked', 'An API key was revoked, or rolled', KeyData),
  ping: row('PingEvent', 'ping', 'A test was sent', Type.Object({ webhook_id: Type.String() })),
};
