/** Filters as rows, and their insertion in bulk. */

import type { Transaction } from 'kysely';
import { FILTER_TYPES, type FilterType } from '../kernel/facts/filter-types.ts';
import { PLANS } from '../kernel/facts/plans.ts';
import { FILTERS } from './columns.ts';
import type { TransactionDriver } from './driver.ts';
import { toRow as toAuditRow } from './people/audit-rows.ts';
import type { AccountId, Actor, Filter, FilterAdded, Filters } from './store.ts';
import type { Row, Tables } from './tables.ts';
import { storable, storableOrNull } from './text.ts';

/** Of `accounts`: how many filters of the type there are. */
export const COUNTERS = { email: 'filter_emails', domain: 'filter_domains', ip_address: 'filter_ips' } as const;

export const toFilter = (row: Row<'filters'>): Filter => ({
  id: row.id,
  filterType: row.filter_type,
  value: row.value,
  reason: row.reason,
  createdAt: row.created_at,
});

export const lowerCase = (text: string): string => storable(text).toLowerCase();

type FilterInput = Parameters<Filters['add']>[1];

export const toRow = (account: AccountId, id: number, { filterType, value, reason }: FilterInput, now: number) => ({
  id,
  account_id: account,
  filter_type: filterType,
  value: storable(value),
  reason: storableOrNull(reason),
  reason_folded: lowerCase(reason ?? ''),
  created_at: now,
});
export type NewFilter = ReturnType<typeof toRow>;

const keyOf = ({ filter_type, value }: Pick<NewFilter, 'filter_type' | 'value'>): string => `${filter_type}\n${value}`;

/** The account, and its filters that are the same as one of the rows. */
function reads(driver: TransactionDriver, trx: Transaction<Tables>, account: AccountId, rows: readonly NewFilter[]) {
  const of = (type: FilterType) => {
    const values = rows.flatMap((row) => (row.filter_type === type ? [row.value] : []));
    return driver.filtersWith(trx, account, type, values);
  };
  const accounts = trx
    .selectFrom('accounts')
    .select(['last_filter_id', 'plan', ...Object.values(COUNTERS)])
    .where('id', '=', account);
  return {
    accounts: accounts.where('status', '<>', 'deleted'),
    email: of('email'),
    domain: of('domain'),
    ip_address: of('ip_address'),
  } satisfies Record<FilterType | 'accounts', unknown>;
}

/** How many filters an account has, of all types. */
export const filterCount = (account: Pick<Row<'accounts'>, (typeof COUNTERS)[FilterType]>): number =>
  Object.values(COUNTERS).reduce((sum, column) => sum + account[column], 0);

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
    const rows = inputs.map((input) => toRow(account, 0, input, now));
    const { accounts, ...existing } = await driver.readTogether(trx, reads(driver, trx, account, rows));
    if (accounts[0] === undefined) return null;
    const ids = new Map(FILTER_TYPES.flatMap((type) => existing[type].map((row) => [keyOf(row), row.id])));
    let last = accounts[0].last_filter_id;
    const added: Row<'filters'>[] = [];
    const outcomes = rows.map((row): FilterAdded => {
      const existingId = ids.get(keyOf(row));
      if (existingId !== undefined) return { added: false, existingId };
      last += 1;
      // A duplicate later in the same call finds it.
      ids.set(keyOf(row), last);
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
    ...Object.fromEntries(Array.from(types, ([type, some]) => [COUNTERS[type], eb(COUNTERS[type], '+', some.length)])),
  }));
  return update.where('id', '=', account);
}
