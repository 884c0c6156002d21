import { ApiError } from '../kernel/errors.ts';
import { LOG_EXPORTS_AT_ONCE, LOG_EXPORTS_PER_ACCOUNT } from '../kernel/limits.ts';
import { andRest, EXPORT_ROWS } from '../store/batches.ts';
import type { AccountId } from '../store/store.ts';
import { AccountSlots } from './account-slots.ts';
import type { LogEntry, LoggedRequest, LogResult, LogSearch } from './log-rows.ts';

/** After which another export may be tried. */
const RETRY_SECONDS = 5;

export type LogExportSearch = Omit<LogSearch, 'before' | 'limit'>;
export type LogExportRow = { readonly entry: LogEntry } | { readonly rejected: LoggedRequest };

export interface LogExports {
  /**
   * All that a search finds, newest first, page by page; a page may be empty. The first read throws ApiError
   * `rate_limit_exceeded` while too many are read.
   */
  export(account: AccountId, search: LogExportSearch): AsyncGenerator<readonly LogExportRow[], void, undefined>;
}

export function createLogExports(search: (account: AccountId, search: LogSearch) => Promise<LogResult>): LogExports {
  const slots = new AccountSlots(LOG_EXPORTS_PER_ACCOUNT, LOG_EXPORTS_AT_ONCE);

  function takeSlot(account: AccountId): () => void {
    const slot = slots.take(account);
    if (typeof slot === 'function') return slot;
    const sentence = `${slot} has too many exports of the log under way.`;
    throw new ApiError('rate_limit_exceeded', sentence, { retry_after: RETRY_SECONDS });
  }

  return {
    async *export(account, asked) {
      const release = takeSlot(account);
      try {
        for (let before: LogSearch['before'] = null; ; ) {
          const from = before;
          const page: LogResult = await andRest(() => search(account, { ...asked, before: from, limit: EXPORT_ROWS }));
          yield byTime(page);
          if (page.next === null) return;
          before = page.next;
        }
      } finally {
        release();
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
