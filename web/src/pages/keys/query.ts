import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';

/** Never includes the values of keys, so that no cache holds them. */
export const keysQuery = (account: string) =>
  queryOptions({
    queryKey: ['account', account, 'keys'],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/keys', { params: { path: { account } }, signal })),
  });
