import { type Claim, type Lease, LeaseLostError } from '../../jobs/queue.ts';
import type { Db } from '../boss.ts';
import { addJob } from './add.ts';
import { holdsLease, JOB, type JobsContext, query, whileHeld } from './context.ts';

export async function completeJob(context: JobsContext, db: Db, claim: Claim, againMs: number | null): Promise<void> {
  const { id, kind, key, account, payload } = claim;
  const boss = await context.getBoss();
  if (!(await holdsLease(db, claim))) throw new LeaseLostError(claim);
  await boss.deleteJob(kind, id, { db });
  if (againMs !== null) await addJob(context, db, { kind, key, account, payload, delayMs: againMs });
}

export async function failJob(context: JobsContext, { id, kind, attempt }: Lease, error: string, permanent: boolean) {
  const state = await whileHeld(context, { id, kind, attempt }, async (db, boss) => {
    if (permanent) await query(db, `UPDATE ${JOB} SET retry_limit = retry_count WHERE name = $1 AND id = $2`, kind, id);
    await boss.fail(kind, id, { message: error }, { db });
    const left = `SELECT state::text AS state FROM ${JOB} WHERE name = $1 AND id = $2`;
    const [row] = await query<{ state: string }>(db, left, kind, id);
    return row?.state === 'failed' ? ('failed' as const) : ('waiting' as const);
  });
  return state ?? 'lost';
}
