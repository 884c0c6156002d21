/**
 * The passing of time, for jobs: SQLite goes by the test's clock; PostgreSQL by its own, so there the rows grow older.
 */
import type { JobKind } from '../../src/kernel/jobs.ts';
import type { StoreLab } from '../lab/stores.ts';

/** Negative: the clock was set back. */
export async function pass(lab: StoreLab, ms: number): Promise<void> {
  if (lab.engine === 'sqlite') return ms < 0 ? lab.clock.step(ms) : lab.clock.advance(ms);
  const earlier = (column: string) => `${column} = ${column} - interval '${ms} milliseconds'`;
  const columns = ['start_after', 'created_on', 'started_on', 'heartbeat_on', 'completed_on', 'keep_until'];
  await lab.sql(`UPDATE mailvet_jobs.job SET ${columns.map(earlier).join(', ')}`);
}

/** Payloads of all jobs, as they lie in the database. */
export async function payloads(lab: StoreLab): Promise<string> {
  const sql = lab.engine === 'sqlite' ? 'SELECT payload FROM jobs' : 'SELECT data FROM mailvet_jobs.job';
  return JSON.stringify(await lab.sql(sql));
}

/** Makes the jobs of a kind those of one that only another version of the service has. */
export async function rename(lab: StoreLab, kind: JobKind, other: string): Promise<void> {
  if (lab.engine === 'sqlite') return void (await lab.sql(`UPDATE jobs SET kind = '${other}' WHERE kind = '${kind}'`));
  await lab.sql(`SELECT mailvet_jobs.create_queue('${other}', (SELECT jsonb_build_object('policy', 'exclusive')))`);
  await lab.sql(`UPDATE mailvet_jobs.job SET name = '${other}' WHERE name = '${kind}'`);
}
