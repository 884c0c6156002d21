/**
 * The table of jobs. `due_at` is when something has to happen: a waiting job is to run, a lease is over, a failed job
 * is to be deleted. `set_at` is when that was decided: where it lies in the future the clock was set back, and `due_at`
 * is moved along, so that no job waits for the clock to catch up.
 *
 * A transaction on SQLite has the one write lock. On PostgreSQL rows that another node has locked are skipped, so that
 * nodes neither wait for each other nor deadlock, and a lease is named in the change that ends it.
 */
import type { Kysely, SelectQueryBuilder, Transaction } from 'kysely';
import { DAY_MS } from '../../kernel/clock.ts';
import { CLOCK_TOLERANCE_MS } from '../../kernel/facts/limits.ts';
import { newId, randomInt } from '../../kernel/ids.ts';
import {
  isJobKind,
  JOB_KINDS,
  type JobKind,
  type JobPayloads,
  type JobPolicies,
  type JobPolicy,
} from '../../kernel/jobs.ts';
import type { JobQueue, StorageDriver } from '../driver.ts';
import { countOf, storable } from '../rows.ts';
import type { JobCount } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import {
  type Claim,
  type JobRecord,
  type Jobs,
  type Lease,
  LeaseLostError,
  type NewJob,
  type RetryOutcome,
} from './queue.ts';

/** Every operation of the queue works with it. */
interface JobsContext {
  readonly driver: Pick<StorageDriver, 'name' | 'db' | 'now' | 'transaction' | 'readTogether'>;
  readonly policies: JobPolicies;
}
type JobRow = Row<'jobs'>;

export const jobQueue = (context: JobsContext): JobQueue => ({
  add: (trx, job) => addJob({ now: () => context.driver.now(trx), policies: context.policies }, trx, job),
  claim: (slots, held = []) => claimJobs(context, slots, held),
  renew: (lease) => renewLease(context, lease),
  release: (lease) => releaseLease(context, lease),
  done: (trx, claim, againMs = null) => completeJob(context, trx, claim, againMs),
  fail: (lease, error, permanent = false) => failJob(context, lease, error, permanent),
  list: (input) => listJobs(context, input),
  get: (id) => getJob(context, id),
  count: countJobs,
  retry: (id) => retryJob(context, id),
  drop: (id) => dropJob(context, id),
  async dropAccount(trx, account, except) {
    await trx.deleteFrom('jobs').where('account_id', '=', account).where('kind', '<>', except).execute();
  },
  maintain: () => maintainJobs(context),
});

/** Opens the queue; each change has a transaction of its own. */
export function jobs(driver: StorageDriver): Jobs {
  const { jobs: queue } = driver;
  return {
    ...queue,
    add: (job) => driver.transaction((trx) => queue.add(trx, job)),
    done: (claim, againMs) => driver.transaction((trx) => queue.done(trx, claim, againMs)),
  };
}

/** JSON that both engines can keep. */
const payloadText = (payload: JobPayloads[JobKind]): string =>
  JSON.stringify(payload, (_key, value: unknown) => (typeof value === 'string' ? storable(value) : value));

export async function addJob(
  { now: storeNow, policies }: { readonly now: () => Promise<number>; readonly policies: JobPolicies },
  trx: Transaction<Tables>,
  { kind, payload, key = null, account = null, delayMs = 0 }: NewJob,
): Promise<string | null> {
  const now = await storeNow();
  const id = newId('job', now);
  const row = {
    id,
    kind,
    key: key ?? id,
    account_id: account,
    payload: payloadText(payload),
    state: 'waiting' as const,
    attempts: 0,
    attempt_limit: policies[kind].attempts,
    due_at: now + delayMs,
    set_at: now,
    last_error: null,
    created_at: now,
    failed_at: null,
  };
  return (await insertUnlessOpen(trx, row)) ? id : null;
}

/** False where an open job has its kind and key. */
async function insertUnlessOpen(trx: Transaction<Tables>, row: JobRow): Promise<boolean> {
  const insert = trx.insertInto('jobs').values(row);
  const { numInsertedOrUpdatedRows } = await insert.onConflict((oc) => oc.doNothing()).executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

async function claimJobs(
  context: JobsContext,
  slots: ReadonlyMap<JobKind, number>,
  held: readonly string[],
): Promise<Claim[]> {
  const { driver } = context;
  if (slots.size === 0 || !(await anyDue(context, [...slots.keys()], await driver.now()))) return [];
  return driver.transaction(async (trx) => {
    // Leases begin when the lock is held, however long it was waited for.
    const now = await driver.now(trx);
    await followClock(context, trx, now);
    await endExpired(context, trx, now, held);
    return takeJobs(context, trx, slots, now);
  });
}

/** A look first: claiming takes the one write lock of SQLite, and mostly there is nothing to do. */
async function anyDue({ driver }: JobsContext, kinds: readonly JobKind[], now: number): Promise<boolean> {
  const due = driver.db.selectFrom('jobs').select('id').where('state', '<>', 'failed');
  const some = due.where((eb) => eb.or([eb('due_at', '<=', now), eb('set_at', '>', now + CLOCK_TOLERANCE_MS)]));
  const ours = some.where((eb) => eb.or([eb('state', '=', 'running'), eb('kind', 'in', kinds)]));
  return (await ours.limit(1).executeTakeFirst()) !== undefined;
}

/** Jobs that one transaction moves along. */
const MOVED_AT_ONCE = 1_000;

/** Moves along what was decided by a clock that has been set back since. */
async function followClock(context: JobsContext, trx: Transaction<Tables>, now: number): Promise<void> {
  const ahead = trx
    .selectFrom('jobs')
    .select('id')
    .where('set_at', '>', now + CLOCK_TOLERANCE_MS);
  await trx
    .updateTable('jobs')
    .where('id', 'in', unlocked(context, ahead.limit(MOVED_AT_ONCE)))
    .set((eb) => ({ due_at: eb(eb('due_at', '-', eb.ref('set_at')), '+', now), set_at: now }))
    .execute();
}

/** Locks the rows that nobody else has locked, and selects only these. */
const unlocked = <O>({ driver }: JobsContext, rows: SelectQueryBuilder<Tables, 'jobs', O>) =>
  driver.name === 'sqlite' ? rows : rows.forUpdate().skipLocked();

async function endExpired(
  context: JobsContext,
  trx: Transaction<Tables>,
  now: number,
  held: readonly string[],
): Promise<void> {
  let expired = trx.selectFrom('jobs').selectAll().where('state', '=', 'running').where('due_at', '<=', now);
  if (held.length > 0) expired = expired.where('id', 'not in', held);
  const failure = { error: 'The worker ended or stalled: its lease expired.', permanent: false, now };
  for (const row of await unlocked(context, expired).execute()) await recordFailure(context, trx, row, failure);
}

async function takeJobs(
  context: JobsContext,
  trx: Transaction<Tables>,
  slots: ReadonlyMap<JobKind, number>,
  now: number,
): Promise<Claim[]> {
  const due = (kind: JobKind, limit: number) => {
    const waiting = trx.selectFrom('jobs').selectAll().where('kind', '=', kind).where('state', '=', 'waiting');
    return unlocked(context, waiting.where('due_at', '<=', now).orderBy('due_at').orderBy('id').limit(limit));
  };
  const queries = Object.fromEntries([...slots].map(([kind, limit]) => [kind, due(kind, limit)]));
  const found = await context.driver.readTogether(trx, queries);
  const claims: Claim[] = [];
  for (const kind of slots.keys()) {
    const rows = found[kind] ?? [];
    if (rows.length === 0) continue;
    const until = now + context.policies[kind].leaseSeconds * 1000;
    const lease = trx.updateTable('jobs').set({ state: 'running', due_at: until, set_at: now });
    const begun = lease.set((eb) => ({ attempts: eb('attempts', '+', 1) })).where('state', '=', 'waiting');
    const ids = rows.map(({ id }) => id);
    const taken = new Set((await begun.where('id', 'in', ids).returning('id').execute()).map(({ id }) => id));
    for (const row of rows) if (taken.has(row.id)) claims.push(toClaim(row, kind));
  }
  return claims;
}

/** The table's one promise: a payload is what was added for its kind. */
const toClaim = ({ id, key, account_id: account, attempts, payload }: JobRow, kind: JobKind): Claim => ({
  id,
  kind,
  key,
  account,
  payload: JSON.parse(payload),
  attempt: attempts + 1,
});

/** Returns the job, where this lease of it lasts. */
const heldJob = (trx: Transaction<Tables>, { id, attempt }: Pick<Lease, 'id' | 'attempt'>) =>
  trx.updateTable('jobs').where('id', '=', id).where('state', '=', 'running').where('attempts', '=', attempt);

function renewLease({ driver, policies }: JobsContext, lease: Lease): Promise<boolean> {
  return driver.transaction(async (trx) => {
    const now = await driver.now(trx);
    const until = now + policies[lease.kind].leaseSeconds * 1000;
    const change = heldJob(trx, lease).set({ due_at: until, set_at: now });
    return (await change.executeTakeFirst()).numUpdatedRows === 1n;
  });
}

function releaseLease({ driver }: JobsContext, lease: Lease): Promise<void> {
  return driver.transaction(async (trx) => {
    const now = await driver.now(trx);
    const back = { state: 'waiting' as const, due_at: now, set_at: now, attempts: lease.attempt - 1 };
    await heldJob(trx, lease).set(back).execute();
  });
}

async function completeJob(
  { driver, policies }: JobsContext,
  trx: Transaction<Tables>,
  claim: Claim,
  againMs: number | null,
): Promise<void> {
  const now = await driver.now(trx);
  const change = { state: 'waiting' as const, attempts: 0, last_error: null, created_at: now, set_at: now };
  const again = { ...change, attempt_limit: policies[claim.kind].attempts, due_at: now + (againMs ?? 0) };
  const { numUpdatedRows } = await heldJob(trx, claim).set(again).executeTakeFirst();
  if (numUpdatedRows === 0n) throw new LeaseLostError(claim);
  if (againMs === null) await trx.deleteFrom('jobs').where('id', '=', claim.id).execute();
}

function failJob(context: JobsContext, { id, attempt }: Lease, error: string, permanent: boolean) {
  const { driver } = context;
  return driver.transaction(async (trx) => {
    const now = await driver.now(trx);
    const row = await trx.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst();
    if (row === undefined) return 'lost';
    return recordFailure(context, trx, { ...row, attempts: attempt }, { error, permanent, now });
  });
}

type FailurePolicy = Pick<JobPolicy, 'backoffSeconds' | 'backoffMaxSeconds' | 'keepFailedDays'>;

/** This version does not have the kind of such jobs: another one added them and may run them yet. */
const UNKNOWN_KIND_POLICY: FailurePolicy = { backoffSeconds: 60, backoffMaxSeconds: 3600, keepFailedDays: 365 };

/** `random` is from 0 to 1. */
function backoffMs(policy: FailurePolicy, attempts: number, random: number): number {
  const longestSeconds = policy.backoffSeconds * 2 ** Math.min(16, attempts);
  return Math.round(Math.min(policy.backoffMaxSeconds, longestSeconds * (0.5 + random / 2)) * 1000);
}

/** Has a job whose attempt failed wait for the next, or sets it aside. */
async function recordFailure(
  { policies }: JobsContext,
  trx: Transaction<Tables>,
  { id, kind, attempts, attempt_limit }: JobRow,
  { error, permanent, now }: { error: string; permanent: boolean; now: number },
): Promise<'waiting' | 'failed' | 'lost'> {
  const policy = isJobKind(kind) ? policies[kind] : UNKNOWN_KIND_POLICY;
  const over = permanent || attempts >= attempt_limit;
  const delayMs = over ? policy.keepFailedDays * DAY_MS : backoffMs(policy, attempts, randomInt(2 ** 32) / 2 ** 32);
  const state = over ? ('failed' as const) : ('waiting' as const);
  const change = { state, due_at: now + delayMs, set_at: now, failed_at: over ? now : null, last_error: error };
  const { numUpdatedRows } = await heldJob(trx, { id, attempt: attempts }).set(change).executeTakeFirst();
  return numUpdatedRows === 0n ? 'lost' : state;
}

const maintainJobs = (context: JobsContext): Promise<void> =>
  context.driver.transaction(async (trx) => {
    const now = await context.driver.now(trx);
    await followClock(context, trx, now);
    await trx.deleteFrom('jobs').where('state', '=', 'failed').where('due_at', '<=', now).execute();
  });

const jobRecord = (row: JobRow): JobRecord => ({
  id: row.id,
  kind: row.kind,
  account: row.account_id,
  state: row.state,
  attempts: row.attempts,
  lastError: row.last_error,
  createdAt: row.created_at,
  at: row.state === 'waiting' ? row.due_at : row.failed_at,
});

async function listJobs({ driver: { db } }: JobsContext, { failed, limit }: { failed: boolean; limit: number }) {
  const state = failed ? '=' : '<>';
  const rows = db.selectFrom('jobs').selectAll().where('state', state, 'failed');
  const newest = rows.orderBy((eb) => eb.fn.coalesce('failed_at', 'created_at'), 'desc').orderBy('id', 'desc');
  const total = await countOf(rows);
  return { items: (await newest.limit(limit).execute()).map(jobRecord), total };
}

async function getJob({ driver: { db } }: JobsContext, id: string): Promise<JobRecord | null> {
  const row = await db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : jobRecord(row);
}

/** The index has kind and state, and so the order. */
const countJobs = (db: Kysely<Tables>, most: number): Promise<JobCount[]> =>
  db
    .selectFrom(db.selectFrom('jobs').select(['kind', 'state']).orderBy('kind').orderBy('state').limit(most).as('j'))
    .select((eb) => ['j.kind', 'j.state', eb.fn.countAll<number>().as('count')])
    .groupBy(['j.kind', 'j.state'])
    .execute();

/** Rolls the transaction back. */
class JobIsOpenError extends Error {}

/** The failed job is added again, so that an open one of its key stops it even if it is added at the same moment. */
function retryJob({ driver, policies }: JobsContext, id: string): Promise<RetryOutcome> {
  const retrying = driver.transaction(async (trx) => {
    const now = await driver.now(trx);
    const failed = trx.deleteFrom('jobs').where('id', '=', id).where('state', '=', 'failed');
    const row = await failed.where('kind', 'in', JOB_KINDS).returningAll().executeTakeFirst();
    if (row === undefined || !isJobKind(row.kind)) return 'not_found';
    const attempt_limit = row.attempts + policies[row.kind].attempts;
    const change = { state: 'waiting' as const, attempt_limit, due_at: now, set_at: now, failed_at: null };
    if (!(await insertUnlessOpen(trx, { ...row, ...change }))) throw new JobIsOpenError();
    return 'done';
  });
  return retrying.catch((error: unknown) => {
    if (error instanceof JobIsOpenError) return 'conflict';
    throw error;
  });
}

const dropJob = ({ driver }: JobsContext, id: string): Promise<boolean> =>
  driver.transaction(async (trx) => {
    const mine = trx.deleteFrom('jobs').where('id', '=', id).where('state', '=', 'failed');
    return (await mine.executeTakeFirst()).numDeletedRows === 1n;
  });
