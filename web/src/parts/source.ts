import { USAGE_SOURCES, type UsageSource } from '../../../src/kernel/facts/outcomes.ts';
import { oneOf } from './search-params.ts';

/** Search parameters of pages that can leave out lists, or all but lists. */
export interface SourceSearch {
  source?: UsageSource;
}

export function sourceSearch({ source }: Record<string, unknown>): SourceSearch {
  const found = oneOf(USAGE_SOURCES, source);
  return found === undefined ? {} : { source: found };
}

/** The rows of the log that a source has: what is of no list is of the API, or of the dashboard. */
export const rowsOfSource = (source: UsageSource | undefined): { origin?: string; not?: string } =>
  source === undefined ? {} : { origin: 'list', ...(source === 'api' ? { not: 'origin' } : {}) };
