import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';

/** The keys without their values: those are never in a cache. */
export const keysQuery = (account: string) =>
  queryOptions({
    queryKey: ['account', account, 'keys'],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/keys', { params: { path: { account } }, signal })),
  });
