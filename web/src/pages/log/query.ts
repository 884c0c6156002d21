import { queryOptions } from '@tanstack/react-query';
import { PAGE_SIZE } from '../../../../src/kernel/facts/limits.ts';
import { api, unwrap } from '../../api/client.ts';
import type { Log } from '../../api/schema.ts';
import { rowsOf } from './rows.ts';
import { type LogSearch, logQuery } from './search.ts';

export const entryQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: ['account', account, 'log', 'entry', id],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/log/{id}', { params: { path: { account, id } }, signal })),
  });

export const rejectedQuery = (account: string, id: number) =>
  queryOptions({
    queryKey: ['account', account, 'log', 'rejected', id],
    queryFn: ({ signal }) =>
      unwrap(api.GET('/dashboard/accounts/{account}/log/rejected/{id}', { params: { path: { account, id } }, signal })),
  });

/** For how long a search goes on by itself, in milliseconds. */
const SEARCH_MS = 2000;

/**
 * A page of the log. One request looks through a limited number of entries: the search goes on until the page is full,
 * the log has no more, or SEARCH_MS have passed. `reached`: is told how far back it has come.
 */
export async function searchPage(
  account: string,
  filters: LogSearch,
  { before, signal, reached }: { before: string | undefined; signal: AbortSignal; reached: (at: string) => void },
): Promise<Log> {
  const began = performance.now();
  // The same time on all pages of a search.
  const query = logQuery(filters, Date.now());
  let page: Log | null = null;
  for (let from = before; ; ) {
    const limit = PAGE_SIZE.default - (page === null ? 0 : rowsOf(page).length);
    const asked = { ...query, limit, ...(from === undefined ? {} : { before: from }) };
    const found: Log = await unwrap(
      api.GET('/dashboard/accounts/{account}/log', { params: { path: { account }, query: asked }, signal }),
    );
    page = page === null ? found : joined(page, found);
    if (page.next === null || rowsOf(page).length >= PAGE_SIZE.default) return page;
    if (page.searched_to !== null) reached(page.searched_to);
    if (performance.now() - began >= SEARCH_MS) return page;
    from = page.next;
  }
}

const joined = (page: Log, next: Log): Log => ({
  ...next,
  entries: [...page.entries, ...next.entries],
  rejected: [...page.rejected, ...next.rejected],
});
