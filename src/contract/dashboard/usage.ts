import Type, { type Static } from 'typebox';
import { LOG_QUERY_LENGTH, LOW_BALANCE } from '../../kernel/facts/limits.ts';
import { OUTCOMES } from '../../kernel/facts/outcomes.ts';
import { span } from '../../kernel/format.ts';
import { ListReply } from '../lists.ts';
import { Nullable, OneOf, Text, Time } from '../schema.ts';
import { ReasonFilter } from '../verify.ts';
import { AccountStatusField, InstantOf, PlanField } from './fields.ts';

export const OverviewReply = Type.Object(
  {
    account: Type.Object({ id: Type.String(), name: Type.String(), plan: PlanField, status: AccountStatusField }),
    credits: Type.Object({ remaining: Type.Integer(), locked: Type.Integer(), used: Type.Integer() }),
    /**
     * At the end of each day (UTC), held credits included; `per_day`: spent on average of the last 14 days; `empty_at`:
     * when nothing is left at that pace, null where there is no such time within two years.
     */
    balance: Type.Object({
      days: Type.Array(Type.Object({ at: Time, balance: Type.Integer() })),
      per_day: Type.Integer(),
      empty_at: Nullable(Time),
    }),
    /** Running ones, and the latest. */
    lists: Type.Array(ListReply),
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
  key: Type.Optional(
    Text('key', LOG_QUERY_LENGTH, {
      description:
        'Id of a key, or `dashboard`: its verifications only. Latencies and rejected requests are not counted by key.',
    }),
  ),
});

const Outcome = OneOf(OUTCOMES, {
  description:
    'The deliverability; `not_checked` where the domain accepts mail and the mailbox was not asked about (level mx).',
});
const Latency = Nullable(Type.Object({ p50: Type.Number({ description: 'Milliseconds.' }), p95: Type.Number() }));
const COUNTS = {
  requests: Type.Integer(),
  good: Type.Integer(),
  bad: Type.Integer(),
  credits: Type.Integer(),
  /** Rejected with 4xx other than 429. */
  refused: Type.Integer(),
  rate_limited: Type.Integer(),
  outcomes: Type.Object({
    deliverable: Type.Integer(),
    not_checked: Type.Integer(),
    unknown: Type.Integer(),
    risky: Type.Integer(),
    undeliverable: Type.Integer(),
  } satisfies Record<(typeof OUTCOMES)[number], unknown>),
  latency: Type.Object({ mx: Latency, smtp: Latency }),
};
/** Every bucket of the range, also the empty ones. */
export const UsageChartReply = Type.Object(
  {
    from: Time,
    to: Time,
    bucket: OneOf(BUCKETS),
    buckets: Type.Array(Type.Object({ at: Time, ...COUNTS })),
    totals: Type.Object(COUNTS),
    /** A reason that occurs with two outcomes has a row for each. */
    by_reason: Type.Array(Type.Object({ reason: ReasonFilter, outcome: Outcome, requests: Type.Integer() })),
    /** `key_id` is `dashboard` for what was verified here. */
    by_key: Type.Array(
      Type.Object({ key_id: Type.String(), name: Type.String(), requests: Type.Integer(), credits: Type.Integer() }),
    ),
  },
  { title: 'UsageChart' },
);
export type UsageChartReply = Static<typeof UsageChartReply>;

/** Of the newest mailbox checks, at most 1,000 of them. */
export const OperatorsReply = Type.Object(
  {
    checks: Type.Integer(),
    operators: Type.Array(
      Type.Object({
        /** `none`: servers that belong to no known operator. */
        operator: Type.String(),
        checks: Type.Integer(),
        /** Null: it discloses nothing. */
        deliverable_share: Nullable(Type.Number()),
        median_ms: Type.Integer(),
      }),
    ),
  },
  { title: 'OperatorsAsked' },
);
export type OperatorsReply = Static<typeof OperatorsReply>;

export const LowBalanceRequest = Type.Object({
  credits: Type.Union([Type.Integer({ minimum: LOW_BALANCE.min, maximum: LOW_BALANCE.max }), Type.Null()], {
    'x-error': `credits must be a whole number from ${span(LOW_BALANCE)}, or null for no line.`,
  }),
});
