/**
 * The connections of this process to a database file. Stores on the same file share them: a synchronous wait for a lock
 * that another store of the same process holds would never end.
 */
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';
import { sqliteDialect } from './dialect.ts';
import { Turn } from './turn.ts';

/** How long to wait for the lock of another process, ms. */
const BUSY_TIMEOUT = 5_000;
const MEMORY = ':memory:';

export interface SqliteFile {
  /** Null in memory. */
  readonly path: string | null;
  /** For the charge, the schema and the readiness check; only in its turn. */
  readonly main: DatabaseSync;
  /** For everything else. */
  readonly db: Kysely<Tables>;
  /** Write transactions of either connection take it. */
  readonly turn: Turn;
  close(): Promise<void>;
}

const shared = new Map<string, { file: SqliteFile; users: number }>();

/** Opens the file, made if need be with its folder. Throws with a plain sentence when that cannot be. */
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
  // A database in memory is its connection's own; the turn keeps the two uses apart all the same.
  const second = real === null ? main : connection(path);
  second.function('mailvet_fold', { deterministic: true }, (text) =>
    typeof text === 'string' ? text.toLowerCase() : text,
  );
  const turn = new Turn();
  const db = new Kysely<Tables>({ dialect: sqliteDialect(second, turn) });
  const close = async () => {
    await turn.take(() => undefined);
    await db.destroy();
    if (second !== main) second.close();
    main.close();
  };
  return { path: real, main, db, turn, close };
}

/** Step by step: on file systems that take no folders, node's own recursion asks for ever. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

function connection(path: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    if (path !== MEMORY) makeFolder(dirname(path));
    db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT, enableForeignKeyConstraints: true });
    db.exec('PRAGMA journal_mode = WAL');
    // A commit is on the disk before it is acknowledged.
    db.exec('PRAGMA synchronous = FULL');
    // 16 MB of log between checkpoints: few enough of them not to be felt.
    db.exec('PRAGMA wal_autocheckpoint = 4000');
    db.exec('PRAGMA cache_size = -32768');
    // What is deleted is overwritten, so that a copy of the file does not hold what was erased.
    db.exec('PRAGMA secure_delete = ON');
    return db;
  } catch (error) {
    db?.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The store ${path} cannot be opened: ${reason}.`, { cause: error });
  }
}
