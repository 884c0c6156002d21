import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from './client.ts';
import type { Account } from './schema.ts';

/** Query keys begin with `account` and its id, so that one call invalidates all data of an account. */
export const overviewQuery = (account: string) =>
  queryOptions({
    queryKey: ['account', account, 'overview'],
    queryFn: () => unwrap(api.GET('/dashboard/accounts/{account}/overview', { params: { path: { account } } })),
    refetchInterval: 30_000,
  });

/** Of a live account only. */
export const accountQuery = (account: string) =>
  queryOptions({
    queryKey: ['account', account, 'account'],
    queryFn: () => unwrap(api.GET('/dashboard/accounts/{account}', { params: { path: { account } } })),
  });

interface AccountChange {
  readonly name?: string;
  readonly retention_days?: number | null;
  readonly trust_bounces_days?: number | null;
  readonly second_factor_required?: boolean;
}
export const changeAccount = (account: string, body: AccountChange): Promise<Account> =>
  unwrap(api.PATCH('/dashboard/accounts/{account}', { params: { path: { account } }, body }));
