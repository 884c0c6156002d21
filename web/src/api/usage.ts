import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, unwrap } from './client.ts';

/** RFC 3339; `to` is exclusive. */
interface Period {
  readonly from: string;
  readonly to: string;
  readonly bucket: 'hour' | 'day';
}

const EVERY_MS = 30_000;

/** Counters by hour or day. `key`: of one key. A period that is over does not change any more. */
export const usageQuery = (account: string, { from, to, bucket }: Period, key?: string) => {
  const isOver = Date.parse(to) < Date.now() - EVERY_MS;
  return queryOptions({
    queryKey: ['account', account, 'usage', from, to, bucket, key ?? null],
    queryFn: ({ signal }) => {
      const query = { from, to, bucket, ...(key === undefined ? {} : { key }) };
      return unwrap(api.GET('/dashboard/accounts/{account}/usage', { params: { path: { account }, query }, signal }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: isOver ? false : EVERY_MS,
  });
};
