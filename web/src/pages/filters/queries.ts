import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import type { FilterAdded, FilterChangeRequest, FilterDetails, FilterRequest } from '../../api/schema.ts';
import type { FiltersSearch } from './search.ts';

export const filtersKey = (account: string) => ['account', account, 'filters'] as const;

export const filtersQuery = (account: string, search: FiltersSearch) => {
  const { type, ...rest } = search;
  const query = { ...rest, ...(type === undefined ? {} : { filter_type: type }), per_page: 50 };
  return queryOptions({
    queryKey: [...filtersKey(account), search],
    queryFn: () => unwrap(api.GET('/dashboard/accounts/{account}/filters', { params: { path: { account }, query } })),
    placeholderData: keepPreviousData,
  });
};

export const addFilter = (account: string, body: FilterRequest): Promise<FilterAdded> =>
  unwrap(api.POST('/dashboard/accounts/{account}/filters', { params: { path: { account } }, body }));

export const changeFilter = (account: string, id: number, body: FilterChangeRequest): Promise<FilterDetails> =>
  unwrap(api.PATCH('/dashboard/accounts/{account}/filters/{id}', { params: { path: { account, id } }, body }));

export const removeFilter = (account: string, id: number): Promise<unknown> =>
  unwrap(api.DELETE('/dashboard/accounts/{account}/filters/{id}', { params: { path: { account, id } } }));
