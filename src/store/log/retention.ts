import type { Kysely, NotNull } from 'kysely';
import { BATCH_ROWS } from '../batches.ts';
import type { Tables } from '../tables.ts';

/**
 * Up to BATCH_ROWS accounts with a retention of their own, by id, each with the time of its oldest verification, ms.
 */
export const oldestByRetention = (db: Kysely<Tables>, after = '') =>
  db
    .selectFrom('accounts as a')
    .select(['a.id', 'a.retention_days'])
    .select((eb) =>
      eb
        .selectFrom('verifications as v')
        .select('v.created_at')
        // Not an equality, for the reason given at `seqRange` of the PostgreSQL driver.
        .whereRef('v.account_id', '>=', 'a.id')
        .whereRef('v.account_id', '<=', 'a.id')
        .orderBy('v.account_id')
        .orderBy('v.seq')
        .limit(1)
        .as('oldest'),
    )
    .where('a.retention_days', 'is not', null)
    .$narrowType<{ retention_days: NotNull }>()
    .where('a.id', '>', after)
    .orderBy('a.id')
    .limit(BATCH_ROWS)
    .execute();
