/** Bytes that have to be read out of order: XLSX files have their directory at the end. */
import { readSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface RandomAccess {
  readonly size: number;
  /** What a thread of this process needs to read it, until it is closed. */
  readonly shared: SharedBytes;
  /** Fewer bytes only at the end. */
  read(position: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** The descriptor of a file that is open in this process, or the bytes themselves. */
export type SharedBytes = { readonly fd: number; readonly size: number } | { readonly bytes: Uint8Array };

/** Input that was read to its end already. */
export class SpooledInput implements AsyncIterable<Buffer> {
  readonly file: RandomAccess;
  constructor(file: RandomAccess) {
    this.file = file;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    for (let at = 0; at < this.file.size; at += PIECE_BYTES) yield await this.file.read(at, PIECE_BYTES);
  }
}

/** Lines of so much are cut and stored in a few ms. */
const PIECE_BYTES = 32 * 1024;
/** Smaller inputs stay in memory. */
const IN_MEMORY_BYTES = 1 << 20;

/**
 * Reads the input to its end, into a temporary file if it is large. The file has no name anymore when it is written to,
 * so nothing is left behind, however the process ends.
 */
export async function spool(blocks: AsyncIterable<Buffer>): Promise<RandomAccess> {
  const held: Buffer[] = [];
  let size = 0;
  let file: FileHandle | null = null;
  try {
    for await (const block of blocks) {
      if (file === null && size + block.length > IN_MEMORY_BYTES) {
        file = await openNameless();
        for (const earlier of held.splice(0)) await writeAll(file, earlier);
      }
      if (file === null) held.push(block);
      else await writeAll(file, block);
      size += block.length;
    }
  } catch (error) {
    await file?.close();
    throw error;
  }
  return file === null ? inMemory(Buffer.concat(held)) : inFile(file, size);
}

/** In another thread. Reads wait for the disk. */
export const readShared = (source: SharedBytes): Pick<RandomAccess, 'size' | 'read'> =>
  'bytes' in source
    ? inMemory(Buffer.from(source.bytes.buffer, source.bytes.byteOffset, source.bytes.length))
    : byDescriptor(source);

async function openNameless(): Promise<FileHandle> {
  const dir = await mkdtemp(join(tmpdir(), 'mailvet-'));
  try {
    return await open(join(dir, 'upload'), 'wx+', 0o600);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}

const inMemory = (bytes: Buffer): RandomAccess => ({
  size: bytes.length,
  shared: { bytes },
  read: (position, length) => Promise.resolve(bytes.subarray(position, position + length)),
  close: () => Promise.resolve(),
});

const inFile = (file: FileHandle, size: number): RandomAccess => ({
  size,
  shared: { fd: file.fd, size },
  read: (position, length) =>
    readFully(size, position, length, async (bytes, at) => {
      const { bytesRead } = await file.read(bytes, at, bytes.length - at, position + at);
      return bytesRead;
    }),
  close: () => file.close(),
});

const byDescriptor = ({ fd, size }: { readonly fd: number; readonly size: number }) => ({
  size,
  read: (position: number, length: number) =>
    readFully(size, position, length, (bytes, at) => readSync(fd, bytes, at, bytes.length - at, position + at)),
});

/** `read`: reads to `at` and returns the number of bytes. */
async function readFully(
  size: number,
  position: number,
  length: number,
  read: (bytes: Buffer, at: number) => number | Promise<number>,
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - position)));
  for (let at = 0; at < bytes.length; ) {
    const count = await read(bytes, at);
    if (count === 0) return bytes.subarray(0, at);
    at += count;
  }
  return bytes;
}
