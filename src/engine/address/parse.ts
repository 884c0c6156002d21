/** An address as a public mail exchanger could deliver it: RFC 5321, 6531, 5890–5894. */
import { parse } from 'tldts';
import { toASCII, toUnicode } from 'tr46';
import { dataFile, readData } from '../data-files.ts';

export interface Address {
  /** The address is exactly as sent. */
  readonly raw: string;
  /** As sent; quotes included for a quoted local part. */
  readonly localPart: string;
  readonly quoted: boolean;
  /** The domain is in lower-case ASCII (IDNA A-labels). */
  readonly domain: string;
  /** The domain is in Unicode (U-labels), in lower case. */
  readonly unicodeDomain: string;
  /** The text after the first `+` of a dot-atom local part; null without one, or if either side is empty. */
  readonly tag: string | null;
  /** `localPart@domain`: safe to send to a mail server. */
  readonly normalized: string;
  /** True when the local part has non-ASCII characters (RFC 6531). */
  readonly needsSmtputf8: boolean;
}
type ParsedAddress = { ok: true; address: Address } | Faulty;
export type ParseOptions = Pick<DomainOptions, 'allowReserved' | 'allowUnknownTld'>;

/** RFC 5321 §4.5.3.1.3: a path is 256 octets, angle brackets included. */
const MAX_ADDRESS = 254;

/**
 * Never throws, never trims. Fault indices refer to the text as sent. Not accepted although an RFC defines them:
 * comments, folding white space, obsolete forms, display names, domain literals, a trailing dot.
 * Linear in the length of the text.
 */
export function parseAddress(text: string, options: ParseOptions = {}): ParsedAddress {
  if (!text.includes('@')) return fault('missing_at', text.length);
  const local = scanLocalPart(text);
  if (!local.ok) return local;
  const domain = parseDomain(text, local.end + 1, options);
  if (!domain.ok) return domain;
  if (local.octets + 1 + domain.ascii.length > MAX_ADDRESS) {
    const plain = local.ascii && domain.unicode.length === text.length - local.end - 1;
    return fault('address_too_long', plain ? MAX_ADDRESS : local.end + 1);
  }
  const localPart = text.slice(0, local.end);
  return {
    ok: true,
    address: {
      raw: text,
      localPart,
      quoted: local.quoted,
      domain: domain.ascii,
      unicodeDomain: domain.unicode,
      tag: plusTag(localPart, local),
      normalized: `${localPart}@${domain.ascii}`,
      needsSmtputf8: !local.ascii,
    },
  };
}

function plusTag(localPart: string, { quoted }: LocalPart): string | null {
  const plus = quoted ? -1 : localPart.indexOf('+');
  return plus > 0 && plus + 1 < localPart.length ? localPart.slice(plus + 1) : null;
}

/**
 * All syntax errors of an address, one sentence each; docs/syntax-errors.md is generated from this table. The codes are
 * stable: `checks.syntax.error` in the response.
 */
export const SYNTAX_ERRORS = {
  missing_at: 'There is no "@".',
  multiple_at: 'There is more than one "@" outside quotes.',
  empty_local_part: 'The part before the "@" is empty.',
  local_part_too_long: 'The part before the "@" is longer than 64 octets in UTF-8.',
  leading_dot: 'The local part or the domain begins with a dot.',
  trailing_dot: 'The local part or the domain ends with a dot.',
  double_dot: 'There are two consecutive dots.',
  invalid_character: 'This character is not allowed here.',
  whitespace: 'Whitespace is not allowed inside an address, except a space inside quotes.',
  control_character: 'Control characters are never allowed.',
  unsafe_character: 'Invisible, direction-changing, private-use and unassigned characters are never allowed.',
  broken_unicode: 'The text is not well-formed Unicode: it has an unpaired surrogate.',
  unclosed_quote: 'A quoted local part is not closed.',
  misplaced_quote: 'There is a quote inside an unquoted local part; quote all of it or none.',
  display_name: 'Send the bare address, without a display name and angle brackets.',
  comment: 'Comments in parentheses are not allowed.',
  empty_domain: 'The part after the "@" is empty.',
  domain_literal: 'An IP address in brackets is not accepted as a domain.',
  domain_too_long: 'The domain is longer than 253 octets in its ASCII form.',
  label_too_long: 'A part of the domain is longer than 63 octets in its ASCII form.',
  label_hyphen: 'A part of the domain begins or ends with a hyphen.',
  invalid_idna: 'A part of the domain is not a valid internationalized label (IDNA2008).',
  single_label: 'The domain has no dot.',
  numeric_tld: 'The top-level domain consists of digits only.',
  reserved_tld: 'The domain is reserved for special use and never receives public mail.',
  unknown_tld: 'The top-level domain does not exist: it is on no list, and DNS has no such name.',
  address_too_long: 'The address is longer than 254 octets.',
} as const;

export type SyntaxErrorCode = keyof typeof SYNTAX_ERRORS;

export interface SyntaxFault {
  /** Error codes such as `double_dot` are stable. */
  readonly error: SyntaxErrorCode;
  /**
   * Index in the text as sent, in UTF-16 code units: the first offending character; for something missing, the place
   * where it was expected; for a length limit, the first character beyond it if that is known (ASCII), else the start
   * of the part that is too long.
   */
  readonly index: number;
}

type Faulty = { readonly ok: false } & SyntaxFault;

const fault = (error: SyntaxErrorCode, index: number): Faulty => ({ ok: false, error, index });

interface LocalPart {
  readonly ok: true;
  /** Index of the "@" that ends it. */
  readonly end: number;
  /** This counts UTF-8 octets, quotes included. */
  readonly octets: number;
  readonly quoted: boolean;
  readonly ascii: boolean;
}

const MAX_LOCAL_OCTETS = 64;

const SURROGATE = /^\p{Cs}$/u;
const WHITE_SPACE = /^\p{White_Space}$/u;
const CONTROL = /^\p{Cc}$/u;
/**
 * Matches format characters (bidi controls, zero-width), private-use and unassigned characters, default-ignorable
 * ones (Hangul fillers, variation selectors …), and the two replacement characters (U+FFFC, U+FFFD).
 */
const UNSAFE = /^[\p{C}\p{Default_Ignorable_Code_Point}\uFFFC\uFFFD]$/u;

/** Why a character is not allowed anywhere in an address, quoted or not, or null. `character` is one code point. */
function unsafeCharacter(character: string): SyntaxErrorCode | null {
  if (SURROGATE.test(character)) return 'broken_unicode';
  if (WHITE_SPACE.test(character)) return 'whitespace';
  if (CONTROL.test(character)) return 'control_character';
  return UNSAFE.test(character) ? 'unsafe_character' : null;
}

/** The fault for an ASCII character found where atext, a letter, a digit or a hyphen was expected. */
function misplacedAscii(code: number): SyntaxErrorCode {
  if (code === 0x20 || (code >= 0x09 && code <= 0x0d)) return 'whitespace';
  if (code < 0x20 || code === 0x7f) return 'control_character';
  if (code === 0x28 || code === 0x29) return 'comment';
  return 'invalid_character';
}

/** Counts the octets of one code point in UTF-8 (RFC 3629). */
const utf8Octets = (codePoint: number): number =>
  codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;

interface DomainLabel {
  /** The ASCII form is the A-label, or the label itself in lower case. */
  readonly ascii: string;
  readonly unicode: string;
}

/** CheckHyphens is off because plain labels such as `r3---sn` exist in the DNS; U-labels are checked below. */
const UTS46_RULES = { checkHyphens: false, checkJoiners: true, useSTD3ASCIIRules: true } as const;

/**
 * RFC 5892 §2.1 LetterDigits with its exceptions (§2.6), CONTEXTJ and CONTEXTO; UTS 46 has mapped unstable characters.
 */
const PERMITTED =
  /^[\p{Ll}\p{Lu}\p{Lo}\p{Lm}\p{Mn}\p{Mc}\p{Nd}\u002D\u00DF\u03C2\u06FD\u06FE\u0F0B\u3007\u00B7\u0375\u05F3\u05F4\u30FB\u200C\u200D]*$/u;
/** Matches what RFC 5892 excludes: §2.6 (disallowed exceptions), §2.4 (ignorable blocks), §2.9 (old Hangul jamo). */
const EXCLUDED =
  /[\u0640\u07FA\u302E\u302F\u3031-\u3035\u303B\u1100-\u11FF\uA960-\uA97F\uD7B0-\uD7FF\u{1D100}-\u{1D24F}]|[\u20D0-\u20FF]/u;

/** They follow RFC 5892 appendix A.3 to A.9. */
const OUT_OF_CONTEXT: readonly RegExp[] = [
  /(?<!l)\u00B7|\u00B7(?!l)/u,
  /\u0375(?!\p{Script=Greek})/u,
  /(?<!\p{Script=Hebrew})[\u05F3\u05F4]/u,
  /^(?!.*[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]).*\u30FB/u,
  /[\u0660-\u0669].*[\u06F0-\u06F9]|[\u06F0-\u06F9].*[\u0660-\u0669]/u,
];

const ASCII_ONLY = /^[\0-\x7F]*$/;

const permitted = (text: string): boolean => PERMITTED.test(text) && !EXCLUDED.test(text);

/** `--` in positions 3 and 4 is reserved in a U-label (RFC 5891 §4.2.3.1). */
const validUnicodeLabel = (label: string): boolean =>
  permitted(label) &&
  !OUT_OF_CONTEXT.some((rule) => rule.test(label)) &&
  Array.from(label).slice(2, 4).join('') !== '--';

/**
 * One label of an internationalized domain: mapped by UTS 46 (nontransitional), then checked against IDNA2008 (RFC 5891
 * §4.2, RFC 5892), which rejects symbols, emoji, old jamo and characters out of context that UTS 46 alone accepts.
 * `raw`: one label without dots, at most 255 UTF-16 units (punycode is quadratic). Null when it is not valid under
 * IDNA2008, or is an A-label that does not round-trip. The caller checks leading and trailing hyphens and the length.
 */
function toLabel(raw: string): DomainLabel | null {
  const ascii = toASCII(raw, UTS46_RULES);
  if (ascii === null || ascii === '' || ascii.includes('.')) return null;
  if (!ascii.startsWith('xn--')) return { ascii, unicode: ascii };
  const claimed = raw.normalize('NFKC').toLowerCase();
  if (claimed.startsWith('xn--') && claimed !== ascii) return null;
  const { domain: unicode, error } = toUnicode(ascii, UTS46_RULES);
  if (error || ASCII_ONLY.test(unicode) || !validUnicodeLabel(unicode)) return null;
  return { ascii, unicode };
}

/**
 * Index in `raw` of the first character that no valid label can contain, or -1 when only the label as a whole is
 * invalid.
 */
function offendingCharacter(raw: string): number {
  let index = 0;
  for (const character of raw) {
    if (!permitted(toUnicode(character, UTS46_RULES).domain)) return index;
    index += character.length;
  }
  return -1;
}

/** RFC 5893: index of the first label that breaks the Bidi rule in this domain (labels in ASCII form), or -1. */
function bidiViolation(labels: readonly string[]): number {
  if (toASCII(labels.join('.'), { ...UTS46_RULES, checkBidi: true }) !== null) return -1;
  // Appending a right-to-left label makes the domain a Bidi domain, so that the rule applies to every label.
  const index = labels.findIndex((label) => toASCII(`${label}.xn--4db`, { ...UTS46_RULES, checkBidi: true }) === null);
  return Math.max(index, 0);
}

/**
 * IANA's special-use domain names (https://www.iana.org/assignments/special-use-domain-names/, read 2026-11) and
 * `internal`, which ICANN reserved for private use in 2024. Not here: example.com, .net and .org, which are special
 * but delegated, and publish a null MX themselves.
 */
const SPECIAL_USE: ReadonlySet<string> = new Set([
  'test', // RFC 6761
  'example', // RFC 6761
  'invalid', // RFC 6761
  'localhost', // RFC 6761
  'local', // RFC 6762
  'onion', // RFC 7686
  'alt', // RFC 9476
  'internal', // ICANN board, 2024-07-29
  'home.arpa', // RFC 8375
  'ipv4only.arpa', // RFC 8880
  'resolver.arpa', // RFC 9462
  'service.arpa', // RFC 9665
  'eap.arpa', // RFC 9965
  'eap-noob.arpa', // RFC 9140
  '6tisch.arpa', // RFC 9031
  '10.in-addr.arpa', // RFC 6761
  '168.192.in-addr.arpa', // RFC 6761
  '254.169.in-addr.arpa', // RFC 6762
  '170.0.0.192.in-addr.arpa', // RFC 8880
  '171.0.0.192.in-addr.arpa', // RFC 8880
  '8.e.f.ip6.arpa', // RFC 6762
  '9.e.f.ip6.arpa', // RFC 6762
  'a.e.f.ip6.arpa', // RFC 6762
  'b.e.f.ip6.arpa', // RFC 6762
  ...Array.from({ length: 16 }, (_, i) => `${i + 16}.172.in-addr.arpa`), // RFC 6761
]);

/**
 * True for a special-use name, which has no public mail whatever the DNS says, and everything under it. `domain`:
 * lower-case ASCII with a dot.
 */
export function isSpecialUse(domain: string): boolean {
  const last = domain.lastIndexOf('.');
  if (domain.slice(last + 1) !== 'arpa') return SPECIAL_USE.has(domain.slice(last + 1));
  for (let at = 0; at !== -1; at = domain.indexOf('.', at + 1)) {
    if (SPECIAL_USE.has(at === 0 ? domain : domain.slice(at + 1))) return true;
  }
  return false;
}

const AS_HOST_NAME = { extractHostname: false, validateHostname: false, detectIp: false } as const;

/** IANA's list, read when it is first needed. */
let delegatedTlds: ReadonlySet<string> | null = null;

/**
 * Whether IANA's list or the public suffix list has this top-level domain. Neither alone is enough: a TLD may be
 * without a suffix rule of its own (`za`), and one list is older than the other. Even both do not show that a TLD does
 * not exist, because it may have been delegated since: only the DNS does. `tld`: lower-case ASCII without a dot.
 */
export function tldIsListed(tld: string): boolean {
  delegatedTlds ??= new Set(
    readData(dataFile('tlds.txt'))
      .split('\n')
      .filter((line) => /^[^#]/.test(line)),
  );
  if (delegatedTlds.has(tld)) return true;
  // The suffix list contains `onion` as if it were delegated.
  return !SPECIAL_USE.has(tld) && parse(tld, AS_HOST_NAME).isIcann === true;
}

/** The top-level domain of `domain` if only the DNS knows whether it exists. `domain`: lower-case ASCII with a dot. */
export function unlistedTld(domain: string): string | null {
  const tld = domain.slice(domain.lastIndexOf('.') + 1);
  return isSpecialUse(domain) || tldIsListed(tld) ? null : tld;
}

interface DomainOptions {
  /** Test setups only: accepts special-use names (`test`, `local` …). */
  readonly allowReserved?: boolean;
  /** Also accepts TLDs that no list has: they may be newer than the lists, or mistyped. */
  readonly allowUnknownTld?: boolean;
  /** Accepts a name without a dot if it is a TLD that the lists have: for lists of domains, never for an address. */
  readonly allowTld?: boolean;
}

interface ParsedDomain {
  readonly ok: true;
  /** The name is in lower-case ASCII without a trailing dot. */
  readonly ascii: string;
  readonly unicode: string;
}

const MAX_DOMAIN = 253;
const MAX_LABEL = 63;
/** No label that fits into 63 octets is longer in any form; bounds the cost of punycode, which is quadratic. */
const MAX_RAW_LABEL = 255;
const MAX_RAW_DOMAIN = 1024;
const HYPHEN_CODE = 0x2d;
const DOT_CODE = 0x2e;
const AT_CODE = 0x40;
const ZWNJ = 0x200c;
const ZWJ = 0x200d;

const isLetterOrDigit = (code: number): boolean => {
  const lower = code | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (code >= 0x30 && code <= 0x39);
};
/** Full stop and what UTS 46 maps to it: ideographic, full-width and half-width. */
const isDot = (code: number): boolean => code === DOT_CODE || code === 0x3002 || code === 0xff0e || code === 0xff61;
const isXn = (text: string, at: number): boolean =>
  text.charCodeAt(at + 2) === HYPHEN_CODE &&
  text.charCodeAt(at + 3) === HYPHEN_CODE &&
  /^xn/i.test(text.slice(at, at + 2));

interface DomainScan {
  readonly ok: true;
  /** The indexes in `text` where labels begin, and one past the end. */
  readonly starts: readonly number[];
  /** Not plain LDH: has non-ASCII characters or a label with the A-label prefix. */
  readonly international: boolean;
}

/**
 * Parses `text` from `from` to its end as a domain: RFC 5321 §4.1.2 with RFC 5890–5894 under UTS 46 mapping.
 * Fault indices refer to `text`. Plain labels are letters, digits and hyphens; `--` in positions 3 and 4 is accepted in
 * plain labels only (RFC 5890 reserves it, but second-level registries use it). Linear in the length.
 */
export function parseDomain(text: string, from = 0, options: DomainOptions = {}): ParsedDomain | Faulty {
  if (from >= text.length) return fault('empty_domain', text.length);
  if (text.charCodeAt(from) === 0x5b) return fault('domain_literal', from);
  const scan = scanDomain(text, from);
  if (!scan.ok) return scan;
  const domain = scan.international ? internationalDomain(text, scan.starts) : plainDomain(text, scan.starts);
  if (!domain.ok) return domain;
  if (domain.ascii.length > MAX_DOMAIN) {
    return fault('domain_too_long', scan.international ? from : from + MAX_DOMAIN);
  }
  return topLevelFault(domain.ascii, scan.starts, options) ?? domain;
}

function scanDomain(text: string, from: number): DomainScan | Faulty {
  const starts = [from];
  let internationalDomain = isXn(text, from);
  let start = from;
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isDot(code)) {
      if (i === start) return fault(i === from ? 'leading_dot' : 'double_dot', i);
      start = i + 1;
      starts.push(start);
      internationalDomain ||= code !== DOT_CODE || isXn(text, start);
    } else if (code < 0x80) {
      if (!isLetterOrDigit(code) && code !== HYPHEN_CODE) {
        return fault(code === AT_CODE ? 'multiple_at' : misplacedAscii(code), i);
      }
    } else {
      internationalDomain = true;
      const character = String.fromCodePoint(text.codePointAt(i)!);
      const why = code === ZWNJ || code === ZWJ ? null : unsafeCharacter(character);
      if (why !== null) return fault(why, i);
      i += character.length - 1;
    }
  }
  if (start === text.length) return fault('trailing_dot', start - 1);
  if (internationalDomain && text.length - from > MAX_RAW_DOMAIN) return fault('domain_too_long', from);
  starts.push(text.length + 1);
  return { ok: true, starts, international: internationalDomain };
}

function plainDomain(text: string, starts: readonly number[]): ParsedDomain | Faulty {
  for (const [n, start] of starts.entries()) {
    const next = starts[n + 1];
    if (next === undefined) break;
    const end = next - 1;
    if (text.charCodeAt(start) === HYPHEN_CODE) return fault('label_hyphen', start);
    if (text.charCodeAt(end - 1) === HYPHEN_CODE) return fault('label_hyphen', end - 1);
    if (end - start > MAX_LABEL) return fault('label_too_long', start + MAX_LABEL);
  }
  const ascii = text.slice(starts[0]).toLowerCase();
  return { ok: true, ascii, unicode: ascii };
}

function internationalDomain(text: string, starts: readonly number[]): ParsedDomain | Faulty {
  const labels: DomainLabel[] = [];
  for (const [n, start] of starts.entries()) {
    const next = starts[n + 1];
    if (next === undefined) break;
    const label = internationalLabel(text.slice(start, next - 1), start);
    if ('error' in label) return label;
    labels.push(label);
  }
  const ascii = labels.map((label) => label.ascii);
  const violation = bidiViolation(ascii);
  if (violation >= 0) return fault('invalid_idna', starts[violation] ?? 0);
  return { ok: true, ascii: ascii.join('.'), unicode: labels.map((label) => label.unicode).join('.') };
}

function internationalLabel(raw: string, start: number): DomainLabel | Faulty {
  if (raw.length > MAX_RAW_LABEL) return fault('label_too_long', start);
  if (raw.startsWith('-')) return fault('label_hyphen', start);
  if (raw.endsWith('-')) return fault('label_hyphen', start + raw.length - 1);
  const label = toLabel(raw);
  if (label === null) {
    const at = offendingCharacter(raw);
    return at < 0 ? fault('invalid_idna', start) : fault('invalid_character', start + at);
  }
  // Mapping may have turned a full-width hyphen into a hyphen, and a U-label may begin or end with one.
  if (label.unicode.startsWith('-')) return fault('label_hyphen', start);
  if (label.unicode.endsWith('-')) return fault('label_hyphen', start + raw.length - 1);
  return label.ascii.length > MAX_LABEL ? fault('label_too_long', start) : label;
}

function topLevelFault(ascii: string, starts: readonly number[], options: DomainOptions): Faulty | null {
  const last = ascii.lastIndexOf('.');
  const tld = ascii.slice(last + 1);
  const at = starts.at(-2) ?? 0;
  if (last < 0) {
    return options.allowTld && tldIsListed(tld) ? null : fault('single_label', at);
  }
  if (/^\d+$/.test(tld)) return fault('numeric_tld', at);
  if (isSpecialUse(ascii)) return options.allowReserved ? null : fault('reserved_tld', at);
  return options.allowUnknownTld || tldIsListed(tld) ? null : fault('unknown_tld', at);
}

/** Says whether private suffixes count (github.io, blogspot.com), or only those of registries. */
interface SuffixOptions {
  readonly allowPrivateDomains: boolean;
}

const suffixOptions = (allowPrivateDomains: boolean) => ({
  allowPrivateDomains,
  extractHostname: false,
  validateHostname: false,
  detectIp: false,
});
const WITH_PRIVATE = suffixOptions(true);
const ICANN_ONLY = suffixOptions(false);

/**
 * Returns the registrable domain (`mail.example.co.uk` → `example.co.uk`), null for a public suffix itself. `domain` is
 * lower-case ASCII. With private suffixes `a.b.github.io` gives `b.github.io`, without them `github.io`.
 */
export function registrableDomain(domain: string, options: SuffixOptions = WITH_PRIVATE): string | null {
  return parse(domain, options.allowPrivateDomains ? WITH_PRIVATE : ICANN_ONLY).domain;
}

/**
 * True for a public suffix (`co.uk`, `com`; `github.io` with private suffixes). A TLD without a rule is one by the
 * list's default rule (`za`), if it exists.
 */
export function isPublicSuffix(domain: string, options: SuffixOptions = WITH_PRIVATE): boolean {
  const found = parse(domain, options.allowPrivateDomains ? WITH_PRIVATE : ICANN_ONLY);
  if (found.publicSuffix !== domain) return false;
  return found.isIcann === true || found.isPrivate === true || tldIsListed(domain);
}

const QUOTE_CODE = 0x22;
const BACKSLASH_CODE = 0x5c;

/** Has RFC 5322 §3.2.3 atext, by ASCII code. */
const ATEXT = new Uint8Array(128);
for (const c of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-/=?^_`{|}~") {
  ATEXT[c.charCodeAt(0)] = 1;
}

/**
 * A leading combining mark would attach to the character before the address. Emoji presentation selectors are accepted
 * after a base character: they are part of how some symbols are typed.
 */
const COMBINING_MARK = /^\p{M}$/u;
const PRESENTATION = /^[\uFE0E\uFE0F]$/;
/** Compatibility forms of "@": an MX that applies NFKC would read another address. */
const AT_LOOKALIKE = /^[\uFF20\uFE6B]$/;

function wideFault(character: string, first: boolean): SyntaxErrorCode | null {
  if (COMBINING_MARK.test(character) && first) return 'invalid_character';
  if (PRESENTATION.test(character)) return null;
  if (AT_LOOKALIKE.test(character) || isDisguised(character)) return 'invalid_character';
  return unsafeCharacter(character);
}

/** NFC makes it ASCII, such as a semicolon of U+037E: what is sent on would be another address. */
const isDisguised = (character: string): boolean => character.normalize('NFC').charCodeAt(0) < 0x80;

/**
 * Parses `text` up to the "@" after its local part, which it must contain: RFC 5321 §4.1.2 (dot-string, quoted-string),
 * RFC 6531 §3.3 (UTF-8), limits of §4.5.3.1.1. Linear in the length.
 */
function scanLocalPart(text: string): LocalPart | Faulty {
  const first = text.charCodeAt(0);
  if (first === AT_CODE) return fault('empty_local_part', 0);
  const scanned = first === QUOTE_CODE ? scanQuoted(text) : scanDotString(text);
  if (!scanned.ok || scanned.octets <= MAX_LOCAL_OCTETS) return scanned;
  return fault('local_part_too_long', overflow(text));
}

function scanDotString(text: string): LocalPart | Faulty {
  let wide = 0;
  let before = DOT_CODE;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === AT_CODE) {
      if (before === DOT_CODE) return fault('trailing_dot', i - 1);
      return { ok: true, end: i, octets: i + wide, quoted: false, ascii: wide === 0 };
    }
    if (code === DOT_CODE) {
      if (before === DOT_CODE) return fault(i === 0 ? 'leading_dot' : 'double_dot', i);
    } else if (code < 0x80) {
      if (ATEXT[code] !== 1) return misplacedCharacter(text, i);
    } else {
      const point = text.codePointAt(i)!;
      const why = wideFault(String.fromCodePoint(point), before === DOT_CODE);
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
    if (code === QUOTE_CODE) {
      if (text.charCodeAt(i + 1) !== AT_CODE) return behindQuote(text, i + 1);
      return { ok: true, end: i + 1, octets: i + 1 + wide, quoted: true, ascii: wide === 0 };
    }
    if (code === BACKSLASH_CODE) {
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

function misplacedCharacter(text: string, index: number): Faulty {
  const named = displayName(text);
  if (named) return named;
  const code = text.charCodeAt(index);
  return fault(code === QUOTE_CODE ? 'misplaced_quote' : misplacedAscii(code), index);
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
    if (octets > MAX_LOCAL_OCTETS) return index;
    index += character.length;
  }
  return index;
}

/** The canonical form under which filters for addresses and domains are stored and looked up. */
export type Canonical = { readonly ok: true; readonly value: string } | Faulty;

/**
 * `text` → lower-case local part in NFC + "@" + ASCII domain, or the fault of `parseAddress`. The caller
 * trims. The tag is kept: a filter for `a+b@…` matches only that address.
 */
export function canonicalEmail(text: string, options: ParseOptions = {}): Canonical {
  const parsed = parseAddress(text, options);
  return parsed.ok ? { ok: true, value: canonicalAddress(parsed.address) } : parsed;
}

/**
 * The canonical form of a parsed address. Redundant quotes are removed (`"a"@b` is `a@b`, RFC 5321 §4.1.2), so that
 * quoting does not bypass a filter.
 */
export function canonicalAddress(address: Pick<Address, 'localPart' | 'quoted' | 'domain' | 'needsSmtputf8'>): string {
  const local = address.quoted ? unquoted(address.localPart) : address.localPart;
  return `${foldCase(local, address.needsSmtputf8)}@${address.domain}`;
}

/** ASCII has one form; to look for it anyway costs as much as all the rest. */
const foldCase = (local: string, wide: boolean): string =>
  wide ? local.normalize('NFC').toLowerCase().normalize('NFC') : local.toLowerCase();

const NEEDS_QUOTES = /^$|^\.|\.$|\.\.|[\s"(),:;<>@[\\\]]/;

function unquoted(localPart: string): string {
  const content = localPart.slice(1, -1).replace(/\\([\s\S])/g, '$1');
  return NEEDS_QUOTES.test(content) ? `"${content.replace(/["\\]/g, '\\$&')}"` : content;
}

/**
 * `text` → ASCII lower case, or the fault. Accepts a public suffix (`co.uk`) and alone a TLD that the lists have
 * (`ru`), but no other names without a dot. Does not trim.
 */
export function canonicalDomain(
  text: string,
  options: Pick<DomainOptions, 'allowReserved' | 'allowUnknownTld'> = {},
): Canonical {
  const domain = parseDomain(text, 0, { ...options, allowTld: true });
  return domain.ok ? { ok: true, value: domain.ascii } : domain;
}

/**
 * Returns every domain filter value that matches `domain`: itself and its parents up to the TLD, nearest first.
 * `domain` is lower-case ASCII; there are at most 127 values.
 */
export function parentDomains(domain: string): readonly string[] {
  const covering = [domain];
  for (let dot = domain.indexOf('.'); dot >= 0; dot = domain.indexOf('.', dot + 1))
    covering.push(domain.slice(dot + 1));
  return covering;
}
