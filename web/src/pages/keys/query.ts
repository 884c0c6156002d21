import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { UsageSource } from '../../../../src/kernel/facts/outcomes.ts';
import { api, unwrap } from '../../api/client.ts';

export const keyUsageQuery = (account: string, source: UsageSource | undefined) =>
  queryOptions({
    queryKey: ['account', account, 'key-usage', source ?? null],
    queryFn: ({ signal }) => {
      const params = { path: { account }, query: source === undefined ? {} : { source } };
      return unwrap(api.GET('/dashboard/accounts/{account}/key-usage', { params, signal }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });

export const keyQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: ['account', account, 'keys', id],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/keys/{id}', { params: { path: { account, id } }, signal })),
    refetchInterval: 30_000,
  });

/** Never includes the values of keys, so that no cache holds them. */
export const keysQuery = (account: string) =>
  queryOptions({
    queryKey: ['account', account, 'keys'],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/keys', { params: { path: { account } }, signal })),
  });
