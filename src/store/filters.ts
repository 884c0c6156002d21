import type { Transaction } from 'kysely';
import { ApiError } from '../kernel/errors.ts';
import { FILTER_TYPES, type FilterType } from '../kernel/facts/filter-types.ts';
import { PLANS } from '../kernel/facts/plans.ts';
import type { FilterSort } from '../kernel/facts/sort-orders.ts';
import { BATCH_ROWS, yieldToEventLoop } from './batches.ts';
import { filterCandidates } from './charge/apply-batch.ts';
import { FILTERS } from './columns.ts';
import type { StorageDriver, TransactionDriver } from './driver.ts';
import { storeReply } from './idempotency.ts';
import { toAuditRow, writeAudit } from './people/audit-log.ts';
import { storable, storableOrNull } from './rows.ts';
import type { AccountId, Actor, Filter, FilterAdded, Filters } from './store.ts';
import type { Row, Tables } from './tables.ts';

// Filters as rows, and their insertion in bulk.

/** Of `accounts`: how many filters of the type there are. */
export const FILTER_COUNTERS = { email: 'filter_emails', domain: 'filter_domains', ip_address: 'filter_ips' } as const;

const toFilter = (row: Row<'filters'>): Filter => ({
  id: row.id,
  filterType: row.filter_type,
  value: row.value,
  reason: row.reason,
  createdAt: row.created_at,
});

export const lowerCaseText = (text: string): string => storable(text).toLowerCase();

type FilterInput = Parameters<Filters['add']>[1];

const toFilterRow = (account: AccountId, id: number, { filterType, value, reason }: FilterInput, now: number) => ({
  id,
  account_id: account,
  filter_type: filterType,
  value: storable(value),
  reason: storableOrNull(reason),
  reason_folded: lowerCaseText(reason ?? ''),
  created_at: now,
});
type NewFilter = ReturnType<typeof toFilterRow>;

const filterKey = (type: FilterType, value: string): string => `${type}\n${value}`;

/** The account, and its filters that are the same as one of the rows. */
function reads(driver: TransactionDriver, trx: Transaction<Tables>, account: AccountId, rows: readonly NewFilter[]) {
  const of = (type: FilterType) => {
    const values = rows.flatMap((row) => (row.filter_type === type ? [row.value] : []));
    return driver.filtersWith(trx, account, type, values);
  };
  const accounts = trx
    .selectFrom('accounts')
    .select(['last_filter_id', 'plan', ...Object.values(FILTER_COUNTERS)])
    .where('id', '=', account);
  return {
    accounts: accounts.where('status', '<>', 'deleted'),
    email: of('email'),
    domain: of('domain'),
    ip_address: of('ip_address'),
  } satisfies Record<FilterType | 'accounts', unknown>;
}

/** How many filters an account has, of all types. */
export const filterCount = (account: Pick<Row<'accounts'>, (typeof FILTER_COUNTERS)[FilterType]>): number =>
  Object.values(FILTER_COUNTERS).reduce((sum, column) => sum + account[column], 0);

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
    const ids = new Map(
      FILTER_TYPES.flatMap((type) => existing[type].map((row) => [filterKey(type, row.value), row.id])),
    );
    let last = accounts[0].last_filter_id;
    const added: Row<'filters'>[] = [];
    const outcomes = rows.map((row): FilterAdded => {
      const existingId = ids.get(filterKey(row.filter_type, row.value));
      if (existingId !== undefined) return { added: false, existingId };
      last += 1;
      // A duplicate later in the same call finds it.
      ids.set(filterKey(row.filter_type, row.value), last);
      const filter = { ...row, id: last };
      added.push(filter);
      return { added: true, filter: toFilter(filter) };
    });
    if (added.length === 0) return outcomes;
    const { filters: limit } = PLANS[accounts[0].plan];
    if (filterCount(accounts[0]) + added.length > limit) return { tooMany: limit };
    const changes = [driver.insertRows(FILTERS, added), counted(trx, account, added, last).compile()];
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

/** The account with so many more filters of each type; `last`: the highest id. */
function counted(trx: Transaction<Tables>, account: AccountId, added: readonly Row<'filters'>[], last: number) {
  const types = Map.groupBy(added, (row) => row.filter_type);
  const update = trx.updateTable('accounts').set((eb) => ({
    last_filter_id: last,
    ...Object.fromEntries(
      Array.from(types, ([type, some]) => [FILTER_COUNTERS[type], eb(FILTER_COUNTERS[type], '+', some.length)]),
    ),
  }));
  return update.where('id', '=', account);
}

/** See `Filters.matchMany`. Looks each value up once. */
function filterMatch(driver: StorageDriver): Filters['matchMany'] {
  const { db } = driver;
  return async (account, keys) => {
    const counters = db.selectFrom('accounts').select(['filter_emails', 'filter_domains', 'filter_ips']);
    const row = await counters.where('id', '=', account).executeTakeFirst();
    const counts = {
      filterEmails: row?.filter_emails ?? 0,
      filterDomains: row?.filter_domains ?? 0,
      filterIps: row?.filter_ips ?? 0,
    };
    if (counts.filterEmails + counts.filterDomains + counts.filterIps === 0) return null;
    const wanted = keys().map((one) => [...filterCandidates(counts, one)]);
    const found = new Map<string, Filter>();
    for (const type of FILTER_TYPES) {
      const all = [...new Set(wanted.flat().flatMap(([of, value]) => (of === type ? [value] : [])))];
      for (let from = 0; from < all.length; from += BATCH_ROWS) {
        const there = driver.filtersWith(db, account, type, all.slice(from, from + BATCH_ROWS));
        for (const filter of (await db.executeQuery(there.compile())).rows)
          found.set(filterKey(type, filter.value), toFilter(filter));
        await yieldToEventLoop();
      }
    }
    return wanted.map((tried) => {
      for (const [type, value] of tried) {
        const filter = found.get(filterKey(type, value));
        if (filter !== undefined) return filter;
      }
      return null;
    });
  };
}

const SORTED_BY = {
  added: 'id',
  value: 'value',
  type: 'filter_type',
  reason: 'reason_folded',
} as const satisfies Record<FilterSort, string>;
const NEWEST_FIRST = { by: 'added', descending: true } as const;

/** Updates the account's filter counters, by which admission knows what to look for. */
async function count(trx: Transaction<Tables>, account: AccountId, type: FilterType, by: 1 | -1): Promise<void> {
  const column = FILTER_COUNTERS[type];
  const update = trx.updateTable('accounts').set((eb) => ({ [column]: eb(column, '+', by) }));
  await update.where('id', '=', account).execute();
}

const tooManyFilters = (limit: number) => new ApiError('too_many_filters', undefined, { limit });
const noAccount = () => new ApiError('not_found', 'There is no such account.');

/**
 * An id that no filter of the account has had; a duplicate wastes its own. Locks the account, as whatever changes
 * filters does before anything else. Throws ApiError when the account was deleted.
 */
async function reserveId(trx: Transaction<Tables>, account: AccountId) {
  const update = trx.updateTable('accounts').set((eb) => ({ last_filter_id: eb('last_filter_id', '+', 1) }));
  const there = update.where('id', '=', account).where('status', '<>', 'deleted');
  const row = await there.returning(['last_filter_id', 'plan', ...Object.values(FILTER_COUNTERS)]).executeTakeFirst();
  if (row === undefined) throw noAccount();
  return { id: row.last_filter_id, count: filterCount(row), limit: PLANS[row.plan].filters };
}

export function filters(driver: StorageDriver): Filters {
  const { scans } = driver;

  /** The filter added, or the id of the existing one. The account is locked. */
  const insert = async (trx: Transaction<Tables>, row: NewFilter): Promise<FilterAdded> => {
    const insertion = trx.insertInto('filters').values(row);
    const added = await insertion
      .onConflict((oc) => oc.doNothing())
      .returningAll()
      .executeTakeFirst();
    if (added !== undefined) return { added: true, filter: toFilter(added) };
    const found = await trx
      .selectFrom('filters')
      .select('id')
      .where('account_id', '=', row.account_id)
      .where('filter_type', '=', row.filter_type)
      .where('value', '=', row.value)
      .executeTakeFirstOrThrow();
    return { added: false, existingId: found.id };
  };

  const record = async (
    trx: Transaction<Tables>,
    account: AccountId,
    { id, filterType, value, reason }: Filter,
    now: number,
    by: Actor | undefined,
  ): Promise<void> => {
    const detail = { filter: id, filter_type: filterType, reason };
    await writeAudit(trx, account, now, by, { action: 'filter.added', target: value, detail });
    await count(trx, account, filterType, 1);
  };

  return {
    matchMany: filterMatch(driver),

    async add(account, input, by, stored = null) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        const { id, count, limit } = await reserveId(trx, account);
        const outcome = await insert(trx, toFilterRow(account, id, input, now));
        // One that exists already is no further one.
        if (outcome.added && count >= limit) throw tooManyFilters(limit);
        if (outcome.added) await record(trx, account, outcome.filter, now, by);
        // After the account's row: charging locks them in this order.
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

    async from(account, after, limit) {
      const mine = scans.selectFrom('filters').selectAll().where('account_id', '=', account).where('id', '>', after);
      return (await mine.orderBy('id').limit(limit).execute()).map(toFilter);
    },

    async list(account, { filterType, query, sort = NEWEST_FIRST, offset, limit }) {
      let wanted = scans.selectFrom('filters').where('account_id', '=', account);
      if (filterType !== null) wanted = wanted.where('filter_type', '=', filterType);
      if (query !== null && query !== '') {
        const text = lowerCaseText(query);
        wanted = wanted.where((eb) => {
          const { value, reason } = { value: eb.ref('value'), reason: eb.ref('reason_folded') };
          return eb.or([driver.substringMatch(value, text), driver.substringMatch(reason, text)]);
        });
      }
      let sorted = wanted.selectAll();
      if (sort.by === 'reason') sorted = sorted.orderBy((eb) => eb('reason_folded', '=', ''));
      sorted = sorted.orderBy(SORTED_BY[sort.by], sort.descending ? 'desc' : 'asc');
      if (sort.by !== 'added') sorted = sorted.orderBy('id', 'desc');
      const rows = await sorted.offset(offset).limit(limit).execute();
      const items = rows.map(toFilter);
      // The last page says how many there are: a search that finds few reads the filters once.
      if (rows.length < limit && (rows.length > 0 || offset === 0)) return { items, total: offset + rows.length };
      const total = await wanted.select((eb) => eb.fn.countAll<number>().as('n')).executeTakeFirstOrThrow();
      return { items, total: total.n };
    },

    async remove(account, id, by) {
      const now = await driver.now();
      return driver.transaction(async (trx) => {
        await driver.lockAccounts(trx, [account]);
        const mine = trx.deleteFrom('filters').where('account_id', '=', account).where('id', '=', id);
        const removed = await mine.returning(['filter_type', 'value', 'reason']).executeTakeFirst();
        if (removed === undefined) return false;
        await count(trx, account, removed.filter_type, -1);
        const detail = { filter: id, filter_type: removed.filter_type, reason: removed.reason };
        await writeAudit(trx, account, now, by, { action: 'filter.removed', target: removed.value, detail });
        return true;
      });
    },
  };
}
