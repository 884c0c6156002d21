/** ZIP archives for tests, also with wrong sizes and checksums. */
import { constants, crc32, deflateRawSync } from 'node:zlib';

interface ZipLie {
  /** Added to the unpacked size in the directory. */
  readonly size?: number;
  readonly crc?: number;
  readonly method?: number;
}

/** Text that is never whole in memory: `text` so many times, between `before` and `after`. */
interface Repeated {
  readonly before?: string;
  readonly text: string;
  readonly times: number;
  readonly after?: string;
}

interface Packed {
  readonly bytes: Buffer;
  readonly size: number;
  readonly crc: number;
}

/** A piece that ends at a byte and refers to nothing before it. */
const piece = (text: string | Buffer): Buffer => deflateRawSync(text, { finishFlush: constants.Z_FULL_FLUSH });
/** An empty last block of deflate (RFC 1951). */
const DEFLATE_END = Buffer.from([3, 0]);

function packedOf(content: string | Buffer | Repeated): Packed {
  if (typeof content === 'string' || Buffer.isBuffer(content))
    return { bytes: deflateRawSync(content), size: Buffer.byteLength(content), crc: crc32(content) };
  const { before = '', text, times, after = '' } = content;
  const bytes = Buffer.concat([piece(before), ...Array<Buffer>(times).fill(piece(text)), piece(after), DEFLATE_END]);
  let crc = crc32(before);
  for (let n = 0; n < times; n++) crc = crc32(text, crc);
  const size = Buffer.byteLength(before) + times * Buffer.byteLength(text) + Buffer.byteLength(after);
  return { bytes, size, crc: crc32(after, crc) };
}

export function zipOf(parts: Readonly<Record<string, string | Buffer | Repeated>>, lie: ZipLie = {}): Buffer {
  const pieces: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(parts)) {
    const { bytes: packed, size, crc } = packedOf(content);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(8, 8);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(lie.method ?? 8, 10);
    entry.writeUInt32LE((crc ^ (lie.crc ?? 0)) >>> 0, 16);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(Math.max(0, size + (lie.size ?? 0)), 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    pieces.push(local, Buffer.from(name), packed);
    entries.push(entry, Buffer.from(name));
    at += local.length + name.length + packed.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length / 2, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...pieces, directory, end]);
}

const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** A workbook with this XML as its first sheet. */
export const workbookOf = (
  sheet: string | Buffer | Repeated,
  strings: string | Repeated = '<sst/>',
  lie: ZipLie = {},
): Buffer =>
  zipOf(
    {
      'xl/workbook.xml': '<workbook><sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets></workbook>',
      'xl/_rels/workbook.xml.rels': `<Relationships><Relationship Id="rId1" Type="${RELATIONSHIPS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${RELATIONSHIPS}/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
      'xl/worksheets/sheet1.xml': sheet,
      'xl/sharedStrings.xml': strings,
    },
    lie,
  );
