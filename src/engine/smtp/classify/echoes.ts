import { createHash } from 'node:crypto';

/** Strings of ours that a server may echo; they must not influence classification. */
export interface Echoes {
  /** The checked address is as sent in RCPT. */
  readonly address: string;
  /** Our names are the HELO name, the sender address and its domain. */
  readonly ourNames: readonly string[];
  readonly ourIps: readonly string[];
}

/** The reply's text is in lower case, with echoes replaced by placeholders. */
export interface Plain {
  /** Punctuation is kept; placeholders begin with `@`, which occurs nowhere else: `<@rcpt>: user unknown`. */
  readonly marked: string;
  /** RFC 3463 code inside the text, as qmail writes it: `(#5.1.1)`. */
  readonly enhanced: string | null;
}

/** Longer texts are truncated: the relevant part comes first, and a hostile server may send 64 KiB. */
export const MAX_TEXT = 2000;

const URL_LIKE = /\b(?:https?|ftp):\/*[^\s<>"'()]*|\bwww\.[^\s<>"'()]+/g;
const EMAIL = /[^\s<>"'()[\],;:=@]+@(?:[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?|\[[^\]\s]+\])/gu;
const IPV4 = /(?<![\w.])(?:\d{1,3}|x{1,3})(?:[.-](?:\d{1,3}|x{1,3})){3}(?![\w-]|\.\w)/g;
const IPV6 = /(?<![\w:.])(?=[\da-f:]*::|(?:[\da-f]{1,4}:){7}[\da-f])(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4}(?![\w:])/g;
const HOST_IN_TEXT = /(?<![\w@.-])[a-z\d*#](?:[a-z\d_*#-]*\.)+(?:[a-z]{2,18}|xn--[a-z\d-]+)(?![\w-]|\.\w)/g;
const ENHANCED_CODE_IN_TEXT = /(?<![\d.])([45])\.([0-7])\.(\d{1,3})(?![\d.]*\d)/;
/**
 * Matches queue ids, session ids and hashes: letters and digits mixed, too long for a word or a server's error
 * number.
 */
const ID_TOKEN = /(?<![\w@-])[\w+/=-]{8,}(?:\.[\w-]+)*(?![\w@])/g;
const isIdToken = (token: string): boolean =>
  /\d/.test(token) && /[a-z]/.test(token) && (/^[\da-f]+$/.test(token) || /^[^.]{13,}/.test(token));
/** Suffixes of file and error names are not domains: `resolver.adr.recipnotfound`. */
const NO_HOST = /^(?:resolver|smtp|storedrv|ststatus|routing|dsn|queue)\./;
const BRACKETS_AND_SIGNS = /[<>"“”„«»()[\]{}|*:;,!=`_\\]+/g;
const DIACRITICS = /[\u0300-\u036f]+/g;

/** Lower case, composed, without accents: `Boîte` and `boite` are equal, in texts and in patterns. */
export function fold(text: string): string {
  // Most replies are ASCII, where folding is just lower case.
  if (/^[\u0000-\u007f]*$/.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .replace(DIACRITICS, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\u2018\u2019\u00b4]/g, "'")
    .replaceAll('ς', 'σ')
    .replaceAll('ł', 'l')
    .replaceAll('ı', 'i');
}

/**
 * Replaces echoes and identifiers in a reply: the address (`@rcpt`) and its domain (`@domain`), our sender (`@sender`),
 * our names (`@us`) and addresses (`@ourip`), other mail addresses (`@mail`), addresses of hosts (`@ip`), URLs
 * (`@url`), host names (`@host`) and ids (`@id`). A host name or URL that `isBlocklist` knows becomes `@dnsbl` or
 * `@dnsblurl`, because it is significant. Words in `keep` stay even if they equal the local part: `user` in "user
 * unknown".
 */
export function takeOutEchoes(
  raw: string,
  echoes: Echoes,
  isBlocklist: (host: string) => boolean,
  keep: ReadonlySet<string>,
): Plain {
  const text = wordsOfReply(fold(raw.slice(0, MAX_TEXT)), echoes, keep);
  let marked = '';
  let enhanced: string | null = null;
  // None of the patterns matches white space, and most pieces are plain words.
  for (let from = 0; from < text.length; ) {
    const space = text.indexOf(' ', from);
    const end = space === -1 ? text.length : space;
    const kind = pieceKind(text, from, end);
    if (kind === 0) marked += text.slice(from, end + 1);
    else {
      const piece = text.slice(from, end);
      if (enhanced === null && (kind & DIGIT) !== 0) {
        const code = ENHANCED_CODE_IN_TEXT.exec(kind & SIGN ? piece.replace(ADDRESS_LIKE, ' ') : piece);
        if (code !== null) enhanced = `${code[1]}.${code[2]}.${Number(code[3])}`;
      }
      marked += kind === DIGIT ? piece.replace(ID_TOKEN, idOr) : withoutNames(piece, isBlocklist);
      marked += ' ';
    }
    from = end + 1;
  }
  return { marked, enhanced };
}

const DIGIT = 1;
const SIGN = 2;
/** Stands in addresses like 192-0-2-25. */
const DASHED = 4;
const ADDRESS_LIKE = /\S*(?:@|\/\/)\S*|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}/g;

/** Whether a piece of text has digits, and signs that addresses, host names and URLs are made with. */
function pieceKind(text: string, from: number, end: number): number {
  let kind = 0;
  for (let i = from; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code >= 48 && code <= 58) kind |= code === 58 ? SIGN : DIGIT;
    else if (code === 45) kind |= DASHED;
    // A dot at the end of a piece only ends a sentence.
    else if (code === 64 || code === 47 || (code === 46 && i + 1 < end)) kind |= SIGN;
  }
  return kind === DASHED || (kind === SIGN && end - from < 4) ? 0 : kind;
}

const idOr = (token: string): string => (isIdToken(token) ? ' @id ' : token);

function withoutNames(piece: string, isBlocklist: (host: string) => boolean): string {
  let text = piece;
  if (text.includes('/') || text.includes('www.')) {
    text = text.replace(URL_LIKE, (url) => (isBlocklist(urlHostText(url)) ? ' @dnsblurl ' : ' @url '));
  }
  if (text.includes('@')) text = text.replace(EMAIL, (mail) => (mail.startsWith('@') ? mail : ' @mail '));
  text = text.replace(IPV4, ' @ip ');
  if (text.includes(':')) text = text.replace(IPV6, ' @ip ');
  if (text.includes('.')) {
    text = text.replace(HOST_IN_TEXT, (host) => (NO_HOST.test(host) ? host : isBlocklist(host) ? '@dnsbl' : '@host'));
  }
  return text.replace(ID_TOKEN, idOr);
}

/** Returns the words of a marked text, without punctuation; placeholders begin with `_`. */
export const plainWords = (marked: string): string =>
  marked
    .replace(BRACKETS_AND_SIGNS, ' ')
    .replace(/\.{2,}|\.(?=\s|$)|#/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    // Placeholders are words to `\b`; the server's own underscores have been removed by now.
    .replaceAll('@', '_');

const urlHostText = (url: string): string => /^(?:\w+:)?\/*([^/?#:]*)/.exec(url)?.[1] ?? '';

/** The echoes as they are looked for, folded once: the same address is asked about in several replies. */
interface Folded {
  readonly names: readonly (readonly [word: string, mark: string])[];
  readonly local: string;
}
const foldedEchoes = new WeakMap<Echoes, Folded>();

function foldedOf(echoes: Echoes): Folded {
  const known = foldedEchoes.get(echoes);
  if (known !== undefined) return known;
  const address = fold(echoes.address);
  const at = address.lastIndexOf('@');
  const local = at < 0 ? '' : address.slice(0, at).replace(/^"(.*)"$/, '$1');
  const domain = address.slice(at + 1);
  const own = echoes.ourNames.map((name) => [fold(name), name.includes('@') ? ' @sender ' : ' @us '] as const);
  const ips = echoes.ourIps.map((ip) => [fold(ip), ' @ourip '] as const);
  const asked = [[address, ' @rcpt '] as const, [`${local}@${domain}`, ' @rcpt '] as const];
  const names = at < 0 ? [...own, ...ips] : [...own, ...ips, ...asked, [domain, ' @domain '] as const];
  const folded = { names, local };
  foldedEchoes.set(echoes, folded);
  return folded;
}

/** Whether one of these strings begins at the end of a folded piece of text and goes on in the next one. */
export function echoedAcross(before: string, after: string, echoes: Echoes): boolean {
  return foldedOf(echoes).names.some(([raw]) => {
    const name = raw.trim();
    for (let length = Math.min(name.length - 1, before.length); length > 0; length--) {
      if (!before.endsWith(name.slice(0, length)) || isEchoCharacter(before[before.length - length - 1])) continue;
      const rest = name.slice(length);
      if (after.startsWith(rest) || (length > 2 && rest.startsWith(after))) return true;
    }
    return false;
  });
}

function wordsOfReply(text: string, echoes: Echoes, keep: ReadonlySet<string>): string {
  const { names, local } = foldedOf(echoes);
  let out = text;
  for (const [word, mark] of names) out = replaceWord(out, word, mark);
  if (!keep.has(local)) return replaceWord(out, local, ' @rcpt ');
  // "user unknown" keeps its words for user@…, but <unknown> is that local part.
  for (const [open, close] of ['<>', '""', "''"]) out = out.replaceAll(open + local + close, ' @rcpt ');
  return out;
}

const ECHO_CHARACTER = /[\p{L}\p{N}_@]/u;
const isEchoCharacter = (char: string | undefined): boolean => char !== undefined && ECHO_CHARACTER.test(char);

/** Replaces `word` where it is separate: not next to a letter, digit or `@`, and not inside a longer dotted name. */
function replaceWord(text: string, word: string, mark: string): string {
  if (word === '' || word === '@') return text;
  let out = '';
  let from = 0;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
    const end = at + word.length;
    if (isEchoCharacter(text[at - 1]) || isEchoCharacter(text[end])) continue;
    if (/[.-]/.test(text[end] ?? '') && isEchoCharacter(text[end + 1])) continue;
    if (/[.+-]/.test(text[at - 1] ?? '') && isEchoCharacter(text[at - 2])) continue;
    out += text.slice(from, at) + mark;
    from = end;
  }
  return from === 0 ? text : out + text.slice(from);
}

/** A template has at most this many characters. */
const TEMPLATE_MAX = 300;

/**
 * What replies have in common that differ only in addresses, hosts, names, times or ids: `_name has no mailbox # here`.
 * `plain`: the text after `takeOutEchoes`. `isWord`: whether a word has a meaning in the lexicon. Words of the checked
 * address that have none are taken out as well, since servers greet their users by name. `fingerprint`: 12 hex digits
 * made from code, enhanced code and text.
 */
export function templateOf(
  reply: { readonly code: number; readonly enhanced: string | null },
  plain: string,
  { address }: Pick<Echoes, 'address'>,
  isWord: (word: string) => boolean,
): { readonly fingerprint: string; readonly text: string } {
  const named = new Set((fold(address).match(/\p{L}{3,}/gu) ?? []).filter((word) => !isWord(word)));
  const text = plain
    .replace(/(?<![\p{L}_])\p{L}{3,}/gu, (word) => (named.has(word) ? '_name' : word))
    .replaceAll('_ourip', '_ip')
    .replace(/\S*\d\S*/g, '#')
    .replace(/#(?: #)+/g, '#')
    .slice(0, TEMPLATE_MAX)
    .toWellFormed();
  const { code, enhanced } = reply;
  const fingerprint = createHash('sha256')
    .update(`${code} ${enhanced ?? ''} ${text}`)
    .digest('hex')
    .slice(0, 12);
  return { fingerprint, text };
}
