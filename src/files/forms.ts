/** Which form a file has, by its first bytes. */
import { unreadable } from './problems.ts';

/** `csv`: comma, semicolon or tab; `text`: an address per line; `json`: one array. */
export type FileForm = 'csv' | 'tsv' | 'text' | 'ndjson' | 'json' | 'xlsx';

const startsWith = (bytes: Buffer, ...signature: number[]): boolean => signature.every((byte, i) => bytes[i] === byte);

/** Files that people take for lists, and what to do with them. */
const OTHERS: readonly (readonly [signature: readonly number[], what: string])[] = [
  [
    [0xd0, 0xcf, 0x11, 0xe0],
    'it is an old Excel file (.xls) or has a password; save it as .xlsx without one, or as CSV',
  ],
  [[0x1f, 0x8b], 'it is compressed with gzip; unpack it first'],
  [[0x25, 0x50, 0x44, 0x46], 'it is a PDF; export the addresses as CSV'],
  [[0x50, 0x4b, 0x05, 0x06], 'it is an empty ZIP archive'],
];

/** UTF-16 with a byte order mark has zero bytes; other text does not. */
const isUtf16 = (bytes: Buffer): boolean => startsWith(bytes, 0xff, 0xfe) || startsWith(bytes, 0xfe, 0xff);
const TEXT_BYTES = 512;

/**
 * `claimed`: what the sender says it is; null: unknown. XLSX is recognized by content even where something else was
 * claimed. Throws FileError for what is no list.
 */
export function formOf(bytes: Buffer, claimed: FileForm | null): FileForm | null {
  if (startsWith(bytes, 0x50, 0x4b, 0x03, 0x04)) return 'xlsx';
  for (const [signature, what] of OTHERS) if (startsWith(bytes, ...signature)) throw unreadable(what);
  if (claimed === 'xlsx') throw unreadable('it is not an XLSX file');
  if (!isUtf16(bytes) && bytes.subarray(0, TEXT_BYTES).includes(0))
    throw unreadable('it is binary data, or UTF-16 without a byte order mark', 1);
  return claimed;
}

/** The form of text whose sender did not say, where it is JSON. */
export function jsonFormOf(text: string): 'json' | 'ndjson' | null {
  if (/^\s*\[\s*["{\]]/.test(text)) return 'json';
  return /^\s*\{\s*"/.test(text) ? 'ndjson' : null;
}
