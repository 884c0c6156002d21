import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';

/** Never includes secrets, so that no cache holds them. */
export const hooksQuery = (account: string) =>
  queryOptions({
    queryKey: ['account', account, 'hooks'],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/hooks', { params: { path: { account } }, signal })),
  });
