import type { Transaction } from 'kysely';
import { ApiError } from '../kernel/errors.ts';
import type { FilterType } from '../kernel/facts/filter-types.ts';
import { PLANS } from '../kernel/facts/plans.ts';
import type { FilterSort } from '../kernel/facts/sort-orders.ts';
import type { StorageDriver } from './driver.ts';
import { filterMatch } from './filter-match.ts';
import { COUNTERS, filterCount, lowerCase, type NewFilter, toFilter, toRow } from './filter-rows.ts';
import { storeReply } from './idempotency.ts';
import { writeAudit } from './people/audit-log.ts';
import type { AccountId, Actor, Filter, FilterAdded, Filters } from './store.ts';
import type { Tables } from './tables.ts';

const SORTED_BY = {
  added: 'id',
  value: 'value',
  type: 'filter_type',
  reason: 'reason_folded',
} as const satisfies Record<FilterSort, string>;
const NEWEST_FIRST = { by: 'added', descending: true } as const;

/** Updates the account's filter counters, by which admission knows what to look for. */
async function count(trx: Transaction<Tables>, account: AccountId, type: FilterType, by: 1 | -1): Promise<void> {
  const column = COUNTERS[type];
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
  const row = await there.returning(['last_filter_id', 'plan', ...Object.values(COUNTERS)]).executeTakeFirst();
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
        const outcome = await insert(trx, toRow(account, id, input, now));
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
        const text = lowerCase(query);
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
