import Type, { type Static } from 'typebox';
import { span } from '../../kernel/format.ts';
import { LOW_BALANCE } from '../../kernel/limits.ts';
import { Nullable, OneOf } from '../schema.ts';
import { ReasonOrNone } from '../verify.ts';
import { InstantOf, Plan, Status, Time } from './fields.ts';

export const OverviewReply = Type.Object(
  {
    account: Type.Object({ id: Type.String(), name: Type.String(), plan: Plan, status: Status }),
    credits: Type.Object({ remaining: Type.Integer(), locked: Type.Integer(), used: Type.Integer() }),
    period: Type.Object({ start: Time, end: Time }),
    /** Of the period. */
    totals: Type.Object({ requests: Type.Integer(), good: Type.Integer(), bad: Type.Integer() }),
    rate_limit: Type.Object({ limit: Type.Integer(), remaining: Type.Integer(), reset_at: Time }),
    smtp_available: Type.Boolean(),
    /** The line under which a banner and a mail say so; null: none. */
    low_balance: Nullable(Type.Integer()),
    is_low: Type.Boolean(),
    keys: Type.Object({
      active: Type.Integer(),
      never_used: Type.Integer(),
      idle: Type.Integer(),
      open_to_all: Type.Integer(),
      budget_spent: Type.Integer(),
    }),
  },
  { title: 'Overview' },
);
export type OverviewReply = Static<typeof OverviewReply>;

const BUCKETS = ['hour', 'day'] as const;
export const UsageRangeQuery = Type.Object({
  from: Type.Optional(InstantOf('from')),
  to: Type.Optional(InstantOf('to')),
  bucket: Type.Optional(OneOf(BUCKETS, { 'x-error': 'bucket must be "hour" or "day".' })),
});

const Latency = Nullable(Type.Object({ p50: Type.Number({ description: 'Milliseconds.' }), p95: Type.Number() }));
/** Every bucket of the range, also the empty ones. */
export const UsageChartReply = Type.Object(
  {
    from: Time,
    to: Time,
    bucket: OneOf(BUCKETS),
    buckets: Type.Array(
      Type.Object({
        at: Time,
        requests: Type.Integer(),
        good: Type.Integer(),
        bad: Type.Integer(),
        credits: Type.Integer(),
        /** Rejected with 4xx other than 429. */
        refused: Type.Integer(),
        rate_limited: Type.Integer(),
        latency: Type.Object({ mx: Latency, smtp: Latency }),
      }),
    ),
    totals: Type.Object({
      requests: Type.Integer(),
      good: Type.Integer(),
      bad: Type.Integer(),
      credits: Type.Integer(),
      refused: Type.Integer(),
      rate_limited: Type.Integer(),
    }),
    by_reason: Type.Array(Type.Object({ reason: ReasonOrNone, requests: Type.Integer() })),
    /** `key_id` is `dashboard` for what was verified here. */
    by_key: Type.Array(
      Type.Object({ key_id: Type.String(), name: Type.String(), requests: Type.Integer(), credits: Type.Integer() }),
    ),
  },
  { title: 'UsageChart' },
);
export type UsageChartReply = Static<typeof UsageChartReply>;

export const LowBalanceRequest = Type.Object({
  credits: Type.Union([Type.Integer({ minimum: LOW_BALANCE.min, maximum: LOW_BALANCE.max }), Type.Null()], {
    'x-error': `credits must be a whole number from ${span(LOW_BALANCE)}, or null for no line.`,
  }),
});
