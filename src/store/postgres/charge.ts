/**
 * Charging on PostgreSQL: one statement per batch, by what the node remembers (memory.ts); where that does not suffice,
 * a locking transaction, in two groups of pipelined statements.
 */

import type pg from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { applyBatch } from '../charge/apply-batch.ts';
import { type CountingDriver, noRetries, unavailable } from '../charge/batcher.ts';
import { type ChargeAnswer, type ChargeRequest, isEmpty } from '../charge/state.ts';
import { onlyRow } from '../rows.ts';
import type { StoreEvent } from '../store.ts';
import { connectClient, discardClient, isConflict, isLocked, isLost, isPostgresOutage, KEEPALIVES } from './connect.ts';
import { loadBatch, pipelined } from './load.ts';
import {
  type AttemptAnswers,
  type BatchJudge,
  type ChargeAttempt,
  type ChargedAccount,
  ChargeMemory,
  idsOf,
  NO_MEMORY,
} from './memory.ts';
import { statements } from './write.ts';

// A session of a connection, seen from another one.

/** Process IDs are used again, together with the start they are not. */
interface ServerSession {
  readonly pid: number;
  readonly start: string;
}

const OWN = `SELECT pid, extract(epoch FROM backend_start)::text AS start FROM pg_stat_activity
  WHERE pid = pg_backend_pid()`;
/** Ending sessions of one's own role needs no privilege. */
const END = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid = $1 AND extract(epoch FROM backend_start)::text = $2`;

async function sessionOf(client: pg.Client): Promise<ServerSession> {
  return onlyRow((await client.query<{ pid: number; start: string }>(OWN)).rows);
}

/** True when the session has ended, with whatever it was doing; false when it was told to. */
async function endSession(client: pg.Client, { pid, start }: ServerSession): Promise<boolean> {
  return (await client.query(END, [pid, start])).rows.length === 0;
}

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
/** Accounts of verifications and holds. */
const RECORDED_OF = `SELECT account_id AS owner FROM verifications WHERE id = ANY ($1::text[])
  UNION SELECT account_id FROM holds WHERE id = ANY ($1::text[])`;

interface PostgresChargeParts {
  readonly url: string;
  readonly clock: Clock;
  readonly time: 'store' | 'process';
  /** Whether the node judges by what it remembers. */
  readonly remembers: boolean;
  readonly onEvent: (event: StoreEvent) => void;
  readonly node: () => Promise<string>;
  /** The schema version of this program. */
  readonly known: () => number;
}

/** The connection broke after COMMIT was sent: it may have happened. */
class UnknownOutcome extends Error {
  readonly xid: string;
  readonly answers: ChargeAnswer[];
  constructor(xid: string, answers: ChargeAnswer[], cause: unknown) {
    super('The connection was lost during a commit.', { cause });
    this.xid = xid;
    this.answers = answers;
  }
}

interface Connection {
  readonly client: pg.Client;
  readonly session: ServerSession;
}

export class PostgresCharge implements CountingDriver {
  readonly lanes = LANES;
  /** The next batch is judged by what the one before has left. */
  readonly atOnce = 1;
  readonly retries = noRetries();
  readonly #parts: PostgresChargeParts;
  /** By lane. */
  readonly #connections = new Map<number, Connection>();
  readonly #memory: BatchJudge;
  #opening: Promise<unknown> = Promise.resolve();

  constructor(parts: PostgresChargeParts) {
    this.#parts = parts;
    this.#memory = parts.remembers ? new ChargeMemory(parts.clock, parts.time) : NO_MEMORY;
  }

  readonly isOutage = isPostgresOutage;

  async open(): Promise<void> {
    const lanes = Array.from({ length: LANES }, (_, lane) => this.#connect(lane));
    this.#opening = Promise.allSettled([this.#parts.node(), ...lanes]);
    await this.#opening;
  }

  /** Where only some accounts could be charged by the memory, what then fails for the others is their answer. */
  async transact(requests: readonly ChargeRequest[], lane: number): Promise<ChargeAnswer[]> {
    const node = await this.#parts.node();
    const attempt = this.#memory.judge(requests, node);
    if (attempt === null) return this.#underLock(requests, { node, lane, skipLocked: false });
    const { answers, skipLocked } = await this.#charge(attempt, lane);
    const others = requests.filter((_, i) => answers[i] === null);
    if (others.length === 0) return answers.filter((answer) => answer !== null);
    const late = await this.#underLock(others, { node, lane, skipLocked }).catch((error: unknown): ChargeAnswer[] => {
      if (others.length === requests.length) throw error;
      return others.map(() => ({ error: isPostgresOutage(error) ? unavailable(error) : error }));
    });
    return answers.flatMap((answer) => answer ?? late.splice(0, 1));
  }

  async close(): Promise<void> {
    await this.#opening;
    for (const lane of this.#connections.keys()) this.#drop(lane);
  }

  /** Charges the accounts of the attempt that are as it has judged them. */
  async #charge(attempt: ChargeAttempt, lane: number): Promise<{ answers: AttemptAnswers; skipLocked: boolean }> {
    const asked = this.#parts.clock.elapsed();
    if (attempt.statement === null) return { answers: this.#memory.conclude(attempt, [], asked), skipLocked: false };
    const nothing = attempt.judged.map(() => null);
    const connection = await this.#connect(lane).catch(() => null);
    if (connection === null) return { answers: nothing, skipLocked: false };
    try {
      const sent = this.#parts.clock.elapsed();
      const { rows } = await connection.client.query<ChargedAccount>(attempt.statement);
      return { answers: this.#memory.conclude(attempt, rows, sent), skipLocked: false };
    } catch (error) {
      this.#memory.forget(attempt);
      // The server undid the statement; under a lock it comes out what it was.
      const skipLocked = isLocked(error);
      if (skipLocked) this.retries.locked += 1;
      if (!isLost(error)) return { answers: nothing, skipLocked };
      this.retries.connection += 1;
      this.#drop(lane);
      const charged = await this.#recordedBy(connection.session, attempt, error);
      const answers = attempt.judged.map(({ owner, answer }) =>
        charged.has(owner) || 'dropped' in answer ? answer : null,
      );
      return { answers, skipLocked: false };
    }
  }

  /**
   * Which accounts of the attempt were charged, after its connection was lost: its session is ended, so that it does no
   * more, and then its rows tell. An account of which none was to be written is judged again; its requests were only
   * counted, perhaps twice.
   */
  #recordedBy(session: ServerSession, attempt: ChargeAttempt, cause: unknown): Promise<Set<string>> {
    return this.#outcome(cause, async (client) => {
      if (!(await endSession(client, session))) return null;
      const { rows } = await client.query<{ owner: string }>(RECORDED_OF, [idsOf(attempt)]);
      return new Set(rows.map(({ owner }) => owner));
    });
  }

  /**
   * Retries after conflicts, and once after a lost connection. Before COMMIT is sent nothing is recorded, so that is
   * safe; afterwards the server is asked for the outcome first. Where a lock did not come, the batch is run again
   * without the accounts that are locked; where it was another lock than an account's, every account is tried alone.
   */
  async #underLock(
    requests: readonly ChargeRequest[],
    { node, lane, skipLocked }: { node: string; lane: number; skipLocked: boolean },
  ): Promise<ChargeAnswer[]> {
    for (let tries = 1, lost = 0, skips = skipLocked; ; tries++) {
      try {
        return await this.#run(requests, { node, lane, skipLocked: skips });
      } catch (error) {
        if (error instanceof UnknownOutcome && (await this.#wasCommitted(error, lane))) return error.answers;
        const failure = error instanceof UnknownOutcome ? error.cause : error;
        if (isLocked(failure)) {
          if (skips) return requests.map(() => ({ held: true }));
          skips = true;
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

  async #connect(lane: number): Promise<Connection> {
    const connection = this.#connections.get(lane) ?? (await connectCharge(this.#parts.url));
    this.#connections.set(lane, connection);
    return connection;
  }

  async #run(
    requests: readonly ChargeRequest[],
    { node, lane, skipLocked }: { node: string; lane: number; skipLocked: boolean },
  ): Promise<ChargeAnswer[]> {
    const { clock, time, onEvent, known } = this.#parts;
    const { client } = await this.#connect(lane);
    try {
      const now = time === 'process' ? () => clock.now() : null;
      const asked = clock.elapsed();
      const loaded = await loadBatch(client, requests, { node, clock: now, known: known(), skipLocked });
      const { state, xid, isHeld } = loaded;
      const { answers, changes } = applyBatch(state, requests, isHeld);
      if (isEmpty(changes)) await client.query('ROLLBACK');
      else await commit(client, statements(changes, state), xid, answers);
      this.#memory.remember(loaded, changes, asked);
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
    this.#drop(lane);
    const outcome = await this.#outcome(cause, async (client) => {
      const { rows } = await client.query<{ outcome: string | null }>('SELECT pg_xact_status($1::xid8) AS outcome', [
        xid,
      ]);
      const { outcome: status } = onlyRow(rows);
      return status === 'in progress' ? null : status;
    });
    return outcome === 'committed';
  }

  /** What `look` finds out on a new connection; null: not yet. Throws when the server stays unreachable. */
  async #outcome<T>(cause: unknown, look: (client: pg.Client) => Promise<T | null>): Promise<T> {
    const { url, clock } = this.#parts;
    for (const end = clock.elapsed() + OUTCOME_WITHIN_MS; clock.elapsed() < end; await pause(OUTCOME_POLL_MS)) {
      const found = await withClient(url, look).catch((error: unknown) => {
        if (!isPostgresOutage(error)) throw error;
        return null;
      });
      if (found !== null) return found;
    }
    const sentence = 'The store stopped answering. Whether this was charged is in the log when it is back.';
    throw new ApiError('verification_unavailable', sentence, { retry_after: 5 }, cause);
  }

  #drop(lane: number): void {
    const connection = this.#connections.get(lane);
    if (connection !== undefined) discardClient(connection.client);
    this.#connections.delete(lane);
  }
}

/**
 * Every statement of charging looks up a few rows by an index, and its plan lives as long as the connection: made once,
 * whatever the arrays. A plan made while a table is small would scan it, and still do so after it has grown. Where
 * there is no index to use, as for the schema's version, that makes a plan look so expensive that the server would
 * compile it first, which takes hundreds of milliseconds, under the lock.
 */
async function connectCharge(url: string): Promise<Connection> {
  const client = await connectClient(url, { pipeline: true, query_timeout: ANSWER_WITHIN_MS });
  const plans = `SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off;
    SET enable_mergejoin = off; SET jit = off`;
  const timeouts = `SET lock_timeout = ${LOCK_WITHIN_MS}; SET idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`;
  try {
    await client.query(`${plans}; ${timeouts}; ${KEEPALIVES}`);
    return { client, session: await sessionOf(client) };
  } catch (error) {
    discardClient(client);
    throw error;
  }
}

async function commit(
  client: pg.Client,
  writes: pg.QueryConfig[],
  xid: string,
  answers: ChargeAnswer[],
): Promise<void> {
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

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectClient(url);
  try {
    return await use(client);
  } finally {
    discardClient(client);
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
