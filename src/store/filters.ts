import { type RawBuilder, sql } from 'kysely';
import { DAY_MS } from '../kernel/clock.ts';
import { ApiError } from '../kernel/errors.ts';
import { FILTER_KEPT_DAYS } from '../kernel/facts/limits.ts';
import { type Plans, termsOf } from '../kernel/facts/plans.ts';
import type { FilterSort } from '../kernel/facts/sort-orders.ts';
import { BATCH_ROWS, yieldToEventLoop } from './batches.ts';
import { FILTERS } from './columns.ts';
import type { StorageDriver, TransactionDriver } from './driver.ts';
import {
  candidatesOf,
  countsOf,
  FILTER_COLUMNS,
  FILTER_KIND_NAMES,
  FILTER_KINDS,
  type FilterKind,
  type FilterLookup,
  type FilterRule,
  filterCount,
  filterLookups,
  kindOf,
  kindsLike,
  kindsOfType,
  mostSpecific,
} from './filter-kinds.ts';
import { storeReply } from './idempotency.ts';
import { toAuditRow, writeAudit } from './people/audit-log.ts';
import { countOf, storable, storableOrNull } from './rows.ts';
import type { AccountId, Actor, Filter, FilterAdded, FilterInput, Filters } from './store.ts';
import type { Row, Trx } from './tables.ts';

// Filters as rows, and their insertion in bulk.

const isExpired = ({ expires_at }: Pick<Row<'filters'>, 'expires_at'>, now: number): boolean =>
  expires_at !== null && expires_at <= now;

const toFilter = (row: Row<'filters'>, now: number): Filter => {
  const { type, match } = FILTER_KINDS[row.filter_type];
  return {
    id: row.id,
    filterType: type,
    match,
    value: row.value,
    reason: row.reason,
    action: row.action,
    expiresAt: row.expires_at,
    expired: isExpired(row, now),
    hits: row.hits,
    lastHitAt: row.last_hit_at,
    createdAt: row.created_at,
  };
};

const toRule = ({ id, filter_type, value, action, expires_at }: Row<'filters'>): FilterRule => ({
  id,
  filterType: filter_type,
  value,
  action,
  expiresAt: expires_at,
});

export const lowerCaseText = (text: string): string => storable(text).toLowerCase();

/** What can be changed of a row. */
const changeable = (input: FilterInput) => ({
  filter_type: kindOf(input),
  value: storable(input.value),
  reason: storableOrNull(input.reason),
  reason_folded: lowerCaseText(input.reason ?? ''),
  action: input.action,
  expires_at: input.expiresAt,
});

const toFilterRow = (account: AccountId, id: number, input: FilterInput, now: number): Row<'filters'> => ({
  id,
  account_id: account,
  ...changeable(input),
  created_at: now,
  hits: 0,
  last_hit_at: null,
});

/** The same for filters of which an account has one. */
const storedSubject = (kind: FilterKind, value: string): string => `${kindsLike(kind)[0]}\n${value}`;

/** The account, and its filters that have the subject of one of the rows. */
function reads(driver: TransactionDriver, trx: Trx, account: AccountId, rows: readonly Row<'filters'>[]) {
  const of = (kind: FilterKind) => {
    const like = new Set(kindsLike(kind));
    const values = rows.flatMap((row) => (like.has(row.filter_type) ? [row.value] : []));
    return driver.filtersWith(trx, account, kind, values);
  };
  const accounts = trx
    .selectFrom('accounts')
    .select(['last_filter_id', 'plan', ...FILTER_COLUMNS])
    .where('id', '=', account);
  return {
    accounts: accounts.where('status', '<>', 'deleted'),
    email: of('email'),
    domain: of('domain'),
    ip_address: of('ip_address'),
    email_rule: of('email_rule'),
    domain_rule: of('domain_rule'),
    ip_rule: of('ip_rule'),
    mailbox: of('mailbox'),
    mx_host: of('mx_host'),
  } satisfies Record<FilterKind | 'accounts', unknown>;
}

/**
 * See `BulkTransactions.addFilters`. `tooMany`: the account would have more than that, and none was added. Charges of
 * the account wait for as long as its lock is held: for few round trips.
 */
export async function addFilters(
  driver: TransactionDriver,
  account: AccountId,
  inputs: readonly FilterInput[],
  by: Actor | undefined,
): Promise<FilterAdded[] | null | { readonly tooMany: number }> {
  const now = await driver.now();
  return driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [account]);
    const rows = inputs.map((input) => toFilterRow(account, 0, input, now));
    const { accounts, ...existing } = await driver.readTogether(trx, reads(driver, trx, account, rows));
    if (accounts[0] === undefined) return null;
    const there = FILTER_KIND_NAMES.flatMap((kind) => existing[kind]);
    const expired = there.filter((row) => isExpired(row, now));
    const ids = new Map(
      there.flatMap((row) => (isExpired(row, now) ? [] : [[storedSubject(row.filter_type, row.value), row.id]])),
    );
    let last = accounts[0].last_filter_id;
    const added: Row<'filters'>[] = [];
    const outcomes = rows.map((row): FilterAdded => {
      const subject = storedSubject(row.filter_type, row.value);
      const existingId = ids.get(subject);
      if (existingId !== undefined) return { added: false, existingId };
      last += 1;
      // A duplicate later in the same call finds it.
      ids.set(subject, last);
      const filter = { ...row, id: last };
      added.push(filter);
      return { added: true, filter: toFilter(filter, now) };
    });
    if (added.length === 0) return outcomes;
    const { filters: limit } = termsOf(driver.plans, accounts[0].plan);
    if (filterCount(accounts[0]) - expired.length + added.length > limit) return { tooMany: limit };
    await removeFilterRows(trx, account, expired);
    const counted = countedFilters(trx, account, { added, removed: expired, last });
    const changes = [driver.insertRows(FILTERS, added), counted.compile()];
    if (by !== undefined) {
      const detail = { added: added.length, given: inputs.length };
      const event = { action: 'filters.imported', target: `${added.length} filters`, detail } as const;
      changes.push(
        trx
          .insertInto('trail')
          .values(toAuditRow(account, now, by, event))
          .compile(),
      );
    }
    await driver.writeTogether(trx, changes);
    return outcomes;
  });
}

async function removeFilterRows(trx: Trx, account: string, rows: readonly Pick<Row<'filters'>, 'id'>[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  await trx.deleteFrom('filters').where('account_id', '=', account).where('id', 'in', ids).execute();
}

type CountedRow = Pick<Row<'filters'>, 'filter_type' | 'expires_at'>;

/**
 * The account with so many more, and fewer, filters of each kind, by which admission knows what to look for. The
 * counters of all kinds are named, as that tells other nodes that the rules of the account have changed. `last`: the
 * highest id.
 */
function countedFilters(
  trx: Trx,
  account: string,
  change: { readonly added: readonly CountedRow[]; readonly removed: readonly CountedRow[]; readonly last?: number },
) {
  const { added, removed, last } = change;
  const by = new Map<FilterKind, number>();
  for (const { filter_type: kind } of added) by.set(kind, (by.get(kind) ?? 0) + 1);
  for (const { filter_type: kind } of removed) by.set(kind, (by.get(kind) ?? 0) - 1);
  const ends = added.flatMap(({ expires_at }) => expires_at ?? []);
  const end = ends.length === 0 ? null : ends.reduce((a, b) => Math.min(a, b));
  const update = trx.updateTable('accounts').set((eb) => ({
    ...(last === undefined ? {} : { last_filter_id: last }),
    ...Object.fromEntries(
      FILTER_KIND_NAMES.map((kind) => {
        const { column } = FILTER_KINDS[kind];
        return [column, eb(column, '+', by.get(kind) ?? 0)];
      }),
    ),
    ...(end === null ? {} : { filters_expire_at: earlierOf(end) }),
  }));
  return update.where('id', '=', account);
}

const earlierOf = (end: number): RawBuilder<number> =>
  sql<number>`CASE WHEN filters_expire_at < ${sql.lit(end)} THEN filters_expire_at ELSE ${sql.lit(end)} END`;

/** See `Filters.matchMany`. Looks each value up once. */
function filterMatch(driver: StorageDriver): Filters['matchMany'] {
  const { db } = driver;
  return async (account, keys) => {
    const counters = await db
      .selectFrom('accounts')
      .select(FILTER_COLUMNS)
      .where('id', '=', account)
      .executeTakeFirst();
    if (counters === undefined || filterCount(counters) === 0) return null;
    const counts = countsOf(counters);
    const wanted = keys().map((one) => filterLookups(counts, one));
    const found = new Map<string, FilterRule>();
    const now = await driver.now();
    const all = Map.groupBy(wanted.flat().flatMap(candidatesOf), ([kind]) => kind);
    for (const [kind, candidates] of all) {
      const values = [...new Set(candidates.map(([, value]) => value))];
      for (let from = 0; from < values.length; from += BATCH_ROWS) {
        const there = driver.filtersWith(db, account, kind, values.slice(from, from + BATCH_ROWS));
        for (const row of (await db.executeQuery(there.compile())).rows)
          found.set(`${kind}\n${row.value}`, toRule(row));
        await yieldToEventLoop();
      }
    }
    const ofLookup = (lookup: FilterLookup) =>
      candidatesOf(lookup).flatMap(([kind, value]) => found.get(`${kind}\n${value}`) ?? []);
    const firstOf = (lookups: readonly FilterLookup[]): FilterRule | null => {
      for (const lookup of lookups) {
        const filter = mostSpecific(ofLookup(lookup), lookup, now);
        if (filter !== null) return filter;
      }
      return null;
    };
    return { filters: wanted.map(firstOf), hasHosts: counts.filterMxHosts > 0 };
  };
}

/** By the type that a kind belongs to, however filters of it are stored. */
const TYPE_OF_KIND = sql<string>`CASE filter_type ${sql.join(
  FILTER_KIND_NAMES.map((kind) => sql`WHEN ${sql.lit(kind)} THEN ${sql.lit(FILTER_KINDS[kind].type)}`),
  sql` `,
)} END`;

const FILTERS_SORTED_BY = {
  added: sql<number>`id`,
  value: sql<string>`value`,
  type: TYPE_OF_KIND,
  reason: sql<string>`reason_folded`,
  hits: sql<number>`hits`,
} as const satisfies Record<FilterSort, RawBuilder<string | number>>;
const NEWEST_FIRST = { by: 'added', descending: true } as const;

const tooManyFilters = (limit: number) => new ApiError('too_many_filters', undefined, { limit });
export const noAccount = () => new ApiError('not_found', 'There is no such account.');

/**
 * An id that no filter of the account has had; a duplicate wastes its own. Locks the account, as whatever changes
 * filters does before anything else. Throws ApiError when the account was deleted.
 */
async function reserveId(plans: Plans, trx: Trx, account: AccountId) {
  const update = trx.updateTable('accounts').set((eb) => ({ last_filter_id: eb('last_filter_id', '+', 1) }));
  const there = update.where('id', '=', account).where('status', '<>', 'deleted');
  const row = await there.returning(['last_filter_id', 'plan', ...FILTER_COLUMNS]).executeTakeFirst();
  if (row === undefined) throw noAccount();
  return { id: row.last_filter_id, count: filterCount(row), limit: termsOf(plans, row.plan).filters };
}

/** The filter of the account with the subject; one that has expired is removed. The account is locked. */
async function inTheWay(trx: Trx, { account_id: account, filter_type: kind, value, id }: Row<'filters'>, now: number) {
  const there = await trx
    .selectFrom('filters')
    .selectAll()
    .where('account_id', '=', account)
    .where('filter_type', 'in', kindsLike(kind))
    .where('value', '=', value)
    .where('id', '<>', id)
    .execute();
  const inForce = there.find((row) => !isExpired(row, now));
  if (inForce !== undefined) return { existingId: inForce.id, expired: [] };
  await removeFilterRows(trx, account, there);
  return { existingId: null, expired: there };
}

/** As the audit log has it; times in ms. */
const auditDetail = ({ id, filterType, reason, action, match, expiresAt }: Filter) => ({
  filter: id,
  filter_type: filterType,
  reason,
  action,
  match,
  expires_at: expiresAt,
});

/** What a change has changed, each from what to what. */
function changeDetail(before: Filter, after: Filter): Record<string, unknown> {
  const was: Readonly<Record<string, unknown>> = { ...auditDetail(before), value: before.value };
  const is = Object.entries({ ...auditDetail(after), value: after.value });
  const changed = is.flatMap(([name, to]) => (was[name] === to ? [] : [[name, { from: was[name], to }] as const]));
  return { filter: after.id, ...Object.fromEntries(changed) };
}

/** See `Filters.change`. */
async function changeFilter(
  driver: StorageDriver,
  account: AccountId,
  id: number,
  plan: Parameters<Filters['change']>[2],
  by: Actor | undefined,
): ReturnType<Filters['change']> {
  return driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [account]);
    const now = await driver.now(trx);
    const mine = trx.selectFrom('filters').selectAll().where('account_id', '=', account).where('id', '=', id);
    const row = await mine.executeTakeFirst();
    if (row === undefined) return null;
    const before = toFilter(row, now);
    const { matching, ...change } = plan(before, now);
    const next = { ...row, ...changeable({ ...before, ...change, ...matching }) };
    const { existingId, expired } = await inTheWay(trx, next, now);
    if (existingId !== null) return { existingId };
    const { filter_type, value, reason, reason_folded, action, expires_at } = next;
    const update = trx.updateTable('filters').set({ filter_type, value, reason, reason_folded, action, expires_at });
    await update.where('account_id', '=', account).where('id', '=', id).execute();
    await countedFilters(trx, account, { added: [next], removed: [row, ...expired] }).execute();
    const after = toFilter(next, now);
    const detail = changeDetail(before, after);
    await writeAudit(trx, account, now, by, { action: 'filter.changed', target: after.value, detail });
    return after;
  });
}

/**
 * Removes a batch of filters that expired FILTER_KEPT_DAYS ago, of one account. Returns how many; 0 when none is left
 * of any account.
 */
export async function removeExpiredFilters(driver: StorageDriver, now: number): Promise<number> {
  const before = now - FILTER_KEPT_DAYS * DAY_MS;
  const due = driver.db.selectFrom('accounts').select('id').where('filters_expire_at', '<=', before);
  for (const { id: account } of await due.where('status', '<>', 'deleted').limit(BATCH_ROWS).execute()) {
    const removed = await driver.transaction(async (trx) => {
      await driver.lockAccounts(trx, [account]);
      const expiring = trx.selectFrom('filters').where('account_id', '=', account).where('expires_at', 'is not', null);
      const old = expiring.select(['id', 'filter_type', 'expires_at']).where('expires_at', '<=', before);
      const rows = await old.limit(BATCH_ROWS).execute();
      await removeFilterRows(trx, account, rows);
      await countedFilters(trx, account, { added: [], removed: rows }).execute();
      const { next } = await expiring.select((eb) => eb.fn.min('expires_at').as('next')).executeTakeFirstOrThrow();
      await trx.updateTable('accounts').set({ filters_expire_at: next }).where('id', '=', account).execute();
      return rows.length;
    });
    // What the account says of its filters was out of date, and is right again.
    if (removed > 0) return removed;
  }
  return 0;
}

/** See `Filters.remove`. */
export async function removeFilter(
  driver: StorageDriver,
  account: AccountId,
  id: number,
  by: Actor | undefined,
): Promise<boolean> {
  const now = await driver.now();
  return driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [account]);
    const mine = trx.deleteFrom('filters').where('account_id', '=', account).where('id', '=', id);
    const removed = await mine.returningAll().executeTakeFirst();
    if (removed === undefined) return false;
    await countedFilters(trx, account, { added: [], removed: [removed] }).execute();
    const detail = auditDetail(toFilter(removed, now));
    await writeAudit(trx, account, now, by, { action: 'filter.removed', target: removed.value, detail });
    return true;
  });
}

export function filters(driver: StorageDriver): Filters {
  const { scans } = driver;

  return {
    matchMany: filterMatch(driver),

    async add(account, input, by, stored = null) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const { id, count, limit } = await reserveId(driver.plans, trx, account);
        const row = toFilterRow(account, id, input, now);
        const { existingId, expired } = await inTheWay(trx, row, now);
        // One that exists already is no further one.
        if (existingId === null && count - expired.length >= limit) throw tooManyFilters(limit);
        const outcome: FilterAdded =
          existingId === null ? { added: true, filter: toFilter(row, now) } : { added: false, existingId };
        if (outcome.added) {
          await trx.insertInto('filters').values(row).execute();
          const detail = auditDetail(outcome.filter);
          await writeAudit(trx, account, now, by, { action: 'filter.added', target: row.value, detail });
          await countedFilters(trx, account, { added: [row], removed: expired }).execute();
        }
        // This comes after the account's row, as charging locks them in this order.
        await storeReply(driver, trx, account, now, stored, outcome);
        return outcome;
      });
    },

    async addMany(account, inputs, by) {
      const outcomes = await driver.bulk.addFilters(account, inputs, by);
      if (outcomes === null) throw noAccount();
      if ('tooMany' in outcomes) throw tooManyFilters(outcomes.tooMany);
      return outcomes;
    },

    async existing(account, inputs) {
      const rows = inputs.map((input) => toFilterRow(account, 0, input, 0));
      const found = new Map<string, Row<'filters'>>();
      for (const [kind, like] of Map.groupBy(rows, ({ filter_type }) => filter_type)) {
        const values = like.map(({ value }) => value);
        for (const one of kindsLike(kind)) {
          const there = await driver.db.executeQuery(driver.filtersWith(driver.db, account, one, values).compile());
          for (const row of there.rows) found.set(storedSubject(row.filter_type, row.value), row);
        }
      }
      const now = await driver.now();
      return rows.map((row) => {
        const there = found.get(storedSubject(row.filter_type, row.value));
        return there === undefined || isExpired(there, now) ? null : toFilter(there, now);
      });
    },

    async get(account, id) {
      const mine = driver.db.selectFrom('filters').selectAll().where('account_id', '=', account).where('id', '=', id);
      const row = await mine.executeTakeFirst();
      return row === undefined ? null : toFilter(row, await driver.now());
    },

    change: (account, id, plan, by) => changeFilter(driver, account, id, plan, by),

    async from(account, after, limit) {
      const mine = scans.selectFrom('filters').selectAll().where('account_id', '=', account).where('id', '>', after);
      const rows = await mine.orderBy('id').limit(limit).execute();
      const now = await driver.now();
      return rows.map((row) => toFilter(row, now));
    },

    async list(account, { filterType, query, sort = NEWEST_FIRST, offset, limit }) {
      let wanted = scans.selectFrom('filters').where('account_id', '=', account);
      if (filterType !== null) wanted = wanted.where('filter_type', 'in', kindsOfType(filterType));
      if (query !== null && query !== '') {
        const text = lowerCaseText(query);
        wanted = wanted.where((eb) => {
          const { value, reason } = { value: eb.ref('value'), reason: eb.ref('reason_folded') };
          return eb.or([driver.substringMatch(value, text), driver.substringMatch(reason, text)]);
        });
      }
      let sorted = wanted.selectAll();
      if (sort.by === 'reason') sorted = sorted.orderBy((eb) => eb('reason_folded', '=', ''));
      sorted = sorted.orderBy(FILTERS_SORTED_BY[sort.by], sort.descending ? 'desc' : 'asc');
      if (sort.by !== 'added') sorted = sorted.orderBy('id', 'desc');
      const rows = await sorted.offset(offset).limit(limit).execute();
      const now = await driver.now();
      const items = rows.map((row) => toFilter(row, now));
      // The last page says how many there are: a search that finds few reads the filters once.
      if (rows.length < limit && (rows.length > 0 || offset === 0)) return { items, total: offset + rows.length };
      return { items, total: await countOf(wanted) };
    },

    remove: (account, id, by) => removeFilter(driver, account, id, by),
  };
}
