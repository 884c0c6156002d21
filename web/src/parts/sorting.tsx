import { Link, type LinkProps } from '@tanstack/react-router';
import { keysOf } from '../../../src/kernel/facts/keys-of.ts';
import { ORDERS, type Order } from '../../../src/kernel/facts/sort-orders.ts';
import css from './data-table.module.css';
import type { Column } from './data-table.tsx';
import { oneOf } from './search-params.ts';

/** What a table can be sorted by, and the usual order of each; the first is the default. */
export type Orders<S extends string> = Readonly<Record<S, Order>>;

/** Search parameters: missing where they are the default. */
export interface SortSearch<S extends string> {
  sort?: S;
  order?: Order;
}

export function sortSearch<S extends string>(orders: Orders<S>, search: Record<string, unknown>): SortSearch<S> {
  const [usual] = keysOf(orders);
  const sort = oneOf(keysOf(orders), search.sort) ?? usual!;
  const order = oneOf(ORDERS, search.order) ?? orders[sort];
  return { ...(sort === usual ? {} : { sort }), ...(order === orders[sort] ? {} : { order }) };
}

/** By what rows are sorted, and in which order. */
export function sortedBy<S extends string>(orders: Orders<S>, search: SortSearch<S>): { by: S; order: Order } {
  const by = search.sort ?? keysOf(orders)[0]!;
  return { by, order: search.order ?? orders[by] };
}

/**
 * The header of a column that sorts by it; once more, in the other order. `linkTo`: the page with these search
 * parameters.
 */
export function sortable<S extends string>(
  orders: Orders<S>,
  search: SortSearch<S>,
  linkTo: (next: SortSearch<S>) => Pick<LinkProps, 'to' | 'search'>,
): <T>(sort: S, header: string) => Pick<Column<T>, 'header' | 'sort'> {
  const { by, order } = sortedBy(orders, search);
  return (sort, header) => {
    const isCurrent = by === sort;
    const next = isCurrent ? (order === 'asc' ? 'desc' : 'asc') : orders[sort];
    const control = (
      <Link {...linkTo(sortSearch(orders, { sort, order: next }))} className={css.sort} resetScroll={false}>
        {header}
        {isCurrent && <span aria-hidden> {order === 'asc' ? '↑' : '↓'}</span>}
      </Link>
    );
    return { header, sort: { control, by: isCurrent ? (order === 'asc' ? 'ascending' : 'descending') : 'none' } };
  };
}
