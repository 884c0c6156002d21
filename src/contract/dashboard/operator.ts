import Type, { type Static } from 'typebox';
import { Nullable, OneOf } from '../schema.ts';
import { Time } from './words.ts';

export const PLAN_WORDS = ['starter', 'premium', 'enterprise'] as const;

export const OperatorAccount = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    plan: OneOf(PLAN_WORDS),
    rate_limit: Type.Integer(),
    rate_limit_set: Type.Boolean(),
    status: OneOf(['active', 'suspended'] as const),
    balance: Type.Integer(),
    locked: Type.Integer(),
    members: Type.Integer(),
    keys: Type.Integer(),
    created_at: Time,
  },
  { title: 'OperatorAccount' },
);
export type OperatorAccount = Static<typeof OperatorAccount>;

export const OperatorAccountsQuery = Type.Object({
  query: Type.Optional(Type.String({ maxLength: 200, description: 'In name or id.' })),
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100_000,
      default: 1,
      'x-error': 'page must be a whole number from 1 to 100,000.',
    }),
  ),
});
/** 50 to a page, newest first. */
export const OperatorAccountsReply = Type.Object(
  { accounts: Type.Array(OperatorAccount), total_count: Type.Integer(), per_page: Type.Integer() },
  { title: 'OperatorAccounts' },
);

const Name = Type.String({ minLength: 1, maxLength: 200, 'x-error': 'name must have 1 to 200 characters.' });
const Plan = OneOf(PLAN_WORDS, { 'x-error': 'plan must be "starter", "premium" or "enterprise".' });
const RateLimit = Type.Union([Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), Type.Null()], {
  description: "Requests per 5 minutes; null: the plan's own.",
  'x-error': 'rate_limit must be a whole number of at least 1, or null.',
});
export const OperatorCreateRequest = Type.Object({
  name: Name,
  plan: Plan,
  credits: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      'x-error': 'credits must be a whole number from 0 to 1,000,000,000.',
    }),
  ),
  rate_limit: Type.Optional(RateLimit),
});
export const OperatorChangeRequest = Type.Object({
  name: Type.Optional(Name),
  plan: Type.Optional(Plan),
  rate_limit: Type.Optional(RateLimit),
  status: Type.Optional(
    OneOf(['active', 'suspended'] as const, { 'x-error': 'status must be "active" or "suspended".' }),
  ),
});
export const GrantRequest = Type.Object({
  credits: Type.Integer({
    minimum: -1_000_000_000,
    maximum: 1_000_000_000,
    description: 'Negative: taken back, never below zero.',
    'x-error': 'credits must be a whole number between -1,000,000,000 and 1,000,000,000, and not 0.',
  }),
  note: Type.String({ minLength: 1, maxLength: 500, 'x-error': 'note must have 1 to 500 characters.' }),
});

export const DoctorReply = Type.Object(
  {
    checks: Type.Array(
      Type.Object({
        check: Type.String(),
        result: OneOf(['pass', 'warn', 'fail'] as const),
        found: Type.String(),
        /** What to do; null where there is nothing. */
        fix: Nullable(Type.String()),
      }),
    ),
    took_ms: Type.Integer(),
  },
  { title: 'Doctor' },
);
export const ListsReply = Type.Object(
  {
    version: Type.String(),
    age_days: Type.Integer(),
    disposable_domains: Type.Integer(),
    /** Why the newest list that was fetched is not in use; null where it is. */
    problem: Nullable(Type.String()),
  },
  { title: 'Lists' },
);
export const ListsUpdateReply = Type.Object({ lists: ListsReply, message: Type.String() }, { title: 'ListsUpdate' });
