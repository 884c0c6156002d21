import type { LogEntry, RejectedRequest } from '../../api/schema.ts';

/** Contracts beside Mailvet's own API. */
const VIA_NAMES: Readonly<Record<NonNullable<LogEntry['via']>, string>> = {
  mcp: 'MCP',
  reacher: 'Reacher’s API',
  kickbox: 'Kickbox’s API',
  zerobounce: 'ZeroBounce’s API',
  neverbounce: 'NeverBounce’s API',
  emailable: 'Emailable’s API',
};

/** Who asked, and by which contract. */
export function sourceOf({ key, via }: Pick<LogEntry | RejectedRequest, 'key' | 'via'>): string {
  if (key === null) return 'Dashboard';
  return `API key “${key.name}”${via === null ? '' : `, by ${VIA_NAMES[via]}`}`;
}
