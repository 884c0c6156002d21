import { useQuery } from '@tanstack/react-query';
import { PAGE_SIZE } from '../../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../../api/client.ts';
import { countNew } from '../../parts/count-new.ts';
import { type LogRow, rowsOf } from './rows.ts';
import { type LogSearch, logQuery } from './search.ts';

const EVERY_MS = 10_000;

/** How many entries are newer than the first one shown: a number, `50+` for a page or more, or null for none. */
export function useNewEntries(account: string, search: LogSearch, first: LogRow | undefined): string | null {
  const { open: _open, ...filters } = search;
  const { data } = useQuery({
    queryKey: ['account', account, 'log-newest', filters],
    queryFn: ({ signal }) => {
      const query = { ...logQuery(search, Date.now()), limit: PAGE_SIZE.default };
      return unwrap(api.GET('/dashboard/accounts/{account}/log', { params: { path: { account }, query }, signal }));
    },
    refetchInterval: EVERY_MS,
    enabled: first !== undefined,
  });
  if (data === undefined || first === undefined) return null;
  return countNew(rowsOf(data), first, PAGE_SIZE.default);
}
