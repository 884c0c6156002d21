/** Filters as rows, one by one and many at once. */
import type { Transaction } from 'kysely';
import type { AccountId, Filter, FilterAdded, Filters, FilterType } from './store.ts';
import type { Row, Tables } from './tables.ts';
import { storable, storableOrNull } from './text.ts';

/** Rows in one statement; six values each, and an engine takes at most 32,766. */
const CHUNK = 1_000;

export const toFilter = (row: Row<'filters'>): Filter => ({
  id: row.id,
  filterType: row.filter_type,
  value: row.value,
  reason: row.reason,
  createdAt: row.created_at,
});

export const fold = (text: string): string => storable(text).toLowerCase();

export const toRow = (
  account: AccountId,
  { filterType, value, reason }: Parameters<Filters['add']>[1],
  now: number,
) => ({
  account_id: account,
  filter_type: filterType,
  value: storable(value),
  reason: storableOrNull(reason),
  reason_folded: fold(reason ?? ''),
  created_at: now,
});
export type NewFilter = ReturnType<typeof toRow>;

const idOf = (row: { filter_type: FilterType; value: string }): string => `${row.filter_type}\n${row.value}`;

/** Ids of those that are there already. */
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

/** One outcome for each row, in their order; and those that are new. */
export async function insertAll(
  trx: Transaction<Tables>,
  account: AccountId,
  rows: readonly NewFilter[],
): Promise<{ outcomes: FilterAdded[]; added: Filter[] }> {
  /** The first row of each filter of which it is not known yet whether it was there. */
  const open = new Map<string, NewFilter>();
  for (const row of rows) if (!open.has(idOf(row))) open.set(idOf(row), row);
  const fresh = new Map<string, Filter>();
  const there = new Map<string, number>();
  // What was there and went away before it was looked up can be added: then once more.
  while (open.size > 0) {
    const left = [...open.values()];
    for (let at = 0; at < left.length; at += CHUNK) {
      const insertion = trx.insertInto('filters').values(left.slice(at, at + CHUNK));
      const inserted = await insertion
        .onConflict((oc) => oc.doNothing())
        .returningAll()
        .execute();
      for (const row of inserted) {
        fresh.set(idOf(row), toFilter(row));
        open.delete(idOf(row));
      }
      const others = left.slice(at, at + CHUNK).filter((row) => open.has(idOf(row)));
      for (const [id, filter] of await existing(trx, account, others)) {
        there.set(id, filter);
        open.delete(id);
      }
    }
  }
  const added = [...fresh.values()];
  const outcomes = rows.map((row): FilterAdded => {
    const id = idOf(row);
    const [filter, before] = [fresh.get(id), there.get(id)];
    if (before !== undefined || filter === undefined) return { added: false, existingId: before! };
    // Whoever names it again in the same call finds it there.
    there.set(id, filter.id);
    return { added: true, filter };
  });
  return { outcomes, added };
}
