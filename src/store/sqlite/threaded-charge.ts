/** Batches go to the thread of the writer as data. */
import { ThreadEndedError } from '../../kernel/thread.ts';
import { type CountingDriver, noRetries } from '../charge/batcher.ts';
import type { ChargeAnswer, ChargeRequest } from '../charge/state.ts';
import type { FilterRule, StoreEvent } from '../store.ts';
import { isBusy, isSqliteOutage, unconfirmed, whenFree } from './failure.ts';
import {
  type ChargeMessage,
  type FilterDecision,
  readAnswer,
  type SentAnswer,
  type SentRequest,
  sentRequest,
} from './messages.ts';

import type { StoreSession, StoreThread, WriteMutex } from './threads.ts';

interface SqliteChargeParts {
  readonly writer: StoreThread;
  readonly mutex: WriteMutex;
  readonly now: () => number;
  readonly onEvent: (event: StoreEvent) => void;
  readonly node: () => string | Promise<string>;
  /** Returns the schema version of this program. */
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

  async #send(session: StoreSession, requests: readonly ChargeRequest[], node: string): Promise<ChargeAnswer[]> {
    const sent: SentRequest[] = [];
    /** Of those that are not sent. */
    const here: (ChargeAnswer | null)[] = requests.map((request) => {
      if (!request.enter()) return { dropped: true };
      try {
        sent.push(sentRequest(request, this.#decide(request)));
        return null;
      } catch (error) {
        return { error };
      }
    });
    const { now, known } = this.#parts;
    const answers = await this.#commit(session, { node, now: now(), known: known(), requests: sent });
    let next = 0;
    return requests.map((request, i) => here[i] ?? this.#answer(request, sent[next], answers[next++]));
  }

  /** Calls `decide` here, outside the transaction, for the filter that matched last. */
  #decide(request: ChargeRequest): FilterDecision | null {
    if (request.kind === 'settle' || request.admit.verify === null) return null;
    const filter = this.#matched.get(request) ?? null;
    return { filter, record: request.admit.verify.decide(filter) };
  }

  async #commit(session: StoreSession, batch: ChargeMessage): Promise<readonly SentAnswer[]> {
    if (batch.requests.length === 0) {
      await session.call('rollback');
      return [];
    }
    const { events, answers } = await session.call('charge', batch).catch((error: unknown) => {
      throw error instanceof ThreadEndedError ? unconfirmed(error) : error;
    });
    events.forEach(this.#parts.onEvent);
    return answers;
  }

  #answer(request: ChargeRequest, sent: SentRequest | undefined, answer: SentAnswer | undefined): ChargeAnswer {
    if (sent === undefined || answer === undefined)
      return { error: new Error('The thread left a request unanswered.') };
    if (!('undecided' in answer)) return readAnswer(answer, sent);
    this.#matched.set(request, answer.undecided);
    return { again: true };
  }
}
