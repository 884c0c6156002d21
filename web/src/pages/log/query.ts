import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';

export const entryQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: ['account', account, 'log', 'entry', id],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/log/{id}', { params: { path: { account, id } }, signal })),
  });
