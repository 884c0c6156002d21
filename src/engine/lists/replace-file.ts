/** Files of the lists folder, which are replaced whole. */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomToken } from '../../kernel/ids.ts';

/** Of `disposable update`. */
export const DISPOSABLE_FILE = 'disposable.txt';
/** Of the job that learns mail hosts. */
export const LEARNED_FILE = 'learned-hosts.json';

/**
 * Writes a temporary file and renames it: readers see either the old file or the new one. Returns its path; throws an
 * Error with a message for users.
 */
export function replaceFile(dir: string, name: string, text: string): string {
  const path = join(dir, name);
  const draft = join(dir, `.${name.replace(/\..*$/, '')}-${randomToken(8)}.tmp`);
  try {
    // Perhaps within the folder of the store, which only its own user may enter.
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    write(draft, text);
    renameSync(draft, path);
    return path;
  } catch (cause) {
    discard(draft);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${path} could not be written: ${why}`, { cause });
  }
}

function write(path: string, text: string): void {
  const handle = openSync(path, 'wx', 0o644);
  try {
    writeFileSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The directory is gone: report the first error.
  }
}
