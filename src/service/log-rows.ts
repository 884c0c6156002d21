/** Rows of the log, and how they are searched. */
import type { Status } from '../kernel/facts/reasons.ts';
import type { LoggedRejection, LoggedVerification, LogSearch as VerificationSearch } from '../store/store.ts';
import type { LogCursor } from './log-page.ts';

/** A verification in the log. */
export type LogEntry = Omit<LoggedVerification, 'seq' | 'list'> & {
  /** Null: made in the dashboard. */
  readonly key: { readonly id: string; readonly name: string } | null;
  /** Whose result it is; null: of none, or the list was deleted. */
  readonly list: { readonly id: string; readonly name: string } | null;
};

/** A request in the log that got an error. */
export type LoggedRequest = LoggedRejection & {
  /** Null: in the dashboard, or several requests. */
  readonly key: { readonly id: string; readonly name: string } | null;
};

export type LogSearch = Omit<VerificationSearch, 'before' | 'status'> & {
  readonly before: LogCursor | null;
  /** `rejected`: rejected requests alone. */
  readonly status: Status | 'rejected' | null;
};

export interface LogResult {
  readonly entries: readonly LogEntry[];
  readonly rejected: readonly LoggedRequest[];
  readonly next: LogCursor | null;
  readonly searchedTo: number | null;
  readonly retentionDays: number;
}
