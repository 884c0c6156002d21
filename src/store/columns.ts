/**
 * Columns of the tables that raw SQL reads and writes. The SQL of both databases and the values that are bound are made
 * of these tables: a column that is missing, unknown, or given a value of another type does not compile, and no value
 * has a place that something else has to agree with.
 */
import { keysOf } from '../kernel/facts/keys-of.ts';
import type { CreditCounters, GivenAllowances } from './charge/allowance.ts';
import type { BudgetCounters, BudgetState } from './charge/budget.ts';
import type {
  AccountState,
  AllowanceEntry,
  Changes,
  FilterHits,
  HoldState,
  IdempotencyState,
  KeyState,
  SeenOwner,
  SeenState,
  UsageEntry,
} from './charge/state.ts';
import type { WindowCounters } from './charge/window.ts';
import { keptBody, keptEmail } from './kept-address.ts';
import { storableOrNull } from './rows.ts';
import type { FilterRule, VerificationRecord } from './store.ts';
import type { Row, Tables } from './tables.ts';

export type ColumnValue = string | number | null;
/** Names a type of PostgreSQL. */
export type ColumnType = 'text' | 'bigint';

interface BoundColumn<From, V> {
  readonly type: [V] extends [string | null] ? 'text' : 'bigint';
  readonly of: (from: From) => V;
}
type BoundColumns<From, R> = { readonly [C in keyof R]: BoundColumn<From, Extract<R[C], ColumnValue>> };

/** How the values of a row are taken from `From`, in the order of `columns`. */
export interface RowMaker<From> {
  readonly columns: readonly string[];
  readonly types: readonly ColumnType[];
  readonly values: (from: From) => ColumnValue[];
}
export interface TableRows<From> extends RowMaker<From> {
  readonly table: keyof Tables;
}

export const textColumn = <From, V extends string | null>(of: (from: From) => V) => ({ type: 'text', of }) as const;
export const numberColumn = <From, V extends number | null>(of: (from: From) => V) => ({ type: 'bigint', of }) as const;

/** Rows that are no table's, for a statement that joins them. */
export function rowMaker<From>(
  columns: Readonly<Record<string, { readonly type: ColumnType; readonly of: (from: From) => ColumnValue }>>,
): RowMaker<From> {
  const all = Object.entries(columns);
  const makers = all.map(([, { of }]) => of);
  return {
    columns: all.map(([name]) => name),
    types: all.map(([, { type }]) => type),
    values: (from) => makers.map((of) => of(from)),
  };
}

/** An address that is looked up in the log. */
export interface WantedAddress {
  readonly email: string;
  /** Holds only up to then, in ms since 1970. */
  readonly until: number;
}

/** Says the same, by its place among others. */
export interface PlacedAddress extends WantedAddress {
  readonly wanted: number;
}
export const WANTED_ADDRESSES = rowMaker<PlacedAddress>({
  wanted: numberColumn(({ wanted }) => wanted),
  address: textColumn(({ email }) => email),
  until: numberColumn(({ until }) => until),
});

/** Has all columns of a new row but those in `Omitted`, which the database fills in. */
const newRows = <T extends keyof Tables, From, Omitted extends keyof Row<T> = never>(
  table: T,
  columns: BoundColumns<From, Omit<Row<T>, Omitted>>,
): TableRows<From> => ({ table, ...rowMaker<From>(columns) });

/** `rateLimit` → `rate_limit` */
type SnakeCase<S extends string> = S extends `${infer Head}${infer Tail}`
  ? `${Head extends Uppercase<Head> ? `_${Lowercase<Head>}` : Head}${SnakeCase<Tail>}`
  : '';
/** The columns of the counters, all of them. */
type ColumnOf<Counters> = SnakeCase<keyof Counters & string>;
type CounterColumns<T extends keyof Tables, From, Counters> = BoundColumns<
  From,
  Pick<Row<T>, ColumnOf<Counters> & keyof Row<T>>
>;

/** The counters of a row that is there, and its `id`, which comes last. */
const changedRows = <T extends keyof Tables, From, Counters>(
  table: T,
  id: (from: From) => string,
  columns: CounterColumns<T, From, Counters>,
): TableRows<From> => ({ table, ...rowMaker<From>({ ...columns, id: textColumn(id) }) });

/** Returns the assignments of an UPDATE. */
export const assigned = (columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map(([name, value]) => `${name} = ${value}`)
    .join(', ');

/** Where a row with the key is there already, all its other columns become these values. */
const onConflict = ({ columns }: RowMaker<never>, key: readonly string[], value: (column: string) => string) => {
  const others = columns.filter((column) => !key.includes(column));
  const values = others.map((column) => [column, value(column)] as const);
  return `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${assigned(Object.fromEntries(values))}`;
};
/** The new row takes its place. */
export const replacedOnConflict = (rows: RowMaker<never>, key: readonly string[]): string =>
  onConflict(rows, key, (column) => `excluded.${column}`);
/** The new row is added to it. */
export const addedOnConflict = (rows: TableRows<never>, key: readonly string[]): string =>
  onConflict(rows, key, (column) => `${rows.table}.${column} + excluded.${column}`);

interface NewVerification {
  readonly accountId: string;
  readonly keyId: string;
  /** The shared hold that pays for it; null: its own. */
  readonly holdId: string | null;
  /** See VerificationsTable. */
  readonly held: number | null;
  readonly record: VerificationRecord;
  /** The time is by the store's clock, in ms. */
  readonly now: number;
}
export const VERIFICATIONS = newRows<'verifications', NewVerification, 'seq'>('verifications', {
  id: textColumn(({ record }) => record.id),
  account_id: textColumn(({ accountId }) => accountId),
  key_id: textColumn(({ keyId }) => keyId),
  email: textColumn(({ record }) => keptEmail(record)),
  requested: textColumn(({ record }) => record.requested),
  validation_type: textColumn(({ record }) => record.validationType),
  status: textColumn(({ record }) => record.status),
  deliverability: textColumn(({ record }) => record.deliverability),
  reason: textColumn(({ record }) => record.reason),
  credits: numberColumn(({ record }) => record.credits),
  client_ip: textColumn(({ record }) => storableOrNull(record.clientIp)),
  duration_ms: numberColumn(({ record }) => record.durationMs),
  // JSON text, which has neither NUL nor lone surrogates.
  body: textColumn(({ record }) => keptBody(record)),
  created_at: numberColumn(({ now }) => now),
  hold_id: textColumn(({ holdId }) => holdId),
  via: textColumn(({ record }) => record.via ?? null),
  held: numberColumn(({ held }) => held),
  decision: textColumn(({ record }) => record.decision ?? null),
});

/** A row of a batch that all rows of have the batch's node and time. */
type InBatch<T> = T & { readonly now: number; readonly node: string };

export const LEDGER = newRows<'ledger', Changes['ledger'][number] & { readonly now: number }, 'id' | 'note' | 'month'>(
  'ledger',
  {
    account_id: textColumn(({ accountId }) => accountId),
    kind: textColumn(({ kind }) => kind),
    amount: numberColumn(({ amount }) => amount),
    charged: numberColumn(({ charged }) => charged),
    verification_id: textColumn(({ verificationId }) => verificationId),
    created_at: numberColumn(({ now }) => now),
    hold_id: textColumn(({ holdId }) => holdId),
  },
);

/** A row of the ledger, which programs of the version before show as a grant. */
export const ALLOWANCES = newRows<
  'ledger',
  AllowanceEntry & { readonly now: number },
  'id' | 'charged' | 'verification_id' | 'hold_id'
>('ledger', {
  account_id: textColumn(({ accountId }) => accountId),
  kind: textColumn(() => 'grant' as const),
  amount: numberColumn(({ amount }) => amount),
  note: textColumn(({ note }) => note),
  created_at: numberColumn(({ now }) => now),
  month: textColumn(({ month }) => month),
});
const GIVEN_ALLOWANCES: CounterColumns<'accounts', GivenAllowances, GivenAllowances> = {
  allowance_months: textColumn(({ allowanceMonths }) => allowanceMonths),
  allowance_given: numberColumn(({ allowanceGiven }) => allowanceGiven),
};
/** What allowances change of accounts. On PostgreSQL it changes `rules`, so it is not written with every charge. */
export const ACCOUNT_ALLOWANCE = changedRows<'accounts', AllowanceEntry, GivenAllowances>(
  'accounts',
  ({ accountId }) => accountId,
  GIVEN_ALLOWANCES,
);

export const HOLDS = newRows<'holds', InBatch<Changes['holds'][number]>>('holds', {
  id: textColumn(({ id }) => id),
  account_id: textColumn(({ accountId }) => accountId),
  key_id: textColumn(({ keyId }) => keyId),
  amount: numberColumn(({ amount }) => amount),
  node: textColumn(({ node }) => node),
  route: textColumn(({ route }) => route),
  idempotency_key: textColumn(({ idempotencyKey }) => idempotencyKey),
  created_at: numberColumn(({ now }) => now),
  expires_at: numberColumn(({ expiresAt }) => expiresAt),
});

type UsageColumns = Partial<BoundColumns<UsageEntry, Row<'usage_hours'>>>;
/** Rows are counted by these columns. */
const USAGE_KEY = {
  account_id: textColumn(({ accountId }) => accountId),
  hour: numberColumn(({ hour }) => hour),
  key_id: textColumn(({ keyId }) => keyId),
  validation_type: textColumn(({ validationType }) => validationType),
  status: textColumn(({ status }) => status),
  reason: textColumn(({ reason }) => reason),
} satisfies UsageColumns;
/** These columns add up. */
const USAGE_COUNTERS = {
  requests: numberColumn(({ api, list }) => api.requests + list.requests),
  credits: numberColumn(({ api, list }) => api.credits + list.credits),
  api_requests: numberColumn(({ api }) => api.requests),
  api_credits: numberColumn(({ api }) => api.credits),
  list_requests: numberColumn(({ list }) => list.requests),
  list_credits: numberColumn(({ list }) => list.credits),
} satisfies UsageColumns;
export const USAGE_HOURS = newRows<'usage_hours', UsageEntry>('usage_hours', { ...USAGE_KEY, ...USAGE_COUNTERS });
export const USAGE_COUNTED_BY = keysOf(USAGE_KEY);
export const USAGE_SUMS = keysOf(USAGE_COUNTERS);
export const ADD_USAGE_SUMS = addedOnConflict(USAGE_HOURS, USAGE_COUNTED_BY);

export const IDEMPOTENCY = newRows<'idempotency', IdempotencyState>('idempotency', {
  account_id: textColumn(({ accountId }) => accountId),
  route: textColumn(({ route }) => route),
  key: textColumn(({ key }) => key),
  fingerprint: textColumn(({ fingerprint }) => fingerprint),
  state: textColumn(({ state }) => state),
  status: numberColumn(({ status }) => status),
  headers: textColumn(({ headers }) => headers),
  body: textColumn(({ body }) => body),
  node: textColumn(({ node }) => node),
  created_at: numberColumn(({ createdAt }) => createdAt),
  expires_at: numberColumn(({ expiresAt }) => expiresAt),
});

/** A stored reply is found by these columns. */
export const REPLY_KEY = rowMaker<Pick<IdempotencyState, 'accountId' | 'route' | 'key'>>({
  account_id: textColumn(({ accountId }) => accountId),
  route: textColumn(({ route }) => route),
  key: textColumn(({ key }) => key),
});

export const SEEN = newRows<'seen', SeenState>('seen', {
  account_id: textColumn(({ accountId }) => accountId),
  mailbox: textColumn(({ mailbox }) => mailbox),
  scope: textColumn(({ scope }) => scope),
  spelling: textColumn(({ spelling }) => spelling),
  count: numberColumn(({ count }) => count),
  first_at: numberColumn(({ firstAt }) => firstAt),
  last_at: numberColumn(({ lastAt }) => lastAt),
});

export const SEEN_KEY = rowMaker<Pick<SeenState, 'accountId' | 'mailbox' | 'scope'>>({
  account_id: textColumn(({ accountId }) => accountId),
  mailbox: textColumn(({ mailbox }) => mailbox),
  scope: textColumn(({ scope }) => scope),
});

export const SEEN_SECRETS = newRows<'seen_secrets', SeenOwner>('seen_secrets', {
  account_id: textColumn(({ accountId }) => accountId),
  secret: textColumn(({ secret }) => secret),
  mailboxes: numberColumn(({ mailboxes }) => mailboxes),
});

export const SEEN_OWNER_KEY = rowMaker<Pick<SeenOwner, 'accountId'>>({
  account_id: textColumn(({ accountId }) => accountId),
});

export const OUTCOME_ROWS = newRows<'outcomes', Row<'outcomes'>>('outcomes', {
  account_id: textColumn((row) => row.account_id),
  mailbox: textColumn((row) => row.mailbox),
  class: textColumn((row) => row.class),
  at: numberColumn((row) => row.at),
  domain: textColumn((row) => row.domain),
  code: textColumn((row) => row.code),
  source: textColumn((row) => storableOrNull(row.source)),
});

export const OUTCOME_VERDICTS = newRows<'outcome_verdicts', Row<'outcome_verdicts'>>('outcome_verdicts', {
  account_id: textColumn((row) => row.account_id),
  verification_id: textColumn((row) => row.verification_id),
  mailbox: textColumn((row) => row.mailbox),
  at: numberColumn((row) => row.at),
  verdict: textColumn((row) => row.verdict),
  predicted: numberColumn((row) => row.predicted),
  bounced: numberColumn((row) => row.bounced),
  contradicts: numberColumn((row) => row.contradicts),
  rule: textColumn((row) => row.rule),
  reply: textColumn((row) => row.reply),
  code: textColumn((row) => row.code),
  template: textColumn((row) => storableOrNull(row.template)),
  came_from: textColumn((row) => row.came_from),
});

export const OUTCOME_SUMS = newRows<'outcome_sums', Row<'outcome_sums'>>('outcome_sums', {
  account_id: textColumn((row) => row.account_id),
  kind: textColumn((row) => row.kind),
  key: textColumn((row) => row.key),
  sent: numberColumn((row) => row.sent),
  bounced: numberColumn((row) => row.bounced),
  predicted: numberColumn((row) => row.predicted),
});

export const FILTERS = newRows<'filters', Row<'filters'>>('filters', {
  account_id: textColumn((row) => row.account_id),
  id: numberColumn((row) => row.id),
  filter_type: textColumn((row) => row.filter_type),
  value: textColumn((row) => row.value),
  reason: textColumn((row) => row.reason),
  reason_folded: textColumn((row) => row.reason_folded),
  created_at: numberColumn((row) => row.created_at),
  action: textColumn((row) => row.action),
  expires_at: numberColumn((row) => row.expires_at),
  hits: numberColumn((row) => row.hits),
  last_hit_at: numberColumn((row) => row.last_hit_at),
});

/** What is added to a filter; `hits` comes first, and what it is found by last. */
export const FILTER_HITS = rowMaker<FilterHits & { readonly now: number }>({
  hits: numberColumn(({ hits }) => hits),
  last_hit_at: numberColumn(({ now }) => now),
  account_id: textColumn(({ accountId }) => accountId),
  id: numberColumn(({ id }) => id),
});

/** Counters as they are to be, of an account that was locked before they were read. */
export const ACCOUNT_COUNTERS = changedRows<'accounts', AccountState, CreditCounters & WindowCounters>(
  'accounts',
  ({ id }) => id,
  {
    balance: numberColumn(({ balance }) => balance),
    locked: numberColumn(({ locked }) => locked),
    allowance: numberColumn(({ allowance }) => allowance),
    window_start: numberColumn(({ windowStart }) => windowStart),
    window_count: numberColumn(({ windowCount }) => windowCount),
  },
);

/** An account has so much more to spend, and so much more on hold; negative means less. */
interface CreditsMove extends Pick<CreditCounters, 'balance' | 'locked'> {
  readonly id: string;
}
const MOVE = {
  id: textColumn(({ id }: CreditsMove) => id),
  balance: numberColumn(({ balance }: CreditsMove) => balance),
  locked: numberColumn(({ locked }: CreditsMove) => locked),
};
export const CREDITS_MOVE = rowMaker<CreditsMove>(MOVE);
export const RENEWING_MOVE = rowMaker<CreditsMove & GivenAllowances>({ ...MOVE, ...GIVEN_ALLOWANCES });

const MOVED_ALLOWANCE = 'a.allowance + c.balance + c.locked';
/**
 * The counters of the account `a` after the move `c`, whatever others have moved since the account was read. What is
 * charged leaves the allowance first, and what a plan gives is added to it; it is a part of what the account has.
 */
export const MOVED_CREDITS: Readonly<Record<ColumnOf<CreditCounters>, string>> = {
  balance: 'a.balance + c.balance',
  locked: 'a.locked + c.locked',
  allowance: `CASE WHEN ${MOVED_ALLOWANCE} < 0 THEN 0 WHEN a.allowance < a.balance + a.locked THEN ${MOVED_ALLOWANCE}
    ELSE a.balance + a.locked + c.balance + c.locked END`,
};
/** It moves the window as well, which other nodes count in meanwhile. */
export const MOVED_COUNTERS: Readonly<Record<ColumnOf<CreditCounters & WindowCounters>, string>> = {
  ...MOVED_CREDITS,
  window_start: 'c.window_start',
  window_count: 'CASE WHEN a.window_start = c.window_start THEN a.window_count ELSE 0 END + c.requests',
};
export const RENEWED_CREDITS: Readonly<Record<ColumnOf<CreditCounters & GivenAllowances>, string>> = {
  ...MOVED_CREDITS,
  allowance_months: 'c.allowance_months',
  allowance_given: 'c.allowance_given',
};

interface KeyUse {
  readonly id: string;
  readonly ip: string;
  readonly now: number;
}
export const KEY_USE = changedRows<'keys', KeyUse, Record<'lastUsedAt' | 'lastUsedIp', unknown>>(
  'keys',
  ({ id }) => id,
  { last_used_at: numberColumn(({ now }) => now), last_used_ip: textColumn(({ ip }) => ip) },
);

export const KEY_BUDGET = changedRows<'keys', BudgetState, BudgetCounters>('keys', ({ id }) => id, {
  budget_month: numberColumn(({ budgetMonth }) => budgetMonth),
  budget_spent: numberColumn(({ budgetSpent }) => budgetSpent),
  budget_held: numberColumn(({ budgetHeld }) => budgetHeld),
});

/**
 * The select list that reads an object of type `To`: each of its properties from the column of the same name in snake
 * case, which the table has to have. `table`: its alias in the statement.
 */
const selectList =
  <T extends keyof Tables, To>() =>
  (
    properties: {
      readonly [P in keyof To]: P extends string ? (SnakeCase<P> extends keyof Row<T> ? true : never) : never;
    },
  ) =>
  (table: string): string =>
    Object.keys(properties)
      .map((name) => `${table}.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} AS "${name}"`)
      .join(', ');

export const accountState = selectList<'accounts', AccountState>()({
  id: true,
  plan: true,
  rateLimit: true,
  status: true,
  testOf: true,
  balance: true,
  locked: true,
  allowance: true,
  allowanceMonths: true,
  allowanceGiven: true,
  windowStart: true,
  windowCount: true,
  filterEmails: true,
  filterDomains: true,
  filterIps: true,
  filterEmailRules: true,
  filterDomainRules: true,
  filterIpRules: true,
  filterMailboxes: true,
  filterMxHosts: true,
});
export const keyState = selectList<'keys', KeyState>()({
  id: true,
  accountId: true,
  allowIps: true,
  revokedAt: true,
  expiresAt: true,
  scopes: true,
  budget: true,
  budgetMonth: true,
  budgetSpent: true,
  budgetHeld: true,
  lastUsedAt: true,
});
export const holdState = selectList<'holds', HoldState>()({ id: true, accountId: true, amount: true });
export const idempotencyState = selectList<'idempotency', IdempotencyState>()({
  accountId: true,
  route: true,
  key: true,
  fingerprint: true,
  state: true,
  status: true,
  headers: true,
  body: true,
  node: true,
  createdAt: true,
  expiresAt: true,
});
export const seenState = selectList<'seen', SeenState>()({
  accountId: true,
  mailbox: true,
  scope: true,
  spelling: true,
  count: true,
  firstAt: true,
  lastAt: true,
});
export const seenOwner = selectList<'seen_secrets', SeenOwner>()({ accountId: true, secret: true, mailboxes: true });
export const filterState = selectList<'filters', FilterRule>()({
  id: true,
  filterType: true,
  value: true,
  action: true,
  expiresAt: true,
});
