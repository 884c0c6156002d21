/** Claiming: leases begin, are renewed, expire and are given back. */
import type { Transaction } from 'kysely';
import type { JobKind } from '../../../kernel/jobs.ts';
import type { Claim, Lease } from '../../jobs/queue.ts';
import { claimOf, LEASE_EXPIRED } from '../../jobs/row.ts';
import type { Tables } from '../../tables.ts';
import { followClock, heldJob, type JobsContext, recordFailure } from './context.ts';

export async function claimJobs(
  context: JobsContext,
  slots: ReadonlyMap<JobKind, number>,
  held: readonly string[] = [],
): Promise<Claim[]> {
  const { driver } = context;
  if (slots.size === 0 || !(await anyDue(context, [...slots.keys()], await driver.now()))) return [];
  return driver.transaction(async (trx) => {
    // Leases begin when the lock is held, however long it was waited for.
    const now = await driver.now();
    await followClock(trx, now);
    await endExpired(context, trx, now, held);
    const claims: Claim[] = [];
    for (const [kind, limit] of slots) claims.push(...(await take(context, trx, kind, limit, now)));
    return claims;
  });
}

/** A look first: claiming takes the one write lock, and mostly there is nothing to do. */
async function anyDue({ driver }: JobsContext, kinds: readonly JobKind[], now: number): Promise<boolean> {
  const due = driver.db.selectFrom('jobs').select('id').where('state', '<>', 'failed');
  const some = due.where((eb) => eb.or([eb('due_at', '<=', now), eb('set_at', '>', now)]));
  const ours = some.where((eb) => eb.or([eb('state', '=', 'running'), eb('kind', 'in', kinds)]));
  return (await ours.limit(1).executeTakeFirst()) !== undefined;
}

async function endExpired(
  context: JobsContext,
  trx: Transaction<Tables>,
  now: number,
  held: readonly string[],
): Promise<void> {
  let expired = trx.selectFrom('jobs').selectAll().where('state', '=', 'running').where('due_at', '<=', now);
  if (held.length > 0) expired = expired.where('id', 'not in', held);
  const failure = { error: LEASE_EXPIRED, permanent: false, now };
  for (const row of await expired.execute()) await recordFailure(context, trx, row, failure);
}

async function take(
  { policies }: JobsContext,
  trx: Transaction<Tables>,
  kind: JobKind,
  limit: number,
  now: number,
): Promise<Claim[]> {
  const due = trx.selectFrom('jobs').selectAll().where('kind', '=', kind).where('state', '=', 'waiting');
  const rows = await due.where('due_at', '<=', now).orderBy('due_at').orderBy('id').limit(limit).execute();
  const lease = { state: 'running' as const, due_at: now + policies[kind].leaseSeconds * 1000, set_at: now };
  for (const { id, attempts } of rows) {
    const change = trx.updateTable('jobs').set({ ...lease, attempts: attempts + 1 });
    await change.where('id', '=', id).execute();
  }
  return rows.map((row) => claimOf(row, kind, row.attempts + 1, JSON.parse(row.payload)));
}

export async function renewLease({ driver, policies }: JobsContext, lease: Lease): Promise<boolean> {
  const now = await driver.now();
  return driver.transaction(async (trx) => {
    const until = now + policies[lease.kind].leaseSeconds * 1000;
    const change = heldJob(trx, lease).set({ due_at: until, set_at: now });
    return (await change.executeTakeFirst()).numUpdatedRows === 1n;
  });
}

export async function releaseLease({ driver }: JobsContext, lease: Lease): Promise<void> {
  const now = await driver.now();
  await driver.transaction(async (trx) => {
    const back = { state: 'waiting' as const, due_at: now, set_at: now, attempts: lease.attempt - 1 };
    await heldJob(trx, lease).set(back).execute();
  });
}
