import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from './client.ts';

/** Query keys begin with `account` and its id, so that one call invalidates all data of an account. */
export const overviewQuery = (account: string) =>
  queryOptions({
    queryKey: ['account', account, 'overview'],
    queryFn: () => unwrap(api.GET('/dashboard/accounts/{account}/overview', { params: { path: { account } } })),
    refetchInterval: 30_000,
  });
