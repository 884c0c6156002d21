/** Claiming: leases begin, are renewed, expire and are given back. */
import { isJobKind, type JobKind } from '../../../kernel/jobs.ts';
import type { Claim, Lease } from '../../jobs/queue.ts';
import { claimOf, LEASE_EXPIRED } from '../../jobs/row.ts';
import type { JobWithMetadata, PgBoss } from '../boss.ts';
import { inside, JOB, type JobsContext, query, whileHeld } from './context.ts';

export async function claimJobs(
  context: JobsContext,
  slots: ReadonlyMap<JobKind, number>,
  held: readonly string[] = [],
): Promise<Claim[]> {
  if (slots.size === 0) return [];
  const boss = await context.getBoss();
  let { kinds, expired } = await due(context, slots, held);
  if (expired) {
    await endExpired(context, boss, held);
    ({ kinds } = await due(context, slots, held));
  }
  const claims: Claim[] = [];
  for (const kind of kinds) {
    const jobs = await boss.fetch<unknown>(kind, { batchSize: slots.get(kind) ?? 1, includeMetadata: true });
    for (const job of jobs) claims.push(toClaim(kind, job));
  }
  return claims;
}

/** Looking is one query; fetching from each queue would be one for each. */
async function due(
  { db }: JobsContext,
  slots: ReadonlyMap<JobKind, number>,
  held: readonly string[],
): Promise<{ kinds: JobKind[]; expired: boolean }> {
  const text = `SELECT DISTINCT name, state = 'active' AS expired FROM ${JOB}
    WHERE (state < 'active' AND start_after <= now() AND name = ANY($1))
      OR (state = 'active' AND heartbeat_on + heartbeat_seconds * interval '1s' <= now() AND id <> ALL($2::uuid[]))`;
  const rows = await query<{ name: string; expired: boolean }>(db, text, [...slots.keys()], held);
  const kinds = rows.filter((row) => !row.expired).flatMap(({ name }) => (isJobKind(name) ? [name] : []));
  return { kinds, expired: rows.some((row) => row.expired) };
}

/** A lease that nobody renewed counts as a failed attempt. */
const endExpired = ({ driver }: JobsContext, boss: PgBoss, held: readonly string[]): Promise<void> =>
  driver.transaction(async (trx) => {
    const db = inside(trx);
    const silent = `SELECT id::text AS id, name FROM ${JOB} WHERE state = 'active'
      AND heartbeat_on + heartbeat_seconds * interval '1s' <= now() AND id <> ALL($1::uuid[]) FOR UPDATE SKIP LOCKED`;
    const rows = await query<{ id: string; name: string }>(db, silent, held);
    for (const { id, name } of rows) await boss.fail(name, id, { message: LEASE_EXPIRED }, { db });
  });

export async function renewLease(context: JobsContext, lease: Lease): Promise<boolean> {
  const renewed = await whileHeld(context, lease, async (db, boss) => {
    await boss.touch(lease.kind, lease.id, { db });
    return true;
  });
  return renewed ?? false;
}

export async function releaseLease(context: JobsContext, lease: Lease): Promise<void> {
  await whileHeld(context, lease, (db) => {
    // The next fetch counts one more.
    const back = `UPDATE ${JOB} SET state = 'retry', retry_limit = retry_limit + 1, start_after = now(),
      heartbeat_on = NULL WHERE name = $1 AND id = $2`;
    return query(db, back, lease.kind, lease.id);
  });
}

const toClaim = (kind: JobKind, job: JobWithMetadata<unknown>): Claim => {
  const row = { id: job.id, key: job.singletonKey ?? job.id, account_id: job.groupId ?? null };
  return claimOf(row, kind, job.retryCount + 1, job.data);
};
