/** A store's driver, whose queue takes the caller's transaction; and what a job changes in the store, to be counted. */
import { systemClock } from '../../src/kernel/clock.ts';
import { DEFAULT_PLANS } from '../../src/kernel/facts/plans.ts';
import { JOB_POLICIES, type JobPolicies } from '../../src/kernel/jobs.ts';
import type { StorageDriver } from '../../src/store/driver.ts';
import type { Claim } from '../../src/store/jobs/queue.ts';
import { migrationsFolder } from '../../src/store/migrations.ts';

function policiesFor(leaseSeconds: number): JobPolicies {
  const quick = { attempts: 20, backoffSeconds: 1, backoffMaxSeconds: 1, leaseSeconds, concurrency: 5 };
  return { ...JOB_POLICIES, lists_update: { ...JOB_POLICIES.lists_update, ...quick } };
}

/** On the system's clock. */
export async function openDriver(url: string, leaseSeconds: number): Promise<StorageDriver> {
  const options = { url, clock: systemClock, migrations: migrationsFolder(), time: 'store' } as const;
  const all = {
    ...options,
    jobPolicies: policiesFor(leaseSeconds),
    onEvent: () => undefined,
    retentionDays: 30,
    remembers: true,
    plans: DEFAULT_PLANS,
    sendsMail: false,
  };
  if (url.startsWith('sqlite:')) return (await import('../../src/store/sqlite/driver.ts')).openSqlite(all);
  return (await import('../../src/store/postgres/driver.ts')).openPostgres(all);
}

/** Counts the job's effect and completes it, in one transaction. */
export const finish = (driver: StorageDriver, claim: Claim): Promise<void> =>
  driver.transaction(async (trx) => {
    const row = { subject: claim.key, count: 1, ends_at: 0 };
    const more = trx.insertInto('attempts').values(row);
    await more
      .onConflict((oc) => oc.column('subject').doUpdateSet((eb) => ({ count: eb('attempts.count', '+', 1) })))
      .execute();
    await driver.jobs.done(trx, claim);
  });

export const effects = async (driver: StorageDriver): Promise<Record<string, number>> => {
  const rows = await driver.db.selectFrom('attempts').select(['subject', 'count']).execute();
  return Object.fromEntries(rows.map(({ subject, count }) => [subject, count]));
};
