/**
 * Charging on PostgreSQL: one statement per batch, by what the node remembers (`ChargeMemory`); where that does not
 * suffice, a locking transaction, in two groups of pipelined statements.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { highestPrice, type Plans, type PlanTerms, termsOf } from '../../kernel/facts/plans.ts';
import { renewalOf } from '../charge/allowance.ts';
import { applyBatch } from '../charge/apply-batch.ts';
import { type CountingDriver, noRetries, unavailable } from '../charge/batcher.ts';
import { type Changes, type ChargeAnswer, type ChargeRequest, type ChargeState, isAdmission } from '../charge/state.ts';
import { rateLimitOf } from '../charge/window.ts';
import { assigned, MOVED_COUNTERS, numberColumn, rowMaker, textColumn } from '../columns.ts';
import { onlyRow } from '../rows.ts';
import type { Admission, StoreEvent } from '../store.ts';
import { connectClient, discardClient, isConflict, isLocked, isLost, isPostgresOutage, KEEPALIVES } from './connect.ts';
import {
  FILTER_VALUE,
  filterRows,
  type LoadedBatch,
  loadBatch,
  pipelined,
  type StoredAccount,
  type StoredKey,
} from './load.ts';
import { arraysOf, type NamedStatement, oneStatement, statements, unnest } from './write.ts';

// A session of a connection is seen here from another one.

/** Process IDs are used again, together with the start they are not. */
interface ServerSession {
  readonly pid: number;
  readonly start: string;
}

const OWN_BACKEND = `SELECT pid, extract(epoch FROM backend_start)::text AS start FROM pg_stat_activity
  WHERE pid = pg_backend_pid()`;
/** Ending sessions of one's own role needs no privilege. */
const END = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid = $1 AND extract(epoch FROM backend_start)::text = $2`;

async function sessionOf(client: pg.Client): Promise<ServerSession> {
  return onlyRow((await client.query<{ pid: number; start: string }>(OWN_BACKEND)).rows);
}

/** True when the session has ended, with whatever it was doing; false when it was asked to end. */
async function endSession(client: pg.Client, { pid, start }: ServerSession): Promise<boolean> {
  return (await client.query(END, [pid, start])).rows.length === 0;
}

const CHARGE_TRIES = 4;
/** Transactions run side by side, each on a connection of its own. */
const LANES = 4;
/** An account whose lock takes longer is set aside, so that the others of its batch do not wait, ms. */
const LOCK_WITHIN_MS = 250;
/** A node that stops within a charge keeps its accounts no longer, ms. */
const IDLE_IN_TRANSACTION_MS = 2_500;
/** A server that takes longer for one statement counts as lost, ms; callers get an error after STORE_WAIT_SECONDS. */
const ANSWER_WITHIN_MS = 4_000;
/** How long, and how often, to query the outcome of a commit whose reply was lost. */
const OUTCOME_WITHIN_MS = 10_000;
const OUTCOME_POLL_MS = 100;
/** Finds the accounts of verifications and holds. */
const RECORDED_OF = `SELECT account_id AS owner FROM verifications WHERE id = ANY ($1::text[])
  UNION SELECT account_id FROM holds WHERE id = ANY ($1::text[])`;

interface PostgresChargeParts {
  readonly url: string;
  readonly clock: Clock;
  readonly time: 'store' | 'process';
  /** Whether the node judges by what it remembers. */
  readonly remembers: boolean;
  readonly plans: Plans;
  readonly onEvent: (event: StoreEvent) => void;
  readonly node: () => Promise<string>;
  /** Returns the schema version of this program. */
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

// Charging in one round trip, by what this node remembers: a batch is judged in memory and sent as one statement, which
// charges only the accounts of which everything that the judgment relied on is still so. The others' requests are then
// judged under a lock.

const REMEMBERED_ACCOUNTS_MAX = 12_000;
const REMEMBERED_KEYS_MAX = 20_000;
/** After a failure, so many batches with the account are judged under a lock; twice as many after each further one. */
const LOCKED_BATCHES_MAX = 48;
/** The server's clock may differ by so much from the time that a batch was judged by, ms. */
const TIME_TOLERANCE_MS = 1_000;

/** The batch took an account from one state to the other. */
interface Charged {
  readonly before: StoredAccount;
  readonly after: StoredAccount;
  readonly terms: PlanTerms;
}
const spent = ({ before, after }: Charged): number => before.balance - after.balance;
const CHARGED = rowMaker<Charged>({
  id: textColumn(({ after }) => after.id),
  rules: numberColumn(({ after }) => after.rules),
  balance: numberColumn((charged) => -spent(charged)),
  needed: numberColumn((charged) => spent(charged) + highestPrice([charged.terms])),
  locked: numberColumn(({ before, after }) => after.locked - before.locked),
  window_start: numberColumn(({ after }) => after.windowStart),
  requests: numberColumn(
    ({ before, after }) => after.windowCount - (after.windowStart === before.windowStart ? before.windowCount : 0),
  ),
  rate_limit: numberColumn(({ after, terms }) => rateLimitOf(after, terms)),
});
/** The parameter after those of `CHARGED`: the time that the batch was judged by. */
const NOW_PARAMETER = `$${CHARGED.columns.length + 1}`;

/**
 * Accounts that have a filter that could match. Whoever adds one changes `rules`, so none is missed by the condition
 * below.
 */
const MET = `SELECT account_id FROM ${unnest(FILTER_VALUE)} JOIN filters USING (account_id, filter_type, value)`;

/**
 * Counters change by what the batch adds to them, so that other nodes may charge the account meanwhile: the balance
 * need only cover all of the batch, and the window take all of it. In a new snapshot the row is looked at again after
 * its lock was waited for; whatever else changed has then changed `rules`.
 */
const charge = (condition: string) => `UPDATE accounts a SET ${assigned(MOVED_COUNTERS)} FROM ${unnest(CHARGED)}
  WHERE a.id = c.id AND a.rules = c.rules AND a.balance >= c.needed AND a.window_start <= c.window_start
    AND ${MOVED_COUNTERS.window_count} <= c.rate_limit
    AND (${NOW_PARAMETER}::bigint IS NULL OR abs(floor(extract(epoch FROM statement_timestamp()) * 1000) - ${NOW_PARAMETER}) <= ${TIME_TOLERANCE_MS})
    ${condition}
  RETURNING a.id, a.balance, a.window_count AS "windowCount",
    floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint AS now`;
const CHARGE_STATEMENT = charge('');
const CHARGE_UNMET = charge('AND a.id <> ALL (ARRAY(SELECT account_id FROM met))');

/** An account as it was charged. */
interface ChargedAccount {
  readonly id: string;
  readonly balance: number;
  readonly windowCount: number;
  /** The time is by the server's clock, in ms. */
  readonly now: number;
}

/** The request was judged in memory. */
interface Judged {
  readonly request: ChargeRequest;
  /** Names the account. */
  readonly owner: string;
  readonly answer: ChargeAnswer;
}

/** The batch was judged in memory. */
interface ChargeAttempt {
  readonly judged: readonly Judged[];
  /** Accounts to charge, as they will be if nobody else charges them. */
  readonly after: ReadonlyMap<string, StoredAccount>;
  /** Accounts that refused a request, which counters decide that may have changed: nothing of theirs is written. */
  readonly refused: ReadonlySet<string>;
  /** Null: there is nothing to write. */
  readonly statement: NamedStatement | null;
  readonly changes: Changes;
  /** The time that it was judged by, ms. */
  readonly now: number;
}

/** There is one for each request; null means that it is to be judged again. */
type AttemptAnswers = (ChargeAnswer | null)[];

/** A better reading counts for so long, ms: clocks drift, and the server's may be set. */
const BEST_FOR_MS = 10_000;

/** The server's clock as this process knows it: the last good reading, and the time that has passed since. */
class ServerTime {
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** `ahead` is the server's time minus `elapsed()`, right to within half of `tookMs`. */
  #best: { readonly ahead: number; readonly tookMs: number; readonly at: number } | null = null;

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  /** ms; null: it was never read. */
  now(): number | null {
    return this.#best === null ? null : Math.round(this.#best.ahead + this.#clock.elapsed());
  }

  /** `time` is what the server's clock showed at some moment since `asked`, by `elapsed()`. */
  read(time: number, asked: number): void {
    const at = this.#clock.elapsed();
    const tookMs = at - asked;
    const best = this.#best;
    if (best !== null && tookMs > best.tookMs && at - best.at < BEST_FOR_MS) return;
    this.#best = { ahead: time - (asked + at) / 2, tookMs, at };
  }

  /** The best reading goes: the server's clock is not what it was taken for. */
  forget(): void {
    this.#best = null;
  }
}

interface RememberedAccount {
  readonly account: StoredAccount;
  /** Batches with it that are still to be judged under a lock. */
  wait: number;
  /** Sets the `wait` after the next failure. */
  readonly penalty: number;
}

/**
 * Judges batches before anything is locked. Nothing but speed depends on it: what it does not admit is judged under a
 * lock, and the statement of what it admits charges only where everything that it went by still holds.
 */
interface BatchJudge {
  /** Null: the batch is judged under a lock. */
  judge(requests: readonly ChargeRequest[], node: string): ChargeAttempt | null;
  /** The answers of an attempt whose statement has returned these rows; `asked`: when it was sent, by `elapsed()`. */
  conclude(attempt: ChargeAttempt, rows: readonly ChargedAccount[], asked: number): AttemptAnswers;
  /** The statement of the attempt has failed. */
  forget(attempt: ChargeAttempt): void;
  /** What a transaction has read that locked the accounts, and what it has changed; `asked` as above. */
  remember(loaded: Remembering, changes: Changes, asked: number): void;
}

/** Judges nothing, so that every batch is judged under a lock. */
const NO_MEMORY: BatchJudge = {
  judge: () => null,
  conclude: ({ judged }) => judged.map(() => null),
  forget: () => undefined,
  remember: () => undefined,
};

type Remembering = Pick<LoadedBatch, 'accounts' | 'keys' | 'state' | 'serverTime'>;

class ChargeMemory implements BatchJudge {
  readonly #accounts = new LRUCache<string, RememberedAccount>({ max: REMEMBERED_ACCOUNTS_MAX });
  /** The key is the hash. A key is as remembered while its account has the `rules` that it had then. */
  readonly #keys = new LRUCache<string, { readonly key: StoredKey; readonly rules: number }>({
    max: REMEMBERED_KEYS_MAX,
  });

  readonly #plans: Plans;
  readonly #clock: Clock;
  /** Null means that this process's clock counts instead, for tests. */
  readonly #serverTime: ServerTime | null;

  constructor({ clock, time, plans }: Pick<PostgresChargeParts, 'clock' | 'time' | 'plans'>) {
    this.#clock = clock;
    this.#plans = plans;
    this.#serverTime = time === 'process' ? null : new ServerTime(clock);
  }

  remember({ accounts, keys, state, serverTime }: Remembering, { keyUses }: Changes, asked: number): void {
    const { now } = state;
    this.#serverTime?.read(serverTime, asked);
    for (const account of accounts) {
      const { wait = 0, penalty = 1 } = this.#accounts.peek(account.id) ?? {};
      this.#accounts.set(account.id, { account, wait, penalty });
    }
    for (const key of keys) {
      const owner = accounts.find(({ id }) => id === key.accountId);
      if (owner !== undefined) this.#keys.set(key.hash, { key: used(key, keyUses, now), rules: owner.rules });
    }
  }

  judge(requests: readonly ChargeRequest[], node: string): ChargeAttempt | null {
    const now = this.#serverTime === null ? this.#clock.now() : this.#serverTime.now();
    if (now === null) return null;
    const owners: string[] = [];
    const accounts = new Map<string, Charged>();
    for (const request of requests) {
      const account = this.#accountOf(request);
      if (account === null) return null;
      const terms = termsOf(this.#plans, account.plan);
      // What an allowance adds depends on counters, which may have changed.
      if (renewalOf(account, terms, now) !== null) return null;
      owners.push(account.id);
      if (!accounts.has(account.id)) accounts.set(account.id, { before: account, after: { ...account }, terms });
    }
    const state: ChargeState = {
      now,
      node,
      plans: this.#plans,
      key: (hash) => this.#keys.get(hash)?.key ?? null,
      account: (id) => accounts.get(id)?.after ?? null,
      ...NOT_STORED,
    };
    const { answers, changes } = applyBatch(state, requests);
    // The store's clock was set back: see windowAhead.
    if (changes.events.length > 0) return null;
    const judged = requests.map((request, i) => ({
      request,
      owner: owners[i] ?? '',
      answer: answers[i] ?? { dropped: true as const },
    }));
    const refused = new Set(judged.flatMap(({ answer, owner }) => (isRefusal(answer) ? [owner] : [])));
    const counted = new Set(Array.from(changes.accounts, ({ id }) => id));
    // All writers lock them in this order.
    const charged = [...accounts.values()]
      .filter(({ after: { id } }) => counted.has(id) && !refused.has(id))
      .sort((a, b) => (a.after.id < b.after.id ? -1 : 1));
    const after = new Map<string, StoredAccount>(charged.map(({ after: account }) => [account.id, account]));
    const wanted = filterRows(
      judged.flatMap(({ request, owner }) =>
        request.kind === 'admit' ? [[after.get(owner) ?? null, request.admit] as const] : [],
      ),
    );
    const first = [
      ...(wanted.length === 0 ? [] : [{ name: 'met', text: MET, values: arraysOf(FILTER_VALUE, wanted) }]),
      {
        name: 'charged',
        text: wanted.length === 0 ? CHARGE_STATEMENT : CHARGE_UNMET,
        values: [...arraysOf(CHARGED, charged), this.#serverTime === null ? null : now],
      },
    ];
    return {
      judged,
      after,
      refused,
      statement: charged.length === 0 ? null : oneStatement(first, changes, state),
      changes,
      now,
    };
  }

  conclude(
    { judged, after, refused, statement, changes, now }: ChargeAttempt,
    rows: readonly ChargedAccount[],
    asked: number,
  ): AttemptAnswers {
    const [first] = rows;
    if (first !== undefined) this.#serverTime?.read(first.now, asked);
    else if (statement !== null) this.#serverTime?.forget();
    const charged = new Map(rows.map((row) => [row.id, row]));
    const isAgain = (id: string) => refused.has(id) || (after.has(id) && !charged.has(id));
    for (const { request } of judged) this.#used(request, changes, now);
    for (const id of new Set(judged.map(({ owner }) => owner))) {
      const [account, row] = [after.get(id), charged.get(id)];
      if (isAgain(id)) this.#failed(id);
      else if (account !== undefined && row !== undefined) {
        const { balance, windowCount } = row;
        this.#accounts.set(id, { account: { ...account, balance, windowCount }, wait: 0, penalty: 1 });
      }
    }
    return judged.map(({ owner, answer }) =>
      isAgain(owner) && !('dropped' in answer) ? null : corrected(answer, after.get(owner), charged.get(owner)),
    );
  }

  forget(attempt: ChargeAttempt): void {
    for (const { owner } of attempt.judged) this.#accounts.delete(owner);
  }

  /** A use that was not recorded, because its account was not charged, is recorded a little later. */
  #used(request: ChargeRequest, changes: Changes, now: number): void {
    if (request.kind === 'settle' || typeof request.admit.keyHash !== 'string') return;
    const { keyHash } = request.admit;
    const known = this.#keys.peek(keyHash);
    if (known !== undefined && changes.keyUses.has(known.key.id))
      this.#keys.set(keyHash, { ...known, key: used(known.key, changes.keyUses, now) });
  }

  #failed(id: string): void {
    const known = this.#accounts.peek(id);
    if (known === undefined) return;
    const { account, penalty } = known;
    this.#accounts.set(id, { account, wait: penalty, penalty: Math.min(penalty * 2, LOCKED_BATCHES_MAX) });
  }

  /** The account of a request that can be judged by what is remembered; else null. */
  #accountOf(request: ChargeRequest): StoredAccount | null {
    if (request.kind === 'settle') return null;
    const { keyHash, idempotency, verify } = request.admit;
    if (idempotency !== null || verify?.seen != null) return null;
    const key = typeof keyHash === 'string' ? this.#keys.get(keyHash) : null;
    if (key === undefined) return null;
    const id = typeof keyHash === 'string' ? key?.key.accountId : keyHash.account;
    const known = this.#accounts.get(id ?? '');
    if (known === undefined) return null;
    if (known.wait > 0) {
      known.wait -= 1;
      return null;
    }
    const { account } = known;
    // The counters of a budget are not covered by the condition.
    if (key !== null && (key.rules !== account.rules || key.key.budget !== null)) return null;
    return account;
  }
}

/** What the memory has nothing of: requests that need it are judged under a lock. */
const NOT_STORED = {
  keyById: () => null,
  hold: () => null,
  recorded: () => null,
  idempotency: () => null,
  filters: () => [],
  seenOwner: () => null,
  seen: () => null,
};

const used = (key: StoredKey, uses: Changes['keyUses'], now: number): StoredKey =>
  uses.has(key.id) ? { ...key, lastUsedAt: now } : key;

const admissionOf = (answer: ChargeAnswer): Admission | null =>
  'value' in answer && isAdmission(answer.value) ? answer.value : null;

const isRefusal = (answer: ChargeAnswer): boolean => admissionOf(answer)?.outcome === 'refused';

/** Ids of the verifications and holds that a batch writes. */
const idsOf = ({ changes }: ChargeAttempt): string[] => [
  ...changes.verifications.map(({ record }) => record.id),
  ...changes.holds.map(({ id }) => id),
];

/** The answer with the balance and the window as they are when others have charged the account as well. */
function corrected(
  answer: ChargeAnswer,
  assumed: StoredAccount | undefined,
  charged: ChargedAccount | undefined,
): ChargeAnswer {
  if (assumed === undefined || charged === undefined) return answer;
  const balance = charged.balance - assumed.balance;
  const requests = charged.windowCount - assumed.windowCount;
  if (balance === 0 && requests === 0) return answer;
  const admission = admissionOf(answer);
  if (admission === null || admission.window === null || admission.balance === null) return answer;
  const { remaining } = admission.window;
  const window = { ...admission.window, remaining: Math.max(0, remaining - requests) };
  return { value: { ...admission, window, balance: admission.balance + balance } };
}

export class PostgresCharge implements CountingDriver {
  readonly lanes = LANES;
  /** The next batch is judged by what the one before has left. */
  readonly atOnce = 1;
  readonly retries = noRetries();
  readonly #parts: PostgresChargeParts;
  /** Maps lanes to connections. */
  readonly #connections = new Map<number, Connection>();
  readonly #memory: BatchJudge;
  #opening: Promise<unknown> = Promise.resolve();

  constructor(parts: PostgresChargeParts) {
    this.#parts = parts;
    this.#memory = parts.remembers ? new ChargeMemory(parts) : NO_MEMORY;
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
        if (!isConflict(failure) || tries === CHARGE_TRIES) throw failure;
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
    const { clock, time, plans, onEvent, known } = this.#parts;
    const { client } = await this.#connect(lane);
    try {
      const now = time === 'process' ? () => clock.now() : null;
      const asked = clock.elapsed();
      const loaded = await loadBatch(client, requests, { node, plans, clock: now, known: known(), skipLocked });
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
    for (const end = clock.elapsed() + OUTCOME_WITHIN_MS; clock.elapsed() < end; await sleep(OUTCOME_POLL_MS)) {
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

const isEmpty = (changes: Changes): boolean =>
  changes.accounts.size === 0 &&
  changes.ledger.length === 0 &&
  changes.verifications.length === 0 &&
  changes.idempotency.size === 0 &&
  changes.keyUses.size === 0;
