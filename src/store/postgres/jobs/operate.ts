/** What operators do: list, retry and drop. */
import { isJobKind, type JobState } from '../../../kernel/jobs.ts';
import type { JobCount } from '../../api/stats.ts';
import type { JobRecord, RetryOutcome } from '../../jobs/queue.ts';
import type { Db } from '../boss.ts';
import { inside, JOB, type JobsContext, query } from './context.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const COLUMNS = `id::text AS id, name, group_id AS account, retry_count, started_on IS NOT NULL AS begun,
  state::text AS state, output->>'message' AS error,
  floor(extract(epoch FROM created_on) * 1000)::bigint AS created_at,
  floor(extract(epoch FROM CASE WHEN state = 'failed' THEN completed_on ELSE start_after END) * 1000)::bigint AS at`;

/** Kinds of other versions included; pg-boss has queues of its own. */
const OURS = `left(name, 8) <> '__pgboss'`;

interface BossRow {
  readonly id: string;
  readonly name: string;
  readonly account: string | null;
  readonly retry_count: number;
  readonly begun: boolean;
  readonly state: string;
  readonly error: string | null;
  readonly created_at: number;
  readonly at: number;
}

const stateOf = (state: string): JobState =>
  state === 'failed' ? 'failed' : state === 'active' ? 'running' : 'waiting';

function toRecord(row: BossRow): JobRecord {
  return {
    id: row.id,
    kind: row.name,
    account: row.account,
    state: stateOf(row.state),
    attempts: row.begun ? row.retry_count + 1 : 0,
    lastError: row.error,
    createdAt: row.created_at,
    at: row.state === 'active' ? null : row.at,
  };
}

async function find({ db }: JobsContext, id: string, state = '%'): Promise<BossRow | null> {
  if (!UUID.test(id)) return null;
  const mine = `SELECT ${COLUMNS} FROM ${JOB} WHERE ${OURS} AND id = $1 AND state::text LIKE $2`;
  return (await query<BossRow>(db, mine, id, state))[0] ?? null;
}

export async function listJobs({ db }: JobsContext, { failed, limit }: { failed: boolean; limit: number }) {
  const which = `${OURS} AND (state = 'failed') = $1 AND state <> 'completed' AND state <> 'cancelled'`;
  const newest = `SELECT ${COLUMNS} FROM ${JOB} WHERE ${which}
    ORDER BY coalesce(completed_on, created_on) DESC, id DESC LIMIT $2`;
  const rows = await query<BossRow>(db, newest, failed, limit);
  const total = `SELECT count(*) AS n FROM ${JOB} WHERE ${which}`;
  const [count] = await query<{ n: number }>(db, total, failed);
  return { items: rows.map(toRecord), total: count?.n ?? 0 };
}

export async function countJobs(db: Db, most: number): Promise<JobCount[]> {
  const some = `SELECT name, CASE WHEN state IN ('failed', 'active') THEN state::text ELSE 'waiting' END AS state
    FROM ${JOB} WHERE ${OURS} AND state <> 'completed' AND state <> 'cancelled' LIMIT $1`;
  const grouped = `SELECT name AS kind, state, count(*) AS count FROM (${some}) AS j GROUP BY name, state`;
  const rows = await query<{ kind: string; state: string; count: number }>(db, grouped, most);
  return rows.map((row) => ({ ...row, state: stateOf(row.state) }));
}

export async function getJob(context: JobsContext, id: string): Promise<JobRecord | null> {
  const row = await find(context, id);
  return row === null ? null : toRecord(row);
}

export async function retryJob(context: JobsContext, id: string): Promise<RetryOutcome> {
  const { driver, policies } = context;
  const row = await find(context, id, 'failed');
  if (row === null || !isJobKind(row.name)) return 'not_found';
  const kind = row.name;
  const boss = await context.getBoss();
  const retrying = driver.transaction(async (trx) => {
    const db = inside(trx);
    await boss.retry(kind, id, { db });
    const anew = `UPDATE ${JOB} SET retry_limit = retry_count + $3, start_after = now()
      WHERE name = $1 AND id = $2 AND state = 'retry' RETURNING 1`;
    const retried = await query(db, anew, kind, id, policies[kind].attempts);
    return retried.length === 0 ? ('not_found' as const) : ('done' as const);
  });
  return retrying.catch((error: unknown) => {
    if (isDuplicate(error)) return 'conflict';
    throw error;
  });
}

export async function dropJob(context: JobsContext, id: string): Promise<boolean> {
  const row = await find(context, id, 'failed');
  if (row === null) return false;
  const gone = `DELETE FROM ${JOB} WHERE name = $1 AND id = $2 AND state = 'failed' RETURNING 1`;
  return (await query(context.db, gone, row.name, id)).length === 1;
}

/** SQLSTATE unique_violation. */
const isDuplicate = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '23505';
