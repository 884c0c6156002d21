import type { SyntaxErrorCode } from './faults.ts';

const SURROGATE = /^\p{Cs}$/u;
const WHITE_SPACE = /^\p{White_Space}$/u;
const CONTROL = /^\p{Cc}$/u;
/**
 * Format (bidi controls, zero-width), private-use and unassigned characters, default-ignorable ones (Hangul fillers,
 * variation selectors …), and the two replacement characters (U+FFFC, U+FFFD).
 */
const UNSAFE = /^[\p{C}\p{Default_Ignorable_Code_Point}\uFFFC\uFFFD]$/u;

/** Why a character is not allowed anywhere in an address, quoted or not, or null. `character` is one code point. */
export function unsafeCharacter(character: string): SyntaxErrorCode | null {
  if (SURROGATE.test(character)) return 'broken_unicode';
  if (WHITE_SPACE.test(character)) return 'whitespace';
  if (CONTROL.test(character)) return 'control_character';
  return UNSAFE.test(character) ? 'unsafe_character' : null;
}

/** The fault for an ASCII character found where atext, a letter, a digit or a hyphen was expected. */
export function misplacedAscii(code: number): SyntaxErrorCode {
  if (code === 0x20 || (code >= 0x09 && code <= 0x0d)) return 'whitespace';
  if (code < 0x20 || code === 0x7f) return 'control_character';
  if (code === 0x28 || code === 0x29) return 'comment';
  return 'invalid_character';
}

/** Octets of one code point in UTF-8 (RFC 3629). */
export const utf8Octets = (codePoint: number): number =>
  codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
