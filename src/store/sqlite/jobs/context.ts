import type { Selectable, Transaction } from 'kysely';
import { DAY_MS } from '../../../kernel/clock.ts';
import { randomInt } from '../../../kernel/ids.ts';
import type { JobPolicies } from '../../../kernel/jobs.ts';
import type { StorageDriver } from '../../driver.ts';
import type { Lease } from '../../jobs/queue.ts';
import { backoffMs, failurePolicy } from '../../jobs/row.ts';
import type { JobsTable, Tables } from '../../tables.ts';

/** What every operation of the queue works with. */
export interface JobsContext {
  readonly driver: Pick<StorageDriver, 'db' | 'now' | 'transaction'>;
  readonly policies: JobPolicies;
}

export type JobRow = Selectable<JobsTable>;

/** The job, where this lease of it lasts. */
export const heldJob = (trx: Transaction<Tables>, { id, attempt }: Lease) =>
  trx.updateTable('jobs').where('id', '=', id).where('state', '=', 'running').where('attempts', '=', attempt);

/** Has a job whose attempt failed wait for the next, or sets it aside. */
export async function recordFailure(
  { policies }: JobsContext,
  trx: Transaction<Tables>,
  row: JobRow,
  { error, permanent, now }: { error: string; permanent: boolean; now: number },
): Promise<'waiting' | 'failed'> {
  const policy = failurePolicy(policies, row.kind);
  const over = permanent || row.attempts >= row.attempt_limit;
  const wait = over ? policy.keepFailedDays * DAY_MS : backoffMs(policy, row.attempts, randomInt(2 ** 32) / 2 ** 32);
  const state = over ? ('failed' as const) : ('waiting' as const);
  const change = { state, due_at: now + wait, set_at: now, failed_at: over ? now : null, last_error: error };
  await trx.updateTable('jobs').set(change).where('id', '=', row.id).execute();
  return state;
}

/** Moves along what was decided by a clock that has been set back since. */
export async function followClock(trx: Transaction<Tables>, now: number): Promise<void> {
  const ahead = trx.updateTable('jobs').where('set_at', '>', now);
  await ahead.set((eb) => ({ due_at: eb(eb('due_at', '-', eb.ref('set_at')), '+', now), set_at: now })).execute();
}
