import { ADDRESS_LENGTH, LOG_QUERY_LENGTH } from '../../api/limits.ts';
import { REASON_FILTERS } from '../../api/reasons.ts';
import type { Verification } from '../../api/schema.ts';

/** Search parameters of the page. */
export interface LogSearch {
  email?: string;
  id?: string;
  /** `none`: without a reason. */
  reason?: (typeof REASON_FILTERS)[number];
  /** Id of a key, or `dashboard`. */
  key?: string;
  status?: Verification['status'];
}

export const MAX_LENGTHS = {
  email: ADDRESS_LENGTH.max,
  id: LOG_QUERY_LENGTH.max,
  key: LOG_QUERY_LENGTH.max,
} as const;

export function logSearch(search: Record<string, unknown>): LogSearch {
  const read: LogSearch = {};
  for (const name of ['email', 'id', 'key'] as const) {
    const value = search[name];
    // The router parses digits as a number.
    const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
    if (text !== '' && text.length <= MAX_LENGTHS[name]) read[name] = text;
  }
  const reason = REASON_FILTERS.find((name) => name === search.reason);
  if (reason !== undefined) read.reason = reason;
  if (search.status === 'good' || search.status === 'bad') read.status = search.status;
  return read;
}
