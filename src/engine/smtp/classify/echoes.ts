/** Strings of ours that a server may echo; they must not influence classification. */
export interface Echoes {
  /** The checked address, as sent in RCPT. */
  readonly address: string;
  /** Our HELO name, the sender address and its domain. */
  readonly ourNames: readonly string[];
  readonly ourIps: readonly string[];
}

/** The reply's text: lower case, no brackets or quotes, echoes replaced by placeholders such as `_rcpt`. */
export interface Plain {
  readonly text: string;
  /** RFC 3463 code inside the text, as qmail writes it: `(#5.1.1)`. */
  readonly enhanced: string | null;
}

/** Longer texts are truncated: the relevant part comes first. */
const MAX_TEXT = 1500;

const URL_LIKE = /\b(?:https?|ftp):\/*[^\s<>"'()]*|\bwww\.[^\s<>"'()]+/g;
const EMAIL = /[^\s<>"'()[\],;:=@]+@(?:[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?|\[[^\]\s]+\])/gu;
const IPV4 = /(?<![\w.])(?:\d{1,3}|x{1,3})(?:[.-](?:\d{1,3}|x{1,3})){3}(?![\w-]|\.\w)/g;
const IPV6 = /(?<![\w:.])(?=[\da-f:]*:[\da-f]*:)(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4}(?![\w:])/g;
const HOST = /(?<![\w@.-])[a-z\d*#](?:[a-z\d_*#-]*\.)+(?:[a-z]{2,18}|xn--[a-z\d-]+)(?![\w-]|\.\w)/g;
const CODE = /(?<![\d.])([45])\.([0-7])\.(\d{1,3})(?![\d.]*\d)/;
/** Queue ids, session ids, hashes: letters and digits mixed, too long for a word or a server's error number. */
const ID = /(?<![\w@-])[\w+/=-]{8,}(?:\.[\w-]+)*(?![\w@])/g;
const isId = (token: string): boolean =>
  /\d/.test(token) && /[a-z]/.test(token) && (/^[\da-f]+$/.test(token) || /^[^.]{13,}/.test(token));
/** Suffixes of file and error names are not domains: `resolver.adr.recipnotfound`. */
const NO_HOST = /^(?:resolver|smtp|storedrv|ststatus|routing|dsn|queue)\./;
const BRACKETS = /[<>"“”„«»()[\]{}|*:;,!=`_\\]+/g;
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
    .replaceAll('ł', 'l')
    .replaceAll('ı', 'i');
}

/**
 * Replaces echoes and identifiers in a reply: the address (`_rcpt`), our sender (`_sender`), our names (`_us`) and
 * addresses (`_ourip`), other mail addresses (`_mail`), addresses of hosts (`_ip`), URLs (`_url`), host names (`_host`)
 * and ids (`_id`). A host name or URL that `isBlocklist` knows becomes `_dnsbl` or `_dnsblurl`, because it is
 * significant. Words in `keep` stay even if they equal the local part: `user` in "user unknown".
 */
export function takeOutEchoes(
  raw: string,
  echoes: Echoes,
  isBlocklist: (host: string) => boolean,
  keep: ReadonlySet<string>,
): Plain {
  let text = ownWords(fold(raw.slice(0, MAX_TEXT)), echoes, keep);
  if (text.includes('/') || text.includes('www.')) {
    text = text.replace(URL_LIKE, (url) => (isBlocklist(hostOf(url)) ? ' @dnsblurl ' : ' @url '));
  }
  if (text.includes('@')) text = text.replace(EMAIL, (mail) => (mail.startsWith('@') ? mail : ' @mail '));
  if (text.includes('.') || text.includes('-')) text = text.replace(IPV4, ' @ip ');
  if (text.includes(':')) text = text.replace(IPV6, ' @ip ');
  const code = CODE.exec(text);
  text = text
    .replace(HOST, (host) => (NO_HOST.test(host) ? host : isBlocklist(host) ? '@dnsbl' : '@host'))
    .replace(ID, (token) => (isId(token) ? ' @id ' : token))
    .replace(BRACKETS, ' ')
    .replace(/\.{2,}|\.(?=\s|$)|#/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    // Placeholders are words to `\b`; the server's own underscores have been removed by now.
    .replaceAll('@', '_');
  return { text, enhanced: code === null ? null : `${code[1]}.${code[2]}.${Number(code[3])}` };
}

const hostOf = (url: string): string => /^(?:\w+:)?\/*([^/?#:]*)/.exec(url)?.[1] ?? '';

function ownWords(text: string, echoes: Echoes, keep: ReadonlySet<string>): string {
  const address = fold(echoes.address);
  const at = address.lastIndexOf('@');
  let out = text;
  for (const name of echoes.ourNames) out = replaceWord(out, fold(name), name.includes('@') ? ' @sender ' : ' @us ');
  for (const ip of echoes.ourIps) out = replaceWord(out, fold(ip), ' @ourip ');
  if (at < 0) return out;
  const local = address.slice(0, at).replace(/^"(.*)"$/, '$1');
  const domain = address.slice(at + 1);
  out = replaceWord(out, address, ' @rcpt ');
  out = replaceWord(out, `${local}@${domain}`, ' @rcpt ');
  out = replaceWord(out, domain, ' @domain ');
  return keep.has(local) ? out : replaceWord(out, local, ' @rcpt ');
}

const WORD = /[\p{L}\p{N}_@]/u;
const isWord = (char: string | undefined): boolean => char !== undefined && WORD.test(char);

/** Replaces `word` where it is separate: not next to a letter, digit or `@`, and not inside a longer dotted name. */
function replaceWord(text: string, word: string, mark: string): string {
  if (word === '' || word === '@') return text;
  let out = '';
  let from = 0;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
    const end = at + word.length;
    if (isWord(text[at - 1]) || isWord(text[end])) continue;
    if (/[.-]/.test(text[end] ?? '') && isWord(text[end + 1])) continue;
    if (/[.+-]/.test(text[at - 1] ?? '') && isWord(text[at - 2])) continue;
    out += text.slice(from, at) + mark;
    from = end;
  }
  return from === 0 ? text : out + text.slice(from);
}
