/** What failed once waits for 10 s and longer; tests of what comes then do not. */
import type { JobKind } from '../../src/kernel/jobs.ts';
import { runSql } from './stores.ts';

/** Makes the waiting jobs of this kind due. */
export async function retryNow(databaseUrl: string, kind: JobKind): Promise<void> {
  await runSql(databaseUrl, `UPDATE jobs SET due_at = 0 WHERE state = 'waiting' AND kind = '${kind}'`);
}

/** Makes the deferred addresses of lists due. */
export async function addressesDue(databaseUrl: string): Promise<void> {
  await runSql(databaseUrl, 'UPDATE list_waiting SET due_at = 0 WHERE due_at IS NOT NULL');
}
