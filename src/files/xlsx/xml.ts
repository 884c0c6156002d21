/**
 * As much of XML 1.0 as spreadsheets use: elements, attributes, text. No document types, so no entities of their own.
 * Tables in HTML are read as leniently as browsers do.
 */

import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { SPACE } from '../../kernel/facts/ascii.ts';
import { unreadable } from '../problems.ts';

export interface XmlHandler {
  /** `tag`: what is between the angle brackets, for `attributeOf`. Names come without a namespace prefix. */
  open(name: string, tag: string): void;
  close(name: string): void;
  /** Text in pieces; called only while `wantsText` is true. */
  text(piece: string): void;
  wantsText: boolean;
}

/** A tag, comment or instruction is no longer than this, in characters. */
const TAG_LENGTH = 50_000;
const LONG_ENTITY = '&#x10FFFF;';

/** `html`: any text is a document, and tags that mean nothing are text. */
export type Markup = 'xml' | 'html';

const invalidXml = (cause: string) => unreadable(`the workbook contains invalid XML: ${cause}`);

/**
 * Feeds a document to the handler. Throws FileError if it is not in its encoding, or XML that is not what spreadsheets
 * use.
 */
export async function scanXml(
  pieces: AsyncIterable<Buffer>,
  handler: XmlHandler,
  markup: Markup = 'xml',
): Promise<void> {
  const scanner = new XmlScanner(handler, markup);
  for await (const piece of pieces) scanner.push(piece);
  scanner.end();
}

export class XmlScanner {
  readonly #handler: XmlHandler;
  readonly #isHtml: boolean;
  #decoder: TextDecoder | null = null;
  #rest = '';

  constructor(handler: XmlHandler, markup: Markup = 'xml') {
    this.#handler = handler;
    this.#isHtml = markup === 'html';
  }

  push(piece: Buffer): void {
    this.#decoder ??= this.#decoderFor(piece);
    this.#rest = scanMarkup(this.#rest + decode(this.#decoder, piece), this.#handler, this.#isHtml);
  }

  end(): void {
    if (!this.#isHtml && this.#rest.trim() !== '') throw invalidXml('a tag is not closed');
  }

  #decoderFor(piece: Buffer): TextDecoder {
    if (!this.#isHtml) return new TextDecoder(encodingOf(piece) ?? 'utf-8', { fatal: true });
    return new TextDecoder(encodingOf(piece) ?? (isUtf8(withoutLastCharacter(piece)) ? 'utf-8' : 'windows-1252'));
  }
}

/** A piece may end inside a character. */
const withoutLastCharacter = (piece: Buffer): Buffer => {
  let end = piece.length;
  while (end > 0 && piece.length - end < 3 && ((piece[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  return (piece[end - 1] ?? 0) >= 0xc0 ? piece.subarray(0, end - 1) : piece;
};

const DECLARED_BYTES = 1024;

/** Returns it by the byte order mark, or as XML and HTML declare it. */
function encodingOf(piece: Buffer): string | null {
  const [a, b, c] = piece;
  if (a === 0xef && b === 0xbb && c === 0xbf) return 'utf-8';
  if ((a === 0xff && b === 0xfe) || (a === 0x3c && b === 0)) return 'utf-16le';
  if ((a === 0xfe && b === 0xff) || (a === 0 && b === 0x3c)) return 'utf-16be';
  const head = piece.toString('latin1', 0, DECLARED_BYTES);
  const label =
    /<\?xml[^>]{0,200}\sencoding=["']([\w-]+)/i.exec(head) ?? /<meta[^>]{0,200}charset=["']?([\w-]+)/i.exec(head);
  const name = label?.[1]?.toLowerCase() ?? null;
  // Bytes of one each declare no encoding of two: browsers take them for UTF-8, too.
  if (name === null || name.startsWith('utf-16')) return name === null ? null : 'utf-8';
  return isEncoding(name) ? name : null;
}

function isEncoding(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}

function decode(decoder: TextDecoder, piece: Buffer): string {
  try {
    return decoder.decode(piece, { stream: true });
  } catch {
    throw invalidXml(`it is not ${decoder.encoding === 'utf-8' ? 'UTF-8' : decoder.encoding}`);
  }
}

/** Returns what is not complete yet. */
function scanMarkup(text: string, handler: XmlHandler, isHtml: boolean): string {
  let at = 0;
  for (;;) {
    const open = text.indexOf('<', at);
    if (open < 0) return passText(text, at, handler);
    if (isHtml && isPlainBracket(text, open)) {
      if (handler.wantsText) handler.text(decodeEntities(text.slice(at, open + 1)));
      at = open + 1;
      continue;
    }
    if (open > at && handler.wantsText) handler.text(decodeEntities(text.slice(at, open)));
    const end = endOfTag(text, open, handler, isHtml);
    if (end < 0) {
      if (text.startsWith('<!--', open)) return openComment(text, open);
      if (text.length - open > TAG_LENGTH) throw invalidXml('a tag is too long');
      return text.slice(open);
    }
    at = end;
  }
}

/** A comment may be of any length; this keeps what is needed to find its end. */
const openComment = (text: string, open: number): string =>
  text.length - open < 6 ? text.slice(open) : `<!--${text.slice(-2)}`;

/** In HTML, an angle bracket before anything but a tag is text. */
const isPlainBracket = (text: string, open: number): boolean =>
  open + 1 < text.length && !/[a-z/!?]/i.test(text.charAt(open + 1));

/** The end of the text may be the beginning of an entity. */
function passText(text: string, at: number, handler: XmlHandler): string {
  const ampersand = text.lastIndexOf('&');
  const end = ampersand >= at && text.length - ampersand < LONG_ENTITY.length ? ampersand : text.length;
  if (end > at && handler.wantsText) handler.text(decodeEntities(text.slice(at, end)));
  return text.slice(end);
}

/** Handles the tag and returns where it ends; -1: it is not complete. */
function endOfTag(text: string, open: number, handler: XmlHandler, isHtml: boolean): number {
  const second = text.charAt(open + 1);
  if (second === '') return -1;
  if (second === '!') return endOfDeclaration(text, open, handler, isHtml);
  if (second === '?') return endAfter(text, isHtml ? '>' : '?>', open);
  let end = closingBracket(text, open);
  // A quote that is not closed.
  if (end < 0 && isHtml && text.length - open > TAG_LENGTH) end = text.indexOf('>', open);
  if (end < 0) return -1;
  if (second === '/') handler.close(tagName(text.slice(open + 2, end)));
  else {
    const isEmpty = text.charAt(end - 1) === '/';
    const tag = text.slice(open + 1, isEmpty ? end - 1 : end);
    const name = tagName(tag);
    handler.open(name, tag);
    if (isEmpty) handler.close(name);
  }
  return end + 1;
}

const endAfter = (text: string, what: string, from: number): number => {
  const at = text.indexOf(what, from);
  return at < 0 ? -1 : at + what.length;
};

const CDATA = '<![CDATA[';

function endOfDeclaration(text: string, open: number, handler: XmlHandler, isHtml: boolean): number {
  if (text.length - open < CDATA.length) return -1;
  if (text.startsWith('<!--', open)) return endAfter(text, '-->', open + 4);
  if (isHtml) return endAfter(text, '>', open);
  if (!text.startsWith(CDATA, open)) throw invalidXml('it has a document type');
  const end = endAfter(text, ']]>', open);
  if (end > 0 && handler.wantsText) handler.text(text.slice(open + CDATA.length, end - 3));
  return end;
}

const CLOSING_ANGLE = 0x3e;
const QUOTES: readonly number[] = [0x22, 0x27];

/** The `>` that ends a tag: not one in the value of an attribute. */
function closingBracket(text: string, open: number): number {
  let quote = 0;
  for (let at = open + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (quote !== 0) {
      if (code === quote) quote = 0;
    } else if (code === CLOSING_ANGLE) return at;
    else if (QUOTES.includes(code)) quote = code;
  }
  return -1;
}

/** `x:row r="5"` → row */
function tagName(tag: string): string {
  let end = 0;
  while (tag.charCodeAt(end) > SPACE) end += 1;
  return localName(tag.slice(0, end));
}
const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

/** The attributes of a tag, with their names without a prefix; values may contain entities. */
export function eachAttribute(tag: string, visit: (name: string, value: string) => void): void {
  for (let at = 0; ; ) {
    const equals = tag.indexOf('=', at);
    if (equals < 0) return;
    let end = equals;
    while (end > at && tag.charCodeAt(end - 1) <= SPACE) end -= 1;
    let start = end;
    while (start > at && tag.charCodeAt(start - 1) > SPACE) start -= 1;
    let open = equals + 1;
    while (tag.charCodeAt(open) <= SPACE) open += 1;
    const isQuoted = QUOTES.includes(tag.charCodeAt(open));
    let close = isQuoted ? tag.indexOf(tag.charAt(open), open + 1) : open;
    if (close < 0) return;
    if (!isQuoted) while (tag.charCodeAt(close) > SPACE) close += 1;
    visit(localName(tag.slice(start, end)), tag.slice(isQuoted ? open + 1 : open, close));
    at = close + 1;
  }
}

/** Returns the value of an attribute. */
export function attributeOf(tag: string, wanted: string): string | null {
  let found: string | null = null;
  eachAttribute(tag, (name, value) => {
    if (name === wanted) found ??= decodeEntities(value);
  });
  return found;
}

/** HTML 4 names the characters of Latin-1 from U+00A0 on. */
const LATIN_1 = `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3
acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig
Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave
Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave
iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`;
const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(LATIN_1.split(/\s/).map((name, i) => [name, String.fromCharCode(0xa0 + i)])),
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  commat: '@',
  period: '.',
  lowbar: '_',
  hyphen: '-',
};

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z][a-z0-9]{1,7});/gi, (entity, body: string) => {
    if (!body.startsWith('#')) return NAMED_ENTITIES[body] ?? entity;
    const code = /^#x/i.test(body) ? Number.parseInt(body.slice(2), 16) : Number(body.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\u{FFFD}';
  });
}
