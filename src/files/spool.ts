/** Bytes that have to be read out of order: XLSX files have their directory at the end. */
import { readSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiError } from '../kernel/errors.ts';
import { LIST_SPOOLED_BYTES } from '../kernel/facts/limits.ts';

export interface RandomAccess {
  readonly sizeBytes: number;
  /** What a thread of this process needs to read it, until it is closed. */
  readonly shared: SpooledBytes;
  /** Fewer bytes only at the end. */
  read(position: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** The descriptor of a file that is open in this process, or the bytes themselves. */
export type SpooledBytes = { readonly fd: number; readonly sizeBytes: number } | { readonly bytes: Uint8Array };

/** Input that was read to its end already. */
export class SpooledInput implements AsyncIterable<Buffer> {
  readonly file: RandomAccess;
  constructor(file: RandomAccess) {
    this.file = file;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    for (let at = 0; at < this.file.sizeBytes; at += SPOOL_LINE_BYTES) yield await this.file.read(at, SPOOL_LINE_BYTES);
  }
}

/** Lines of so much are cut and stored in a few ms. */
const SPOOL_LINE_BYTES = 32 * 1024;
/** Smaller inputs stay in memory. */
const IN_MEMORY_BYTES = 1 << 20;

/** Bounds the temporary files of a process. */
export interface SpoolSpace {
  readonly bytes: number;
  used: number;
}
const SPOOL_SPACE: SpoolSpace = { bytes: LIST_SPOOLED_BYTES, used: 0 };
const RETRY_SECONDS = 30;

/**
 * Reads the input to its end, into a temporary file if it is large. The file has no name anymore when it is written to,
 * so nothing is left behind, however the process ends. Throws ApiError `overloaded` where there is no room.
 */
export async function spool(blocks: AsyncIterable<Buffer>, space: SpoolSpace = SPOOL_SPACE): Promise<RandomAccess> {
  const held: Buffer[] = [];
  let sizeBytes = 0;
  let file: SpoolFile | null = null;
  try {
    for await (const block of blocks) {
      if (file === null && sizeBytes + block.length > IN_MEMORY_BYTES) {
        file = new SpoolFile(await openNameless(), space);
        for (const earlier of held.splice(0)) await file.write(earlier);
      }
      if (file === null) held.push(block);
      else await file.write(block);
      sizeBytes += block.length;
    }
  } catch (error) {
    await file?.close();
    throw error;
  }
  return file === null ? inMemory(Buffer.concat(held)) : readFromFile(file, sizeBytes);
}

const noRoom = (cause?: unknown): ApiError =>
  new ApiError('overloaded', 'There is no room for further uploads.', { retry_after: RETRY_SECONDS }, cause);
const isFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

class SpoolFile {
  readonly handle: FileHandle;
  readonly #space: SpoolSpace;
  #bytes = 0;

  constructor(handle: FileHandle, space: SpoolSpace) {
    this.handle = handle;
    this.#space = space;
  }

  async write(bytes: Buffer): Promise<void> {
    if (this.#space.used + bytes.length > this.#space.bytes) throw noRoom();
    this.#space.used += bytes.length;
    this.#bytes += bytes.length;
    try {
      for (let at = 0; at < bytes.length; ) at += (await this.handle.write(bytes, at)).bytesWritten;
    } catch (error) {
      throw isFull(error) ? noRoom(error) : error;
    }
  }

  async close(): Promise<void> {
    this.#space.used -= this.#bytes;
    this.#bytes = 0;
    await this.handle.close();
  }
}

/** Another thread reads by this, and waits for the disk. */
export const readShared = (source: SpooledBytes): Pick<RandomAccess, 'sizeBytes' | 'read'> =>
  'bytes' in source
    ? inMemory(Buffer.from(source.bytes.buffer, source.bytes.byteOffset, source.bytes.length))
    : byDescriptor(source);

/** A temporary file that nothing is left of, however the process ends. */
export async function openNameless(): Promise<FileHandle> {
  const dir = await mkdtemp(join(tmpdir(), 'mailvet-'));
  try {
    return await open(join(dir, 'upload'), 'wx+', 0o600);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const READ_BYTES = 64 * 1024;

export async function* filePieces(
  file: Pick<RandomAccess, 'sizeBytes' | 'read'>,
): AsyncGenerator<Buffer, void, undefined> {
  for (let at = 0; at < file.sizeBytes; at += READ_BYTES) yield await file.read(at, READ_BYTES);
}

const inMemory = (bytes: Buffer): RandomAccess => ({
  sizeBytes: bytes.length,
  shared: { bytes },
  read: (position, length) => Promise.resolve(bytes.subarray(position, position + length)),
  close: () => Promise.resolve(),
});

const readFromFile = (file: SpoolFile, sizeBytes: number): RandomAccess => ({
  sizeBytes,
  shared: { fd: file.handle.fd, sizeBytes },
  read: (position, length) =>
    readFully(sizeBytes, position, length, async (bytes, at) => {
      const { bytesRead } = await file.handle.read(bytes, at, bytes.length - at, position + at);
      return bytesRead;
    }),
  close: () => file.close(),
});

const byDescriptor = ({ fd, sizeBytes }: { readonly fd: number; readonly sizeBytes: number }) => ({
  sizeBytes,
  read: (position: number, length: number) =>
    readFully(sizeBytes, position, length, (bytes, at) => readSync(fd, bytes, at, bytes.length - at, position + at)),
});

/** `read`: reads to `at` and returns the number of bytes. */
async function readFully(
  sizeBytes: number,
  position: number,
  length: number,
  read: (bytes: Buffer, at: number) => number | Promise<number>,
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, sizeBytes - position)));
  for (let at = 0; at < bytes.length; ) {
    const count = await read(bytes, at);
    if (count === 0) return bytes.subarray(0, at);
    at += count;
  }
  return bytes;
}
