import type { Filter } from '../../api/schema.ts';

export type FilterType = Filter['filter_type'];
export const FILTER_TYPES: readonly FilterType[] = ['email', 'domain', 'ip_address'];

/** What the address of the page says: what is searched, and which page is shown. */
export interface FiltersSearch {
  readonly query?: string;
  readonly type?: FilterType;
  readonly page?: number;
}

export function filtersSearch({ query, type, page }: Record<string, unknown>): FiltersSearch {
  const known = FILTER_TYPES.find((one) => one === type);
  return { ...textSearch(query), ...(known === undefined ? {} : { type: known }), ...pageSearch(page) };
}

/** The router reads `?query=42` as a number. */
export const textSearch = (query: unknown): { query?: string } =>
  (typeof query === 'string' || typeof query === 'number') && query !== '' ? { query: String(query) } : {};

export const pageSearch = (page: unknown): { page?: number } =>
  typeof page === 'number' && Number.isInteger(page) && page > 1 && page <= 100_000 ? { page } : {};
