import type { DatabaseSync } from 'node:sqlite';
import { type Migration, pending } from '../migrations.ts';

/** Applies missing migrations. Takes the write lock first: when two processes start, the second finds none. */
export function migrate(db: DatabaseSync, migrations: readonly Migration[], now: number): { from: number; to: number } {
  db.exec('BEGIN IMMEDIATE');
  try {
    db.exec(
      'CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT',
    );
    const latest = db.prepare('SELECT max(version) AS version FROM migrations').get();
    const from = Number(latest?.version ?? 0);
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
