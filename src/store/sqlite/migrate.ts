import type { DatabaseSync } from 'node:sqlite';
import { type Migration, pending, type SchemaState } from '../migrations.ts';

/** Applies missing migrations. Takes the write lock first: when two processes start, the second finds none. */
export function migrate(db: DatabaseSync, migrations: readonly Migration[], now: number): { from: number; to: number } {
  db.exec('BEGIN IMMEDIATE');
  try {
    db.exec(
      `CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL,
        compatible_from INTEGER) STRICT`,
    );
    // An earlier version made the table.
    if (!hasCompatibility(db)) db.exec('ALTER TABLE migrations ADD COLUMN compatible_from INTEGER');
    const { version: from } = readState(db);
    const missing = pending(migrations, readState(db));
    for (const { version, name, compatibleFrom, sql } of missing) {
      db.exec(sql);
      db.prepare('INSERT INTO migrations (version, name, applied_at, compatible_from) VALUES (?, ?, ?, ?)').run(
        version,
        name,
        now,
        compatibleFrom,
      );
    }
    db.exec('COMMIT');
    return { from, to: from + missing.length };
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Without changing anything. */
export function readState(db: DatabaseSync): SchemaState {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get() === undefined)
    return { version: 0, compatibleFrom: 0 };
  const compatible = hasCompatibility(db) ? 'coalesce(compatible_from, version)' : 'version';
  const row = db.prepare(`SELECT max(version) AS version, max(${compatible}) AS compatible FROM migrations`).get();
  return { version: Number(row?.version ?? 0), compatibleFrom: Number(row?.compatible ?? 0) };
}

const hasCompatibility = (db: DatabaseSync): boolean =>
  db.prepare("SELECT 1 FROM pragma_table_info('migrations') WHERE name = 'compatible_from'").get() !== undefined;
