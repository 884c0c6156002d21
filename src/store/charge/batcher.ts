/**
 * Micro-batches: while one commit is under way the next batch fills. Admissions and settlements share a
 * queue per lane, first come, first served. Lanes are transactions side by side; all requests of an account are in one.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { type Clock, totalIdleMs } from '../../kernel/clock.ts';
import { ApiError, UnawaitedError } from '../../kernel/errors.ts';
import { STORE_WAIT_SECONDS } from '../../kernel/facts/limits.ts';
import type {
  Admission,
  AdmissionRequest,
  ChargedBatch,
  Charging,
  ChargingHealth,
  ChargingStats,
  RetryCause,
  Settled,
  Settlement,
} from '../store.ts';
import { type ChargeAnswer, type ChargeRequest, isAdmission } from './state.ts';

// One of the transactions side by side, and what waits for it.

interface BatchLimits {
  /** Requests that may wait before `admit` answers `overloaded`. */
  readonly queue: number;
  /** One transaction takes this many requests. */
  readonly batch: number;
}

/** Answers the requests of a batch. */
type AnswerBatch = () => void;

/** Says how a lane commits. */
interface Committing {
  readonly limits: BatchLimits;
  /** Transactions of the lane that may be under way. */
  readonly atOnce: number;
  readonly clock: Pick<Clock, 'elapsed'>;
  /** It never rejects. */
  readonly commit: (batch: readonly WaitingCharge[]) => Promise<AnswerBatch>;
}

interface Lane {
  readonly by: Committing;
  queue: WaitingCharge[];
  /** These have not ended yet (`runBatches`). */
  readonly runs: Promise<void>[];
  /** Counts transactions under way. */
  committing: number;
  /**
   * The transaction that ended last, and the requests that waited then. `idleMs`: the part of it, and not of the one
   * before, in which the main thread had nothing to do; `ended` by the clock's `elapsed`, `idleMsAtEnd` by
   * `totalIdleMs`.
   */
  last: {
    readonly requests: number;
    readonly waiting: number;
    readonly idleMs: number;
    readonly ended: number;
    readonly idleMsAtEnd: number;
  };
}

const newLane = (by: Committing): Lane => ({
  by,
  queue: [],
  runs: [],
  committing: 0,
  last: { requests: 0, waiting: 0, idleMs: 0, ended: 0, idleMsAtEnd: 0 },
});

/** A commit that leaves the main thread idle for longer waits for a disk or a network, ms. */
const SLOW_COMMIT_MS = 3;
/** A lane waits this long for more requests after a slow commit, and this long without one, ms. */
const REQUESTS_GATHER_MS = { most: 5, pause: 1 };
/** Requests that are worth a transaction of their own while another one is under way. */
const PARALLEL_BATCH_MIN = 8;

/** Whether a transaction may be begun: always if none is under way. */
const isDue = ({ queue, committing, last }: Lane): boolean =>
  committing === 0 ? queue.length > 0 : queue.length >= PARALLEL_BATCH_MIN && last.idleMs <= SLOW_COMMIT_MS;

/** How many requests the next transaction takes: half of them, if the other half can be begun beside it. */
function countOfNext({ by, queue, committing, last }: Lane): number {
  const splits =
    by.atOnce > 1 && committing === 0 && queue.length >= 2 * PARALLEL_BATCH_MIN && last.idleMs <= SLOW_COMMIT_MS;
  return Math.min(by.limits.batch, splits ? Math.ceil(queue.length / 2) : queue.length);
}

/**
 * Waits for the next requests of clients that a slow commit has answered, while they arrive, and for half its time at
 * most. Otherwise the first of them would have the next commit to itself, and clients in two groups would wait for two
 * commits.
 */
async function gatherRequests(lane: Lane): Promise<void> {
  const { requests, waiting, idleMs, ended } = lane.last;
  if (idleMs <= SLOW_COMMIT_MS) return;
  const untilMs = ended + Math.min(REQUESTS_GATHER_MS.most, idleMs / 2);
  for (let before = 0; lane.queue.length < requests + waiting && lane.queue.length > before; ) {
    if (lane.by.clock.elapsed() >= untilMs) return;
    before = lane.queue.length;
    await sleep(REQUESTS_GATHER_MS.pause);
  }
}

/** To be called when a request was queued. */
function startBatches(lane: Lane): void {
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
    if (lane.committing > 0 || lane.last.idleMs > SLOW_COMMIT_MS) {
      answer();
      answer = () => undefined;
    }
    // Requests received in the same turn of the event loop share a transaction.
    await new Promise(setImmediate);
    if (lane.last.idleMs > SLOW_COMMIT_MS) await gatherRequests(lane);
    // Another run may have taken them.
    if (!isDue(lane)) break;
    const idleMsAtStart = totalIdleMs();
    const batch = lane.queue.splice(0, countOfNext(lane));
    lane.committing += 1;
    const committed = lane.by.commit(batch);
    startBatches(lane);
    // This comes after the promises through which the batch gets on its way.
    process.nextTick(answer);
    answer = await committed;
    lane.committing -= 1;
    const idleMsAtEnd = totalIdleMs();
    const idleMs = idleMsAtEnd - Math.max(idleMsAtStart, lane.last.idleMsAtEnd);
    const ended = lane.by.clock.elapsed();
    lane.last = { requests: batch.length, waiting: lane.queue.length, idleMs, ended, idleMsAtEnd };
  } while (isDue(lane));
  // This comes before the answers: whoever gets one may ask again at once.
  onEnd();
  answer();
}

/** Returns the lane of an owner's requests, by FNV-1a of the owner. */
function laneOf(owner: string, lanes: number): number {
  if (lanes === 1) return 0;
  let hash = 0x811c9dc5;
  for (let i = 0; i < owner.length; i += 1) hash = Math.imul(hash ^ owner.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % lanes;
}

function firstEntry<K, V>(map: ReadonlyMap<K, V>): [K, V] {
  for (const entry of map) return entry;
  throw new Error('The map is empty.');
}

// A request in the queue, and the errors of those that are not applied.

interface WaitingCharge {
  readonly request: ChargeRequest;
  /** The account, or the hash of a key whose account is not known yet. */
  readonly owner: string;
  /** `elapsed()` from which nobody waits for it any longer. */
  readonly untilMs: number;
  /** Its transaction has begun: what becomes of it is not known before the end of that. */
  entered: boolean;
  /** The caller has the error that it took too long. */
  expired: boolean;
  /** The caller has its outcome. */
  answered: boolean;
  resolve(value: unknown): void;
  readonly reject: (error: unknown) => void;
}

/** The store cannot record. */
export const unavailable = (cause: unknown): ApiError =>
  cause instanceof ApiError
    ? cause
    : new ApiError(
        'verification_unavailable',
        'The store cannot record results right now; nothing was charged.',
        { retry_after: 5 },
        cause,
      );

/** It took too long. */
function tooLate({ entered, request }: WaitingCharge): ApiError {
  const sentence =
    entered || request.kind === 'settle'
      ? 'The store did not confirm in time. If this was charged, its result is in the log, and a retry with the same Idempotency-Key returns it.'
      : 'The store did not answer in time; nothing was charged.';
  return new ApiError('verification_unavailable', sentence, { retry_after: 5 });
}

/** Its client has disconnected. */
const unawaited = (): ApiError =>
  new UnawaitedError('verification_unavailable', 'The client has disconnected; nothing was charged.', {
    retry_after: 5,
  });

type Retries = Record<RetryCause, number>;

export const noRetries = (): Retries => ({ conflict: 0, locked: 0, connection: 0, busy: 0 });

/** Counts why it ran batches again. */
export interface CountingDriver extends ChargeDriver {
  readonly retries: Readonly<Retries>;
}

/** Tells of every batch that a driver runs. */
export class ObservedCharge implements ChargeDriver {
  readonly #driver: ChargeDriver;
  readonly #clock: Pick<Clock, 'elapsed'>;
  onBatch: (batch: ChargedBatch) => void = () => undefined;

  constructor(driver: ChargeDriver, clock: Pick<Clock, 'elapsed'>) {
    this.#driver = driver;
    this.#clock = clock;
  }

  open(): Promise<void> {
    return this.#driver.open();
  }

  get lanes(): number {
    return this.#driver.lanes;
  }

  get atOnce(): number {
    return this.#driver.atOnce;
  }

  isOutage(error: unknown): boolean {
    return this.#driver.isOutage(error);
  }

  async transact(requests: readonly ChargeRequest[], lane: number): Promise<ChargeAnswer[]> {
    const began = this.#clock.elapsed();
    let committed = false;
    try {
      const answers = await this.#driver.transact(requests, lane);
      committed = true;
      return answers;
    } finally {
      this.onBatch({ requests: requests.length, ms: this.#clock.elapsed() - began, committed });
    }
  }
}

/** Runs a batch in one transaction. */
export interface ChargeDriver {
  /** See `Charging.open`. */
  open(): Promise<void>;
  /** This many transactions run side by side. */
  readonly lanes: number;
  /** Transactions of one lane that may be under way; they need not keep their order. */
  readonly atOnce: number;
  /**
   * Resolves, after the commit, with an answer per request, in order; rejects when nothing was recorded. `lane`: 0 to
   * `lanes`, the last being for accounts that were set aside.
   */
  transact(requests: readonly ChargeRequest[], lane: number): Promise<ChargeAnswer[]>;
  /** Whether the store as a whole cannot write now, as opposed to one faulty request. */
  isOutage(error: unknown): boolean;
}

type FinalAnswer = Exclude<ChargeAnswer, { held: true } | { again: true }>;

/** Keys whose account is remembered. */
const OWNERS_MAX = 20_000;
const STORE_WAIT_MS = STORE_WAIT_SECONDS * 1000;
/** How often to look for requests that waited too long, ms. */
const WAITING_LOOK_MS = 200;
/** So much time passes between two rounds over the accounts that were set aside, ms. */
const ASIDE_PAUSE_MS = 10;

export class Batcher implements Charging {
  readonly #driver: ChargeDriver;
  readonly #limits: BatchLimits;
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #lanes: readonly Lane[];
  /** By owner, it has requests whose account another session holds. They are tried alone, one after the other. */
  readonly #aside = new Map<string, WaitingCharge[]>();
  #asideRunning: Promise<void> | null = null;
  readonly #owners = new LRUCache<string, string>({ max: OWNERS_MAX });
  /**
   * Together with the queues, these are all unanswered requests. They are in no Set, as they come and go
   * (docs/architecture.md#what-v8-does).
   */
  readonly #inTransaction: (readonly WaitingCharge[])[] = [];
  #look: NodeJS.Timeout | null = null;
  #closed = false;
  #health: ChargingHealth = { chargedAt: null, failure: null };
  readonly #stats = { batches: 0, answered: 0, failed: 0, overloaded: 0, expired: 0, dropped: 0, setAside: 0 };

  constructor(driver: ChargeDriver, limits: BatchLimits, clock: Pick<Clock, 'elapsed'>) {
    this.#driver = driver;
    this.#limits = limits;
    this.#clock = clock;
    const { atOnce } = driver;
    this.#lanes = Array.from({ length: driver.lanes }, (_, lane) =>
      newLane({ limits, atOnce, clock, commit: (batch) => this.#commit(batch, lane) }),
    );
  }

  get waiting(): number {
    let sum = 0;
    for (const { queue } of this.#lanes) sum += queue.length;
    for (const queue of this.#aside.values()) sum += queue.length;
    return sum;
  }
  get stats(): ChargingStats {
    return this.#stats;
  }
  get health(): ChargingHealth {
    return this.#health;
  }

  open = (): Promise<void> => this.#driver.open();

  admit(request: AdmissionRequest): Promise<Admission> {
    if (this.waiting >= this.#limits.queue) {
      this.#stats.overloaded += 1;
      return Promise.reject(new ApiError('overloaded', undefined, { retry_after: 1 }));
    }
    const { keyHash } = request;
    const owner = typeof keyHash === 'string' ? (this.#owners.get(keyHash) ?? keyHash) : keyHash.account;
    return this.#enqueue(owner, (waiting) => ({
      kind: 'admit',
      admit: request,
      enter: () => this.#enter(waiting(), request),
    }));
  }

  settle(settlement: Settlement): Promise<Settled> {
    return this.#enqueue(settlement.caller.accountId, (waiting) => ({
      kind: 'settle',
      settle: settlement,
      // What it completes was admitted: it is recorded, whoever waits for it.
      enter: () => {
        waiting().entered = true;
        return true;
      },
    }));
  }

  /** Completes queued requests, but does not wait for accounts that others hold; later requests are rejected. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { runs } of this.#lanes) while (runs.length > 0) await Promise.all(runs);
    while (this.#asideRunning !== null) await this.#asideRunning;
    if (this.#look !== null) clearInterval(this.#look);
  }

  /** Nobody waits for a request that took too long, or whose client has disconnected. */
  #enter(waiting: WaitingCharge, request: AdmissionRequest): boolean {
    if (waiting.expired) return false;
    if (request.hasDisconnected?.()) {
      this.#stats.dropped += 1;
      return false;
    }
    waiting.entered = true;
    return true;
  }

  #enqueue<T>(owner: string, requestFor: (waiting: () => WaitingCharge) => ChargeRequest): Promise<T> {
    if (this.#closed) return Promise.reject(unavailable(new Error('The store is closed.')));
    return new Promise<T>((resolve, reject) => {
      const untilMs = this.#clock.elapsed() + STORE_WAIT_MS;
      const request = requestFor(() => waiting);
      const state = { entered: false, expired: false, answered: false };
      const waiting: WaitingCharge = { request, owner, untilMs, ...state, resolve, reject };
      this.#look ??= setInterval(() => this.#expire(), WAITING_LOOK_MS).unref();
      const aside = this.#aside.get(owner);
      if (aside !== undefined) {
        aside.push(waiting);
        return;
      }
      const lane = this.#lanes[laneOf(owner, this.#lanes.length)]!;
      lane.queue.push(waiting);
      startBatches(lane);
    });
  }

  /** Each account that was set aside in turn, until its lock comes. */
  async #runAside(): Promise<void> {
    for (let turn = 0; this.#aside.size > 0; turn += 1) {
      const [owner, queue] = firstEntry(this.#aside);
      // It goes to the end, so that the others come first if it is still held.
      this.#aside.delete(owner);
      this.#aside.set(owner, queue);
      (await this.#commit(queue.splice(0, this.#limits.batch), this.#lanes.length))();
      if (queue.length === 0) this.#aside.delete(owner);
      else if (turn % this.#aside.size === 0) await sleep(ASIDE_PAUSE_MS);
    }
    this.#asideRunning = null;
  }

  #setAside(waiting: WaitingCharge): void {
    if (this.#closed) {
      this.#fail([waiting], new Error('The account is locked by another session.'));
      return;
    }
    this.#stats.setAside += 1;
    waiting.entered = false;
    const queue = this.#aside.get(waiting.owner);
    if (queue === undefined) this.#aside.set(waiting.owner, [waiting]);
    else queue.unshift(waiting);
    this.#asideRunning ??= this.#runAside();
  }

  async #commit(batch: readonly WaitingCharge[], lane: number): Promise<AnswerBatch> {
    if (batch.length === 0) return () => undefined;
    this.#inTransaction.push(batch);
    const answer = await this.#commitAll(batch, lane);
    this.#inTransaction.splice(this.#inTransaction.indexOf(batch), 1);
    return answer;
  }

  async #commitAll(batch: readonly WaitingCharge[], lane: number): Promise<AnswerBatch> {
    const result = await this.#transact(batch, lane);
    if (typeof result === 'function') return result;
    if (this.#driver.isOutage(result.cause)) return () => this.#fail(batch, result.cause);
    const [first, ...others] = batch;
    if (first !== undefined && others.length === 0) return () => this.#answer(first, { error: result.cause });
    // One request is at fault: run each alone, so that the others succeed.
    for (const [i, waiting] of batch.entries()) {
      const alone = await this.#transact([waiting], lane);
      if (typeof alone === 'function') alone();
      else if (this.#driver.isOutage(alone.cause)) return () => this.#fail(batch.slice(i), alone.cause);
      else this.#answer(waiting, { error: alone.cause });
    }
    return () => undefined;
  }

  /** What answers the requests when the batch was committed, else the cause. */
  async #transact(batch: readonly WaitingCharge[], lane: number): Promise<AnswerBatch | { cause: unknown }> {
    this.#stats.batches += 1;
    let answers: ChargeAnswer[];
    try {
      const requests = batch.map((waiting) => waiting.request);
      answers = await this.#driver.transact(requests, lane);
    } catch (cause) {
      if (this.#driver.isOutage(cause))
        this.#health = { ...this.#health, failure: { at: this.#clock.elapsed(), cause } };
      return { cause };
    }
    const aside: WaitingCharge[] = [];
    const again: WaitingCharge[] = [];
    const done: [WaitingCharge, FinalAnswer][] = [];
    for (const [i, waiting] of batch.entries()) {
      const answer = answers[i] ?? { error: new Error('The driver left a request unanswered.') };
      if ('held' in answer) aside.push(waiting);
      else if ('again' in answer) again.push(waiting);
      else done.push([waiting, answer]);
    }
    for (const waiting of again) waiting.entered = false;
    if (again.length > 0) this.#lanes[lane]?.queue.unshift(...again);
    // Each goes to the front.
    for (const waiting of aside.toReversed()) this.#setAside(waiting);
    return () => {
      // Taken out, because the lane keeps this function while the next batch commits.
      for (const [waiting, answer] of done.splice(0)) this.#answer(waiting, answer);
    };
  }

  #answer(waiting: WaitingCharge, answer: FinalAnswer): void {
    waiting.answered = true;
    if ('dropped' in answer) {
      // The callers of those that took too long have their error already.
      waiting.reject(unawaited());
      return;
    }
    this.#stats.answered += 1;
    if ('error' in answer) {
      waiting.reject(answer.error);
      return;
    }
    const { request, expired } = waiting;
    if (request.kind === 'settle') this.#health = { ...this.#health, chargedAt: this.#clock.elapsed() };
    else if (isAdmission(answer.value)) this.#admitted(request.admit, answer.value, expired);
    waiting.resolve(answer.value);
  }

  /** Remembers whose key it is. A hold whose caller got the error meanwhile that it took too long is released. */
  #admitted(
    { keyHash, verify, idempotency }: AdmissionRequest,
    { outcome, caller }: Admission,
    expired: boolean,
  ): void {
    if (typeof keyHash === 'string' && caller) this.#owners.set(keyHash, caller.accountId);
    if (!expired || outcome !== 'admitted' || (verify === null && idempotency === null)) return;
    // Failing that, the upkeep releases the hold at its end.
    this.settle({ caller, record: null, holdId: verify?.id ?? '', idempotency }).catch(() => undefined);
  }

  *#unanswered(): Generator<WaitingCharge> {
    const lanes = this.#lanes.map(({ queue }) => queue);
    for (const some of [...lanes, ...this.#aside.values(), ...this.#inTransaction])
      for (const waiting of some) if (!waiting.answered && !waiting.expired) yield waiting;
  }

  #expire(): void {
    const now = this.#clock.elapsed();
    let [expired, left] = [0, 0];
    for (const waiting of this.#unanswered()) {
      if (waiting.untilMs > now) {
        left += 1;
        continue;
      }
      waiting.expired = true;
      expired += 1;
      waiting.reject(tooLate(waiting));
    }
    this.#stats.expired += expired;
    if (left === 0 && this.#look !== null) {
      clearInterval(this.#look);
      this.#look = null;
    }
    if (expired === 0) return;
    const stays = ({ request, expired: late }: WaitingCharge) => !late || request.kind === 'settle';
    for (const lane of this.#lanes) lane.queue = lane.queue.filter(stays);
    for (const queue of this.#aside.values()) queue.splice(0, queue.length, ...queue.filter(stays));
  }

  #fail(batch: readonly WaitingCharge[], cause: unknown): void {
    this.#stats.failed += batch.length;
    for (const waiting of batch) {
      waiting.answered = true;
      waiting.reject(unavailable(cause));
    }
  }
}
