/**
 * `{"emails": […], …}` as it arrives: the text of the array goes to `array`, the rest is one small JSON object. Only
 * strings and brackets are looked at; whether it is JSON is found out by the readers of both parts.
 */
import { ApiError } from '../../kernel/errors.ts';
import { withoutMark } from './reader.ts';

const CHARACTER_CODES = { quote: 0x22, escape: 0x5c, comma: 0x2c, colon: 0x3a };
const OPENING_CODES = new Set([0x5b, 0x7b]);
const CLOSING_CODES = new Set([0x5d, 0x7d]);

const invalidJson = (what: string): ApiError => new ApiError('invalid_json', `The request body ${what}.`);

export class JsonList {
  readonly #name: string;
  readonly #restMaxBytes: number;
  readonly #rest: Buffer[] = [];
  #restBytes = 0;
  #depth = 0;
  #inText = false;
  #escaped = false;
  /** The text at depth 1 that was last begun, as long as it may be a key. */
  #text: number[] = [];
  #key: string | null = null;
  #inArray = false;
  #found = false;

  /** `name`: of the array; `restMaxBytes`: of what is not in it. */
  constructor(name: string, restMaxBytes: number) {
    this.#name = name;
    this.#restMaxBytes = restMaxBytes;
  }

  /** Yields the pieces of `input` that belong to the array. */
  async *array(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
    for await (const chunk of input) yield* this.#split(chunk);
    if (this.#depth > 0 || this.#inText) throw invalidJson('ended early');
  }

  /** Once the array was read to its end: the object, in which `null` stands for it. Null where it had none. */
  fields(): unknown {
    const text = withoutMark(Buffer.concat(this.#rest).toString('utf8'));
    let object: unknown;
    try {
      object = JSON.parse(text);
    } catch {
      throw invalidJson('is not valid JSON');
    }
    return this.#found ? object : null;
  }

  *#split(chunk: Buffer): Generator<Buffer> {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const code = chunk[at] ?? 0;
      if (this.#inText) {
        this.#withinText(code);
        continue;
      }
      if (code === CHARACTER_CODES.quote) {
        this.#inText = true;
        this.#text = [];
      } else if (code === CHARACTER_CODES.colon && this.#depth === 1)
        this.#key = Buffer.from(this.#text).toString('utf8');
      else if (code === CHARACTER_CODES.comma && this.#depth === 1) this.#key = null;
      else if (OPENING_CODES.has(code)) {
        if (this.#depth === 1 && this.#key === this.#name && code === 0x5b) {
          if (this.#found) throw invalidJson(`has "${this.#name}" twice`);
          this.#keep(chunk.subarray(from, at));
          this.#keep(Buffer.from('null'));
          from = at;
          this.#inArray = true;
          this.#found = true;
        }
        this.#depth += 1;
      } else if (CLOSING_CODES.has(code)) {
        this.#depth -= 1;
        if (this.#depth < 0) throw invalidJson('is not valid JSON');
        if (this.#depth === 1 && this.#inArray) {
          this.#inArray = false;
          yield chunk.subarray(from, at + 1);
          from = at + 1;
        }
      }
    }
    const rest = chunk.subarray(from);
    if (rest.length === 0) return;
    if (this.#inArray) yield rest;
    else this.#keep(rest);
  }

  #withinText(code: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (code === CHARACTER_CODES.escape) this.#escaped = true;
    else if (code === CHARACTER_CODES.quote) {
      this.#inText = false;
      return;
    }
    if (this.#depth === 1 && this.#text.length <= this.#name.length) this.#text.push(code);
  }

  #keep(bytes: Buffer): void {
    this.#restBytes += bytes.length;
    if (this.#restBytes > this.#restMaxBytes)
      throw new ApiError(
        'list_too_large',
        `The request body has more than ${this.#restMaxBytes} bytes besides "${this.#name}".`,
        {
          limit: this.#restMaxBytes,
        },
      );
    this.#rest.push(Buffer.from(bytes));
  }
}
