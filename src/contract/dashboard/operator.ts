import Type, { type Static } from 'typebox';
import { DOCTOR_CHECKS, EGRESS_PROBLEMS } from '../../kernel/doctor-checks.ts';
import { DOCTOR_FOUND, DOCTOR_RESULTS } from '../../kernel/facts/checks.ts';
import {
  ACCOUNT_QUERY_LENGTH,
  ACCOUNTS_PAGE,
  ALLOW_IPS,
  GRANT_CREDITS,
  IP_LENGTH,
  NOTE_LENGTH,
  OPENING_CREDITS,
  RATE_LIMIT,
  SPENT_DAYS,
} from '../../kernel/facts/limits.ts';
import { WINDOW_SECONDS } from '../../kernel/facts/plans.ts';
import { OPERATOR_SCOPES } from '../../kernel/facts/scopes.ts';
import { ACCOUNT_ORDERS } from '../../kernel/facts/sort-orders.ts';
import { choice, counted, grouped } from '../../kernel/format.ts';
import { Nullable, OneOf, Text, Time, WholeNumber } from '../schema.ts';
import { PlanPrices } from '../usage.ts';
import { AccountStatusField, Email, InstantOf, Name, PlanField, sortFields } from './fields.ts';

/** Lacks its payload, which has addresses. */
export const OperatorJob = Type.Object(
  {
    id: Type.String(),
    /** It may be of another version of the service, so it is not an enum. */
    kind: Type.String(),
    description: Type.String(),
    account: Nullable(Type.String()),
    attempts: Type.Integer(),
    last_error: Nullable(Type.String()),
    created_at: Time,
    failed_at: Time,
  },
  { title: 'OperatorJob' },
);
export type OperatorJob = Static<typeof OperatorJob>;

/** The reply lists the newest failed jobs. */
export const OperatorJobsReply = Type.Object(
  { jobs: Type.Array(OperatorJob), total_count: Type.Integer() },
  { title: 'OperatorJobs' },
);

const LatencyShown = Nullable(Type.Object({ p50: Type.Number(), p95: Type.Number() }));

/** What the service does, for operators. `node` is the process that answers; the rest is of all of them. */
const NullableShare = Nullable(Type.Number({ minimum: 0, maximum: 1 }));
const CheckFound = Nullable(OneOf(DOCTOR_FOUND));
const EgressSharesReply = Type.Object({
  checks: Type.Integer(),
  blocked: NullableShare,
  deferred: NullableShare,
  proxy_failed: NullableShare,
  answer_ms: Nullable(Type.Integer({ description: 'Mean time to the end of a check.' })),
});

export const ServiceReply = Type.Object(
  {
    node: Type.Object({
      version: Type.String(),
      store: Type.String(),
      running: Type.Integer({ description: 'Verifications under way.' }),
      charges_waiting: Type.Integer(),
      dialogues_open: Type.Integer(),
      checks_waiting: Type.Integer({ description: 'Mailbox checks that wait for their turn at a mail server.' }),
      dns_queries: Type.Integer({ description: 'Under way.' }),
      dns_cached: Type.Integer({ description: 'Answers in the cache.' }),
    }),
    /**
     * Processes with a row in the store, those that started last first; empty where the store did not answer in time.
     */
    nodes: Type.Array(
      Type.Object({
        id: Type.String(),
        label: Type.String({ description: 'Host and process.' }),
        version: Nullable(Type.String()),
        started_at: Time,
        seen_at: Nullable(Time),
        answers: Type.Boolean({ description: 'It is the one that answers.' }),
      }),
    ),
    /** Null: all is well; else what is wrong. `egress`: a state of the connection to mail servers. */
    problems: Type.Object({
      store: Nullable(Type.String()),
      resolver: Nullable(Type.String()),
      clock: Nullable(Type.String()),
      lists: Nullable(Type.String()),
      egress_file: Nullable(Type.String()),
    }),
    egress: Type.Object({
      state: Type.String(),
      since: Nullable(Time),
      egresses: Type.Array(
        Type.Object({
          name: Type.String(),
          state: Type.String({ description: '`resting`: its SOCKS server fails; else as for all of them.' }),
          since: Time,
          rests_for_seconds: Type.Integer(),
          last_hour: EgressSharesReply,
          last_day: EgressSharesReply,
          breakers_open: Type.Integer({ description: 'Of mail operators that refuse it.' }),
          identity: Nullable(
            Type.Object(
              {
                checked_at: Time,
                helo: CheckFound,
                ptr: CheckFound,
                spf: CheckFound,
                blocklists: CheckFound,
              },
              { description: 'What its names say by DNS; null: not looked up yet.' },
            ),
          ),
          problem: Nullable(OneOf(EGRESS_PROBLEMS)),
          advice: Nullable(Type.String({ description: 'The one thing that would improve its answers most.' })),
        }),
      ),
    }),
    lists: Type.Object({ version: Type.String(), age_days: Type.Integer(), disposable_domains: Type.Integer() }),
    /** Of the last 24 hours, the last of them not over; without results of lists. */
    hours: Type.Array(
      Type.Object({
        at: Time,
        verifications: Type.Integer(),
        rejected: Type.Integer(),
        latency: Type.Object({ mx: LatencyShown, smtp: LatencyShown }),
      }),
    ),
    latency: Type.Object({ mx: LatencyShown, smtp: LatencyShown }),
    /** Null: the store did not answer in time. */
    store: Nullable(
      Type.Object({
        jobs: Type.Array(Type.Object({ kind: Type.String(), state: Type.String(), count: Type.Integer() })),
        holds: Type.Integer(),
        oldest_hold_seconds: Nullable(Type.Integer()),
        purge_lag_seconds: Type.Integer(),
        low_balances: Type.Integer(),
      }),
    ),
    operators: Type.Array(
      Type.Object({
        operator: Type.String(),
        dialogues_open: Type.Integer(),
        waiting: Type.Integer(),
        breakers_open: Type.Integer(),
        breakers_half_open: Type.Integer(),
        pace: Type.Number({ description: 'The rate relative to the configured one.' }),
      }),
    ),
  },
  { title: 'Service' },
);
export type ServiceReply = Static<typeof ServiceReply>;

/** What programs see as well. */
export const OperatorAccountFields = {
  id: Type.String(),
  name: Type.String(),
  plan: PlanField,
  rate_limit: Type.Integer(),
  rate_limit_set: Type.Boolean(),
  status: AccountStatusField,
  balance: Type.Integer({ description: 'What can still be spent.' }),
  locked: Type.Integer({ description: 'Held by checks that are still running.' }),
  allowance: Type.Integer({ description: 'What is left of the month’s allowance, out of `balance` and `locked`.' }),
  unlimited: Type.Boolean({ description: 'Whether the plan gives as many credits as are needed.' }),
  members: Type.Integer(),
  keys: Type.Integer(),
  created_at: Time,
};
export const OperatorAccount = Type.Object(
  {
    ...OperatorAccountFields,
    spent: Type.Integer({ description: `Credits charged in the last ${SPENT_DAYS} days.` }),
    last_used_at: Nullable({ ...Time, description: 'The hour of the last verification, or its day.' }),
  },
  { title: 'OperatorAccount' },
);
export type OperatorAccount = Static<typeof OperatorAccount>;

export const OperatorPlans = Type.Object(
  {
    plans: Type.Array(
      Type.Object({
        name: Type.String(),
        requests_per_window: Type.Integer(),
        smtp_available: Type.Boolean(),
        prices: PlanPrices,
        monthly_credits: Type.Union([Type.Integer(), Type.Null()], { description: 'Null: unlimited.' }),
      }),
      { description: 'The first one is that of new accounts.' },
    ),
  },
  { title: 'OperatorPlans' },
);

export const OperatorAccountsQuery = Type.Object({
  query: Type.Optional(Text('query', ACCOUNT_QUERY_LENGTH, { description: 'In name or id.' })),
  page: Type.Optional(WholeNumber('page', ACCOUNTS_PAGE)),
  ...sortFields(ACCOUNT_ORDERS),
});
export const OperatorAccountsReply = Type.Object(
  { accounts: Type.Array(OperatorAccount), total_count: Type.Integer(), per_page: Type.Integer() },
  { title: 'OperatorAccounts' },
);

export const RateLimit = Type.Union([Type.Integer({ minimum: RATE_LIMIT.min, maximum: RATE_LIMIT.max }), Type.Null()], {
  description: `Requests per ${counted(WINDOW_SECONDS / 60, 'minute')}; null: the plan's own.`,
  'x-error': `rate_limit must be a whole number of at least ${RATE_LIMIT.min}, or null.`,
});
export const OperatorCreateRequest = Type.Object({
  name: Name,
  plan: PlanField,
  credits: Type.Optional(WholeNumber('credits', OPENING_CREDITS)),
  rate_limit: Type.Optional(RateLimit),
});
export const OperatorOwnerRequest = Type.Object({ email: Email });
export const OperatorChangeRequest = Type.Object({
  name: Type.Optional(Name),
  plan: Type.Optional(PlanField),
  rate_limit: Type.Optional(RateLimit),
  status: Type.Optional(AccountStatusField),
});
export const GrantRequest = Type.Object({
  credits: WholeNumber('credits', GRANT_CREDITS, {
    description: 'Negative: taken back, never below zero.',
    'x-error':
      `credits must be a whole number between ${grouped(GRANT_CREDITS.min)} and ${grouped(GRANT_CREDITS.max)}, ` +
      'and not 0.',
  }),
  note: Text('note', NOTE_LENGTH),
});

export const DashboardOperatorKey = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    /** `mv_op_…` and the last four characters: all that can ever be shown again. */
    key: Type.String(),
    allow_ips: Type.Array(Type.String()),
    scopes: Type.Array(OneOf(OPERATOR_SCOPES)),
    state: OneOf(['active', 'expired', 'revoked'] as const),
    created_at: Time,
    expires_at: Time,
    revoked_at: Nullable(Time),
    last_used_at: Nullable(Time),
    last_used_ip: Nullable(Type.String()),
  },
  { title: 'OperatorKey' },
);
export type DashboardOperatorKey = Static<typeof DashboardOperatorKey>;
/** The newest comes first. */
export const OperatorKeysReply = Type.Object({ keys: Type.Array(DashboardOperatorKey) }, { title: 'OperatorKeys' });
export const OperatorKeyRequest = Type.Object({
  name: Name,
  allow_ips: Type.Array(Type.String({ maxLength: IP_LENGTH.max }), {
    minItems: 1,
    maxItems: ALLOW_IPS.max,
    description: 'IPs and CIDRs that may use it.',
    'x-error': `allow_ips must be a list of 1 to ${grouped(ALLOW_IPS.max)} IP addresses and CIDRs.`,
  }),
  scopes: Type.Array(OneOf(OPERATOR_SCOPES), {
    minItems: 1,
    maxItems: OPERATOR_SCOPES.length,
    'x-error': `scopes must be a list of at least one of ${choice(OPERATOR_SCOPES)}.`,
  }),
  expires_at: InstantOf('expires_at'),
});
/** The only time the value is shown. */
export const OperatorKeyCreated = Type.Object(
  { key: DashboardOperatorKey, value: Type.String() },
  { title: 'OperatorKeyCreated' },
);

export const DoctorReply = Type.Object(
  {
    checks: Type.Array(
      Type.Object({
        check: OneOf(DOCTOR_CHECKS),
        result: OneOf(DOCTOR_RESULTS),
        found: Type.String(),
        /** What to do; null where there is nothing. */
        fix: Nullable(Type.String()),
        problem: Nullable(OneOf(EGRESS_PROBLEMS)),
        egress: Nullable(Type.String({ description: 'Null: it is about the host.' })),
      }),
    ),
    advice: Type.Array(
      Type.Object({
        egress: Type.String(),
        first: Nullable(
          Type.Object(
            { problem: OneOf(EGRESS_PROBLEMS), fix: Type.String() },
            { description: 'Whose remedy improves its answers most.' },
          ),
        ),
      }),
    ),
    took_ms: Type.Integer(),
    checked_at: Time,
  },
  { title: 'Doctor' },
);
export const LastDoctorReply = Type.Object(
  { last: Nullable(DoctorReply) },
  { title: 'LastDoctor', description: 'Null: no checks have been run yet.' },
);
export const DomainListsReply = Type.Object(
  {
    version: Type.String(),
    age_days: Type.Integer(),
    disposable_domains: Type.Integer(),
    /** Why the newest list that was fetched is not in use; null where it is. */
    problem: Nullable(Type.String()),
    /** When the last download was, on any node. */
    attempted_at: Nullable(Time),
    /** Why it failed for all sources. */
    failed: Nullable(Type.String()),
    sources: Type.Array(
      Type.Object({
        name: Type.String(),
        weight: Type.String(),
        license: Type.String(),
        /** Null means that it is not downloaded. */
        url: Nullable(Type.String()),
        domains: Type.Integer(),
        /** Null means that its copy came with the package. */
        downloaded_at: Nullable(Time),
        /** Why its last good copy stays in use. */
        problem: Nullable(Type.String()),
      }),
    ),
  },
  { title: 'DisposableLists' },
);
export const ListsUpdateReply = Type.Object(
  { lists: DomainListsReply, message: Type.String() },
  { title: 'ListsUpdate' },
);
