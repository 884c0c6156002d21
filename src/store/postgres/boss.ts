/** The one place that imports pg-boss, which is loaded only where a PostgreSQL store uses its queue. */

import { type Db, PgBoss } from 'pg-boss';

export type { Db, JobWithMetadata } from 'pg-boss';
export type { PgBoss };

/** Of all its tables. */
export const BOSS_SCHEMA = 'mailvet_jobs';

/** On connections of ours. Without its supervisor, its schedules and its workers: the leases and the loop are ours. */
export const createBoss = (db: Db): PgBoss =>
  new PgBoss({
    db,
    schema: BOSS_SCHEMA,
    migrate: false,
    supervise: false,
    schedule: false,
    reindex: false,
    monitorVacuum: false,
    maintenanceIntervalSeconds: 600,
  });
