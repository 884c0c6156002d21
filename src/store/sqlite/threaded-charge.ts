/** Charging on SQLite: batches go to the thread of the writer as data. */
import { type CountingDriver, noRetries } from '../charge/batcher.ts';
import type { ChargeAnswer, ChargeRequest } from '../charge/state.ts';
import type { FilterRule, StoreEvent } from '../store.ts';
import { batchWriter, type Decision, readAnswers, type SentAnswer } from './charge-message.ts';
import { isBusy, isSqliteOutage, ThreadLostError, unconfirmed, whenFree } from './failure.ts';

import type { StoreThread, ThreadSession, WriteMutex } from './thread-client.ts';

interface SqliteChargeParts {
  readonly writer: StoreThread;
  readonly mutex: WriteMutex;
  readonly now: () => number;
  readonly onEvent: (event: StoreEvent) => void;
  readonly node: () => string | Promise<string>;
  /** The schema version of this program. */
  readonly known: () => number;
}

export class SqliteCharge implements CountingDriver {
  /** SQLite has one writer. */
  readonly lanes = 1;
  /** One is written while the next one waits in the thread. */
  readonly atOnce = 2;
  readonly retries = noRetries();
  readonly isOutage = isSqliteOutage;
  readonly #parts: SqliteChargeParts;
  /** Filters that were found to match since `decide` was called. */
  readonly #matched = new WeakMap<ChargeRequest, FilterRule | null>();

  constructor(parts: SqliteChargeParts) {
    this.#parts = parts;
  }

  /** The thread with the connection has been started by the migrations. */
  async open(): Promise<void> {}

  async transact(requests: readonly ChargeRequest[]): Promise<ChargeAnswer[]> {
    const { mutex, writer } = this.#parts;
    const node = await this.#parts.node();
    return mutex.runShared(async () => {
      const session = await writer.session();
      for (;;) {
        try {
          return await this.#send(session, requests, node);
        } catch (error) {
          if (!isBusy(error)) throw error;
          this.#onBusy();
        }
        // Another process has the lock. It is taken before the batch is sent again, because those who leave meanwhile
        // are not charged. Another batch of this process may use it up.
        await whenFree(() => session.call('begin'), this.#onBusy);
      }
    });
  }

  readonly #onBusy = () => {
    this.retries.busy += 1;
  };

  async #send(session: ThreadSession, requests: readonly ChargeRequest[], node: string): Promise<ChargeAnswer[]> {
    const batch = batchWriter({ node, now: this.#parts.now(), known: this.#parts.known() });
    const decisions: (Decision | null)[] = [];
    /** Of those that are not sent. */
    const here: (ChargeAnswer | null)[] = requests.map((request) => {
      if (!request.enter()) return { dropped: true };
      try {
        decisions.push(this.#add(batch, request));
        return null;
      } catch (error) {
        return { error };
      }
    });
    const sent = await this.#commit(session, batch.values, decisions);
    let next = 0;
    return requests.map((request, i) => here[i] ?? this.#answer(request, sent[next++]));
  }

  /**
   * Adds a request to the batch; `decide` is called here, outside the transaction, for the filter that matched last.
   */
  #add(batch: ReturnType<typeof batchWriter>, request: ChargeRequest): Decision | null {
    if (request.kind === 'settle') {
      batch.settle(request.settle);
      return null;
    }
    const { verify } = request.admit;
    const filter = this.#matched.get(request) ?? null;
    const decision = verify === null ? null : { filter, record: verify.decide(filter) };
    batch.admit(request.admit, decision);
    return decision;
  }

  async #commit(session: ThreadSession, batch: readonly unknown[], decisions: readonly (Decision | null)[]) {
    if (decisions.length === 0) {
      await session.call('rollback');
      return [];
    }
    const values = await session.call('charge', batch).catch((error: unknown) => {
      throw error instanceof ThreadLostError ? unconfirmed(error) : error;
    });
    const { events, answers } = readAnswers(values, decisions);
    events.forEach(this.#parts.onEvent);
    return answers;
  }

  #answer(request: ChargeRequest, answer: SentAnswer | undefined): ChargeAnswer {
    if (answer === undefined) return { error: new Error('The thread left a request unanswered.') };
    if (!('undecided' in answer)) return answer;
    this.#matched.set(request, answer.undecided);
    return { again: true };
  }
}
