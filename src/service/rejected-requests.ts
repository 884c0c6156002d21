import { DAY_MS, MINUTE_MS } from '../kernel/clock.ts';
import { REJECTED_PER_DAY, REJECTED_PER_MINUTE, REJECTED_WAITING } from '../kernel/facts/limits.ts';
import type { AccountId, MoreRejectedRequests, RejectedRequest, RejectedRequests } from '../store/store.ts';

/** Counts of minutes kept in memory while the store is unavailable. Beyond that, they are lost: memory is bounded. */
const COUNTS_MAX = 20_000;

/** Collects rejected requests in memory, within bounds; `flush` writes them to the store. */
interface RejectedRequestLog {
  add(request: RejectedRequest): void;
  /** If the store fails, nothing is lost: the next call writes the rest. */
  flush(): Promise<void>;
}

/** What an account was recorded with in its latest minute and day. */
interface Recorded {
  minute: number;
  inMinute: number;
  inDay: number;
}

export function createRejectedRequestLog(store: RejectedRequests): RejectedRequestLog {
  const recorded = new Map<AccountId, Recorded>();
  let waiting: RejectedRequest[] = [];
  /** By account and minute. */
  let counts = new Map<string, MoreRejectedRequests>();
  /** The latest day of all requests: accounts without one today are forgotten. */
  let today = 0;

  function isWithinLimits(account: AccountId, at: number): boolean {
    const [minute, day] = [Math.floor(at / MINUTE_MS), Math.floor(at / DAY_MS)];
    if (day > today) recorded.clear();
    today = Math.max(today, day);
    const before = recorded.get(account);
    const inMinute = before?.minute === minute ? before.inMinute : 0;
    const inDay = before?.inDay ?? 0;
    const within = inMinute < REJECTED_PER_MINUTE && inDay < REJECTED_PER_DAY;
    if (within) recorded.set(account, { minute, inMinute: inMinute + 1, inDay: inDay + 1 });
    return within;
  }

  function count({ account, at, count: n }: MoreRejectedRequests): void {
    const key = `${account} ${at}`;
    const before = counts.get(key);
    if (before === undefined && counts.size >= COUNTS_MAX) return;
    counts.set(key, { account, at, count: (before?.count ?? 0) + n });
  }

  return {
    add(request) {
      const { account, at } = request;
      if (isWithinLimits(account, at) && waiting.length < REJECTED_WAITING) waiting.push(request);
      else count({ account, at: Math.floor(at / MINUTE_MS) * MINUTE_MS, count: 1 });
    },
    async flush() {
      if (waiting.length === 0 && counts.size === 0) return;
      const [rows, more] = [waiting, counts];
      waiting = [];
      counts = new Map();
      try {
        await store.add(rows, [...more.values()]);
      } catch (error) {
        // In front of what came meanwhile; together not more than REJECTED_WAITING and what one flush took.
        waiting = [...rows, ...waiting];
        for (const one of more.values()) count(one);
        throw error;
      }
    },
  };
}
