/** One of the transactions side by side, and what waits for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../kernel/clock.ts';
import type { Waiting } from './waiting.ts';

export interface Lane {
  queue: Waiting[];
  running: Promise<void> | null;
  /** Its last transaction; `ended` by the clock's `elapsed`. */
  last: { readonly requests: number; readonly ms: number; readonly ended: number };
}

export const newLane = (): Lane => ({ queue: [], running: null, last: { requests: 0, ms: 0, ended: 0 } });

/** A commit that takes longer waits for a disk or a network, ms. */
const SLOW_MS = 3;
const GATHER_MS = { least: 1, most: 3 };

/**
 * How long to wait for the next requests of clients that a slow commit has answered, ms: an eighth of its time. Otherwise
 * the first of them would have the next commit to itself. 0 when as many requests are waiting already, and for one client.
 */
function gatherMs({ queue, last }: Lane, now: number): number {
  if (last.ms <= SLOW_MS || queue.length >= last.requests) return 0;
  const wait = Math.min(GATHER_MS.most, Math.max(GATHER_MS.least, last.ms / 8));
  return Math.max(0, last.ended + wait - now);
}

/** Commits up to `limit` requests of the queue. `gather`: a clock, if it may wait for more. */
export async function runBatch(
  lane: Lane,
  limit: number,
  gather: Pick<Clock, 'elapsed'> | null,
  commit: (batch: readonly Waiting[]) => Promise<void>,
): Promise<void> {
  // Requests received in the same turn of the event loop share a transaction.
  await new Promise(setImmediate);
  const wait = gather === null ? 0 : gatherMs(lane, gather.elapsed());
  if (wait > 0) await sleep(wait);
  const began = gather?.elapsed() ?? 0;
  const batch = lane.queue.splice(0, limit);
  await commit(batch);
  const ended = gather?.elapsed() ?? 0;
  lane.last = { requests: batch.length, ms: ended - began, ended };
}

/** The lane of an owner's requests: FNV-1a of the owner. */
export function laneOf(owner: string, lanes: number): number {
  if (lanes === 1) return 0;
  let hash = 0x811c9dc5;
  for (let i = 0; i < owner.length; i += 1) hash = Math.imul(hash ^ owner.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % lanes;
}

export function first<K, V>(map: ReadonlyMap<K, V>): [K, V] {
  for (const entry of map) return entry;
  throw new Error('The map is empty.');
}
