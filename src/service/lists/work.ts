import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../kernel/bounded-wait.ts';
import type { Clock } from '../../kernel/clock.ts';
import { LIST_LEASE_SECONDS } from '../../kernel/facts/lifetimes.ts';
import type { ListOutcome, Lists, ListWork, RunningList, VerificationRecord } from '../../store/store.ts';
import type { ListOperators } from './operators.ts';
import type { ListEnd, ListVerifier } from './verify-list.ts';

// Bounds of the work on lists, of one process.

/** Addresses that were claimed and are not done, of all lists and of one. */
const LIST_ADDRESSES_IN_HAND = 24_000;
const LIST_ADDRESSES_IN_HAND_EACH = 5_000;
/** Lists that are worked on at the same time; others take turns with them. */
const LISTS_AT_ONCE = 40;

interface ListWorkParts {
  readonly clock: Clock;
  readonly lists: Lists;
  readonly verifier: ListVerifier;
  readonly operators: ListOperators;
  /** A result was recorded. */
  readonly onResult: (list: RunningList, record: VerificationRecord) => void;
  readonly failed: (error: unknown) => void;
}

/** Mail servers may still answer for so long when a list is paused. */
const ANSWERS_MS = 1_000;
/** A list gives way to one that waits after this long. */
const SPELL_MS = 10_000;

/** Works on lists of addresses in this process. */
export function createListWork({ clock, lists, verifier, operators, onResult, failed }: ListWorkParts) {
  /** This process has it from its first list on. */
  let lease: string | null = null;
  const runs = new Map<string, { readonly run: ListRun; readonly began: number }>();
  let renewedAt = Number.NEGATIVE_INFINITY;
  let stopping = false;

  async function renew(): Promise<void> {
    const now = clock.elapsed();
    if (now - renewedAt < (LIST_LEASE_SECONDS * 1000) / 3) return;
    renewedAt = now;
    if (runs.size > 0 && lease !== null) await lists.renew(lease, LIST_LEASE_SECONDS * 1000);
  }

  function begin(list: RunningList, lease: string, most: number): void {
    const run = new ListRun({ clock, lists, verifier, operators, lease, onResult, failed }, list, most);
    runs.set(list.id, { run, began: clock.elapsed() });
    void run.ended.catch(failed).finally(() => runs.delete(list.id));
  }

  return {
    /** Begins to work on lists that are running; to be called every second. */
    async round() {
      await renew();
      await operators.round();
      const running = await lists.running();
      const ids = new Set(running.map(({ id }) => id));
      // Paused, ended, or of a suspended account: thousands of its addresses may still wait for mail servers.
      for (const [id, { run }] of runs) if (!ids.has(id)) void run.stop(ANSWERS_MS).catch(failed);
      const waiting = inRotation(running).filter(({ id }) => !runs.has(id));
      if (waiting.length > 0) lease ??= await lists.newLease();
      if (stopping || lease === null) return;
      const most = Math.floor(LIST_ADDRESSES_IN_HAND / Math.min(LISTS_AT_ONCE, runs.size + waiting.length));
      const free = LISTS_AT_ONCE - runs.size;
      for (const list of waiting.slice(0, free)) begin(list, lease, Math.min(most, LIST_ADDRESSES_IN_HAND_EACH));
      if (waiting.length <= free) return;
      for (const { run, began } of runs.values()) if (clock.elapsed() - began > SPELL_MS) run.finish();
    },
    /** Gives back what is under way. */
    async stop() {
      stopping = true;
      await Promise.all(Array.from(runs.values(), ({ run }) => run.stop()));
      await operators.stop();
    },
  };
}

export type ListWorkService = ReturnType<typeof createListWork>;

/** Returns the first list of each account, then the second ones, and so on. */
function inRotation(lists: readonly RunningList[]): RunningList[] {
  const seen = new Map<string, number>();
  const ranked = lists.map((list) => {
    const rank = seen.get(list.account) ?? 0;
    seen.set(list.account, rank + 1);
    return { list, rank };
  });
  return ranked.sort((a, b) => a.rank - b.rank).map(({ list }) => list);
}

interface RunParts {
  readonly clock: Clock;
  readonly lists: Lists;
  readonly verifier: ListVerifier;
  readonly operators: ListOperators;
  readonly lease: string;
  /** A result was recorded. */
  readonly onResult: (list: RunningList, record: VerificationRecord) => void;
  /** The store failed; it is tried again. */
  readonly failed: (error: unknown) => void;
}

/** This many addresses that waited are claimed at a time. */
const WAITING_CLAIMED = 1_000;
/** How long outcomes may wait for others before they are recorded, and how many; the next ones gather meanwhile. */
const OUTCOMES_GATHER_MS = 200;
const GATHERED = 250;
const WORK_LOOK_MS = 500;
const AFTER_FAILURE_MS = 1_000;

/** Work on one list in this process, until nothing is left of it that can be claimed now. */
class ListRun {
  readonly list: RunningList;
  readonly ended: Promise<void>;
  readonly #parts: RunParts;
  readonly #most: number;
  /** Ends with the list, or with the process. */
  readonly #ending = new AbortController();
  /** Mail servers are not waited for any more. */
  readonly #breakOff = new AbortController();
  readonly #end: ListEnd = { signal: this.#ending.signal, breakOff: this.#breakOff.signal };
  /** No more is claimed. */
  #isLast = false;
  /** Addresses that were claimed and whose outcomes are not recorded yet. */
  #inHand = 0;
  /** Claims that are not verified yet. */
  #verifying = 0;
  #allUnderWay: Promise<void> = Promise.resolve();
  #outcomes: ListOutcome[] = [];
  #recording: Promise<void> | null = null;
  /** Some addresses got no outcome: they are given back at the end. */
  #hasLost = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #wake: () => void = () => {};

  /** `most` is how many addresses may be in hand. */
  constructor(parts: RunParts, list: RunningList, most: number) {
    this.#parts = parts;
    this.list = list;
    this.#most = most;
    this.ended = this.#run();
  }

  /** Finishes what was claimed, and claims no more. */
  finish(): void {
    this.#isLast = true;
    this.#wake();
  }

  /**
   * Begins nothing more, and records what mail servers answer within `answersMs` to what they were asked. Then
   * dialogues end with QUIT, and the rest is given back.
   */
  async stop(answersMs = 0): Promise<void> {
    this.#isLast = true;
    this.#ending.abort();
    this.#wake();
    if (answersMs > 0) await within({ ms: answersMs, late: () => undefined }, () => this.ended);
    this.#breakOffAll();
    await this.ended;
  }

  #breakOffAll(): void {
    this.#ending.abort();
    this.#breakOff.abort();
    this.#wake();
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const works = await this.#claim();
      if (works.length > 0) this.#verify(works);
      else if (this.#inHand === 0) break;
      else await this.#changed();
    }
    while (this.#verifying > 0 && !this.#breakOff.signal.aborted) await this.#changed();
    await this.#record();
    const { lists, lease } = this.#parts;
    const { account, id } = this.list;
    if (this.#inHand > 0 || this.#hasLost) await lists.release({ account, list: id, lease }).catch(this.#parts.failed);
  }

  async #claim(): Promise<ListWork[]> {
    if (this.#isLast || this.#inHand >= this.#most) return [];
    const { lists, verifier, operators, lease, clock } = this.#parts;
    const claim = { account: this.list.account, list: this.list.id, lease, leaseMs: LIST_LEASE_SECONDS * 1000 };
    try {
      const works = await verifier.inStore(this.list, ({ chunks }) => lists.claim({ ...claim, chunks }));
      if (works.length > 0 || clock.elapsed() - this.#lookedAt < WORK_LOOK_MS) return works;
      this.#lookedAt = clock.elapsed();
      const waiting = { ...claim, limit: WAITING_CLAIMED, notOperators: operators.others() };
      return await verifier.inStore(this.list, () => lists.claimWaiting(waiting));
    } catch (error) {
      this.#parts.failed(error);
      await sleep(AFTER_FAILURE_MS);
      return [];
    }
  }

  /** Begins when all that was claimed before is under way, so that little waits (docs/architecture.md#what-v8-does). */
  #verify(works: readonly ListWork[]): void {
    const { verifier, failed } = this.#parts;
    this.#inHand += works.length;
    this.#verifying++;
    const before = this.#allUnderWay;
    const { promise, resolve: allUnderWay } = Promise.withResolvers<void>();
    this.#allUnderWay = promise;
    let reported = 0;
    const report = (outcome: ListOutcome) => {
      reported++;
      this.#outcomes.push(outcome);
      const isLast = this.#outcomes.length === this.#inHand;
      if (isLast || this.#outcomes.length >= GATHERED) void this.#record();
      else if (this.#outcomes.length === 1) void sleep(OUTCOMES_GATHER_MS).then(() => this.#record());
    };
    const to = { report, failed, allUnderWay, room: (waiting: number) => this.#room(waiting) };
    before
      .then(() => verifier.verify(this.list, works, to, this.#end))
      .catch(async (error: unknown) => {
        failed(error);
        await sleep(AFTER_FAILURE_MS);
      })
      .finally(() => {
        allUnderWay();
        this.#verifying--;
        const lost = works.length - reported;
        this.#inHand -= lost;
        if (lost > 0) this.#hasLost = true;
        this.#wake();
      });
  }

  /** Resolves when fewer than `waiting` outcomes wait (docs/architecture.md#what-v8-does), or this ends. */
  async #room(waiting: number): Promise<void> {
    while (this.#outcomes.length >= waiting && !this.#ending.signal.aborted) await this.#record();
  }

  /** Records what there is, until there is nothing more. */
  #record(): Promise<void> {
    this.#recording ??= this.#recordAll().finally(() => {
      this.#recording = null;
    });
    return this.#recording;
  }

  async #recordAll(): Promise<void> {
    const { lists, verifier, failed } = this.#parts;
    const { account, id } = this.list;
    while (this.#outcomes.length > 0) {
      try {
        const { batch, outcome, results } = await verifier.inStore(this.list, async ({ outcomes }) => {
          const some = this.#outcomes.slice(0, outcomes);
          return { batch: some, ...(await lists.record(account, id, some)) };
        });
        this.#outcomes = this.#outcomes.slice(batch.length);
        this.#inHand -= batch.length;
        this.#count(batch, new Set(results));
        if (outcome !== 'recorded') this.#breakOffAll();
        this.#wake();
      } catch (error) {
        failed(error);
        if (this.#ending.signal.aborted) break;
        await sleep(AFTER_FAILURE_MS);
      }
    }
  }

  #count(batch: readonly ListOutcome[], results: ReadonlySet<number>): void {
    for (const { work, record } of batch)
      if (record !== null && results.has(work.address)) this.#parts.onResult(this.list, record);
  }

  /** Waits for an outcome to be recorded, or for waiting addresses that may be due. */
  async #changed(): Promise<void> {
    const changed = Promise.withResolvers<void>();
    this.#wake = changed.resolve;
    const timer = setTimeout(changed.resolve, WORK_LOOK_MS);
    await changed.promise;
    clearTimeout(timer);
  }
}
