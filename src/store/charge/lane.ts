/** One of the transactions side by side, and what waits for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, idleMs } from '../../kernel/clock.ts';
import type { Waiting } from './waiting.ts';

export interface BatchLimits {
  /** Requests that may wait before `admit` answers `overloaded`. */
  readonly queue: number;
  /** Requests in one transaction. */
  readonly batch: number;
}

/** Answers the requests of a batch. */
export type AnswerBatch = () => void;

/** How a lane commits. */
interface Committing {
  readonly limits: BatchLimits;
  /** Transactions of the lane that may be under way. */
  readonly atOnce: number;
  readonly clock: Pick<Clock, 'elapsed'>;
  /** Never rejects. */
  readonly commit: (batch: readonly Waiting[]) => Promise<AnswerBatch>;
}

export interface Lane {
  readonly by: Committing;
  queue: Waiting[];
  /** Of `runBatches`, those that have not ended. */
  readonly runs: Promise<void>[];
  /** Transactions under way. */
  committing: number;
  /**
   * The transaction that ended last, and the requests that waited then. `idle`: ms of it, and not of the one before, in
   * which the main thread had nothing to do; `ended` by the clock's `elapsed`, `idleAtEnd` by `idleMs`.
   */
  last: {
    readonly requests: number;
    readonly waiting: number;
    readonly idle: number;
    readonly ended: number;
    readonly idleAtEnd: number;
  };
}

export const newLane = (by: Committing): Lane => ({
  by,
  queue: [],
  runs: [],
  committing: 0,
  last: { requests: 0, waiting: 0, idle: 0, ended: 0, idleAtEnd: 0 },
});

/** A commit that leaves the main thread idle for longer waits for a disk or a network, ms. */
const SLOW_MS = 3;
/** How long to wait for more requests after a slow commit, ms; and for how long without one. */
const GATHER_MS = { most: 5, pause: 1 };
/** Requests that are worth a transaction of their own while another one is under way. */
const AHEAD = 8;

/** Whether a transaction may be begun: always if none is under way. */
const isDue = ({ queue, committing, last }: Lane): boolean =>
  committing === 0 ? queue.length > 0 : queue.length >= AHEAD && last.idle <= SLOW_MS;

/** How many requests the next transaction takes: half of them, if the other half can be begun beside it. */
function countOfNext({ by, queue, committing, last }: Lane): number {
  const splits = by.atOnce > 1 && committing === 0 && queue.length >= 2 * AHEAD && last.idle <= SLOW_MS;
  return Math.min(by.limits.batch, splits ? Math.ceil(queue.length / 2) : queue.length);
}

/**
 * Waits for the next requests of clients that a slow commit has answered, while they arrive, and for half its time at
 * most. Otherwise the first of them would have the next commit to itself, and clients in two groups would wait for two
 * commits.
 */
async function gather(lane: Lane): Promise<void> {
  const { requests, waiting, idle, ended } = lane.last;
  if (idle <= SLOW_MS) return;
  const until = ended + Math.min(GATHER_MS.most, idle / 2);
  for (let before = 0; lane.queue.length < requests + waiting && lane.queue.length > before; ) {
    if (lane.by.clock.elapsed() >= until) return;
    before = lane.queue.length;
    await sleep(GATHER_MS.pause);
  }
}

/** To be called when a request was queued. */
export function startBatches(lane: Lane): void {
  // A run that is not committing will take the request.
  if (lane.runs.length > lane.committing || lane.runs.length === lane.by.atOnce || !isDue(lane)) return;
  const run = runBatches(lane, () => lane.runs.splice(lane.runs.indexOf(run), 1));
  lane.runs.push(run);
}

/**
 * Commits what waits until no transaction is due. The answers of a batch are given while the next one commits. Where
 * the writer has a batch waiting when it has committed one, it need not wait for this thread.
 */
async function runBatches(lane: Lane, onEnd: () => void): Promise<void> {
  let answer: AnswerBatch = () => undefined;
  do {
    if (lane.committing > 0 || lane.last.idle > SLOW_MS) {
      answer();
      answer = () => undefined;
    }
    // Requests received in the same turn of the event loop share a transaction.
    await new Promise(setImmediate);
    if (lane.last.idle > SLOW_MS) await gather(lane);
    // Another run may have taken them.
    if (!isDue(lane)) break;
    const idleAtStart = idleMs();
    const batch = lane.queue.splice(0, countOfNext(lane));
    lane.committing += 1;
    const committed = lane.by.commit(batch);
    startBatches(lane);
    // After the promises through which the batch gets on its way.
    process.nextTick(answer);
    answer = await committed;
    lane.committing -= 1;
    const idleAtEnd = idleMs();
    const idle = idleAtEnd - Math.max(idleAtStart, lane.last.idleAtEnd);
    const ended = lane.by.clock.elapsed();
    lane.last = { requests: batch.length, waiting: lane.queue.length, idle, ended, idleAtEnd };
  } while (isDue(lane));
  // Before the answers: whoever gets one may ask again at once.
  onEnd();
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
