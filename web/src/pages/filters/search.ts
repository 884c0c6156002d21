import { FILTER_TYPES, FILTERS_PAGE } from '../../api/limits.ts';
import { pageSearch, textSearch } from '../../parts/search-params.ts';
import type { FilterType } from './types.ts';

/** Search parameters of the page. */
export interface FiltersSearch {
  readonly query?: string;
  readonly type?: FilterType;
  readonly page?: number;
}

export function filtersSearch({ query, type, page }: Record<string, unknown>): FiltersSearch {
  const known = FILTER_TYPES.find((one) => one === type);
  return {
    ...textSearch(query),
    ...(known === undefined ? {} : { type: known }),
    ...pageSearch(page, FILTERS_PAGE.max),
  };
}
