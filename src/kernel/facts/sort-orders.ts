/** Rows can be sorted by these, in the usual order of each; the first is the default. */
export const FILTER_ORDERS = { added: 'desc', value: 'asc', type: 'asc', reason: 'asc', hits: 'desc' } as const;
export const LIST_ORDERS = { created: 'desc', name: 'asc', rows: 'desc', spent: 'desc' } as const;
/** Operators sort accounts so. */
export const ACCOUNT_ORDERS = { created: 'desc', name: 'asc', balance: 'desc', spent: 'desc', used: 'desc' } as const;
export type FilterSort = keyof typeof FILTER_ORDERS;
export type ListSort = keyof typeof LIST_ORDERS;
export type AccountSort = keyof typeof ACCOUNT_ORDERS;

export const ORDERS = ['asc', 'desc'] as const;
export type Order = (typeof ORDERS)[number];

export interface Sorting<S extends string> {
  readonly by: S;
  readonly descending: boolean;
}

/** As it is asked for, completed by the table. */
export function sortingOf<S extends string>(
  orders: Readonly<Record<S, Order>>,
  { sort, order }: { sort?: S | undefined; order?: Order | undefined },
): Sorting<S> {
  const [first] = sortsOf(orders);
  const by = sort ?? first;
  if (by === undefined) throw new TypeError('There is nothing to sort by.');
  return { by, descending: (order ?? orders[by]) === 'desc' };
}

/** Returns the names of the table, in its order. */
export function sortsOf<S extends string>(orders: Readonly<Record<S, unknown>>): S[] {
  const names: S[] = [];
  for (const name in orders) names.push(name);
  return names;
}
