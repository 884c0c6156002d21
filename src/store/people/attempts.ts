import { type Kysely, sql } from 'kysely';
import { sha256Hex } from '../../kernel/ids.ts';
import type { StorageDriver } from '../driver.ts';
import type { Attempts } from '../store.ts';
import type { Tables } from '../tables.ts';

/** Half of a row's name is the subject's, so that all its counts are found together, half that of the origin. */
const HALF = 32;

/** Subjects contain addresses typed by anyone: of any length, and private. Only a hash is stored. */
const subjectName = (subject: string): string => sha256Hex(subject).slice(0, HALF);

const named = (subject: string, origin = ''): string => subjectName(subject) + sha256Hex(origin).slice(0, HALF);

/** See `Attempts.clear`. */
export async function clearAttempts(db: Kysely<Tables>, subject: string): Promise<void> {
  const name = subjectName(subject);
  const all = db.deleteFrom('attempts').where('subject', '>=', name.padEnd(2 * HALF, '0'));
  await all.where('subject', '<=', name.padEnd(2 * HALF, 'f')).execute();
}

export function attempts(driver: StorageDriver): Attempts {
  const { db } = driver;
  return {
    async count(subject, windowMs, origin) {
      const now = await driver.now();
      const name = named(subject, origin);
      // More than one window ahead: the clock had been.
      const ahead = db
        .deleteFrom('attempts')
        .where('subject', '=', name)
        .where('ends_at', '>', now + 2 * windowMs);
      if ((await ahead.executeTakeFirst()).numDeletedRows > 0n) driver.onEvent({ kind: 'attempt_window_restarted' });
      const fresh = { count: 1, ends_at: now + windowMs };
      const row = await db
        .insertInto('attempts')
        .values({ subject: name, ...fresh })
        .onConflict((oc) =>
          oc.column('subject').doUpdateSet({
            count: sql<number>`CASE WHEN attempts.ends_at <= ${now} THEN 1 ELSE attempts.count + 1 END`,
            ends_at: sql<number>`CASE WHEN attempts.ends_at <= ${now} THEN excluded.ends_at ELSE attempts.ends_at END`,
          }),
        )
        .returning(['count', 'ends_at'])
        .executeTakeFirstOrThrow();
      return { count: row.count, endsAt: row.ends_at };
    },

    clear: (subject) => clearAttempts(db, subject),
  };
}
