import { DAY_MS, MINUTE_MS } from '../kernel/clock.ts';
import { REJECTED_PER_DAY, REJECTED_PER_MINUTE, REJECTED_WAITING } from '../kernel/facts/limits.ts';
import { WindowCounts } from '../kernel/windows.ts';
import type { MoreRejectedRequests, RejectedRequest, RejectedRequests } from '../store/store.ts';

/** Counts of minutes kept in memory while the store is unavailable. Beyond that, they are lost: memory is bounded. */
const COUNTS_MAX = 20_000;
/** Accounts whose recorded requests are counted, those that had one last. */
const COUNTED_ACCOUNTS_MAX = 20_000;

/** Collects rejected requests in memory, within bounds; `flush` writes them to the store. */
export function createRejectedRequestLog(store: RejectedRequests) {
  const inMinute = new WindowCounts(MINUTE_MS, COUNTED_ACCOUNTS_MAX);
  const inDay = new WindowCounts(DAY_MS, COUNTED_ACCOUNTS_MAX);
  let waiting: RejectedRequest[] = [];
  /** Counts by account and minute. */
  let counts = new Map<string, MoreRejectedRequests>();

  function isWithinLimits(account: string, at: number): boolean {
    const ofDay = [{ key: account, max: REJECTED_PER_DAY }];
    return (
      inDay.hasRoom(ofDay, at) &&
      inMinute.take([{ key: account, max: REJECTED_PER_MINUTE }], at) &&
      inDay.take(ofDay, at)
    );
  }

  function count({ account, at, count: n }: MoreRejectedRequests): void {
    const key = `${account} ${at}`;
    const before = counts.get(key);
    if (before === undefined && counts.size >= COUNTS_MAX) return;
    counts.set(key, { account, at, count: (before?.count ?? 0) + n });
  }

  return {
    add(request: RejectedRequest) {
      const { account, at } = request;
      if (isWithinLimits(account, at) && waiting.length < REJECTED_WAITING) waiting.push(request);
      else count({ account, at: Math.floor(at / MINUTE_MS) * MINUTE_MS, count: 1 });
    },
    /** If the store fails, nothing is lost: the next call writes the rest. */
    async flush() {
      if (waiting.length === 0 && counts.size === 0) return;
      const [rows, more] = [waiting, counts];
      waiting = [];
      counts = new Map();
      try {
        await store.add(rows, [...more.values()]);
      } catch (error) {
        // These go in front of what came meanwhile; together they are not more than REJECTED_WAITING and what one flush
        // took.
        waiting = [...rows, ...waiting];
        for (const one of more.values()) count(one);
        throw error;
      }
    },
  };
}
