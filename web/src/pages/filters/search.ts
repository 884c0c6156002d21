import { FILTER_TYPES } from '../../../../src/kernel/facts/filter-types.ts';
import { FILTER_VALUE_LENGTH, FILTERS_PAGE } from '../../../../src/kernel/facts/limits.ts';
import { FILTER_ORDERS } from '../../../../src/kernel/facts/sort-orders.ts';
import { pageSearch, textOf, textSearch } from '../../parts/search-params.ts';
import { type SortSearch, sortSearch } from '../../parts/sorting.tsx';
import type { FilterType } from './types.ts';

/** Search parameters of the page. */
export interface FiltersSearch extends SortSearch<keyof typeof FILTER_ORDERS> {
  readonly query?: string;
  readonly type?: FilterType;
  readonly page?: number;
  /** Opens the dialog that adds one, with this value. */
  readonly add?: string;
}

export function filtersSearch(search: Record<string, unknown>): FiltersSearch {
  const { query, type, page, add } = search;
  const known = FILTER_TYPES.find((one) => one === type);
  return {
    ...textSearch(query),
    ...(known === undefined ? {} : { type: known }),
    ...sortSearch(FILTER_ORDERS, search),
    ...pageSearch(page, FILTERS_PAGE.max),
    ...addSearch(add),
  };
}

function addSearch(add: unknown): { add?: string } {
  const text = add === '' ? '' : textOf(add, FILTER_VALUE_LENGTH.max);
  return text === undefined ? {} : { add: text };
}
