/** Dates are numbers with a format. */
import { DAY_MS, toIso } from '../../kernel/clock.ts';
import { attributeOf, scanXml } from './xml.ts';

/** ECMA-376 18.8.30: formats that files need not define; those of East Asian locales are dates, too. */
const BUILT_IN_DATES = (id: number): boolean =>
  (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58);
/** As many cell formats has a workbook at most. */
const STYLES_MAX = 65_490;
/** 30 December 1899, in days before 1970; days of early 1900 are counted as if that year had a 29 February. */
const EPOCH_1900 = 25_569;
const EPOCH_1904 = 24_107;
/** 31 December 9999 */
const LAST_DAY = 2_958_465;

/** Whether the cells of a style are dates, by the number of the style. */
export async function readDateStyles(pieces: AsyncIterable<Buffer>): Promise<readonly boolean[]> {
  const ofFile = new Map<number, boolean>();
  const styles: boolean[] = [];
  let inCells = false;
  await scanXml(pieces, {
    wantsText: false,
    open(name, tag) {
      if (name === 'numFmt' && ofFile.size < STYLES_MAX)
        ofFile.set(Number(attributeOf(tag, 'numFmtId')), isDateFormat(attributeOf(tag, 'formatCode') ?? ''));
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells && styles.length < STYLES_MAX) {
        const id = Number(attributeOf(tag, 'numFmtId'));
        styles.push(ofFile.get(id) ?? BUILT_IN_DATES(id));
      }
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
    text: () => undefined,
  });
  return styles;
}

/** `yyyy-mm-dd hh:mm` is one; `#,##0.00 "days"`, `[Red]0` and durations such as `[h]:mm` are not. */
function isDateFormat(code: string): boolean {
  const plain = code.slice(0, 255).replaceAll(/"[^"]*"|\\.|_./g, '');
  if (/\[(h+|m+|s+)\]/i.test(plain)) return false;
  return /[dy]|h.*m|m.*s|mmm/i.test(plain.replaceAll(/\[[^\]]*\]/g, ''));
}

/** `2026-11-20`, `2026-11-20T10:00:00`, for a time without a day `10:00:00`; null if it is no such number. */
export function dateText(serial: number, is1904: boolean): string | null {
  if (!(serial >= 0 && serial <= LAST_DAY)) return null;
  const ms = Math.round(serial * (DAY_MS / 1000)) * 1000;
  if (ms < DAY_MS) return ms === 0 ? null : toIso(ms).slice(11, 19);
  const days = is1904 ? EPOCH_1904 : serial < 61 ? EPOCH_1900 - 1 : EPOCH_1900;
  const iso = toIso(ms - days * DAY_MS);
  return ms % DAY_MS === 0 ? iso.slice(0, 10) : iso.slice(0, 19);
}
