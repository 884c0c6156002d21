/**
 * Text in the encodings of the WHATWG's Encoding Standard. Node decodes all of them and encodes only Unicode, so tables
 * are made by decoding: every sequence of one and two bytes, three for the rest of EUC-JP, and the four-byte sequences
 * of GB18030.
 */

/** What the encoding lacks is a question mark. */
export type EncodeText = (text: string) => Buffer;

const UTF_16: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  'utf-16le': (bytes) => bytes,
  'utf-16be': (bytes) => bytes.swap16(),
};
/** They have states, or only one character. */
const NOT_WRITTEN: ReadonlySet<string> = new Set(['iso-2022-jp', 'replacement', 'x-user-defined']);

const tables = new Map<string, ReadonlyMap<string, Buffer>>();

/** Null: texts are not written in it. `encoding`: by its name in the standard. */
export function encoderOf(encoding: string): EncodeText | null {
  if (encoding === 'utf-8') return (text) => Buffer.from(text);
  const order = UTF_16[encoding];
  if (order !== undefined) return (text) => order(Buffer.from(text, 'utf16le'));
  if (NOT_WRITTEN.has(encoding)) return null;
  const table = tables.get(encoding) ?? encodingTable(encoding);
  tables.set(encoding, table);
  return (text) => encoded(text, table);
}

/** The byte order mark, as a character. */
export const BYTE_ORDER_MARK = '\u{FEFF}';
export const hasByteOrder = (encoding: string): boolean => encoding === 'utf-8' || Object.hasOwn(UTF_16, encoding);

function encoded(text: string, table: ReadonlyMap<string, Buffer>): Buffer {
  if (/^\p{ASCII}*$/u.test(text)) return Buffer.from(text, 'latin1');
  const pieces: Buffer[] = [];
  for (const character of text) pieces.push(table.get(character) ?? LACKING);
  return Buffer.concat(pieces);
}
const LACKING = Buffer.from('?');

function encodingTable(encoding: string): ReadonlyMap<string, Buffer> {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
  const table = new Map<string, Buffer>();
  /** The first sequence of a character counts, and only where it is one character. */
  const add = (bytes: readonly number[]): boolean => {
    let text: string;
    try {
      text = decoder.decode(Uint8Array.from(bytes));
    } catch {
      return false;
    }
    if ([...text].length === 1 && !table.has(text)) table.set(text, Buffer.from(bytes));
    return true;
  };
  const leads = BYTES.filter((byte) => !add([byte]));
  for (const lead of leads) for (const byte of SECOND_BYTES) add([lead, byte]);
  if (encoding === 'euc-jp')
    for (const second of SECOND_BYTES) for (const third of SECOND_BYTES) add([0x8f, second, third]);
  if (encoding === 'gb18030') for (const bytes of fourByteSequences()) add(bytes);
  return table;
}

const BYTES = Array.from({ length: 256 }, (_, byte) => byte);
const SECOND_BYTES = BYTES.filter((byte) => byte >= 0x30);

/** Yields those of the basic plane. */
function* fourByteSequences(): Generator<number[]> {
  for (let pointer = 0; pointer < 39_420; pointer++)
    yield [
      0x81 + Math.floor(pointer / 12_600),
      0x30 + (Math.floor(pointer / 1_260) % 10),
      0x81 + (Math.floor(pointer / 10) % 126),
      0x30 + (pointer % 10),
    ];
}
