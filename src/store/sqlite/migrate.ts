import type { DatabaseSync } from 'node:sqlite';
import { type Migration, pending } from '../migrations.ts';

/** Applies what is missing. The write lock is taken first, so that of two starters the second finds nothing to do. */
export function migrate(db: DatabaseSync, migrations: readonly Migration[], now: number): { from: number; to: number } {
  db.exec('BEGIN IMMEDIATE');
  try {
    db.exec(
      'CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
    );
    const from = db.prepare('SELECT coalesce(max(version), 0) AS version FROM migrations').get()!.version as number;
    for (const { version, name, sql } of pending(migrations, from)) {
      db.exec(sql);
      db.prepare('INSERT INTO migrations (version, name, applied_at) VALUES (?, ?, ?)').run(version, name, now);
    }
    db.exec('COMMIT');
    return { from, to: migrations.length };
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
