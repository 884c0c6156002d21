/**
 * This process's connections to a database file. Stores on the same file share them, and the mutex of its writers.
 */
import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import { sqliteDialect } from './dialect.ts';
import { isBusy } from './failure.ts';
import { makePrivateFile, makePrivateFolder } from './private-files.ts';
import { WriteMutex } from './write-mutex.ts';

/** How long opening may wait for the lock of another process, ms. Afterwards `whenFree` waits. */
const OPEN_TIMEOUT = 5_000;
const MEMORY = ':memory:';

export interface SqliteFile {
  /** Null in memory. */
  readonly path: string | null;
  /** For charging, migrations and the readiness check; only with the mutex held. */
  readonly main: DatabaseSync;
  /** For everything else. */
  readonly db: Kysely<Tables>;
  /** Taken by write transactions of both connections. */
  readonly mutex: WriteMutex;
  close(): Promise<void>;
}

const shared = new Map<string, { file: SqliteFile; users: number }>();

/** Opens the file, and creates it and its folder if need be. Throws an Error with a plain sentence on failure. */
export function openFile(path: string): SqliteFile {
  if (path === MEMORY) return connect(path, null);
  const first = connection(path);
  const real = realpathSync(path);
  const known = shared.get(real);
  if (known !== undefined) {
    first.close();
    known.users += 1;
    return known.file;
  }
  const own = connect(path, real, first);
  const close = async () => {
    const entry = shared.get(real);
    if (entry === undefined || --entry.users > 0) return;
    shared.delete(real);
    await own.close();
  };
  const file = { ...own, close };
  shared.set(real, { file, users: 1 });
  return file;
}

function connect(path: string, real: string | null, main: DatabaseSync = connection(path)): SqliteFile {
  // An in-memory database belongs to its connection, so there is only one; the mutex still separates its two uses.
  const second = real === null ? main : connection(path);
  second.function('mailvet_fold', { deterministic: true }, (text) =>
    typeof text === 'string' ? text.toLowerCase() : text,
  );
  const mutex = new WriteMutex();
  const db = new Kysely<Tables>({ dialect: sqliteDialect(second, mutex) });
  const close = async () => {
    await mutex.run(() => undefined);
    await db.destroy();
    if (second !== main) second.close();
    main.close();
  };
  return { path: real, main, db, mutex: mutex, close };
}

/**
 * Writes the log into the database and cuts it to zero bytes; false while another process reads or writes. Never waits,
 * because waiting would block this process.
 */
export function truncateLog(main: DatabaseSync): boolean {
  try {
    return main.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

function connection(path: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    if (path !== MEMORY) {
      makePrivateFolder(dirname(path));
      makePrivateFile(path);
    }
    db = new DatabaseSync(path, { timeout: OPEN_TIMEOUT, enableForeignKeyConstraints: true });
    db.exec('PRAGMA journal_mode = WAL');
    // A commit reaches the disk before it is acknowledged.
    db.exec('PRAGMA synchronous = FULL');
    // 16 MB of log between checkpoints, so that they are rare.
    db.exec('PRAGMA wal_autocheckpoint = 4000');
    db.exec('PRAGMA cache_size = -32768');
    // Deleted data is overwritten, so that a copy of the file does not contain what was erased.
    db.exec('PRAGMA secure_delete = ON');
    db.exec('PRAGMA busy_timeout = 0');
    return db;
  } catch (error) {
    db?.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The store ${path} cannot be opened: ${reason}.`, { cause: error });
  }
}
