/**
 * The database, its `-wal` and `-shm` and the lock files of nodes are for the service's own user only: they hold email
 * addresses and the secrets of the sign-in. SQLite gives the `-wal` and `-shm` files the mode of the database.
 */

import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { LooseMode } from '../store.ts';

/** `sqlite:PATH` → PATH. Throws when there is none. */
export function sqlitePathOf(url: string): string {
  const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
  if (path === '') throw new Error('The store\'s URL names no file: write "sqlite:./data/mailvet.db".');
  return path;
}

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** The group and others have these permissions. */
const NOT_OWNER = 0o077;
const NOT_OWNER_WRITES = 0o022;

/** One level at a time: Node's recursive mkdir never returns on file systems that reject folders. */
export function makePrivateFolder(path: string): void {
  if (existsSync(path)) return;
  makePrivateFolder(dirname(path));
  mkdirSync(path, { mode: FOLDER_MODE });
}

/**
 * Creates the file, empty, unless it exists. An existing file is not opened: closing it would drop SQLite's locks on it
 * in this process.
 */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', FILE_MODE));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function fileMode(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? null;
}

/** Files that other users can read or write, and the folder if they can replace files in it. Windows has no modes. */
export function looseModesOf(path: string): LooseMode[] {
  if (process.platform === 'win32') return [];
  const folder = dirname(resolve(path));
  const loose: LooseMode[] = [];
  const folderMode = fileMode(folder);
  if (folderMode !== null && (folderMode & NOT_OWNER_WRITES) !== 0) loose.push(entry(folder, folderMode, FOLDER_MODE));
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const mode = fileMode(file);
    if (mode !== null && (mode & NOT_OWNER) !== 0) loose.push(entry(file, mode, FILE_MODE));
  }
  return loose;
}

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, '0');

const entry = (path: string, mode: number, wanted: number): LooseMode => ({
  path,
  mode: octal(mode),
  fix: `chmod ${octal(wanted)} '${path.replaceAll("'", "'\\''")}'`,
});
