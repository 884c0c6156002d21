/** Reads entries of a ZIP file (PKWARE APPNOTE 6.3.10), within bounds. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib';
import { tooLarge, unreadable } from '../problems.ts';
import type { RandomAccess } from '../spool.ts';

export type Bytes = Pick<RandomAccess, 'sizeBytes' | 'read'>;

export interface ZipEntry {
  readonly name: string;
  readonly isEncrypted: boolean;
  /** 0 means stored, 8 deflated. */
  readonly method: number;
  readonly crc: number;
  /** Bytes in the file, and unpacked, as the directory says. */
  readonly packedBytes: number;
  readonly sizeBytes: number;
  /** The local header of the entry begins at this offset. */
  readonly at: number;
}

export interface Zip {
  readonly entries: readonly ZipEntry[];
  /** Names are compared without case. */
  find(name: string): ZipEntry | undefined;
  /** The content, checked; `at` is called with the number of packed bytes that have been read. */
  read(entry: ZipEntry, maxBytes: number, at?: (packedBytes: number) => void): AsyncGenerator<Buffer, void, undefined>;
}

const SIGNATURE = { local: 0x04034b50, central: 0x02014b50, end: 0x06054b50, end64: 0x06064b50, locator64: 0x07064b50 };
const RECORD_LENGTHS = { local: 30, central: 46, end: 22, end64: 56, locator64: 20 };
const COMMENT_LENGTH = 0xffff;
/** A field of 32 bits has this if the value is in the ZIP64 extra field. */
const IN_ZIP64 = 0xffffffff;
const ZIP64_FIELD = 1;
const ENCRYPTED = 1;

const ENTRIES_MAX = 20_000;
const DIRECTORY_BYTES = 4 << 20;
const ZIP_READ_BYTES = 48 * 1024;
/** Deflate packs at most 1,032 to 1; sheets are packed 5 to 50 to 1. */
export const RATIO_MAX = 250;
/** Whatever its ratio, so much may be unpacked. */
export const RATIO_FREE_BYTES = 16 << 20;

const damaged = (what: string) => unreadable(`the ZIP archive is damaged: ${what}`);
const tooLong = () => damaged('an entry is longer than its directory says');

export async function openZip(file: Bytes): Promise<Zip> {
  const { at, length, count } = await directoryOf(file);
  if (count > ENTRIES_MAX) throw tooLarge(ENTRIES_MAX, 'entries in the ZIP archive');
  if (length > DIRECTORY_BYTES || at + length > file.sizeBytes) throw damaged('its directory does not fit');
  const entries = new Map<string, ZipEntry>();
  for (const entry of entriesOf(await file.read(at, length), count)) entries.set(entryKey(entry.name), entry);
  return {
    entries: [...entries.values()],
    find: (name) => entries.get(entryKey(name)),
    read: (entry, maxBytes, progress) => entryContent(file, entry, maxBytes, progress),
  };
}

const entryKey = (name: string): string => name.replaceAll('\\', '/').replace(/^\//, '').toLowerCase();

async function directoryOf(file: Bytes): Promise<{ at: number; length: number; count: number }> {
  const start = Math.max(0, file.sizeBytes - RECORD_LENGTHS.end - COMMENT_LENGTH - RECORD_LENGTHS.locator64);
  const tail = await file.read(start, file.sizeBytes - start);
  for (let end = tail.length - RECORD_LENGTHS.end; end >= 0; end--) {
    if (tail.readUInt32LE(end) !== SIGNATURE.end) continue;
    if (end + RECORD_LENGTHS.end + tail.readUInt16LE(end + 20) !== tail.length) continue;
    const count = tail.readUInt16LE(end + 10);
    const length = tail.readUInt32LE(end + 12);
    const at = tail.readUInt32LE(end + 16);
    const locator = end - RECORD_LENGTHS.locator64;
    if (locator < 0 || tail.readUInt32LE(locator) !== SIGNATURE.locator64) return { at, length, count };
    const end64 = await file.read(uint64At(tail, locator + 8), RECORD_LENGTHS.end64);
    if (end64.length < RECORD_LENGTHS.end64 || end64.readUInt32LE(0) !== SIGNATURE.end64)
      throw damaged('its end is missing');
    return { at: uint64At(end64, 48), length: uint64At(end64, 40), count: uint64At(end64, 32) };
  }
  throw damaged('its end is missing');
}

/** A number of 64 bits; beyond what can be a position it becomes one that is beyond every file. */
const uint64At = (bytes: Buffer, at: number): number => Number(bytes.readBigUInt64LE(at) & 0x1fffffffffffffn);

function* entriesOf(directory: Buffer, count: number): Generator<ZipEntry> {
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (at + RECORD_LENGTHS.central > directory.length || directory.readUInt32LE(at) !== SIGNATURE.central)
      throw damaged('its directory is not complete');
    const nameLength = directory.readUInt16LE(at + 28);
    const extraLength = directory.readUInt16LE(at + 30);
    const extraAt = at + RECORD_LENGTHS.central + nameLength;
    const next = extraAt + extraLength + directory.readUInt16LE(at + 32);
    if (next > directory.length) throw damaged('its directory is not complete');
    const [sizeBytes, packedBytes, local] = sizesOf(directory, at, directory.subarray(extraAt, extraAt + extraLength));
    yield {
      name: directory.toString('utf8', at + RECORD_LENGTHS.central, extraAt),
      isEncrypted: (directory.readUInt16LE(at + 8) & ENCRYPTED) !== 0,
      method: directory.readUInt16LE(at + 10),
      crc: directory.readUInt32LE(at + 16),
      sizeBytes,
      packedBytes,
      at: local,
    };
    at = next;
  }
}

/** Size, packed size and position, from the ZIP64 field where they are not in the entry itself. */
function sizesOf(directory: Buffer, at: number, extra: Buffer): [number, number, number] {
  const plain = [directory.readUInt32LE(at + 24), directory.readUInt32LE(at + 20), directory.readUInt32LE(at + 42)];
  for (let i = 0; i + 4 <= extra.length; ) {
    const length = extra.readUInt16LE(i + 2);
    if (extra.readUInt16LE(i) === ZIP64_FIELD && i + 4 + length <= extra.length) {
      const field = extra.subarray(i + 4, i + 4 + length);
      let from = 0;
      for (const [n, value] of plain.entries()) {
        if (value !== IN_ZIP64) continue;
        if (from + 8 > field.length) throw damaged('its directory is not complete');
        plain[n] = uint64At(field, from);
        from += 8;
      }
      break;
    }
    i += 4 + length;
  }
  const [sizeBytes = 0, packedBytes = 0, local = 0] = plain;
  return [sizeBytes, packedBytes, local];
}

async function* entryContent(
  file: Bytes,
  entry: ZipEntry,
  maxBytes: number,
  progress: (packedBytes: number) => void = () => undefined,
): AsyncGenerator<Buffer, void, undefined> {
  if (entry.isEncrypted) throw unreadable('it is encrypted');
  if (entry.method !== 0 && entry.method !== 8) throw unreadable(`its compression method ${entry.method} is unknown`);
  if (entry.sizeBytes > maxBytes) throw tooLarge(maxBytes, 'bytes in an unpacked entry of the ZIP archive');
  if (entry.sizeBytes > RATIO_FREE_BYTES && entry.sizeBytes > RATIO_MAX * entry.packedBytes)
    throw tooLarge(RATIO_MAX, 'bytes unpacked for each byte of the ZIP archive');
  const header = await file.read(entry.at, RECORD_LENGTHS.local);
  if (header.length < RECORD_LENGTHS.local || header.readUInt32LE(0) !== SIGNATURE.local)
    throw damaged('an entry is missing');
  const start = entry.at + RECORD_LENGTHS.local + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (start + entry.packedBytes > file.sizeBytes) throw damaged('an entry is not complete');
  const pieces = entryPieces(file, start, entry.packedBytes, progress);
  let sizeBytes = 0;
  let crc = 0;
  for await (const piece of entry.method === 0 ? pieces : unpacked(entry, pieces)) {
    sizeBytes += piece.length;
    // What the directory says is checked first, but it may be wrong.
    if (sizeBytes > entry.sizeBytes) throw tooLong();
    crc = crc32(piece, crc);
    yield piece;
  }
  if (sizeBytes !== entry.sizeBytes || crc !== entry.crc) throw damaged('the checksum of an entry does not match');
}

async function* entryPieces(file: Bytes, start: number, length: number, progress: (packedBytes: number) => void) {
  for (let at = 0; at < length; at += ZIP_READ_BYTES) {
    yield await file.read(start + at, Math.min(ZIP_READ_BYTES, length - at));
    progress(Math.min(length, at + ZIP_READ_BYTES));
  }
}

/** A part that is no larger than a piece is unpacked at once: streams took most of the time of a small file. */
const unpacked = ({ packedBytes, sizeBytes }: ZipEntry, pieces: AsyncIterable<Buffer>): AsyncIterable<Buffer> =>
  Math.max(packedBytes, sizeBytes) <= ZIP_READ_BYTES ? inflatedAtOnce(pieces, sizeBytes) : inflated(pieces);

const cannotUnpack = (error: unknown): unknown => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return code.startsWith('Z_') ? damaged('an entry cannot be unpacked') : error;
};

async function* inflatedAtOnce(
  pieces: AsyncIterable<Buffer>,
  sizeBytes: number,
): AsyncGenerator<Buffer, void, undefined> {
  const packed: Buffer[] = [];
  for await (const piece of pieces) packed.push(piece);
  let content: Buffer;
  try {
    content = inflateRawSync(Buffer.concat(packed), { maxOutputLength: sizeBytes + 1 });
  } catch (error) {
    if (error instanceof RangeError) throw tooLong();
    throw cannotUnpack(error);
  }
  yield content;
}

async function* inflated(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  const inflate = createInflateRaw({ chunkSize: ZIP_READ_BYTES });
  const done = pipeline(Readable.from(pieces), inflate).then(
    () => null,
    (error: unknown) => error,
  );
  try {
    const output: AsyncIterable<Buffer> = inflate;
    for await (const piece of output) yield piece;
  } catch (error) {
    throw cannotUnpack(error);
  } finally {
    inflate.destroy();
    await done;
  }
}
