import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import type { Rules } from './sentences.ts';

export const policiesKey = (account: string) => ['account', account, 'policies'];

export const policiesQuery = (account: string) =>
  queryOptions({
    queryKey: policiesKey(account),
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/policies', { params: { path: { account } }, signal })),
  });

export const savePolicy = (account: string, name: string, body: Rules) =>
  unwrap(api.PUT('/dashboard/accounts/{account}/policies/{name}', { params: { path: { account, name } }, body }));

export const deletePolicy = (account: string, name: string) =>
  unwrap(api.DELETE('/dashboard/accounts/{account}/policies/{name}', { params: { path: { account, name } } }));

export const tryPolicy = (account: string, body: Rules) =>
  unwrap(api.POST('/dashboard/accounts/{account}/policies/try', { params: { path: { account } }, body }));
