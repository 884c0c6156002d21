import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { ChartBucket, UsageSource } from '../../../src/kernel/facts/outcomes.ts';
import { api, unwrap } from './client.ts';

/** RFC 3339; `to` is exclusive. */
interface Period {
  readonly from: string;
  readonly to: string;
  readonly bucket: ChartBucket;
}

const EVERY_MS = 30_000;

/** Counters by hour or day. `of`: of one key, of one source. A period that is over does not change any more. */
export const usageQuery = (
  account: string,
  { from, to, bucket }: Period,
  of: { readonly key?: string; readonly source?: UsageSource | undefined } = {},
) => {
  const { key, source } = of;
  const isOver = Date.parse(to) < Date.now() - EVERY_MS;
  return queryOptions({
    queryKey: ['account', account, 'usage', from, to, bucket, key ?? null, source ?? null],
    queryFn: ({ signal }) => {
      const query = { from, to, bucket, ...(key && { key }), ...(source && { source }) };
      return unwrap(api.GET('/dashboard/accounts/{account}/usage', { params: { path: { account }, query }, signal }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: isOver ? false : EVERY_MS,
  });
};
