/** The texts that cells refer to by number. */
import { tooLarge } from '../problems.ts';
import { unescapeText } from './text.ts';
import { scanXml } from './xml.ts';

const TEXTS_BYTES = 128 << 20;
const TEXTS_MAX = 4_000_000;
/** They are powers of two. */
const CHUNK_BYTES = 1 << 20;
const PAGE_TEXTS = 1 << 15;

/**
 * Texts as UTF-8 in a few buffers, and four bytes for the place of each: a million strings would take three times the
 * memory.
 */
export class SharedStrings {
  readonly #chunks: { readonly bytes: Buffer; used: number }[] = [];
  /**
   * Where each text begins: the number of its chunk times its size, and the place in it. It ends where the next one
   * begins.
   */
  readonly #pages: Uint32Array[] = [];
  readonly #rowBytes: number;
  #count = 0;
  #bytes = 0;

  constructor(rowBytes: number) {
    this.#rowBytes = rowBytes;
  }

  at(index: number): string {
    if (!(index >= 0 && index < this.#count)) return '';
    const place = this.#placeOf(index);
    const number = Math.floor(place / CHUNK_BYTES);
    const chunk = this.#chunks[number];
    const next = index + 1 < this.#count ? this.#placeOf(index + 1) - number * CHUNK_BYTES : CHUNK_BYTES;
    return chunk?.bytes.toString('utf8', place % CHUNK_BYTES, Math.min(next, chunk.used)) ?? '';
  }

  /** One that is longer than a row may be is cut to a length that still is. */
  add(given: string): void {
    const text = given.length > this.#rowBytes ? given.slice(0, this.#rowBytes + 1) : given;
    const bytes = Buffer.byteLength(text);
    this.#bytes += bytes;
    if (this.#bytes > TEXTS_BYTES) throw tooLarge(TEXTS_BYTES, 'bytes of text in the XLSX file');
    if (this.#count === TEXTS_MAX) throw tooLarge(TEXTS_MAX, 'texts in the XLSX file');
    const chunk = this.#chunkFor(bytes);
    const at = this.#count % PAGE_TEXTS;
    if (at === 0) this.#pages.push(new Uint32Array(PAGE_TEXTS));
    this.#pages.at(-1)?.fill((this.#chunks.length - 1) * CHUNK_BYTES + chunk.used, at, at + 1);
    chunk.bytes.write(text, chunk.used);
    chunk.used += bytes;
    this.#count += 1;
  }

  #chunkFor(bytes: number): { readonly bytes: Buffer; used: number } {
    const last = this.#chunks.at(-1);
    // A place at the very end would be one of the next chunk.
    if (last !== undefined && last.used + bytes < CHUNK_BYTES) return last;
    const chunk = { bytes: Buffer.allocUnsafeSlow(CHUNK_BYTES), used: 0 };
    this.#chunks.push(chunk);
    return chunk;
  }

  #placeOf(index: number): number {
    return this.#pages[Math.floor(index / PAGE_TEXTS)]?.[Math.trunc(index) % PAGE_TEXTS] ?? 0;
  }
}

/** `<si><t>Jane</t></si>`, or several `<t>` in runs; those in `<rPh>` are only how to pronounce it. */
export async function readSharedStrings(pieces: AsyncIterable<Buffer>, rowBytes: number): Promise<SharedStrings> {
  const strings = new SharedStrings(rowBytes);
  let text = '';
  let phonetic = 0;
  const handler = {
    wantsText: false,
    open(name: string) {
      if (name === 'si') text = '';
      else if (name === 'rPh') phonetic += 1;
      else if (name === 't') handler.wantsText = phonetic === 0;
    },
    close(name: string) {
      if (name === 't') handler.wantsText = false;
      else if (name === 'rPh') phonetic -= 1;
      else if (name === 'si') strings.add(unescapeText(text));
    },
    text(piece: string) {
      if (text.length <= rowBytes) text += piece;
    },
  };
  await scanXml(pieces, handler);
  return strings;
}
