/** Filters as rows, and their insertion in bulk. */

import type { Transaction } from 'kysely';
import type { FilterType } from '../kernel/filter-types.ts';
import type { AccountId, Filter, FilterAdded, Filters } from './store.ts';
import type { Row, Tables } from './tables.ts';
import { storable, storableOrNull } from './text.ts';

/** Rows per statement: seven values each, and SQLite takes at most 32,766. */
const CHUNK = 1_000;

export const toFilter = (row: Row<'filters'>): Filter => ({
  id: row.id,
  filterType: row.filter_type,
  value: row.value,
  reason: row.reason,
  createdAt: row.created_at,
});

export const lowerCase = (text: string): string => storable(text).toLowerCase();

export const toRow = (
  account: AccountId,
  id: number,
  { filterType, value, reason }: Parameters<Filters['add']>[1],
  now: number,
) => ({
  id,
  account_id: account,
  filter_type: filterType,
  value: storable(value),
  reason: storableOrNull(reason),
  reason_folded: lowerCase(reason ?? ''),
  created_at: now,
});
export type NewFilter = ReturnType<typeof toRow>;

const idOf = (row: { filter_type: FilterType; value: string }): string => `${row.filter_type}\n${row.value}`;

/** Ids of the rows that exist already. */
async function existing(trx: Transaction<Tables>, account: AccountId, rows: readonly NewFilter[]) {
  const found = new Map<string, number>();
  for (const [type, some] of Map.groupBy(rows, (row) => row.filter_type)) {
    const there = trx.selectFrom('filters').select(['id', 'filter_type', 'value']).where('account_id', '=', account);
    const values = some.map((row) => row.value);
    const same = await there.where('filter_type', '=', type).where('value', 'in', values).execute();
    for (const row of same) found.set(idOf(row), row.id);
  }
  return found;
}

/** One outcome per row, in order, and the filters added. The account is locked. */
export async function insertAll(
  trx: Transaction<Tables>,
  account: AccountId,
  rows: readonly NewFilter[],
): Promise<{ outcomes: FilterAdded[]; added: Filter[] }> {
  /** The first row of each filter. */
  const firsts = new Map<string, NewFilter>();
  for (const row of rows) if (!firsts.has(idOf(row))) firsts.set(idOf(row), row);
  const fresh = new Map<string, Filter>();
  const there = new Map<string, number>();
  const unique = [...firsts.values()];
  for (let at = 0; at < unique.length; at += CHUNK) {
    const some = unique.slice(at, at + CHUNK);
    const inserted = await trx
      .insertInto('filters')
      .values(some)
      .onConflict((oc) => oc.doNothing())
      .returningAll()
      .execute();
    for (const row of inserted) fresh.set(idOf(row), toFilter(row));
    const others = some.filter((row) => !fresh.has(idOf(row)));
    for (const [id, filter] of await existing(trx, account, others)) there.set(id, filter);
  }
  const added = [...fresh.values()];
  const outcomes = rows.map((row): FilterAdded => {
    const id = idOf(row);
    const before = there.get(id);
    if (before !== undefined) return { added: false, existingId: before };
    const filter = fresh.get(id);
    if (filter === undefined) throw new Error('A filter was neither added nor found.');
    // A duplicate later in the same call finds it.
    there.set(id, filter.id);
    return { added: true, filter };
  });
  return { outcomes, added };
}
