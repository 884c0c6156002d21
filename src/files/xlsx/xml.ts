/**
 * As much of XML 1.0 as spreadsheets use: elements, attributes, text. No document types, so no entities of their own.
 */
import { TextDecoder } from 'node:util';
import { unreadable } from '../problems.ts';

export interface XmlHandler {
  /** `tag`: what stands between the angle brackets, for `attributeOf`. Names come without a namespace prefix. */
  open(name: string, tag: string): void;
  close(name: string): void;
  /** Text in pieces; called only while `wantsText` is true. */
  text(piece: string): void;
  wantsText: boolean;
}

/** A tag, comment or instruction is no longer than this, in characters. */
const TAG_LENGTH = 50_000;
const LONG_ENTITY = '&#x10FFFF;';

const invalid = (cause: string) => unreadable(`the XLSX file contains invalid XML: ${cause}`);

/** Feeds a document to the handler. Throws FileError if it is not UTF-8 or not what spreadsheets use. */
export async function scanXml(pieces: AsyncIterable<Buffer>, handler: XmlHandler): Promise<void> {
  const scanner = new XmlScanner(handler);
  for await (const piece of pieces) scanner.push(piece);
  scanner.end();
}

export class XmlScanner {
  readonly #handler: XmlHandler;
  #decoder: TextDecoder | null = null;
  #rest = '';

  constructor(handler: XmlHandler) {
    this.#handler = handler;
  }

  push(piece: Buffer): void {
    this.#decoder ??= new TextDecoder(encodingOf(piece), { fatal: true });
    this.#rest = scan(this.#rest + decode(this.#decoder, piece), this.#handler);
  }

  end(): void {
    if (this.#rest.trim() !== '') throw invalid('a tag is not closed');
  }
}

const encodingOf = ([a, b]: Buffer): string => {
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  return a === 0xfe && b === 0xff ? 'utf-16be' : 'utf-8';
};

function decode(decoder: TextDecoder, piece: Buffer): string {
  try {
    return decoder.decode(piece, { stream: true });
  } catch {
    throw invalid('it is not UTF-8');
  }
}

/** Returns what is not complete yet. */
function scan(text: string, handler: XmlHandler): string {
  let at = 0;
  for (;;) {
    const open = text.indexOf('<', at);
    if (open < 0) return passText(text, at, handler);
    if (open > at && handler.wantsText) handler.text(decodeEntities(text.slice(at, open)));
    const end = endOfTag(text, open, handler);
    if (end < 0) {
      if (text.length - open > TAG_LENGTH) throw invalid('a tag is too long');
      return text.slice(open);
    }
    at = end;
  }
}

/** The end of the text may be the beginning of an entity. */
function passText(text: string, at: number, handler: XmlHandler): string {
  const ampersand = text.lastIndexOf('&');
  const end = ampersand >= at && text.length - ampersand < LONG_ENTITY.length ? ampersand : text.length;
  if (end > at && handler.wantsText) handler.text(decodeEntities(text.slice(at, end)));
  return text.slice(end);
}

/** Handles the tag and returns where it ends; -1: it is not complete. */
function endOfTag(text: string, open: number, handler: XmlHandler): number {
  const second = text.charAt(open + 1);
  if (second === '') return -1;
  if (second === '!') return endOfDeclaration(text, open, handler);
  if (second === '?') return after(text, '?>', open);
  const end = closingBracket(text, open);
  if (end < 0) return -1;
  if (second === '/') handler.close(nameOf(text.slice(open + 2, end)));
  else {
    const isEmpty = text.charAt(end - 1) === '/';
    const tag = text.slice(open + 1, isEmpty ? end - 1 : end);
    const name = nameOf(tag);
    handler.open(name, tag);
    if (isEmpty) handler.close(name);
  }
  return end + 1;
}

const after = (text: string, what: string, from: number): number => {
  const at = text.indexOf(what, from);
  return at < 0 ? -1 : at + what.length;
};

const CDATA = '<![CDATA[';

function endOfDeclaration(text: string, open: number, handler: XmlHandler): number {
  if (text.length - open < CDATA.length) return -1;
  if (text.startsWith('<!--', open)) return after(text, '-->', open + 4);
  if (!text.startsWith(CDATA, open)) throw invalid('it has a document type');
  const end = after(text, ']]>', open);
  if (end > 0 && handler.wantsText) handler.text(text.slice(open + CDATA.length, end - 3));
  return end;
}

const BRACKET = 0x3e;
const QUOTES: readonly number[] = [0x22, 0x27];

/** The `>` that ends a tag: not one in the value of an attribute. */
function closingBracket(text: string, open: number): number {
  let quote = 0;
  for (let at = open + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (quote !== 0) {
      if (code === quote) quote = 0;
    } else if (code === BRACKET) return at;
    else if (QUOTES.includes(code)) quote = code;
  }
  return -1;
}

/** `x:row r="5"` → row */
function nameOf(tag: string): string {
  let end = 0;
  while (tag.charCodeAt(end) > SPACE) end += 1;
  return localName(tag.slice(0, end));
}
const localName = (name: string): string => name.slice(name.indexOf(':') + 1);

const SPACE = 0x20;

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
    const close = QUOTES.includes(tag.charCodeAt(open)) ? tag.indexOf(tag.charAt(open), open + 1) : -1;
    if (close < 0) return;
    visit(localName(tag.slice(start, end)), tag.slice(open + 1, close));
    at = close + 1;
  }
}

/** The value of an attribute. */
export function attributeOf(tag: string, wanted: string): string | null {
  let found: string | null = null;
  eachAttribute(tag, (name, value) => {
    if (name === wanted) found ??= decodeEntities(value);
  });
  return found;
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{1,8});/gi, (entity, body: string) => {
    if (!body.startsWith('#')) return NAMED[body] ?? entity;
    const code = /^#x/i.test(body) ? Number.parseInt(body.slice(2), 16) : Number(body.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\u{FFFD}';
  });
}
