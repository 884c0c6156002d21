import Type, { type Static } from 'typebox';
import { LIST_RESULT_BYTES } from '../kernel/facts/limits.ts';
import { USAGE_GROUPINGS } from '../kernel/facts/outcomes.ts';
import type { Priced } from '../kernel/facts/plans.ts';
import { grouped } from '../kernel/format.ts';
import { DecodedAs, OneOf, Time, WithWarnings } from './schema.ts';

const LevelUsage = Type.Object({
  credits: Type.Integer({ description: 'Credits that one answer at this level costs.' }),
  available: Type.Boolean(),
  upgrade_required: Type.Optional(Type.String({ description: 'The plan that has this level.' })),
});

export const Credits = Type.Object({
  total: Type.Integer({ description: 'What the account holds: `remaining` and `locked` together.' }),
  locked: Type.Integer({ description: 'Held by checks that are still running.' }),
  used: Type.Integer({ description: 'Charged in the calendar month, UTC.' }),
  remaining: Type.Integer({ description: 'What can still be spent.' }),
  unlimited: Type.Boolean({
    description: 'Whether the plan gives as many credits as are needed: the numbers are then very large.',
  }),
  allowance: Type.Integer({
    description: 'What is left of the month’s allowance, out of `total`. It is spent before what was purchased.',
  }),
  purchased: Type.Integer({ description: 'The rest of `total`, which does not end with the month.' }),
});

/** Credits that an answer of each level costs, and a check that ended without one. */
export const PlanPrices = Type.Object({
  mx: Type.Integer(),
  smtp: Type.Integer(),
  unknown: Type.Integer(),
} satisfies Record<Priced, Type.TInteger>);

const keptOf = (description: string) =>
  Type.Object({ used: Type.Integer(), limit: Type.Integer({ description: 'Of the plan.' }) }, { description });

/** What an account keeps. */
export const Storage = Type.Object({
  list_bytes: keptOf(
    `Bytes of the rows of all lists, with ${grouped(LIST_RESULT_BYTES)} for the result of each address.`,
  ),
  filters: keptOf('Number of filters.'),
});

export const UsageReply = WithWarnings(
  'Usage',
  Type.Object({
    plan: Type.String({ description: 'The name of the plan.' }),
    period: Type.Object({ start: Time, end: Time }, { description: 'The calendar month, UTC.' }),
    credits: Credits,
    rate_limit: Type.Object({
      limit: Type.Integer(),
      remaining: Type.Integer(),
      window_seconds: Type.Integer(),
      reset_at: Time,
    }),
    storage: Storage,
    validation_types: Type.Object({ mx: LevelUsage, smtp: LevelUsage }),
    unknown_credits: Type.Integer({ description: 'Credits that a check costs which ends without an answer.' }),
    totals: Type.Object({
      requests: Type.Integer({ description: 'Recorded verifications; neither replays nor refusals.' }),
      good: Type.Integer(),
      bad: Type.Integer(),
      by_reason: Type.Record(Type.String(), Type.Integer()),
    }),
    series: Type.Optional(
      Type.Array(
        Type.Object({
          group: Type.String(),
          requests: Type.Integer(),
          good: Type.Integer(),
          bad: Type.Integer(),
          credits: Type.Integer(),
        }),
      ),
    ),
  }),
);
export type UsageReply = Static<typeof UsageReply>;

export const instantError = (field: string): string =>
  `${field} must be a date such as 2026-11-01 or 2026-11-01T00:00:00Z.`;
const UsageInstant = (field: string, description: string) =>
  DecodedAs('instant', Type.String({ description, 'x-error': instantError(field) }));

export const UsageQuery = Type.Object({
  group_by: Type.Optional(OneOf(USAGE_GROUPINGS, { description: 'Adds `series`, one row per group.' })),
  from: Type.Optional(UsageInstant('from', 'Start of the series, RFC 3339; by default the period’s.')),
  to: Type.Optional(UsageInstant('to', 'End of the series (exclusive), RFC 3339.')),
});
