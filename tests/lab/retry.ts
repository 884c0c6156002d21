/** What failed once waits for 10 s and longer; tests of what comes then do not. */
import type { JobKind } from '../../src/kernel/jobs.ts';
import { ENGINE, runSql } from './stores.ts';

/** Makes the waiting jobs of this kind due. */
export async function retryNow(databaseUrl: string, kind: JobKind): Promise<void> {
  const change =
    ENGINE === 'sqlite'
      ? `UPDATE jobs SET due_at = 0 WHERE state = 'waiting' AND kind = '${kind}'`
      : `UPDATE mailvet_jobs.job SET start_after = now() WHERE state < 'active' AND name = '${kind}'`;
  await runSql(databaseUrl, change);
}

/** Makes the deferred addresses of lists due. */
export async function addressesDue(databaseUrl: string): Promise<void> {
  await runSql(databaseUrl, 'UPDATE list_waiting SET due_at = 0 WHERE due_at IS NOT NULL');
}
