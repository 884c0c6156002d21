/**
 * multipart/form-data (RFC 7578, RFC 2046 §5.1) as it arrives: bounded whatever the sender does, without a preamble.
 */
import { ApiError } from '../../kernel/errors.ts';

export interface FormPart {
  readonly name: string;
  /** Null: a field, not a file. */
  readonly fileName: string | null;
  /** To be read to its end before the next part is asked for. */
  readonly body: AsyncGenerator<Buffer, void, undefined>;
}

const HEAD_BYTES = 8 * 1024;
const PARTS_MAX = 32;
const CRLF = Buffer.from('\r\n');
const BLANK_LINE = Buffer.from('\r\n\r\n');
const DASHES = Buffer.from('--');

const malformed = (what: string): ApiError => new ApiError('malformed_request', `The multipart body ${what}.`);

/** The boundary of a Content-Type; null: none, or one that RFC 2046 does not allow. */
export function boundaryOf(contentType: string): string | null {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))\s*(?:;|$)/i.exec(contentType) ?? [];
  const boundary = quoted ?? plain ?? '';
  return /^[\w'()+,\-./:=? ]{0,69}[\w'()+,\-./:=?]$/.test(boundary) ? boundary : null;
}

export async function* formParts(
  input: AsyncIterable<Buffer>,
  boundary: string,
): AsyncGenerator<FormPart, void, undefined> {
  const source = new Source(input);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first one need not follow a line.
  source.unread(CRLF);
  if (!(await source.starts(delimiter))) throw malformed('does not begin with its boundary');
  source.take(delimiter.length);
  for (let parts = 0; ; parts++) {
    if (await source.starts(DASHES)) return;
    if (!(await source.starts(CRLF))) throw malformed('has a boundary that is not followed by a line break');
    if (parts === PARTS_MAX) throw malformed(`has more than ${PARTS_MAX} parts`);
    const head = await headOf(source);
    const body = source.until(delimiter);
    yield { ...head, body };
    // The rest of what nobody read.
    for await (const _piece of body);
  }
}

async function headOf(source: Source): Promise<Pick<FormPart, 'name' | 'fileName'>> {
  const end = await source.find(BLANK_LINE, HEAD_BYTES);
  if (end === null) throw malformed(`has a part without headers, or with headers of more than ${HEAD_BYTES} bytes`);
  const text = source.take(end).toString('utf8');
  source.take(BLANK_LINE.length);
  const [, disposition = ''] = /^\r\ncontent-disposition:\s*form-data\s*(;[^\r\n]*)$/im.exec(text) ?? [];
  const parameters = parametersOf(disposition);
  const name = parameters.get('name');
  if (name === undefined) throw malformed('has a part without a name');
  return { name, fileName: parameters.get('filename') ?? null };
}

const PARAMETER = /;\s*([^\s;="]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/g;

/**
 * Read from the left, because a quoted value may contain what looks like a parameter. Browsers write quotes within as
 * %22 (HTML, "multipart form data"), others with a backslash.
 */
function parametersOf(disposition: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of disposition.matchAll(PARAMETER)) {
    const value = quoted?.replaceAll(/\\(["\\])/g, '$1').replaceAll('%22', '"') ?? plain;
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), value);
  }
  return found;
}

/** Bytes that have arrived, and more of them on demand. */
class Source {
  readonly #input: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(input: AsyncIterable<Buffer>) {
    this.#input = input[Symbol.asyncIterator]();
  }

  unread(bytes: Buffer): void {
    this.#held = Buffer.concat([bytes, this.#held]);
  }

  take(bytes: number): Buffer {
    const taken = this.#held.subarray(0, bytes);
    this.#held = this.#held.subarray(bytes);
    return taken;
  }

  async starts(bytes: Buffer): Promise<boolean> {
    while (this.#held.length < bytes.length) if (!(await this.#more())) return false;
    return this.#held.subarray(0, bytes.length).equals(bytes);
  }

  /** Where `bytes` begin, within the next `within`; null: nowhere. */
  async find(bytes: Buffer, within: number): Promise<number | null> {
    for (;;) {
      const at = this.#held.indexOf(bytes);
      if (at >= 0 && at <= within) return at;
      if (at > within || this.#held.length > within + bytes.length) return null;
      if (!(await this.#more())) throw malformed('ended early');
    }
  }

  /** What comes before `end`, which is taken as well. */
  async *until(end: Buffer): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      const at = this.#held.indexOf(end);
      if (at >= 0) {
        const last = this.take(at);
        this.take(end.length);
        if (last.length > 0) yield last;
        return;
      }
      // The end may have arrived in part.
      const sure = this.#held.length - end.length + 1;
      if (sure > 0) yield this.take(sure);
      if (!(await this.#more())) throw malformed('ended early');
    }
  }

  async #more(): Promise<boolean> {
    const next = await this.#input.next();
    if (next.done) return false;
    this.#held = this.#held.length === 0 ? next.value : Buffer.concat([this.#held, next.value]);
    return true;
  }
}
