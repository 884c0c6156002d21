/**
 * A consistent copy of the database file while other processes write to it.
 *
 * SQLite's backup starts over when another connection writes between two of its steps, so beside traffic it never ends.
 * It does not while its own connection keeps a read transaction open: then all steps copy the same snapshot. Meanwhile
 * the write-ahead log cannot be reset, and grows by what is written. `VACUUM INTO` has the same effect on the log, but
 * takes longer and twice the CPU time, and cannot be interrupted.
 */

import { statSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../kernel/errors.ts';
import { FileRefused, writeNewFile } from '../new-file.ts';
import { makePrivateFile, sqlitePathOf } from './private-files.ts';

/** Pages per step, 8 MB: between steps the copy can be interrupted. */
const STEP_PAGES = 2_000;
/** How long opening and closing the store may wait for other processes, ms. */
const BUSY_MS = 5_000;

interface BackupRequest {
  /** `sqlite:PATH` */
  readonly url: string;
  readonly to: string;
  /** Replace the file if there is one. */
  readonly force: boolean;
  readonly signal: AbortSignal;
  /** The share that is copied, 0 to 1. */
  readonly onProgress: (share: number) => void;
}

interface Backup {
  /** The path is absolute. */
  readonly file: string;
  readonly bytes: number;
  readonly schemaVersion: number;
}

/**
 * Copies, checks, flushes, and only then puts the file in its place; a failure leaves nothing behind. Throws an Error
 * with a plain sentence, or the signal's reason.
 */
export async function backupSqlite({ url, to, force, signal, onProgress }: BackupRequest): Promise<Backup> {
  const from = sqlitePathOf(url);
  if (!statSync(from, { throwIfNoEntry: false })?.isFile()) throw new FileRefused(`There is no store at ${from}.`);
  try {
    const { file, bytes, written } = await writeNewFile({ to, force, store: from }, async (copy) => {
      const schemaVersion = await copySnapshot(from, copy, { signal, onProgress });
      checkCopy(copy, schemaVersion);
      signal.throwIfAborted();
      return schemaVersion;
    });
    return { file, bytes, schemaVersion: written };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof FileRefused) throw error;
    throw new Error(`The backup failed: ${messageOf(error)}.`, { cause: error });
  }
}

/** Returns the version of the schema. */
async function copySnapshot(
  from: string,
  copy: string,
  { signal, onProgress }: Pick<BackupRequest, 'signal' | 'onProgress'>,
): Promise<number> {
  const source = new DatabaseSync(from, { timeout: BUSY_MS });
  try {
    // The snapshot is taken by the first read.
    source.exec('BEGIN');
    const version = copiedSchemaVersion(source);
    makePrivateFile(copy);
    const progress = ({ totalPages, remainingPages }: { totalPages: number; remainingPages: number }) => {
      signal.throwIfAborted();
      onProgress(1 - remainingPages / totalPages);
    };
    await backup(source, copy, { rate: STEP_PAGES, progress });
    return version;
  } finally {
    source.close();
  }
}

function copiedSchemaVersion(db: DatabaseSync): number {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get() === undefined)
    throw new FileRefused('The file is not a store of Mailvet, or it was never migrated.');
  return Number(db.prepare('SELECT max(version) AS version FROM migrations').get()?.version);
}

/** Reads every page. Throws if one is damaged, or if the copy is not of this version. */
function checkCopy(copy: string, version: number): void {
  const db = new DatabaseSync(copy, { timeout: 0 });
  try {
    // One file, which can also be read where nothing can be written; the service turns this back.
    db.exec('PRAGMA journal_mode = DELETE');
    const found = db.prepare('PRAGMA quick_check(1)').all().flatMap(Object.values).join('; ');
    if (found !== 'ok') throw new Error(`the store is damaged: ${found}`);
    const copied = copiedSchemaVersion(db);
    if (copied !== version) throw new Error(`the copy has schema version ${copied} instead of ${version}`);
  } finally {
    db.close();
  }
}
