/** Brings the tables of pg-boss to the version of the library, under the lock of our own migrations. */

import type pg from 'pg';
import { getConstructionPlans, getMigrationPlans } from 'pg-boss';
import { JOB_KINDS } from '../../kernel/jobs.ts';
import { BOSS_SCHEMA, createBoss } from './boss.ts';

/** The version that the library's own script for an empty database writes. */
function libraryVersion(): number {
  const written = /INSERT INTO \S+\.version\s*\(version\)\s*VALUES\s*\('?(\d+)'?\)/i.exec(
    getConstructionPlans(BOSS_SCHEMA),
  );
  if (written?.[1] === undefined) throw new Error('The schema version of pg-boss cannot be told.');
  return Number(written[1]);
}

/** Throws where the tables are newer than the library. */
export async function migrateBoss(client: pg.Client): Promise<void> {
  const boss = createBoss({ executeSql: (text, values) => client.query(text, values) });
  const wanted = libraryVersion();
  if (!(await boss.isInstalled())) await client.query(getConstructionPlans(BOSS_SCHEMA));
  const found = await boss.schemaVersion();
  if (found === null || found > wanted)
    throw new Error(`The job queue has schema version ${found}, but this version of Mailvet knows only ${wanted}.`);
  if (found < wanted) await client.query(getMigrationPlans(BOSS_SCHEMA, found));
  const known = new Set((await boss.getQueues()).map((queue) => queue.name));
  for (const kind of JOB_KINDS) if (!known.has(kind)) await boss.createQueue(kind, { policy: 'exclusive' });
}
