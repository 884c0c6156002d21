/** How numbers are shown: dates are numbers with a format, and so are zip codes. */
import { DAY_MS, toIso } from '../../kernel/clock.ts';

/** 30 December 1899, in days before 1970; days of early 1900 are counted as if that year had a 29 February. */
const EPOCH_1900 = 25_569;
const EPOCH_1904 = 24_107;
/** Stands for 31 December 9999. */
const LAST_DAY = 2_958_465;
const FORMAT_LENGTH = 255;

/** `date`; digits among other characters, `0` for each, such as `00000` or `+0`; null: as the number is. */
export type NumberStyle = 'date' | { readonly digits: string } | null;

/** Reads a format code such as `yyyy-mm-dd` or `00000`. */
export function styleOf(code: string): NumberStyle {
  const format = code.slice(0, FORMAT_LENGTH);
  return isDateFormat(format) ? 'date' : digitsOf(format);
}

/** `yyyy-mm-dd hh:mm` is one; `#,##0.00 "days"`, `[Red]0` and durations such as `[h]:mm` are not. */
function isDateFormat(code: string): boolean {
  const plain = code.replaceAll(/"[^"]*"|\\.|_./g, '');
  if (/\[(h+|m+|s+)\]/i.test(plain)) return false;
  return /[dy]|h.*m|m.*s|mmm/i.test(plain.replaceAll(/\[[^\]]*\]/g, ''));
}

/**
 * Formats that show a number digit by digit, as zip codes, telephone numbers and IDs have them: `00000`, `000-00-0000`,
 * `"+"0`. Formats of amounts leave the number as it is.
 */
function digitsOf(code: string): NumberStyle {
  let digits = '';
  for (const [part] of code.matchAll(/"[^"]*"|\\.|\[[^\]]*\]|[\s\S]/g)) {
    if (part === ';') break;
    if (part.startsWith('[')) continue;
    const isLiteral = part.length > 1;
    const shown = isLiteral ? part.replaceAll(/^["\\]|"$/g, '') : part;
    // A zero that is shown in any case would be taken for a digit.
    if (isLiteral ? shown.includes('0') : !/[0 +()-]/.test(part)) return null;
    digits += shown;
  }
  const count = digits.split('0').length - 1;
  return count > 1 || (count === 1 && digits.length > 1 && digits.endsWith('0')) ? { digits } : null;
}

/** As a cell shows it. */
export function numberText(value: number, style: NumberStyle, is1904: boolean): string {
  if (style === 'date') return dateText(value, is1904) ?? plainNumber(value);
  if (style === null || !Number.isSafeInteger(value) || value < 0) return plainNumber(value);
  return withDigits(style.digits, String(value));
}

/** Excel shows 15 digits; files have the 17 of the binary number. */
const plainNumber = (value: number): string => String(Number(value.toPrecision(15)));

function withDigits(places: string, number: string): string {
  const count = places.split('0').length - 1;
  const padded = number.padStart(count, '0');
  // The first place takes what is left.
  let next = padded.length - count + 1;
  let isFirst = true;
  return places.replaceAll('0', () => {
    if (!isFirst) return padded.charAt(next++);
    isFirst = false;
    return padded.slice(0, next);
  });
}

/** `2026-11-20`, `2026-11-20T10:00:00`, for a time without a day `10:00:00`; null if it is no such number. */
function dateText(serial: number, is1904: boolean): string | null {
  if (!(serial >= 0 && serial <= LAST_DAY)) return null;
  const ms = Math.round(serial * (DAY_MS / 1000)) * 1000;
  if (ms < DAY_MS) return ms === 0 ? null : toIso(ms).slice(11, 19);
  const days = is1904 ? EPOCH_1904 : serial < 61 ? EPOCH_1900 - 1 : EPOCH_1900;
  const iso = toIso(ms - days * DAY_MS);
  return ms % DAY_MS === 0 ? iso.slice(0, 10) : iso.slice(0, 19);
}

/** `2026-11-20T00:00:00.000` → 2026-11-20 */
export const dateCell = (text: string): string =>
  text.replace(/\.0+$/, '').replace(/^(\d{4}-\d\d-\d\d)T00:00:00$/, '$1');
