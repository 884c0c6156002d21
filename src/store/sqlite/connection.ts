import { DatabaseSync } from 'node:sqlite';

/** The path of a database that its connection keeps in memory. */
export const MEMORY = ':memory:';

/** How long opening may wait for the lock of another process, ms. Afterwards `whenFree` waits. */
const OPEN_TIMEOUT = 5_000;

/** `reader`: for statements that only read, beside the writer. */
export type Role = 'writer' | 'reader';

/** A connection to the file, which exists, or to a database in memory. Throws an error of SQLite. */
export function openConnection(path: string, role: Role): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: OPEN_TIMEOUT, enableForeignKeyConstraints: true });
  try {
    for (const pragma of PRAGMAS[role]) db.exec(`PRAGMA ${pragma}`);
    db.function('mailvet_fold', { deterministic: true }, (text) =>
      typeof text === 'string' ? text.toLowerCase() : text,
    );
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * The page cache of each connection, KiB. A charge writes to the ends of tables and of indexes, and what else it reads
 * comes from the system's file cache for little: neither twice nor eight times as much made a charge cheaper, and it
 * fills up.
 */
const CACHE = 'cache_size = -4096';

const PRAGMAS: Readonly<Record<Role, readonly string[]>> = {
  writer: [
    'journal_mode = WAL',
    // A commit reaches the disk before it is acknowledged.
    'synchronous = FULL',
    // 8 MB of log between checkpoints. All requests under way wait for one: with 48 MB, one takes 15 ms of CPU time,
    // out of a log that no cache of the processor holds.
    'wal_autocheckpoint = 2000',
    CACHE,
    // Deleted data is overwritten, so that a copy of the file does not contain what was erased.
    'secure_delete = ON',
    'busy_timeout = 0',
  ],
  reader: ['query_only = ON', CACHE, 'busy_timeout = 0'],
};
