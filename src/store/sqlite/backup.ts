/**
 * A consistent copy of the database file while other processes write to it.
 *
 * SQLite's backup starts over when another connection writes between two of its steps, so beside traffic it never ends.
 * It does not while its own connection keeps a read transaction open: then all steps copy the same snapshot. Meanwhile
 * the write-ahead log cannot be reset, and grows by what is written. `VACUUM INTO` has the same effect on the log, but
 * takes longer and twice the CPU time, and cannot be interrupted.
 */

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../kernel/errors.ts';
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
  /** Absolute. */
  readonly file: string;
  readonly bytes: number;
  readonly schemaVersion: number;
}

/** What the user asked for cannot be. */
export class BackupRefused extends Error {}

/**
 * Copies, checks, flushes, and only then puts the file in its place; a failure leaves nothing behind. Throws an Error
 * with a plain sentence, or the signal's reason.
 */
export async function backupSqlite({ url, to, force, signal, onProgress }: BackupRequest): Promise<Backup> {
  const from = sqlitePathOf(url);
  const file = targetOf(from, to, force);
  const folder = emptyFolder(file);
  const copy = join(folder, 'mailvet.db');
  try {
    const schemaVersion = await copySnapshot(from, copy, { signal, onProgress });
    check(copy, schemaVersion);
    signal.throwIfAborted();
    flush(copy);
    const { size: bytes } = statSync(copy);
    if (!force && existsSync(file)) throw new BackupRefused(exists(file));
    renameSync(copy, file);
    flush(dirname(file));
    return { file, bytes, schemaVersion };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof BackupRefused) throw error;
    throw new Error(`The backup failed: ${messageOf(error)}.`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What SQLite and the processes of the service keep beside a store: `<store>-wal` and so on. */
const BESIDE_STORE = /^-(wal|shm|journal|node-.*)$/;

/** The file to write, absolute: where there is a link, what it leads to. Never a device: a rename would replace it. */
function targetOf(from: string, to: string, force: boolean): string {
  const source = statSync(from, { throwIfNoEntry: false });
  if (!source?.isFile()) throw new BackupRefused(`There is no store at ${from}.`);
  const file = followed(resolve(to));
  const store = followed(resolve(from));
  const place = statSync(file, { throwIfNoEntry: false });
  if (place?.isDirectory()) throw new BackupRefused(`${file} is a folder: name a file in it.`);
  if (place?.dev === source.dev && place.ino === source.ino) throw new BackupRefused(`${file} is the store itself.`);
  if (file.startsWith(store) && BESIDE_STORE.test(file.slice(store.length)))
    throw new BackupRefused(`${file} belongs to the store itself.`);
  if (place && !place.isFile()) throw new BackupRefused(`${file} is not a file.`);
  if (place && !force) throw new BackupRefused(exists(file));
  return file;
}

/** Without links, also those on the way to a file that does not exist. */
function followed(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(path);
  return existsSync(folder) ? join(realpathSync(folder), basename(path)) : path;
}

const exists = (file: string): string => `${file} exists already; --force replaces it.`;

/** On the same file system as the file, and private, with everything that SQLite keeps beside a database. */
function emptyFolder(file: string): string {
  try {
    return mkdtempSync(`${file}.part-`);
  } catch (error) {
    throw new Error(`${file} cannot be written: ${messageOf(error)}.`, { cause: error });
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
    const version = schemaVersionOf(source);
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

function schemaVersionOf(db: DatabaseSync): number {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").get() === undefined)
    throw new BackupRefused('The file is not a store of Mailvet, or it was never migrated.');
  return Number(db.prepare('SELECT max(version) AS version FROM migrations').get()?.version);
}

/** Reads every page. Throws if one is damaged, or if the copy is not of this version. */
function check(copy: string, version: number): void {
  const db = new DatabaseSync(copy, { timeout: 0 });
  try {
    // One file, which can also be read where nothing can be written; the service turns this back.
    db.exec('PRAGMA journal_mode = DELETE');
    const found = db.prepare('PRAGMA quick_check(1)').all().flatMap(Object.values).join('; ');
    if (found !== 'ok') throw new Error(`the store is damaged: ${found}`);
    const copied = schemaVersionOf(db);
    if (copied !== version) throw new Error(`the copy has schema version ${copied} instead of ${version}`);
  } finally {
    db.close();
  }
}

/** Windows cannot flush folders. */
function flush(path: string): void {
  const isFolder = statSync(path).isDirectory();
  if (isFolder && process.platform === 'win32') return;
  const descriptor = openSync(path, isFolder ? 'r' : 'r+');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
