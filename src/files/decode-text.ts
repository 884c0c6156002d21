/** Bytes to text: UTF-8, UTF-16 with a byte order mark, otherwise Windows-1252. */
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

export interface TextBlock {
  readonly text: string;
  /** Bytes of the input up to its end. */
  readonly bytes: number;
}

const LF = 10;
const CR = 13;
/** A block without a line end is cut anywhere from here on. */
const LINELESS_BYTES = 128 * 1024;

const windows1252 = new TextDecoder('windows-1252');

/**
 * Without a byte order mark, each line that is valid UTF-8 is UTF-8, and each other line Windows-1252: text of the one
 * is hardly ever valid in the other, and files that were put together from several have both. Blocks end at a line end
 * where possible, never inside a character.
 */
export async function* decodeText(blocks: AsyncIterable<Buffer>): AsyncGenerator<TextBlock, void, undefined> {
  let rest: Buffer | null = null;
  let bytes = 0;
  let utf16: TextDecoder | null = null;
  let begun = false;
  for await (const block of blocks) {
    bytes += block.length;
    if (!begun) {
      begun = true;
      const mark = markOf(block);
      rest = block.subarray(mark.length);
      if (mark.encoding !== 'utf-8') utf16 = new TextDecoder(mark.encoding);
    } else rest = rest === null ? block : Buffer.concat([rest, block]);
    if (utf16 !== null) {
      yield { text: utf16.decode(rest, { stream: true }), bytes };
      rest = null;
      continue;
    }
    const cut = cutOf(rest);
    if (cut === 0) continue;
    yield { text: decodeLines(rest.subarray(0, cut)), bytes };
    rest = cut === rest.length ? null : rest.subarray(cut);
  }
  const last = utf16 === null ? decodeLines(rest ?? Buffer.alloc(0)) : utf16.decode();
  if (last !== '') yield { text: last, bytes };
}

interface Mark {
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be';
  readonly length: number;
}

function markOf(bytes: Buffer): Mark {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) return { encoding: 'utf-8', length: 3 };
  if (a === 0xff && b === 0xfe) return { encoding: 'utf-16le', length: 2 };
  if (a === 0xfe && b === 0xff) return { encoding: 'utf-16be', length: 2 };
  return { encoding: 'utf-8', length: 0 };
}

/** Where to end a block; 0: wait for more. */
function cutOf(bytes: Buffer): number {
  const line = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1;
  if (line > 0 || bytes.length < LINELESS_BYTES) return line;
  // At most three bytes of a character stand before its last one.
  let cut = bytes.length;
  while (cut > bytes.length - 4 && isInside(bytes[cut - 1])) cut -= 1;
  return isLead(bytes[cut - 1]) ? cut - 1 : bytes.length;
}
const isInside = (byte = 0): boolean => (byte & 0xc0) === 0x80;
const isLead = (byte = 0): boolean => (byte & 0xc0) === 0xc0;

function decodeLines(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  let text = '';
  for (let start = 0; start < bytes.length; ) {
    const lf = bytes.indexOf(LF, start);
    const end = lf < 0 ? bytes.length : lf + 1;
    const line = bytes.subarray(start, end);
    text += isUtf8(line) ? line.toString('utf8') : windows1252.decode(line);
    start = end;
  }
  return text;
}
