import { FILTER_TYPES, FILTER_VALUE_LENGTH, FILTERS_PAGE } from '../../api/limits.ts';
import { pageSearch, textOf, textSearch } from '../../parts/search-params.ts';
import type { FilterType } from './types.ts';

/** Search parameters of the page. */
export interface FiltersSearch {
  readonly query?: string;
  readonly type?: FilterType;
  readonly page?: number;
  /** Opens the dialog that adds one, with this value. */
  readonly add?: string;
}

export function filtersSearch({ query, type, page, add }: Record<string, unknown>): FiltersSearch {
  const known = FILTER_TYPES.find((one) => one === type);
  return {
    ...textSearch(query),
    ...(known === undefined ? {} : { type: known }),
    ...pageSearch(page, FILTERS_PAGE.max),
    ...addSearch(add),
  };
}

function addSearch(add: unknown): { add?: string } {
  const text = add === '' ? '' : textOf(add, FILTER_VALUE_LENGTH.max);
  return text === undefined ? {} : { add: text };
}
