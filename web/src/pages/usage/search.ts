import { type Orders, type SortSearch, sortSearch } from '../../parts/sorting.tsx';
import { type SourceSearch, sourceSearch } from '../../parts/source.ts';
import { type TimeSearch, timeSearch } from '../../parts/time.ts';

/** What the table of keys is sorted by. */
export const BY_KEY_ORDERS = {
  requests: 'desc',
  name: 'asc',
  unknown: 'desc',
  rejected: 'desc',
  credits: 'desc',
} as const satisfies Orders<string>;
export type BySort = keyof typeof BY_KEY_ORDERS;

/** Search parameters of pages with the charts of an account. */
export interface UsageSearch extends TimeSearch, SourceSearch, SortSearch<BySort> {}

export const usageSearch = (search: Record<string, unknown>): UsageSearch => ({
  ...timeSearch(search),
  ...sourceSearch(search),
  ...sortSearch(BY_KEY_ORDERS, search),
});
