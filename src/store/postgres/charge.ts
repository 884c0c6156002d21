/** Charging on PostgreSQL: one locking transaction per batch, in two groups of pipelined statements. */

import type pg from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { applyBatch } from '../charge/apply-batch.ts';
import { type CountingDriver, noRetries } from '../charge/observed.ts';
import { type Answer, type ChargeRequest, isEmpty } from '../charge/state.ts';
import { onlyRow } from '../rows.ts';
import type { StoreEvent } from '../store.ts';
import { connectClient, discard, KEEPALIVES } from './connect.ts';
import { isConflict, isLocked, isLost, isOutage } from './failure.ts';
import { load, pipelined } from './load.ts';
import { statements } from './write.ts';

const TRIES = 4;
/** Transactions side by side, each on a connection of its own. */
const LANES = 4;
/** An account whose lock takes longer is set aside, so that the others of its batch do not wait, ms. */
const LOCK_WITHIN_MS = 250;
/** A node that stops within a charge keeps its accounts no longer, ms. */
const IDLE_IN_TRANSACTION_MS = 2_500;
/** A server that takes longer for one statement counts as lost, ms: the caller is told after STORE_WAIT_SECONDS. */
const ANSWER_WITHIN_MS = 4_000;
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

export class PostgresCharge implements CountingDriver {
  readonly lanes = LANES;
  readonly retries = noRetries();
  readonly #parts: PostgresChargeParts;
  /** By lane. */
  readonly #clients = new Map<number, pg.Client>();

  constructor(parts: PostgresChargeParts) {
    this.#parts = parts;
  }

  readonly isOutage = isOutage;

  /**
   * Retries after conflicts, and once after a lost connection. Before COMMIT is sent nothing is recorded, so that is
   * safe; afterwards the server is asked for the outcome first. Where a lock did not come, the batch is run again without
   * the accounts that are locked; where it was another lock than an account's, every account is tried alone.
   */
  async transact(requests: readonly ChargeRequest[], lane: number): Promise<Answer[]> {
    const node = await this.#parts.node();
    for (let tries = 1, lost = 0, skipLocked = false; ; tries++) {
      try {
        return await this.#run(requests, { node, lane, skipLocked });
      } catch (error) {
        if (error instanceof UnknownOutcome && (await this.#wasCommitted(error, lane))) return error.answers;
        const failure = error instanceof UnknownOutcome ? error.cause : error;
        if (isLocked(failure)) {
          if (skipLocked) return requests.map(() => ({ held: true }));
          skipLocked = true;
          this.retries.locked += 1;
          continue;
        }
        if (isLost(failure)) this.#drop(lane);
        if (isLost(failure) && lost++ === 0) {
          this.retries.connection += 1;
          continue;
        }
        if (!isConflict(failure) || tries === TRIES) throw failure;
        this.retries.conflict += 1;
      }
    }
  }

  close(): void {
    for (const lane of this.#clients.keys()) this.#drop(lane);
  }

  async #run(
    requests: readonly ChargeRequest[],
    { node, lane, skipLocked }: { node: string; lane: number; skipLocked: boolean },
  ): Promise<Answer[]> {
    const { url, clock, time, onEvent } = this.#parts;
    const client = this.#clients.get(lane) ?? (await connectCharge(url));
    this.#clients.set(lane, client);
    try {
      const now = time === 'process' ? () => clock.now() : null;
      const { state, xid, isHeld } = await load(client, requests, { node, clock: now, skipLocked });
      const { answers, changes } = applyBatch(state, requests, isHeld);
      if (isEmpty(changes)) await client.query('ROLLBACK');
      else await commit(client, statements(changes, state), xid, answers);
      changes.events.forEach(onEvent);
      return answers;
    } catch (error) {
      if (!isLost(error) && !(error instanceof UnknownOutcome))
        await client.query('ROLLBACK').catch(() => this.#drop(lane));
      throw error;
    }
  }

  /** The server knows the outcome of recent transactions. Throws when it stays unreachable. */
  async #wasCommitted({ xid, cause }: UnknownOutcome, lane: number): Promise<boolean> {
    const { url, clock } = this.#parts;
    this.#drop(lane);
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

  #drop(lane: number): void {
    const client = this.#clients.get(lane);
    if (client !== undefined) discard(client);
    this.#clients.delete(lane);
  }
}

/**
 * Every statement of charging looks up a few rows by an index, and its plan lives as long as the connection. A plan made
 * while a table is small would scan it, and still do so after it has grown.
 */
async function connectCharge(url: string): Promise<pg.Client> {
  const client = await connectClient(url, { pipeline: true, query_timeout: ANSWER_WITHIN_MS });
  const timeouts = `SET lock_timeout = ${LOCK_WITHIN_MS}; SET idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`;
  await client.query(
    `SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; ${timeouts}; ${KEEPALIVES}`,
  );
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
