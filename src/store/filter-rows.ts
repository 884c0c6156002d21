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

/** One outcome for each row, in their order, and how many of each type are new. */
export async function insertAll(
  trx: Transaction<Tables>,
  account: AccountId,
  rows: readonly NewFilter[],
): Promise<{ outcomes: FilterAdded[]; added: Record<FilterType, number> }> {
  const outcomes: FilterAdded[] = Array.from({ length: rows.length });
  const added: Record<FilterType, number> = { email: 0, domain: 0, ip_address: 0 };
  const known = new Map<string, number>();
  /** The first row of each filter that nothing is known of. */
  let open = new Map<string, NewFilter>();
  for (const row of rows) if (!open.has(idOf(row))) open.set(idOf(row), row);
  const fresh = new Map<string, Filter>();
  // What was there and went away before it was looked up can be added: then once more.
  while (open.size > 0) {
    const left = [...open.values()];
    for (let at = 0; at < left.length; at += CHUNK) {
      const some = left.slice(at, at + CHUNK);
      const insertion = trx.insertInto('filters').values(some);
      const inserted = await insertion
        .onConflict((oc) => oc.doNothing())
        .returningAll()
        .execute();
      for (const row of inserted) {
        added[row.filter_type] += 1;
        fresh.set(idOf(row), toFilter(row));
      }
      const others = some.filter((row) => !fresh.has(idOf(row)));
      for (const [id, filter] of await existing(trx, account, others)) known.set(id, filter);
    }
    open = new Map([...open].filter(([id]) => !fresh.has(id) && !known.has(id)));
  }
  for (const [at, row] of rows.entries()) {
    const id = idOf(row);
    const filter = fresh.get(id);
    const before = known.get(id);
    if (filter !== undefined && before === undefined) {
      outcomes[at] = { added: true, filter };
      // Whoever names it again in the same call finds it there.
      known.set(id, filter.id);
    } else if (before !== undefined) outcomes[at] = { added: false, existingId: before };
  }
  return { outcomes, added };
}
