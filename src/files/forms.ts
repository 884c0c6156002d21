/** Which form a file has, by its first bytes: its name and what the sender says decide nothing here. */
import { BOOK_FORMATS, type FileForm } from '../kernel/facts/lists.ts';
import { unmarkedUtf16 } from './encoding.ts';
import { unreadable } from './problems.ts';

/** Whether the cells of a file have types. */
export const isBookFormat = (format: string | undefined): boolean => BOOK_FORMATS.some((one) => one === format);

/** What the first bytes tell. Of a ZIP archive, its entries tell more; `text` may be any text. */
type Recognized = Exclude<FileForm, 'csv' | 'tsv' | 'xlsx' | 'xlsb'> | 'zip' | 'gzip';

const EXPORT_ADDRESSES = 'export the addresses as CSV';
const UNPACK = 'unpack it first, and send what is in it';
const binary = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Files that people take for lists, and what to do with them. */
const OTHER_FORMS: readonly (readonly [signature: Buffer, what: string, at?: number])[] = [
  [binary('%PDF'), `it is a PDF; ${EXPORT_ADDRESSES}`],
  [binary('{\\rtf'), 'it is an RTF document; copy the addresses into a CSV file'],
  [binary('\x89PNG'), 'it is a picture (PNG)'],
  [binary('\xff\xd8\xff'), 'it is a picture (JPEG)'],
  [binary('GIF8'), 'it is a picture (GIF)'],
  [binary('PK\x05\x06'), 'it is an empty ZIP archive'],
  [binary('Rar!\x1a\x07'), `it is a RAR archive; ${UNPACK}`],
  [binary('7z\xbc\xaf\x27\x1c'), `it is a 7z archive; ${UNPACK}`],
  [binary('BZh'), `it is compressed with bzip2; ${UNPACK}`],
  [binary('\xfd7zXZ'), `it is compressed with xz; ${UNPACK}`],
  [binary('\x28\xb5\x2f\xfd'), `it is compressed with Zstandard; ${UNPACK}`],
  [binary('ustar'), `it is a tar archive; ${UNPACK}`, 257],
  [binary('SQLite format 3\0'), `it is a SQLite database; ${EXPORT_ADDRESSES}`],
  [binary('\0\x01\0\0Standard '), `it is an Access database; ${EXPORT_ADDRESSES}`],
  [binary('PAR1'), `it is a Parquet file; ${EXPORT_ADDRESSES}`],
  [binary('!BDN'), `it is a mailbox of Outlook (.pst); ${EXPORT_ADDRESSES}`],
  [binary('bplist00'), `it is a binary property list; ${EXPORT_ADDRESSES}`],
];

const hasSignature = (bytes: Buffer, signature: Buffer, at = 0): boolean =>
  bytes.subarray(at, at + signature.length).equals(signature);

const ZIP = binary('PK\x03\x04');
const GZIP = binary('\x1f\x8b');
const OLE = binary('\xd0\xcf\x11\xe0');
/** A first record BOF of Excel 2 to 4, which have no container. */
const isOldExcel = (bytes: Buffer): boolean =>
  bytes[0] === 9 && [0, 2, 4].includes(bytes[1] ?? -1) && [4, 6].includes(bytes[2] ?? -1) && bytes[3] === 0;

/** Throws FileError for what is no list. */
export function recognize(bytes: Buffer): Recognized {
  if (hasSignature(bytes, ZIP)) return 'zip';
  if (hasSignature(bytes, GZIP)) return 'gzip';
  if (hasSignature(bytes, OLE) || isOldExcel(bytes)) return 'xls';
  for (const [signature, what, at] of OTHER_FORMS) if (hasSignature(bytes, signature, at)) throw unreadable(what);
  const encoding = utf16Of(bytes);
  if (encoding === null && isBinary(bytes)) throw unreadable('it is binary data of a kind that is not known', 1);
  return formOfText(new TextDecoder(encoding ?? 'latin1').decode(bytes).replace(/^(\u{FEFF}|ï»¿)+/u, ''));
}

const PROBED_BYTES = 4_096;

function utf16Of(bytes: Buffer): 'utf-16le' | 'utf-16be' | null {
  const [a, b] = bytes;
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  return unmarkedUtf16(bytes);
}

/** Zeros, or many bytes that no text has. */
function isBinary(bytes: Buffer): boolean {
  if (bytes.subarray(0, 512).includes(0)) return true;
  const probed = bytes.subarray(0, PROBED_BYTES);
  let controls = 0;
  // Tab, line and page ends, the end of a file of DOS, and the shifts of ISO-2022-JP are text.
  for (const byte of probed)
    if (byte < 0x20 && !(byte >= 9 && byte <= 13) && byte !== 0x1a && byte !== 0x1b) controls += 1;
  return controls * 10 > probed.length;
}

/** Text of which a part is enough to know it by, and what it is; a string: why it is no list. */
const TEXT_FORMS: readonly (readonly [is: (text: string) => boolean, what: FileForm | { readonly refused: string }])[] =
  [
    [(text) => /^BEGIN:VCARD\s/i.test(text), 'vcard'],
    [(text) => /^BEGIN:VCALENDAR\s/i.test(text), { refused: `it is a calendar (iCalendar); ${EXPORT_ADDRESSES}` }],
    [isSpreadsheetMl, 'spreadsheetml'],
    [isFlatOds, 'ods'],
    [isHtml, 'html'],
    [isXml, { refused: `it is XML of a kind that is not known; ${EXPORT_ADDRESSES}` }],
    [(text) => /^\[\s*["{[\]]/.test(text) || /^\{\s*(?:\}\s*)?$/.test(text), 'json'],
    [(text) => /^\{\s*"(?:[^"\\]|\\.){0,1000}"\s*:/.test(text), 'json'],
    [(text) => /^(?:(?:#.*|version:[ \t]*\d+[ \t]*)?\r?\n)*dn::?[ \t]?\S/.test(text.slice(0, 10_000)), 'ldif'],
    [isMail, { refused: 'it is mail (headers, or an mbox file); copy the addresses into a CSV file' }],
    [isSql, { refused: `it is an SQL dump; ${EXPORT_ADDRESSES}` }],
    [isYaml, { refused: `it is YAML; ${EXPORT_ADDRESSES}, or as JSON` }],
  ];

function formOfText(given: string): Exclude<Recognized, 'zip' | 'gzip' | 'xls'> {
  const text = given.trimStart();
  for (const [is, what] of TEXT_FORMS) {
    if (!is(text)) continue;
    if (typeof what === 'object') throw unreadable(what.refused);
    if (
      what === 'vcard' ||
      what === 'ldif' ||
      what === 'json' ||
      what === 'spreadsheetml' ||
      what === 'ods' ||
      what === 'html'
    )
      return what;
  }
  return 'text';
}

const isMarkup = (text: string): boolean => /^<(\?xml|!doctype|!--|[a-z][\w.:-]*[\s/>])/i.test(text);

function isSpreadsheetMl(text: string): boolean {
  return (
    isMarkup(text) && /<(\w+:)?Workbook\s/.test(text) && text.includes('urn:schemas-microsoft-com:office:spreadsheet')
  );
}

function isFlatOds(text: string): boolean {
  return isMarkup(text) && /<office:document\s/.test(text) && text.includes('opendocument.spreadsheet');
}

/** Pages, and tables alone, as programs write them for spreadsheets. */
function isHtml(text: string): boolean {
  const start = text.slice(0, 2_000);
  if (!isMarkup(text)) return false;
  if (/<!doctype\s+html|<html[\s>]/i.test(start)) return true;
  return /^<(!--|table|thead|tbody|tr|head|body|meta|style|title|div|p|br|font|center|h[1-6]|ul|ol)[\s/>]/i.test(start);
}

/** `<ada@example.com>` and `<b> ` are text, too. */
function isXml(text: string): boolean {
  if (/^<\?xml\s/i.test(text)) return true;
  const [, root] = /^<([a-z][\w.:-]*)[\s/>]/i.exec(text) ?? [];
  return root !== undefined && (text.match(/<\/[a-z][\w.:-]*>/gi)?.length ?? 0) > 1;
}

/** Matches fields of RFC 5322, and trace fields of RFC 5321. */
const MAIL_FIELD =
  /^(return-path|received|date|from|sender|reply-to|to|cc|bcc|message-id|in-reply-to|references|subject|mime-version|content-type|delivered-to|dkim-signature):/i;

/** Says whether at least three different header fields are in the lines before the first blank one. */
function isMail(text: string): boolean {
  const [head = ''] = text.slice(0, 20_000).split(/\r?\n\r?\n/, 1);
  const lines = head.split(/\r?\n/);
  const [first = ''] = lines;
  const isMbox = /^From \S+ .*\d{4}/.test(first);
  const fields = lines.slice(isMbox ? 1 : 0).filter((line) => !/^[ \t]/.test(line));
  const known = new Set(fields.flatMap((line) => MAIL_FIELD.exec(line)?.[1]?.toLowerCase() ?? []));
  const isHead = fields.every((line) => /^[!-9;-~]+:/.test(line));
  return isHead && known.size >= (isMbox ? 2 : 3);
}

/** Statements, at the beginning of lines. */
function isSql(text: string): boolean {
  const statements = text.match(
    /^[ \t]*(create (table|database|schema)|insert (ignore )?into|copy \S+ .*from stdin|drop table|lock tables|alter table|replace into)\b/gim,
  );
  return (
    statements !== null &&
    /;[ \t]*\r?$/m.test(text) &&
    /^\s*(--|\/\*|#|create|insert|drop|set|begin|use|copy|lock|alter|replace|pragma)/i.test(text)
  );
}

/** Keys and items line by line, some within others; comma-separated lines are none. */
function isYaml(text: string): boolean {
  const lines = text
    .slice(0, 20_000)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
  if (lines.length < 3) return false;
  // The sample may end within a line.
  const whole = lines.length > 20 ? lines.slice(0, -1) : lines;
  const isLine = (line: string): boolean =>
    /^(---|\.\.\.)\s*$|^\s*(- +)?["']?[\w$.-][\w$ .-]*["']?:(\s.*)?$|^\s*- .*$/.test(line);
  const nested = whole.some((line, i) => /:\s*$/.test(line) && /^\s*- |^\s+\S/.test(whole[i + 1] ?? ''));
  const isRecord =
    whole.filter((line) => /^\s*- +["']?[\w$.-][\w$ .-]*["']?:\s/.test(line)).length > 0 &&
    whole.some((line) => /^\s+\w[\w$ .-]*:\s/.test(line));
  return whole.every(isLine) && (nested || isRecord);
}
