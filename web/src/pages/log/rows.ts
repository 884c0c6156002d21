import { t } from '@lingui/core/macro';
import type { Log, LogEntry, RejectedRequest } from '../../api/schema.ts';

/** A row of the log; `id` is that of `open` in the URL. */
export type LogRow = { readonly id: string; readonly at: string } & (
  | { readonly entry: LogEntry; readonly rejected?: undefined }
  | { readonly rejected: RejectedRequest; readonly entry?: undefined }
);

const PREFIX = 'rejected-';

/** The number of a rejected request; null for the ID of a verification. */
export const rejectedId = (id: string): number | null =>
  /^rejected-\d{1,13}$/.test(id) ? Number(id.slice(PREFIX.length)) : null;

/** The id of its row. */
export const rejectedRowId = (id: number): string => `${PREFIX}${id}`;

/** Both kinds of a page, newest first. */
export function rowsOf({ entries, rejected }: Log): LogRow[] {
  const rows: LogRow[] = [
    ...entries.map((entry) => ({ id: entry.id, at: entry.created_at, entry })),
    ...rejected.map((row) => ({ id: rejectedRowId(row.id), at: row.at, rejected: row })),
  ];
  return rows.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
}

/** The level that was asked for, and the one that was charged where it is another. */
export const levelText = ({ requested, validation_type }: LogEntry): string =>
  requested === validation_type ? requested : t`${requested}, charged as ${validation_type}`;
