import { t } from '@lingui/core/macro';
import { queryOptions } from '@tanstack/react-query';
import { api, unwrap } from '../../api/client.ts';
import type { OutcomeOrigin } from '../../api/schema.ts';

export const REPORTED_BY: Readonly<Record<OutcomeOrigin['origin'], string>> = {
  api: 'POST /v1/outcomes',
  message: 'POST /v1/outcomes/message',
  command: 'mailvet outcomes',
  test_mode: t`Addresses of test mode`,
};

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
