import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import type { paths } from '../../api/schema.ts';
import type { Range } from '../../parts/time.ts';
import type { AccountsSearch } from './search.ts';

const ACCOUNTS = '/dashboard/operator/accounts';
const ACCOUNT = '/dashboard/operator/accounts/{id}';

/** Prefix of all operator queries. */
export const OPERATOR_KEY = ['operator'] as const;

export const accountsQuery = (query: AccountsSearch) =>
  queryOptions({
    queryKey: [...OPERATOR_KEY, 'accounts', query],
    queryFn: () => unwrap(api.GET(ACCOUNTS, { params: { query } })),
    placeholderData: keepPreviousData,
  });

export const accountQuery = (id: string) =>
  queryOptions({
    queryKey: [...OPERATOR_KEY, 'account', id],
    queryFn: () => unwrap(api.GET(ACCOUNT, { params: { path: { id } } })),
  });

export const accountUsageQuery = (id: string, { from, to, bucket }: Pick<Range, 'from' | 'to' | 'bucket'>) =>
  queryOptions({
    queryKey: [...OPERATOR_KEY, 'account', id, 'usage', from, to],
    queryFn: () => unwrap(api.GET(`${ACCOUNT}/usage`, { params: { path: { id }, query: { from, to, bucket } } })),
    placeholderData: keepPreviousData,
  });

export const accountMembersQuery = (id: string) =>
  queryOptions({
    queryKey: [...OPERATOR_KEY, 'account', id, 'members'],
    queryFn: () => unwrap(api.GET(`${ACCOUNT}/members`, { params: { path: { id } } })),
  });

export const accountLedgerQuery = (id: string, days: number) =>
  queryOptions({
    queryKey: [...OPERATOR_KEY, 'account', id, 'ledger', days],
    queryFn: () => unwrap(api.GET(`${ACCOUNT}/ledger/days`, { params: { path: { id }, query: { days } } })),
    placeholderData: keepPreviousData,
  });

export const plansQuery = queryOptions({
  queryKey: [...OPERATOR_KEY, 'plans'],
  queryFn: () => unwrap(api.GET('/dashboard/operator/plans', {})),
});

type NewAccount = paths[typeof ACCOUNTS]['post']['requestBody']['content']['application/json'];
export const createAccount = (body: NewAccount) => unwrap(api.POST(ACCOUNTS, { body }));

type AccountChange = paths[typeof ACCOUNT]['patch']['requestBody']['content']['application/json'];
export const changeAccount = (id: string, body: AccountChange) =>
  unwrap(api.PATCH(ACCOUNT, { params: { path: { id } }, body }));

export const inviteOwner = (id: string, body: { email: string }) =>
  unwrap(api.POST('/dashboard/operator/accounts/{id}/owner', { params: { path: { id } }, body }));

export const grant = (id: string, body: { credits: number; note: string }) =>
  unwrap(api.POST('/dashboard/operator/accounts/{id}/grants', { params: { path: { id } }, body }));
