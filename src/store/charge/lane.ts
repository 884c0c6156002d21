/** One of the transactions side by side, and what waits for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, idleMs } from '../../kernel/clock.ts';
import type { Waiting } from './waiting.ts';

export interface Lane {
  queue: Waiting[];
  running: Promise<void> | null;
  /**
   * Its last transaction, and the requests that waited at its end. `idle`: ms of it in which the main thread had
   * nothing to do; `ended` by the clock's `elapsed`.
   */
  last: { readonly requests: number; readonly waiting: number; readonly idle: number; readonly ended: number };
}

export const newLane = (): Lane => ({ queue: [], running: null, last: { requests: 0, waiting: 0, idle: 0, ended: 0 } });

/** A commit that leaves the main thread idle for longer waits for a disk or a network, ms. */
const SLOW_MS = 3;
/** How long to wait for more requests after a slow commit, ms; and for how long without one. */
const GATHER_MS = { most: 5, pause: 1 };

/**
 * Waits for the next requests of clients that a slow commit has answered, while they arrive, and for half its time at
 * most. Otherwise the first of them would have the next commit to itself, and clients in two groups would wait for two
 * commits.
 */
async function gather(lane: Lane, clock: Pick<Clock, 'elapsed'>): Promise<void> {
  const { requests, waiting, idle, ended } = lane.last;
  if (idle <= SLOW_MS) return;
  const until = ended + Math.min(GATHER_MS.most, idle / 2);
  for (let before = 0; lane.queue.length < requests + waiting && lane.queue.length > before; ) {
    if (clock.elapsed() >= until) return;
    before = lane.queue.length;
    await sleep(GATHER_MS.pause);
  }
}

export interface BatchLimits {
  /** Requests that may wait before `admit` answers `overloaded`. */
  readonly queue: number;
  /** Requests in one transaction. */
  readonly batch: number;
}

/** Answers the requests of a batch. */
export type AnswerBatch = () => void;

/**
 * The `running` of a lane: commits up to `limit` requests at a time until none waits. The answers of a batch are given
 * while the next one commits.
 */
export async function runBatches(
  lane: Lane,
  limit: number,
  clock: Pick<Clock, 'elapsed'>,
  commit: (batch: readonly Waiting[]) => Promise<AnswerBatch>,
): Promise<void> {
  let answer: AnswerBatch = () => undefined;
  do {
    // Requests received in the same turn of the event loop share a transaction.
    await new Promise(setImmediate);
    if (lane.last.idle > SLOW_MS) {
      answer();
      answer = () => undefined;
      await gather(lane, clock);
    }
    const idleBefore = idleMs();
    const batch = lane.queue.splice(0, limit);
    const committed = commit(batch);
    // After the promises through which the batch gets on its way.
    process.nextTick(answer);
    answer = await committed;
    const idle = idleMs() - idleBefore;
    lane.last = { requests: batch.length, waiting: lane.queue.length, idle, ended: clock.elapsed() };
  } while (lane.queue.length > 0);
  // Before the answers: whoever gets one may ask again at once.
  lane.running = null;
  answer();
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
