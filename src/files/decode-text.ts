/** Bytes to text, block by block. */

import { isUtf8 } from 'node:buffer';
import { CR, LF } from '../kernel/facts/ascii.ts';
import { decoderOf, type Encoding } from './encoding.ts';

export interface TextBlock {
  readonly text: string;
  /** Counts bytes of the input up to its end. */
  readonly bytes: number;
}

/** What was found while a text was decoded. */
export interface DecodeNotes {
  /** Lines, or characters of what has none, that are not valid in the encoding. */
  invalid: number;
}

/**
 * A block without a line end is cut anywhere from here on. Of larger ones, more outlives a collection, with what they
 * are parsed into: with 128 KiB, a reader of JSON on one line grew by 142 to 165 MB.
 */
const LINELESS_BYTES = 32 * 1024;
const MARK = '\u{FEFF}';
const END_OF_FILE = '\u001a';

/**
 * `lineEnd`: what ends lines where the text has neither CR nor LF; it becomes LF. Without byte order marks, which also
 * are where files were put together, and without the end-of-file character of DOS.
 */
export async function* decodeText(
  blocks: AsyncIterable<Buffer>,
  encoding: Encoding,
  lineEnd: string | null,
  notes: DecodeNotes,
): AsyncGenerator<TextBlock, void, undefined> {
  let isLineStart = true;
  let held: TextBlock | null = null;
  for await (const { text, bytes } of decodeBlocks(blocks, encoding, notes)) {
    if (text === '') continue;
    const plain = withoutMarks(lineEnd === null ? text : text.replaceAll(lineEnd, '\n'), isLineStart);
    isLineStart = /[\r\n]$/.test(plain) || (plain === '' && isLineStart);
    if (held !== null) yield held;
    held = { text: plain, bytes };
  }
  if (held !== null) yield { ...held, text: withoutEnd(held.text) };
}

function withoutMarks(text: string, isLineStart: boolean): string {
  if (!text.includes(MARK)) return text;
  const plain = text.replaceAll(/([\r\n])\ufeff+/g, '$1');
  return isLineStart ? plain.replace(/^\ufeff+/, '') : plain;
}

function withoutEnd(text: string): string {
  const at = text.lastIndexOf(END_OF_FILE);
  return at >= 0 && text.slice(at + 1).trim() === '' ? text.slice(0, at).replace(/(?<!\u001a)\u001a+$/, '') : text;
}

const decodeBlocks = (blocks: AsyncIterable<Buffer>, encoding: Encoding, notes: DecodeNotes) =>
  encoding.name === 'utf-8' ? decodeUtf8(blocks, encoding.skip, notes) : decodeOther(blocks, encoding, notes);

async function* decodeOther(
  blocks: AsyncIterable<Buffer>,
  { name, skip }: Encoding,
  notes: DecodeNotes,
): AsyncGenerator<TextBlock, void, undefined> {
  const decode = decoderOf(name);
  let bytes = 0;
  for await (const block of blocks) {
    const from = Math.max(0, skip - bytes);
    bytes += block.length;
    yield { text: countReplaced(decode(block.subarray(from), false), notes), bytes };
  }
  yield { text: countReplaced(decode(new Uint8Array(0), true), notes), bytes };
}

function countReplaced(text: string, notes: DecodeNotes): string {
  for (let at = text.indexOf('\u{FFFD}'); at >= 0; at = text.indexOf('\u{FFFD}', at + 1)) notes.invalid += 1;
  return text;
}

/**
 * Each line that is valid UTF-8 is UTF-8, and each other line Windows-1252: text of the one is hardly ever valid in the
 * other, and files that were put together from several have both. Blocks end at a line end where possible, never inside
 * a character.
 */
async function* decodeUtf8(
  blocks: AsyncIterable<Buffer>,
  skip: number,
  notes: DecodeNotes,
): AsyncGenerator<TextBlock, void, undefined> {
  let rest: Buffer | null = null;
  let bytes = 0;
  for await (const block of blocks) {
    const from = Math.max(0, skip - bytes);
    bytes += block.length;
    const next = from === 0 ? block : block.subarray(from);
    rest = rest === null ? next : Buffer.concat([rest, next]);
    const cut = cutOf(rest);
    if (cut === 0) continue;
    yield { text: decodeLines(rest.subarray(0, cut), notes), bytes };
    rest = cut === rest.length ? null : rest.subarray(cut);
  }
  if (rest !== null) yield { text: decodeLines(rest, notes), bytes };
}

/** Returns where to end a block; 0: wait for more. */
function cutOf(bytes: Buffer): number {
  const line = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1;
  if (line > 0 || bytes.length < LINELESS_BYTES) return line;
  // At most three bytes of a character are before its last one.
  let cut = bytes.length;
  while (cut > bytes.length - 4 && isInside(bytes[cut - 1])) cut -= 1;
  return isLead(bytes[cut - 1]) ? cut - 1 : bytes.length;
}
const isInside = (byte = 0): boolean => (byte & 0xc0) === 0x80;
const isLead = (byte = 0): boolean => (byte & 0xc0) === 0xc0;

const windows1252 = decoderOf('windows-1252');

function decodeLines(bytes: Buffer, notes: DecodeNotes): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let text = '';
  for (let start = 0; start < bytes.length; ) {
    const lf = bytes.indexOf(LF, start);
    const end = lf < 0 ? bytes.length : lf + 1;
    const line = bytes.subarray(start, end);
    if (isUtf8(line)) text += line.toString('utf8');
    else {
      text += windows1252(line, true);
      notes.invalid += 1;
    }
    start = end;
  }
  return text;
}
