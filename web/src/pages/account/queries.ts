import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';

export const accountQuery = (account: string) =>
  queryOptions({
    queryKey: ['account', account, 'account'],
    queryFn: () => unwrap(api.GET('/dashboard/accounts/{account}', { params: { path: { account } } })),
  });

export const changeAccount = (account: string, body: { name?: string; retention_days?: number | null }) =>
  unwrap(api.PATCH('/dashboard/accounts/{account}', { params: { path: { account } }, body }));
