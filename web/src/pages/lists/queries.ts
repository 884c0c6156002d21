import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import type { List } from '../../api/schema.ts';
import type { ListsSearch } from './search.ts';

const RUNNING_MS = 2_000;
const RESTING_MS = 12_000;

const anyRuns = (lists: readonly Pick<List, 'status'>[] = []): boolean =>
  lists.some(({ status }) => status === 'running');

/** Of all queries about lists of the account. */
export const listsKey = (account: string) => ['account', account, 'lists'] as const;

export const listsQuery = (account: string, query: ListsSearch) =>
  queryOptions({
    queryKey: [...listsKey(account), 'page', query],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/lists', { params: { path: { account }, query }, signal })),
    refetchInterval: ({ state }) => (anyRuns(state.data?.lists) ? RUNNING_MS : RESTING_MS),
  });

export const listQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: [...listsKey(account), 'one', id],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/lists/{id}', { params: { path: { account, id } }, signal })),
    refetchInterval: ({ state }) => (state.data && anyRuns([state.data]) ? RUNNING_MS : RESTING_MS),
  });

export const previewQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: [...listsKey(account), 'preview', id],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/dashboard/accounts/{account}/lists/{id}/preview', { params: { path: { account, id } }, signal }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const deferredQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: [...listsKey(account), 'deferred', id],
    queryFn: ({ signal }) =>
      unwrap(
        api.GET('/dashboard/accounts/{account}/lists/{id}/deferred', { params: { path: { account, id } }, signal }),
      ),
    refetchInterval: RESTING_MS,
  });
