/** A file with what the store holds, which is there whole or not at all, and for its owner only. */
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
import { messageOf } from '../kernel/errors.ts';

/** What the user asked for cannot be. */
export class FileRefused extends Error {}

interface NewFile {
  readonly to: string;
  /** Replace the file if there is one. */
  readonly force: boolean;
  /** The database file that it is made of; null: the database is elsewhere. */
  readonly store: string | null;
}

/**
 * Calls `write` with a path in a private folder beside the file, and moves what it has written to its place. A failure
 * leaves nothing behind. Returns the absolute path, and what `write` returned.
 */
export async function writeNewFile<T>(
  { to, force, store }: NewFile,
  write: (part: string) => Promise<T>,
): Promise<{ file: string; bytes: number; written: T }> {
  const file = targetOf(to, force, store);
  const folder = emptyFolder(file);
  try {
    const part = join(folder, 'part');
    const written = await write(part);
    flush(part);
    const { size: bytes } = statSync(part);
    if (!force && existsSync(file)) throw new FileRefused(exists(file));
    renameSync(part, file);
    flush(dirname(file));
    return { file, bytes, written };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What SQLite and the processes of the service keep beside a store: `<store>-wal` and so on. */
const BESIDE_STORE = /^-(wal|shm|journal|node-.*)$/;

/** The file to write, absolute: where there is a link, what it leads to. Never a device: a rename would replace it. */
function targetOf(to: string, force: boolean, store: string | null): string {
  const file = followed(resolve(to));
  const place = statSync(file, { throwIfNoEntry: false });
  if (place?.isDirectory()) throw new FileRefused(`${file} is a folder: name a file in it.`);
  if (store !== null) {
    const source = statSync(store, { throwIfNoEntry: false });
    const path = followed(resolve(store));
    if (place !== undefined && place.dev === source?.dev && place.ino === source.ino)
      throw new FileRefused(`${file} is the store itself.`);
    if (file.startsWith(path) && BESIDE_STORE.test(file.slice(path.length)))
      throw new FileRefused(`${file} belongs to the store itself.`);
  }
  if (place && !place.isFile()) throw new FileRefused(`${file} is not a file.`);
  if (place && !force) throw new FileRefused(exists(file));
  return file;
}

/** Follows links, also those on the way to a file that does not exist. */
function followed(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const folder = dirname(path);
  return existsSync(folder) ? join(realpathSync(folder), basename(path)) : path;
}

const exists = (file: string): string => `${file} exists already; --force replaces it.`;

/** Makes a private folder on the same file system as the file, for everything that SQLite keeps beside a database. */
function emptyFolder(file: string): string {
  try {
    return mkdtempSync(`${file}.part-`);
  } catch (error) {
    throw new Error(`${file} cannot be written: ${messageOf(error)}`, { cause: error });
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
