/**
 * The part before the "@": RFC 5321 §4.1.2 (dot-string, quoted-string), RFC 6531 §3.3 (UTF-8), limits of §4.5.3.1.1.
 */
import { misplacedAscii, unsafeCharacter, utf8Octets } from './characters.ts';
import { type Faulty, fault, type SyntaxErrorCode } from './faults.ts';

export interface LocalPart {
  readonly ok: true;
  /** Index of the "@" that ends it. */
  readonly end: number;
  /** In UTF-8, quotes included. */
  readonly octets: number;
  readonly quoted: boolean;
  readonly ascii: boolean;
}

const MAX_OCTETS = 64;
const AT = 0x40;
const DOT = 0x2e;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** RFC 5322 §3.2.3 atext, by ASCII code. */
const ATEXT = new Uint8Array(128);
for (const c of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-/=?^_`{|}~") {
  ATEXT[c.charCodeAt(0)] = 1;
}

/**
 * A leading combining mark would attach to the character before the address. Emoji presentation selectors are accepted
 * after a base character: they are part of how some symbols are typed.
 */
const MARK = /^\p{M}$/u;
const PRESENTATION = /^[\uFE0E\uFE0F]$/;
/** Compatibility forms of "@": an MX that applies NFKC would read another address. */
const AT_LOOKALIKE = /^[\uFF20\uFE6B]$/;

function wideFault(character: string, first: boolean): SyntaxErrorCode | null {
  if (MARK.test(character) && first) return 'invalid_character';
  if (PRESENTATION.test(character)) return null;
  if (AT_LOOKALIKE.test(character) || isDisguised(character)) return 'invalid_character';
  return unsafeCharacter(character);
}

/** NFC makes it ASCII, such as a semicolon of U+037E: what is sent on would be another address. */
const isDisguised = (character: string): boolean => character.normalize('NFC').charCodeAt(0) < 0x80;

/** Parses `text` up to the "@" after its local part. `text` must contain an "@". Linear in the length. */
export function scanLocalPart(text: string): LocalPart | Faulty {
  const first = text.charCodeAt(0);
  if (first === AT) return fault('empty_local_part', 0);
  const scanned = first === QUOTE ? scanQuoted(text) : scanDotString(text);
  if (!scanned.ok || scanned.octets <= MAX_OCTETS) return scanned;
  return fault('local_part_too_long', overflow(text));
}

function scanDotString(text: string): LocalPart | Faulty {
  let wide = 0;
  let before = DOT;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === AT) {
      if (before === DOT) return fault('trailing_dot', i - 1);
      return { ok: true, end: i, octets: i + wide, quoted: false, ascii: wide === 0 };
    }
    if (code === DOT) {
      if (before === DOT) return fault(i === 0 ? 'leading_dot' : 'double_dot', i);
    } else if (code < 0x80) {
      if (ATEXT[code] !== 1) return misplaced(text, i);
    } else {
      const point = text.codePointAt(i)!;
      const why = wideFault(String.fromCodePoint(point), before === DOT);
      if (why !== null) return fault(why, i);
      if (point > 0xffff) i++;
      wide += utf8Octets(point) - (point > 0xffff ? 2 : 1);
    }
    before = code;
  }
  return fault('missing_at', text.length);
}

/** qtextSMTP is 32–126 less quote and backslash, and non-ASCII; quoted-pairSMTP is a backslash and 32–126. */
function scanQuoted(text: string): LocalPart | Faulty {
  let wide = 0;
  for (let i = 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      if (text.charCodeAt(i + 1) !== AT) return behindQuote(text, i + 1);
      return { ok: true, end: i + 1, octets: i + 1 + wide, quoted: true, ascii: wide === 0 };
    }
    if (code === BACKSLASH) {
      i++;
      const escaped = text.charCodeAt(i);
      if (escaped >= 0x80) return fault(unsafeCharacter(characterAt(text, i)) ?? 'invalid_character', i);
      if (escaped < 0x20 || escaped === 0x7f) return fault(misplacedAscii(escaped), i);
    } else if (code < 0x80) {
      if (code < 0x20 || code === 0x7f) return fault(misplacedAscii(code), i);
    } else {
      const point = text.codePointAt(i)!;
      const why = wideFault(String.fromCodePoint(point), i === 1);
      if (why !== null) return fault(why, i);
      if (point > 0xffff) i++;
      wide += utf8Octets(point) - (point > 0xffff ? 2 : 1);
    }
  }
  return fault('unclosed_quote', 0);
}

const characterAt = (text: string, index: number): string => String.fromCodePoint(text.codePointAt(index)!);

const DISPLAY_NAME = /^[^<]*<[^<>]*>\s*$/;

function displayName(text: string): Faulty | null {
  return text.includes('<') && DISPLAY_NAME.test(text) ? fault('display_name', text.indexOf('<')) : null;
}

function misplaced(text: string, index: number): Faulty {
  const named = displayName(text);
  if (named) return named;
  const code = text.charCodeAt(index);
  return fault(code === QUOTE ? 'misplaced_quote' : misplacedAscii(code), index);
}

/** Only an "@" may follow a closing quote: `"a".b@…` is an obsolete form (RFC 5322 §4.4). */
function behindQuote(text: string, index: number): Faulty {
  if (index >= text.length) return fault('missing_at', index);
  const named = displayName(text);
  if (named) return named;
  const code = text.charCodeAt(index);
  if (code < 0x80) return fault(misplacedAscii(code), index);
  return fault(unsafeCharacter(characterAt(text, index)) ?? 'invalid_character', index);
}

function overflow(text: string): number {
  let octets = 0;
  let index = 0;
  for (const character of text) {
    octets += utf8Octets(character.codePointAt(0)!);
    if (octets > MAX_OCTETS) return index;
    index += character.length;
  }
  return index;
}
