/** The texts that cells refer to by number. */
import { tooLarge } from '../problems.ts';
import { unescapeText } from './text.ts';
import { scanXml } from './xml.ts';

const TEXTS_BYTES = 128 << 20;
const TEXTS_MAX = 4_000_000;
const CHUNK_BYTES = 1 << 20;

/** Texts as UTF-8 in a few buffers: a million strings would take three times the memory. */
export class SharedStrings {
  readonly #chunks: Buffer[] = [];
  readonly #rowBytes: number;
  /** Of each text: chunk, start and end in it. */
  #places = new Uint32Array(3 * 1024);
  #count = 0;
  #used = CHUNK_BYTES;
  #bytes = 0;

  constructor(rowBytes: number) {
    this.#rowBytes = rowBytes;
  }

  at(index: number): string {
    if (!(index >= 0 && index < this.#count)) return '';
    const [chunk = 0, start = 0, end = 0] = this.#places.subarray(3 * index, 3 * index + 3);
    return this.#chunks[chunk]?.toString('utf8', start, end) ?? '';
  }

  add(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#rowBytes) throw tooLarge(this.#rowBytes, 'bytes in a cell');
    this.#bytes += bytes;
    if (this.#bytes > TEXTS_BYTES) throw tooLarge(TEXTS_BYTES, 'bytes of text in the XLSX file');
    if (this.#count === TEXTS_MAX) throw tooLarge(TEXTS_MAX, 'texts in the XLSX file');
    if (this.#used + bytes > CHUNK_BYTES) {
      this.#chunks.push(Buffer.allocUnsafeSlow(CHUNK_BYTES));
      this.#used = 0;
    }
    const chunk = this.#chunks.length - 1;
    this.#chunks[chunk]?.write(text, this.#used);
    if (3 * this.#count === this.#places.length) {
      const larger = new Uint32Array(2 * this.#places.length);
      larger.set(this.#places);
      this.#places = larger;
    }
    this.#places.set([chunk, this.#used, this.#used + bytes], 3 * this.#count);
    this.#used += bytes;
    this.#count += 1;
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
      if (text.length + piece.length > rowBytes) throw tooLarge(rowBytes, 'bytes in a cell');
      text += piece;
    },
  };
  await scanXml(pieces, handler);
  return strings;
}
