/** What is looked for, as the address of the page has it. */
export interface LogSearch {
  email?: string;
  id?: string;
  /** `none`: without a reason. */
  reason?: string;
  /** Id of a key, or `dashboard`. */
  key?: string;
  status?: 'good' | 'bad';
}

/** The longest that the server takes. */
export const LONGEST = { email: 1024, id: 64, reason: 64, key: 64 } as const;

export function logSearch(search: Record<string, unknown>): LogSearch {
  const read: LogSearch = {};
  for (const name of ['email', 'id', 'reason', 'key'] as const) {
    const value = search[name];
    // Of digits alone the router makes a number.
    const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '';
    if (text !== '' && text.length <= LONGEST[name]) read[name] = text;
  }
  if (search.status === 'good' || search.status === 'bad') read.status = search.status;
  return read;
}
