import { FILTER_TYPES } from '../kernel/facts/filter-types.ts';
import { BATCH_ROWS, yieldToEventLoop } from './batches.ts';
import { candidates } from './charge/match.ts';
import type { StorageDriver } from './driver.ts';
import { toFilter } from './filter-rows.ts';
import type { Filter, Filters } from './store.ts';

/** See `Filters.matchMany`. Looks each value up once. */
export function filterMatch(driver: StorageDriver): Filters['matchMany'] {
  const { db } = driver;
  return async (account, keys) => {
    const counters = db.selectFrom('accounts').select(['filter_emails', 'filter_domains', 'filter_ips']);
    const row = await counters.where('id', '=', account).executeTakeFirst();
    const counts = {
      filterEmails: row?.filter_emails ?? 0,
      filterDomains: row?.filter_domains ?? 0,
      filterIps: row?.filter_ips ?? 0,
    };
    if (counts.filterEmails + counts.filterDomains + counts.filterIps === 0) return null;
    const wanted = keys().map((one) => [...candidates(counts, one)]);
    const found = new Map<string, Filter>();
    for (const type of FILTER_TYPES) {
      const all = [...new Set(wanted.flat().flatMap(([of, value]) => (of === type ? [value] : [])))];
      for (let from = 0; from < all.length; from += BATCH_ROWS) {
        const there = driver.filtersWith(db, account, type, all.slice(from, from + BATCH_ROWS));
        for (const filter of (await db.executeQuery(there.compile())).rows)
          found.set(keyOf(type, filter.value), toFilter(filter));
        await yieldToEventLoop();
      }
    }
    return wanted.map((tried) => {
      for (const [type, value] of tried) {
        const filter = found.get(keyOf(type, value));
        if (filter !== undefined) return filter;
      }
      return null;
    });
  };
}

const keyOf = (type: Filter['filterType'], value: string): string => `${type}\n${value}`;
