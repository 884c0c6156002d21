import type { Transaction } from 'kysely';
import { type Claim, type Lease, LeaseLostError } from '../../jobs/queue.ts';
import type { Tables } from '../../tables.ts';
import { heldJob, type JobsContext, recordFailure } from './context.ts';

export async function completeJob(
  { driver, policies }: JobsContext,
  trx: Transaction<Tables>,
  claim: Claim,
  againMs: number | null,
): Promise<void> {
  const now = await driver.now();
  const change = { state: 'waiting' as const, attempts: 0, last_error: null, created_at: now, set_at: now };
  const again = { ...change, attempt_limit: policies[claim.kind].attempts, due_at: now + (againMs ?? 0) };
  const { numUpdatedRows } = await heldJob(trx, claim).set(again).executeTakeFirst();
  if (numUpdatedRows === 0n) throw new LeaseLostError(claim);
  if (againMs === null) await trx.deleteFrom('jobs').where('id', '=', claim.id).execute();
}

export async function failJob(context: JobsContext, lease: Lease, error: string, permanent: boolean) {
  const { driver } = context;
  const now = await driver.now();
  return driver.transaction(async (trx) => {
    const mine = trx.selectFrom('jobs').selectAll().where('id', '=', lease.id).where('state', '=', 'running');
    const row = await mine.where('attempts', '=', lease.attempt).executeTakeFirst();
    return row === undefined ? 'lost' : recordFailure(context, trx, row, { error, permanent, now });
  });
}
