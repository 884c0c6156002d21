import type { ListSort } from '../../kernel/facts/sort-orders.ts';
import { listResultId } from '../../kernel/ids.ts';
import type { StorageDriver } from '../driver.ts';
import { lowerCaseText } from '../filters.ts';
import type { AccountId, ListBlock, ListResult, Lists } from '../store.ts';
import { toRows } from './blocks.ts';
import { baseOf, findList, layoutOf, toList, visibleLists } from './row.ts';

const SORTED_BY = {
  created: 'lists.id',
  name: 'lists.name_folded',
  rows: 'lists.total',
  spent: 'lists.used',
} as const satisfies Record<ListSort, string>;

export function reading(driver: StorageDriver): Pick<Lists, 'get' | 'list' | 'names' | 'deferred' | 'block'> {
  const { db, scans } = driver;
  return {
    async get(account, id) {
      const row = await findList(db, account, id);
      return row === undefined ? null : toList(driver, row, await driver.now());
    },

    async list(account, { status, query, sort, offset, limit }) {
      let wanted = visibleLists(scans, account);
      if (status !== null) wanted = wanted.where('lists.status', '=', status);
      if (query !== null && query !== '')
        wanted = wanted.where((eb) => driver.substringMatch(eb.ref('lists.name_folded'), lowerCaseText(query)));
      const { by, descending } = sort ?? { by: 'created', descending: true };
      const sorted = wanted.orderBy(SORTED_BY[by], descending ? 'desc' : 'asc');
      const rows = await sorted.orderBy('lists.id', 'desc').offset(offset).limit(limit).execute();
      const now = await driver.now();
      const counted = wanted.clearSelect().select((eb) => eb.fn.countAll<number>().as('n'));
      return { items: rows.map((row) => toList(driver, row, now)), total: (await counted.executeTakeFirstOrThrow()).n };
    },

    async names(account, ids) {
      if (ids.length === 0) return new Map();
      const rows = await visibleLists(db, account).where('lists.id', 'in', ids).execute();
      return new Map(rows.map(({ id, name }) => [id, name]));
    },

    async deferred(account, id, limit) {
      const rows = await db
        .selectFrom('list_waiting')
        .innerJoin('lists', 'lists.id', 'list_waiting.list_id')
        .select(['list_waiting.email', 'attempts', 'first_at', 'due_at'])
        .where('list_waiting.account_id', '=', account)
        .where('list_id', '=', id)
        .where('due_at', 'is not', null)
        .where('first_at', 'is not', null)
        // Of a list that has ended, nothing is asked about again.
        .where('lists.status', 'in', ['running', 'paused'])
        .orderBy('due_at')
        .orderBy('address')
        .limit(limit)
        .execute();
      return rows.map(({ email, attempts, first_at: firstAt, due_at: retryAt }) => ({
        ...{ email, attempts, firstAt: firstAt ?? 0, retryAt: retryAt ?? 0 },
      }));
    },

    async block(account, id, after, wanted = () => true) {
      const list = await findList(scans, account, id);
      if (list === undefined) return null;
      const mine = scans
        .selectFrom('list_blocks')
        .selectAll()
        .where('account_id', '=', account)
        .where('list_id', '=', id);
      const layout = layoutOf(list);
      const base = baseOf(list);
      const before = mine.where('first_row', '<=', base + after + 1).orderBy('first_row', 'desc');
      const row = await before.limit(1).executeTakeFirst();
      const firstRow = (row?.first_row ?? 0) - base;
      if (row === undefined || firstRow < 1 || firstRow + row.row_count <= after + 1) return null;
      const rows = toRows(row.rows, firstRow, layout);
      const numbers = rows.flatMap((row) => (wanted(row) ? row.addresses.map(({ number }) => number) : []));
      const addresses = [...new Set(numbers)];
      return { rows, firstAddress: row.first_address, ...(await resultsOf(driver, account, id, addresses)) };
    },
  };
}

async function resultsOf(
  driver: StorageDriver,
  account: AccountId,
  list: string,
  addresses: readonly number[],
): Promise<Pick<ListBlock, 'results' | 'asked'>> {
  const results = new Map<number, ListResult>();
  if (addresses.length === 0) return { results, asked: new Map() };
  const numbers = new Map(addresses.map((address) => [listResultId(list, address), address]));
  const { scans } = driver;
  const rows = await scans
    .selectFrom('verifications')
    .selectAll()
    // Not a parameter for each, which takes longer to compile than to run.
    .where(({ ref }) => driver.oneOf(ref('id'), [...numbers.keys()]))
    .where('account_id', '=', account)
    .execute();
  const waited = await scans
    .selectFrom('list_waiting')
    .select(['address', 'attempts'])
    .where('account_id', '=', account)
    .where('list_id', '=', list)
    .where('address', 'in', addresses)
    .execute();
  const asked = new Map(waited.map((row) => [row.address, row.attempts]));
  for (const row of rows) {
    const address = numbers.get(row.id);
    if (address === undefined) continue;
    const { id, email, status, deliverability, reason, credits, body } = row;
    const judged = { id, email, validationType: row.validation_type, status, deliverability, reason, credits, body };
    const times = { durationMs: row.duration_ms, createdAt: row.created_at };
    results.set(address, { ...judged, ...times, attempts: asked.get(address) ?? 1 });
  }
  return { results, asked };
}
