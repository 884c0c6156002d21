/** Where the results of a file go: standard output, or a file that gets its name once it is complete. */
import { once } from 'node:events';
import { type FileHandle, lstat, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { UsageError } from './command.ts';
import type { FilePlace } from './input-file.ts';

export interface FileOutput {
  /** Whether another run can continue what is interrupted. */
  readonly continues: boolean;
  write(bytes: Uint8Array): Promise<void>;
  /** What has been written so far belongs to this progress, which is stored from time to time. */
  progressed(progress: object): void;
  /** Ends, so that another run can continue where that is possible. */
  interrupt(): Promise<void>;
  /** Gives the complete file its name. */
  keep(): Promise<void>;
  /** Removes what has been written. */
  discard(): Promise<void>;
}

const partOf = (path: string): string => `${path}.part`;
/** How far the results in the `.part` file are, and of what. */
const progressOf = (path: string): string => `${path}.part.json`;
/** While it is written; a run that is killed may leave one. */
const nextProgressOf = (path: string): string => `${progressOf(path)}.new`;

interface Stored {
  /** Bytes of the `.part` file that belong to the progress. */
  readonly written: number;
  readonly progress: object;
}

const PROGRESS_EVERY_MS = 1_000;

interface Run {
  /** Of the input and the settings: only a run with the same one is continued, and none where it is null. */
  readonly identity: object | null;
  readonly input: FilePlace;
  readonly resume: boolean;
}

/** Opens the output. `stored` is the progress of the run that is continued, null without one. */
export async function openOutput(
  out: string,
  { identity, input, resume }: Run,
): Promise<{ output: FileOutput; stored: object | null }> {
  const path = out === '-' ? out : await behindLinks(out);
  // Whatever is wrong with the path, the next step says.
  const there = path === '-' ? null : await stat(path).catch(() => null);
  if (there?.isDirectory()) throw new UsageError(`--out ${path} is a folder: give a file.`);
  const isStream = path === '-' || there?.isFile() === false;
  if (resume && (isStream || identity === null))
    throw new UsageError('--resume needs files: --file and --out can be neither a pipe nor a device.');
  if (path === '-') return { output: standardOutput(), stored: null };
  // Such as /dev/null, which must not be replaced by a file.
  if (isStream) return { output: streamOutput(await openToWrite(path, path, 'w')), stored: null };
  await leaveAlone(input, path);
  const stored = await readStored(path);
  if (stored === null) return { output: fileOutput(path, identity, await openPart(path, 'w'), 0), stored: null };
  if (!resume)
    throw new UsageError(
      `--out ${path} was interrupted earlier. Add --resume to continue it, or delete ${progressOf(path)} to start again.`,
    );
  if (JSON.stringify(stored.identity) !== JSON.stringify(identity))
    throw new UsageError(
      `--out ${path} cannot be continued: the input file or the flags differ. Delete ${progressOf(path)} to start again.`,
    );
  const part = await openPart(path, 'r+');
  if ((await part.stat()).size < stored.written) {
    await part.close();
    throw new UsageError(`--out ${path} cannot be continued: ${partOf(path)} is incomplete.`);
  }
  await part.truncate(stored.written);
  return { output: fileOutput(path, identity, part, stored.written), stored: stored.progress };
}

/** The file itself: the complete results replace what has this name, and a link is to stay one. */
async function behindLinks(out: string): Promise<string> {
  const isLink = await lstat(out).then(
    (status) => status.isSymbolicLink(),
    () => false,
  );
  if (!isLink) return out;
  return realpath(out).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`--out ${out} is a link to nothing that can be written (${error.code}).`);
  });
}

/** The input has columns, rows and sheets that the results may lack, so it is never written to. */
async function leaveAlone(input: FilePlace, path: string): Promise<void> {
  for (const written of [path, partOf(path), progressOf(path), nextProgressOf(path)]) {
    const there = await stat(written).catch(() => null);
    if (there?.dev === input.dev && there.ino === input.ino)
      throw new UsageError(`--out would replace ${written}, which is the input: give another name.`);
  }
}

const openPart = (path: string, flags: 'w' | 'r+'): Promise<FileHandle> => openToWrite(partOf(path), path, flags);

/** `out`: what errors name. */
async function openToWrite(path: string, out: string, flags: 'w' | 'r+'): Promise<FileHandle> {
  return open(path, flags, 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`cannot write --out ${out} (${error.code}): give a file in a folder that you may write to.`);
  });
}

async function readStored(path: string): Promise<(Stored & { readonly identity: unknown }) | null> {
  const text = await readFile(progressOf(path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
    throw new UsageError(`cannot read ${progressOf(path)} (${error.code}).`);
  });
  return text === null ? null : JSON.parse(text);
}

function fileOutput(path: string, identity: object | null, file: FileHandle, start: number): FileOutput {
  let written = start;
  let latest: Stored | null = null;
  let storing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | null = null;

  /** A crash leaves the old progress or the new one; the bytes of both are on disk. */
  async function store(): Promise<void> {
    if (latest === null || identity === null) return;
    const text = JSON.stringify({ identity, ...latest });
    await file.datasync();
    const next = await open(nextProgressOf(path), 'w', 0o600);
    try {
      await next.writeFile(text);
      await next.datasync();
    } finally {
      await next.close();
    }
    await rename(nextProgressOf(path), progressOf(path));
  }

  function storeSoon(): void {
    timer ??= setTimeout(() => {
      timer = null;
      storing = storing.then(store);
      // The next step reports it.
      storing.catch(() => undefined);
    }, PROGRESS_EVERY_MS);
  }

  async function forget(): Promise<void> {
    await rm(progressOf(path), { force: true });
    await rm(nextProgressOf(path), { force: true });
  }

  async function stop(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    await storing;
  }

  return {
    continues: identity !== null,
    async write(bytes) {
      for (let at = 0; at < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, at, bytes.length - at, written);
        at += bytesWritten;
        written += bytesWritten;
      }
    },
    progressed(progress) {
      latest = { written, progress };
      storeSoon();
    },
    async interrupt() {
      try {
        await stop();
        await store();
      } finally {
        await file.close();
      }
    },
    async keep() {
      await stop();
      await file.datasync();
      await file.close();
      await rename(partOf(path), path);
      await forget();
    },
    async discard() {
      await stop().catch(() => undefined);
      await file.close();
      await forget();
      await rm(partOf(path), { force: true });
    },
  };
}

const standardOutput = (): FileOutput =>
  unseekable(async (bytes) => {
    if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
  });

const streamOutput = (file: FileHandle): FileOutput =>
  unseekable(
    (bytes) => file.writeFile(bytes),
    () => file.close(),
  );

const unseekable = (write: FileOutput['write'], close = () => Promise.resolve()): FileOutput => ({
  continues: false,
  write,
  progressed: () => undefined,
  interrupt: close,
  keep: close,
  discard: close,
});
