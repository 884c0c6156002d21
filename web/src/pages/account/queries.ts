import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import type { Account } from '../../api/schema.ts';

export const accountQuery = (account: string) =>
  queryOptions({
    queryKey: ['account', account, 'account'],
    queryFn: () => unwrap(api.GET('/dashboard/accounts/{account}', { params: { path: { account } } })),
  });

interface AccountChange {
  readonly name?: string;
  readonly retention_days?: number | null;
  readonly second_factor_required?: boolean;
}
export const changeAccount = (account: string, body: AccountChange): Promise<Account> =>
  unwrap(api.PATCH('/dashboard/accounts/{account}', { params: { path: { account } }, body }));
