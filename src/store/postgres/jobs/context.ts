import { CompiledQuery, type Kysely } from 'kysely';
import type { JobPolicies } from '../../../kernel/jobs.ts';
import type { StorageDriver } from '../../driver.ts';
import type { Lease } from '../../jobs/queue.ts';
import type { Tables } from '../../tables.ts';
import type { Db, PgBoss } from '../boss.ts';

/** All jobs, of every kind. */
export const JOB = 'mailvet_jobs.job';

export interface PostgresJobsParts {
  readonly driver: Pick<StorageDriver, 'db' | 'transaction'>;
  readonly policies: JobPolicies;
}

/** What every operation of the queue works with. */
export interface JobsContext extends PostgresJobsParts {
  /** Any connection of the pool. */
  readonly db: Db;
  readonly getBoss: () => Promise<PgBoss>;
  readonly close: () => Promise<void>;
}

export function createJobsContext(parts: PostgresJobsParts): JobsContext {
  const db = inside(parts.driver.db);
  let opened: Promise<PgBoss> | null = null;
  async function open(): Promise<PgBoss> {
    const { createBoss } = await import('../boss.ts');
    const boss = createBoss(db);
    // Its cache of queues is refreshed now and then: what failed then is asked for again.
    boss.on('error', () => undefined);
    return boss.start();
  }
  return {
    ...parts,
    db,
    getBoss: () => {
      opened ??= open().catch((error: unknown) => {
        opened = null;
        throw error;
      });
      return opened;
    },
    async close() {
      const boss = await opened?.catch(() => null);
      await boss?.stop({ close: false, graceful: false });
    },
  };
}

/** The connection of a transaction, or any of the pool. */
export const inside = (trx: Pick<Kysely<Tables>, 'executeQuery'>): Db => ({
  async executeSql(text, values = []) {
    const { rows } = await trx.executeQuery(CompiledQuery.raw(text, values));
    return { rows };
  },
});

export async function query<T>(db: Db, text: string, ...values: unknown[]): Promise<readonly T[]> {
  return (await db.executeSql(text, values)).rows;
}

/** Locks the job for the transaction; false where this lease of it is over. */
export async function holdsLease(db: Db, { id, kind, attempt }: Lease): Promise<boolean> {
  const mine = `SELECT 1 FROM ${JOB} WHERE name = $1 AND id = $2 AND state = 'active' AND retry_count = $3 FOR UPDATE`;
  return (await query(db, mine, kind, id, attempt - 1)).length === 1;
}

/** Runs `work` in a transaction while the lease lasts; null when it is over. */
export async function whileHeld<T>(
  { driver, getBoss }: JobsContext,
  lease: Lease,
  work: (db: Db, boss: PgBoss) => Promise<T>,
): Promise<T | null> {
  const boss = await getBoss();
  return driver.transaction(async (trx) => {
    const db = inside(trx);
    return (await holdsLease(db, lease)) ? work(db, boss) : null;
  });
}
