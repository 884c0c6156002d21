import { sql } from 'kysely';
import { sha256Hex } from '../../kernel/ids.ts';
import type { Engine } from '../engine.ts';
import type { Attempts } from '../store.ts';

/** Subjects hold addresses that strangers typed: of any length, and nobody's business later. */
const named = (subject: string): string => sha256Hex(subject);

export function attempts(engine: Engine): Attempts {
  const { db } = engine;
  return {
    async count(subject, windowMs) {
      const now = await engine.now();
      const fresh = { count: 1, ends_at: now + windowMs };
      const row = await db
        .insertInto('attempts')
        .values({ subject: named(subject), ...fresh })
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

    async clear(subject) {
      await db.deleteFrom('attempts').where('subject', '=', named(subject)).execute();
    },
  };
}
