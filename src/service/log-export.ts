import { andRest, EXPORT_ROWS } from '../store/batches.ts';
import type { AccountId } from '../store/store.ts';
import type { LogEntry, LoggedRequest, LogResult, LogSearch } from './log-rows.ts';

export type LogExportSearch = Omit<LogSearch, 'before' | 'limit'>;
export type LogExportRow = { readonly entry: LogEntry } | { readonly rejected: LoggedRequest };

export interface LogExports {
  /** All that a search finds, newest first, page by page; a page may be empty. */
  export(account: AccountId, search: LogExportSearch): AsyncGenerator<readonly LogExportRow[], void, undefined>;
}

export function createLogExports(search: (account: AccountId, search: LogSearch) => Promise<LogResult>): LogExports {
  return {
    async *export(account, asked) {
      for (let before: LogSearch['before'] = null; ; ) {
        const from = before;
        const page: LogResult = await andRest(() => search(account, { ...asked, before: from, limit: EXPORT_ROWS }));
        yield byTime(page);
        if (page.next === null) return;
        before = page.next;
      }
    },
  };
}

/** Both kinds, newest first; a verification before a rejected request of the same millisecond. */
function byTime({ entries, rejected }: LogResult): LogExportRow[] {
  const rows = [
    ...entries.map((entry) => ({ at: entry.createdAt, row: { entry } })),
    ...rejected.map((request) => ({ at: request.at, row: { rejected: request } })),
  ];
  return rows.sort((a, b) => b.at - a.at).map(({ row }) => row);
}
