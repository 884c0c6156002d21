/** Replies of mail servers are parsed from bytes here, bounded (RFC 5321 §4.2). */
import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { SMTP_MESSAGE_LENGTH } from '../../kernel/facts/limits.ts';

/** One complete reply of a mail server (RFC 5321 §4.2). */
export interface SmtpReply {
  /** 200 to 599. If the lines differ, the last line's. */
  readonly code: number;
  /** `x.y.z` from the start of the text (RFC 2034, RFC 3463), only if its class matches the code's; else null. */
  readonly enhanced: string | null;
  /** The text after code and separator of each line, decoded; control characters become U+FFFD. */
  readonly lines: readonly string[];
  /** The lines that have a text, without their enhanced codes. */
  readonly texts: readonly string[];
  /** The texts are joined by spaces. */
  readonly text: string;
  /** The lines had codes of different classes, `550-` and `250 `; RFC 5321 §4.2.1 wants one code. */
  readonly mixed: boolean;
}

/** Octets of one line without its line ending. RFC 5321 §4.5.3.1.5 allows 512; real servers exceed that. */
export const MAX_LINE_BYTES = 2048;
export const MAX_LINES = 100;
/** A whole reply has at most this many octets. */
const MAX_REPLY_BYTES = 64 * 1024;

const LF_OCTET = 0x0a;
const CR_OCTET = 0x0d;
const EMPTY_BUFFER = Buffer.alloc(0);
const LEADING_ENHANCED_CODE = /^([245])\.(\d{1,3})\.(\d{1,3})(?![\d.])[:;,]?\s*/;
// C0, DEL, C1, line separators and bidirectional overrides: none of these may reach a log or a terminal.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const PRINTABLE_ASCII = /^[ -~]*$/;

/**
 * Streaming reply parser. Chunks may be split anywhere and contain several replies. Lines end in CRLF or a bare LF.
 * Input that exceeds the bounds above or is not a reply sets `violation`; further input is ignored.
 * Never throws; buffers at most one incomplete reply.
 */
export class ReplyParser {
  /** Says why parsing stopped: a short sentence for the transcript. */
  violation: string | null = null;
  private rest: Buffer = EMPTY_BUFFER;
  private lines: string[] = [];
  private octets = 0;
  private firstCode = 0;
  private mixed = false;

  /** Replies that this chunk completes, in order. */
  push(chunk: Uint8Array): SmtpReply[] {
    let replies: SmtpReply[] = [];
    if (this.violation !== null) return replies;
    const fresh = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const bytes = this.rest.length === 0 ? fresh : Buffer.concat([this.rest, fresh]);
    // Nearly all input is ASCII: decoded once, then sliced into lines.
    const ascii = isAscii(bytes) ? bytes.toString('latin1') : null;
    let start = 0;
    for (let end = bytes.indexOf(LF_OCTET); end !== -1; end = bytes.indexOf(LF_OCTET, start)) {
      const last = end > start && bytes[end - 1] === CR_OCTET ? end - 1 : end;
      const reply = this.line(ascii?.slice(start, last) ?? decodeLine(bytes.subarray(start, last)), last - start);
      if (reply !== null && replies.length > 0) replies.push(reply);
      else if (reply !== null) replies = [reply];
      if (this.violation !== null) return replies;
      start = end + 1;
    }
    // One octet above the limit: a CR whose LF has not arrived yet.
    const left = bytes.length - start;
    if (left > MAX_LINE_BYTES + 1 || (left > MAX_LINE_BYTES && bytes[bytes.length - 1] !== CR_OCTET))
      this.fail('line too long');
    // Copied, because the chunk may be of a buffer that is used again.
    else this.rest = left === 0 ? EMPTY_BUFFER : Buffer.from(bytes.subarray(start));
    return replies;
  }

  private line(line: string, octets: number): SmtpReply | null {
    if (octets > MAX_LINE_BYTES) return this.fail('line too long');
    this.octets += octets;
    if (this.octets > MAX_REPLY_BYTES) return this.fail('reply too long');
    if (this.lines.length === MAX_LINES) return this.fail('too many lines in one reply');
    const code = codeOf(line);
    if (code === null) return this.fail('not an SMTP reply');
    if (this.lines.length === 0) this.firstCode = code;
    else if (Math.floor(code / 100) !== Math.floor(this.firstCode / 100)) this.mixed = true;
    const text = withoutControls(line.slice(4)).trim();
    // A push into an empty array makes room for 17.
    if (this.lines.length > 0) this.lines.push(text);
    else this.lines = [text];
    if (line[3] === '-') return null;
    const reply = makeReply(code, this.lines, this.mixed);
    this.lines = [];
    this.octets = 0;
    this.mixed = false;
    return reply;
  }

  private fail(why: string): null {
    this.violation = why;
    this.rest = EMPTY_BUFFER;
    this.lines = [];
    return null;
  }
}

/** The code at the start of a line, followed by a separator or nothing; null: there is none. */
function codeOf(line: string): number | null {
  const [first, second, third] = [digitAt(line, 0), digitAt(line, 1), digitAt(line, 2)];
  const isCode = first >= 2 && first <= 5 && second >= 0 && second <= 9 && third >= 0 && third <= 9;
  return isCode && (line.length === 3 || CODE_SEPARATORS.includes(line.charAt(3)))
    ? first * 100 + second * 10 + third
    : null;
}

const CODE_SEPARATORS = ' -\t';
const digitAt = (line: string, at: number): number => line.charCodeAt(at) - 0x30;

const decodeLine = (bytes: Buffer): string => (isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1'));

const withoutControls = (text: string): string =>
  PRINTABLE_ASCII.test(text) ? text : text.replaceAll('\t', ' ').replace(UNPRINTABLE, '\ufffd');

function makeReply(code: number, lines: readonly string[], mixed: boolean): SmtpReply {
  if (lines.every(isBareText)) return { code, enhanced: null, lines, texts: lines, text: joinTexts(lines), mixed };
  let enhanced: string | null = null;
  const texts: string[] = [];
  for (const line of lines) {
    const match = LEADING_ENHANCED_CODE.exec(line);
    if (match === null || Number(match[1]) !== Math.floor(code / 100)) {
      if (line !== '') texts.push(line);
      continue;
    }
    enhanced ??= `${match[1]}.${Number(match[2])}.${Number(match[3])}`;
    const rest = line.slice(match[0].length);
    if (rest !== '') texts.push(rest);
  }
  return { code, enhanced, lines, texts, text: joinTexts(texts), mixed };
}

/** The usual line is without an enhanced code. */
const isBareText = (line: string): boolean => line !== '' && line[1] !== '.';

const joinTexts = (texts: readonly string[]): string => (texts.length === 1 ? (texts[0] ?? '') : texts.join(' '));

const WORD_CHARACTER = /[\p{L}\p{N}]/u;

/** `text` without `secret` (lower case) where it is a separate word or precedes an `@`. */
export function maskSecret(text: string, secret: string): string {
  if (secret === '') return text;
  const lower = text.toLowerCase();
  // Some letters change their length in lower case, so positions would not match: mask the whole line.
  if (lower.length !== text.length) return lower.includes(secret) ? '***' : text;
  let out = '';
  let done = 0;
  for (let at = lower.indexOf(secret); at !== -1; at = lower.indexOf(secret, at + secret.length)) {
    const after = at + secret.length;
    if (WORD_CHARACTER.test(text[at - 1] ?? '') || (WORD_CHARACTER.test(text[after] ?? '') && text[after] !== '@'))
      continue;
    out += `${text.slice(done, at)}***`;
    done = after;
  }
  return out + text.slice(done);
}

const ADDRESS_IN_TEXT = /[^\s<>"'()[\],;:=@]+(?:@|%40)[^\s<>"'()[\],;]+/gi;
/** Parameters of a URL often name the recipient, encoded in some way, so they are cut. */
const URL_PARAMETERS = /(?<=\bhttps?:\/\/[^\s?#]{1,200})[?#]\S+/gi;
/** Longer texts are cut before they are searched: a server may send 64 KiB. */
const MAX_SEARCHED = 1000;

/**
 * The text of a reply as it may be kept: without the local part, its words and any mail address, in
 * SMTP_MESSAGE_LENGTH characters at most. `localPart`: of the recipient, without quotes.
 */
export function blankedText(text: string, localPart: string): string {
  const local = localPart.toLowerCase();
  const words = local.match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  let out = text.slice(0, MAX_SEARCHED).replace(URL_PARAMETERS, '').replace(ADDRESS_IN_TEXT, '***');
  // Servers greet a recipient by name, and write the name without its dots.
  for (const secret of new Set([local, words.join(''), ...words])) out = maskSecret(out, secret);
  return out.slice(0, SMTP_MESSAGE_LENGTH.max).toWellFormed();
}
