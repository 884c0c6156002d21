import { openAsBlob, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { UsageError } from './command.ts';

interface InputFile {
  readonly handle: FileHandle;
  /** Null stands for a pipe, such as `<(…)` of a shell, which can be read only once. */
  readonly sizeBytes: number | null;
  readonly place: FilePlace;
}

/** What two names of one file have in common. */
export type FilePlace = Pick<Stats, 'dev' | 'ino'>;

/** Opens a file that `name`, an argument or a flag with its value, names. Throws UsageError if it cannot be read. */
export async function openInputFile(path: string, name: string): Promise<InputFile> {
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot read ${name} (${error.code}): give a file that exists and that you may read.`);
  });
  const status = await handle.stat();
  if (!status.isDirectory()) return { handle, sizeBytes: status.isFile() ? status.size : null, place: status };
  await handle.close();
  throw new UsageError(`${name} is a folder: give a file.`);
}

/** What a file has for an upload, read as it is sent; `-`: standard input. Throws UsageError if it cannot be read. */
export async function uploadSource(file: string): Promise<Blob | AsyncIterable<Uint8Array>> {
  if (file === '-') return process.stdin;
  const { handle, sizeBytes } = await openInputFile(file, file);
  if (sizeBytes === null) return handle.createReadStream();
  await handle.close();
  return openAsBlob(file);
}

/** What `--out` names; it is replaced. Throws UsageError if it cannot be written. */
export async function openOutputFile(path: string): Promise<Writable> {
  const file = await open(path, 'w').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot write --out ${path} (${error.code}): give a file in a folder that you may write to.`);
  });
  return file.createWriteStream();
}
