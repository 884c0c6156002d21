import Type, { type Static } from 'typebox';
import { FORECAST_DAYS, LOG_QUERY_LENGTH, LOW_BALANCE, RECENT_DAYS } from '../../kernel/facts/limits.ts';
import { NOTICES } from '../../kernel/facts/notices.ts';
import { CHART_BUCKETS, OUTCOMES, USAGE_SOURCES } from '../../kernel/facts/outcomes.ts';
import { choice, span } from '../../kernel/format.ts';
import { ListReply } from '../lists.ts';
import { Nullable, OneOf, Text, Time } from '../schema.ts';
import { Credits, PlanPrices } from '../usage.ts';
import { ReasonFilter } from '../verify.ts';
import { AccountStatusField, InstantOf, PlanField } from './fields.ts';
import { LogFilters } from './log.ts';

export const OverviewReply = Type.Object(
  {
    account: Type.Object({ id: Type.String(), name: Type.String(), plan: PlanField, status: AccountStatusField }),
    credits: Credits,
    /** `days`: at the end of each day (UTC), held credits included. What follows is of the available ones. */
    balance: Type.Object({
      days: Type.Array(Type.Object({ at: Time, balance: Type.Integer() })),
      per_day: Type.Integer({
        description: `Charged a day on average of the last ${FORECAST_DAYS} days, without lists.`,
      }),
      empty_at: Nullable({
        ...Time,
        description: 'The day on which nothing is left at that pace; null where there is none within two years.',
      }),
      month_ends: Time,
      month_short_by: Type.Integer({
        description: 'Credits that are missing until the end of the month (UTC) at that pace; 0: there are enough.',
      }),
    }),
    /** Includes running lists and the latest ones. */
    lists: Type.Array(ListReply),
    running_lists: Type.Integer(),
    filters: Type.Integer({ description: 'Filters of the account.' }),
    first_steps: Nullable(
      Type.Object(
        {
          key: Type.Boolean(),
          call: Type.Boolean(),
          allowlist: Type.Boolean(),
          member: Type.Boolean(),
          alert: Type.Boolean(),
          doctor: Nullable(Type.Boolean({ description: 'Null: the user does not run the service.' })),
        },
        { description: 'What the first hour is for; null: all is done, the user has dismissed it, or test mode.' },
      ),
    ),
    failed_lists: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), finished_at: Nullable(Time) }), {
      description: `Lists that failed in the last ${RECENT_DAYS} days.`,
    }),
    period: Type.Object({ start: Time, end: Time }),
    /** Sums the period. */
    totals: Type.Object({ requests: Type.Integer(), good: Type.Integer(), bad: Type.Integer() }),
    rate_limit: Type.Object({ limit: Type.Integer(), remaining: Type.Integer(), reset_at: Time }),
    smtp_available: Type.Boolean(),
    upgrade_required: Nullable(
      Type.String({ description: 'The plan that has the smtp level; null: this one, or none.' }),
    ),
    prices: PlanPrices,
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

export const DismissRequest = Type.Object(
  { notice: OneOf(NOTICES, { 'x-error': `notice must be ${choice(NOTICES)}.` }) },
  { title: 'DismissRequest' },
);

const SourceField = Type.Optional(
  OneOf(USAGE_SOURCES, {
    description: '`api`: calls, one address each, those of the dashboard included; `list`: lists. Both by default.',
    'x-error': `source must be ${choice(USAGE_SOURCES)}.`,
  }),
);
export const KeyUsageQuery = Type.Object({ source: SourceField });
const Between = { from: Type.Optional(InstantOf('from')), to: Type.Optional(InstantOf('to')) };
export const OperatorsQuery = Type.Object({ ...Between, source: SourceField });
export const UsageRangeQuery = Type.Object({
  ...Between,
  bucket: Type.Optional(OneOf(CHART_BUCKETS, { 'x-error': `bucket must be ${choice(CHART_BUCKETS)}.` })),
  key: Type.Optional(
    Text('key', LOG_QUERY_LENGTH, {
      description:
        'Id of a key, or `dashboard`: its verifications only. Latencies and rejected requests are not counted by key.',
    }),
  ),
  source: SourceField,
  reason: LogFilters.properties.reason,
  deliverability: LogFilters.properties.deliverability,
  not: LogFilters.properties.not,
});

const OutcomeField = OneOf(OUTCOMES, {
  description:
    'The deliverability; `not_checked` where the domain accepts mail and the mailbox was not asked about (level mx).',
});
const LatencyOfUsage = Nullable(
  Type.Object({ p50: Type.Number({ description: 'Milliseconds.' }), p95: Type.Number() }),
);
const OutcomeCounts = Type.Object({
  deliverable: Type.Integer(),
  not_checked: Type.Integer(),
  unknown: Type.Integer(),
  risky: Type.Integer(),
  undeliverable: Type.Integer(),
} satisfies Record<(typeof OUTCOMES)[number], unknown>);
const COUNTS = {
  requests: Type.Integer(),
  good: Type.Integer(),
  bad: Type.Integer(),
  credits: Type.Integer(),
  asked: Type.Integer({ description: 'Verifications for which a mail server was asked about the mailbox.' }),
  /** Counts what was rejected with 4xx other than 429. */
  refused: Type.Integer(),
  rate_limited: Type.Integer(),
  outcomes: OutcomeCounts,
  latency: Type.Object({ mx: LatencyOfUsage, smtp: LatencyOfUsage }),
};
/** Has every bucket of the range, also the empty ones. */
export const UsageChartReply = Type.Object(
  {
    from: Time,
    to: Time,
    bucket: OneOf(CHART_BUCKETS),
    buckets: Type.Array(Type.Object({ at: Time, ...COUNTS })),
    totals: Type.Object(COUNTS),
    /** A reason that occurs with two outcomes has a row for each. */
    by_reason: Type.Array(Type.Object({ reason: ReasonFilter, outcome: OutcomeField, requests: Type.Integer() })),
    /** `key_id` is `dashboard` for what was verified here. */
    by_key: Type.Array(
      Type.Object({
        key_id: Type.String(),
        name: Type.String(),
        requests: Type.Integer(),
        credits: Type.Integer(),
        asked: Type.Integer(),
        outcomes: OutcomeCounts,
        /** The log has recorded them one by one. */
        rejected: Type.Integer(),
      }),
    ),
    without_source: Type.Integer({
      description: 'Verifications of the range that an earlier version counted, without telling calls from lists.',
    }),
  },
  { title: 'UsageChart' },
);
export type UsageChartReply = Static<typeof UsageChartReply>;

/** Of the mailbox checks of the last days, at most MAILBOX_CHECKS_COUNTED of them. */
export const OperatorsReply = Type.Object(
  {
    checks: Type.Integer(),
    /** Operators are counted since then. */
    from: Time,
    operators: Type.Array(
      Type.Object({
        /** `none`: servers that belong to no known operator. */
        operator: Type.String(),
        checks: Type.Integer(),
        asked: Type.Integer({ description: 'Checks in which a mail server was asked about the mailbox.' }),
        undisclosed: Type.Integer({ description: 'Checks that the operator does not answer.' }),
        deliverable_share: Nullable(Type.Number({ description: 'Of those asked; null: none was.' })),
        /** The median covers the checks that asked a server. */
        median_ms: Nullable(Type.Integer()),
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
