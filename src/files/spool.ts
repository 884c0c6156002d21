/** Bytes that have to be read out of order: XLSX files have their directory at the end. */
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface RandomAccess {
  readonly size: number;
  /** Fewer bytes only at the end. */
  read(position: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

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
  read: (position, length) => Promise.resolve(bytes.subarray(position, position + length)),
  close: () => Promise.resolve(),
});

const inFile = (file: FileHandle, size: number): RandomAccess => ({
  size,
  async read(position, length) {
    const bytes = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - position)));
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, at, bytes.length - at, position + at);
      if (bytesRead === 0) return bytes.subarray(0, at);
      at += bytesRead;
    }
    return bytes;
  },
  close: () => file.close(),
});
