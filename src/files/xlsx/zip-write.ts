/** Records of a ZIP file (PKWARE APPNOTE 6.3.10): enough for entries below 4 GiB. */

export interface ZipPart {
  readonly name: string;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  /** Of its local header. */
  readonly at: number;
}

const VERSION = 20;
const DEFLATED = 8;
/** Sizes and checksum follow the content; names are UTF-8. */
const FLAGS = 0x0808;
/** 1 January 1980, the earliest date: the same rows give the same file. */
const DATE = 0x21;

export function localHeader(name: string): Buffer {
  const header = Buffer.alloc(30 + name.length);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(VERSION, 4);
  header.writeUInt16LE(FLAGS, 6);
  header.writeUInt16LE(DEFLATED, 8);
  header.writeUInt16LE(DATE, 12);
  header.writeUInt16LE(name.length, 26);
  header.write(name, 30, 'latin1');
  return header;
}

export function dataDescriptor({ crc, packed, size }: ZipPart): Buffer {
  const descriptor = Buffer.alloc(16);
  descriptor.writeUInt32LE(0x08074b50, 0);
  descriptor.writeUInt32LE(crc, 4);
  descriptor.writeUInt32LE(packed, 8);
  descriptor.writeUInt32LE(size, 12);
  return descriptor;
}

/** The directory, which is at `at`, and the end of the file. */
export function directory(parts: readonly ZipPart[], at: number): Buffer {
  const entries = parts.map((part) => {
    const entry = Buffer.alloc(46 + part.name.length);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(VERSION, 4);
    entry.writeUInt16LE(VERSION, 6);
    entry.writeUInt16LE(FLAGS, 8);
    entry.writeUInt16LE(DEFLATED, 10);
    entry.writeUInt16LE(DATE, 14);
    entry.writeUInt32LE(part.crc, 16);
    entry.writeUInt32LE(part.packed, 20);
    entry.writeUInt32LE(part.size, 24);
    entry.writeUInt16LE(part.name.length, 28);
    entry.writeUInt32LE(part.at, 42);
    entry.write(part.name, 46, 'latin1');
    return entry;
  });
  const list = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([list, end]);
}
