/** Charging on PostgreSQL: one locking transaction per batch, in two groups of pipelined statements. */

import type pg from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { applyBatch } from '../charge/apply-batch.ts';
import type { ChargeDriver } from '../charge/batcher.ts';
import { type Answer, type ChargeRequest, isEmpty } from '../charge/state.ts';
import { onlyRow } from '../rows.ts';
import type { StoreEvent } from '../store.ts';
import { connectClient, discard } from './connect.ts';
import { isConflict, isLost, isOutage } from './failure.ts';
import { load, pipelined } from './load.ts';
import { statements } from './write.ts';

const TRIES = 4;
/** How long, and how often, to query the outcome of a commit whose reply was lost. */
const OUTCOME_WITHIN_MS = 10_000;
const OUTCOME_POLL_MS = 100;

interface PostgresChargeParts {
  readonly url: string;
  readonly clock: Clock;
  readonly time: 'store' | 'process';
  readonly onEvent: (event: StoreEvent) => void;
  readonly node: () => Promise<string>;
}

/** The connection broke after COMMIT was sent: it may have happened. */
class UnknownOutcome extends Error {
  readonly xid: string;
  readonly answers: Answer[];
  constructor(xid: string, answers: Answer[], cause: unknown) {
    super('The connection was lost during a commit.', { cause });
    this.xid = xid;
    this.answers = answers;
  }
}

export class PostgresCharge implements ChargeDriver {
  readonly #parts: PostgresChargeParts;
  #client: pg.Client | null = null;

  constructor(parts: PostgresChargeParts) {
    this.#parts = parts;
  }

  readonly isOutage = isOutage;

  /**
   * Retries after conflicts, and once after a lost connection. Before COMMIT is sent nothing is recorded, so that is
   * safe; afterwards the server is asked for the outcome first.
   */
  async transact(requests: readonly ChargeRequest[]): Promise<Answer[]> {
    const node = await this.#parts.node();
    for (let tries = 1, lost = 0; ; tries++) {
      try {
        return await this.#run(requests, node);
      } catch (error) {
        if (error instanceof UnknownOutcome && (await this.#wasCommitted(error))) return error.answers;
        const failure = error instanceof UnknownOutcome ? error.cause : error;
        if (isLost(failure)) this.#drop();
        if (isLost(failure) && lost++ === 0) continue;
        if (!isConflict(failure) || tries === TRIES) throw failure;
      }
    }
  }

  close(): void {
    this.#drop();
  }

  async #run(requests: readonly ChargeRequest[], node: string): Promise<Answer[]> {
    const { url, clock, time, onEvent } = this.#parts;
    this.#client ??= await connectCharge(url);
    const client = this.#client;
    try {
      const { state, xid } = await load(client, requests, node, time === 'process' ? () => clock.now() : null);
      const { answers, changes } = applyBatch(state, requests);
      if (isEmpty(changes)) await client.query('ROLLBACK');
      else await commit(client, statements(changes, state), xid, answers);
      changes.events.forEach(onEvent);
      return answers;
    } catch (error) {
      if (!isLost(error) && !(error instanceof UnknownOutcome))
        await client.query('ROLLBACK').catch(() => this.#drop());
      throw error;
    }
  }

  /** The server knows the outcome of recent transactions. Throws when it stays unreachable. */
  async #wasCommitted({ xid, cause }: UnknownOutcome): Promise<boolean> {
    const { url, clock } = this.#parts;
    this.#drop();
    for (const end = clock.elapsed() + OUTCOME_WITHIN_MS; clock.elapsed() < end; await pause(OUTCOME_POLL_MS)) {
      const outcome = await outcomeOf(url, xid).catch((error: unknown) => {
        if (!isOutage(error)) throw error;
        return null;
      });
      if (outcome === 'committed') return true;
      if (outcome === 'aborted') return false;
    }
    const sentence = 'The store stopped answering. Whether this was charged is in the log when it is back.';
    throw new ApiError('verification_unavailable', sentence, { retry_after: 5 }, cause);
  }

  #drop(): void {
    if (this.#client !== null) discard(this.#client);
    this.#client = null;
  }
}

/**
 * Every statement of charging looks up a few rows by an index, and its plan lives as long as the connection. A plan made
 * while a table is small would scan it, and still do so after it has grown.
 */
async function connectCharge(url: string): Promise<pg.Client> {
  const client = await connectClient(url, { pipeline: true });
  await client.query('SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off');
  return client;
}

async function commit(client: pg.Client, writes: pg.QueryConfig[], xid: string, answers: Answer[]): Promise<void> {
  const sent = writes.map((write) => client.query(write));
  // Pipelined too: in a failed transaction, COMMIT is a ROLLBACK.
  const end = client.query('COMMIT');
  try {
    await pipelined([...sent, end]);
  } catch (error) {
    if (isLost(error)) throw new UnknownOutcome(xid, answers, error);
    throw error;
  }
}

/** `committed`, `aborted` or `in progress`. */
async function outcomeOf(url: string, xid: string): Promise<string | null> {
  const client = await connectClient(url);
  try {
    const { rows } = await client.query<{ outcome: string | null }>('SELECT pg_xact_status($1::xid8) AS outcome', [
      xid,
    ]);
    return onlyRow(rows).outcome;
  } finally {
    discard(client);
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
