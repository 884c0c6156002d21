/**
 * Nobody sees this white space around an address: ASCII and the rest of Unicode's, no-break, zero-width, direction
 * marks.
 */
const BLANK_CHARACTER = /^[\s\u0085\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]$/;

/** Without the blanks at both ends. Linear, unlike a regular expression with `$`. */
export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlankAt(text, start)) start += 1;
  while (end > start && isBlankAt(text, end - 1)) end -= 1;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

export const isFilled = (cell: string): boolean => trimBlanks(cell) !== '';

function isBlankAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  // Visible ASCII, which nearly every character is.
  if (code > 0x20 && code < 0x7f) return false;
  return BLANK_CHARACTER.test(text.charAt(at));
}
