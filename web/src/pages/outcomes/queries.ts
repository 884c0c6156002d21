import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';

export const calibrationQuery = (account: string) =>
  queryOptions({
    queryKey: ['account', account, 'calibration'],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/calibration', { params: { path: { account } }, signal })),
  });

/** Never includes secrets, so that no cache holds them. */
export const outcomeSourcesQuery = (account: string) =>
  queryOptions({
    queryKey: ['account', account, 'outcome-sources'],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/outcome-sources', { params: { path: { account } }, signal })),
  });
