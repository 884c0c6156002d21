/** The part after the "@", and what the public suffix list says about a domain. */
import { parse } from 'tldts';
import { misplacedAscii, unsafeCharacter } from './characters.ts';
import { type Faulty, fault } from './faults.ts';
import { bidiViolation, type Label, offendingCharacter, toLabel } from './idna.ts';
import { isSpecialUse, tldIsListed } from './tld.ts';

export interface DomainOptions {
  /** Test setups only: accepts special-use names (`test`, `local` …). */
  readonly allowReserved?: boolean;
  /** Also accepts TLDs that no list has: they may be newer than the lists, or mistyped. */
  readonly allowUnknownTld?: boolean;
  /** Accepts a name without a dot if it is a TLD that the lists have: for lists of domains, never for an address. */
  readonly allowTld?: boolean;
}

interface Domain {
  readonly ok: true;
  /** Lower-case ASCII, without a trailing dot. */
  readonly ascii: string;
  readonly unicode: string;
}

const MAX_DOMAIN = 253;
const MAX_LABEL = 63;
/** No label that fits into 63 octets is longer in any form; bounds the cost of punycode, which is quadratic. */
const MAX_RAW_LABEL = 255;
const MAX_RAW_DOMAIN = 1024;
const HYPHEN = 0x2d;
const DOT = 0x2e;
const AT = 0x40;
const ZWNJ = 0x200c;
const ZWJ = 0x200d;

const isLetterOrDigit = (code: number): boolean => {
  const lower = code | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (code >= 0x30 && code <= 0x39);
};
/** Full stop and what UTS 46 maps to it: ideographic, full-width and half-width. */
const isDot = (code: number): boolean => code === DOT || code === 0x3002 || code === 0xff0e || code === 0xff61;
const isXn = (text: string, at: number): boolean =>
  text.charCodeAt(at + 2) === HYPHEN && text.charCodeAt(at + 3) === HYPHEN && /^xn/i.test(text.slice(at, at + 2));

interface Scan {
  readonly ok: true;
  /** Index in `text` where each label begins, plus one past the end. */
  readonly starts: readonly number[];
  /** Not plain LDH: has non-ASCII characters or a label with the A-label prefix. */
  readonly international: boolean;
}

/**
 * Parses `text` from `from` to its end as a domain: RFC 5321 §4.1.2 with RFC 5890–5894 under UTS 46 mapping.
 * Fault indices refer to `text`. Plain labels are letters, digits and hyphens; `--` in positions 3 and 4 is accepted in
 * plain labels only (RFC 5890 reserves it, but second-level registries use it). Linear in the length.
 */
export function parseDomain(text: string, from = 0, options: DomainOptions = {}): Domain | Faulty {
  if (from >= text.length) return fault('empty_domain', text.length);
  if (text.charCodeAt(from) === 0x5b) return fault('domain_literal', from);
  const scan = scanDomain(text, from);
  if (!scan.ok) return scan;
  const domain = scan.international ? international(text, scan.starts) : plain(text, scan.starts);
  if (!domain.ok) return domain;
  if (domain.ascii.length > MAX_DOMAIN) {
    return fault('domain_too_long', scan.international ? from : from + MAX_DOMAIN);
  }
  return topLevelFault(domain.ascii, scan.starts, options) ?? domain;
}

function scanDomain(text: string, from: number): Scan | Faulty {
  const starts = [from];
  let international = isXn(text, from);
  let start = from;
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isDot(code)) {
      if (i === start) return fault(i === from ? 'leading_dot' : 'double_dot', i);
      start = i + 1;
      starts.push(start);
      international ||= code !== DOT || isXn(text, start);
    } else if (code < 0x80) {
      if (!isLetterOrDigit(code) && code !== HYPHEN) {
        return fault(code === AT ? 'multiple_at' : misplacedAscii(code), i);
      }
    } else {
      international = true;
      const character = String.fromCodePoint(text.codePointAt(i)!);
      const why = code === ZWNJ || code === ZWJ ? null : unsafeCharacter(character);
      if (why !== null) return fault(why, i);
      i += character.length - 1;
    }
  }
  if (start === text.length) return fault('trailing_dot', start - 1);
  if (international && text.length - from > MAX_RAW_DOMAIN) return fault('domain_too_long', from);
  starts.push(text.length + 1);
  return { ok: true, starts, international };
}

function plain(text: string, starts: readonly number[]): Domain | Faulty {
  for (const [n, start] of starts.entries()) {
    const next = starts[n + 1];
    if (next === undefined) break;
    const end = next - 1;
    if (text.charCodeAt(start) === HYPHEN) return fault('label_hyphen', start);
    if (text.charCodeAt(end - 1) === HYPHEN) return fault('label_hyphen', end - 1);
    if (end - start > MAX_LABEL) return fault('label_too_long', start + MAX_LABEL);
  }
  const ascii = text.slice(starts[0]).toLowerCase();
  return { ok: true, ascii, unicode: ascii };
}

function international(text: string, starts: readonly number[]): Domain | Faulty {
  const labels: Label[] = [];
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

function internationalLabel(raw: string, start: number): Label | Faulty {
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

/** Whether private suffixes count (github.io, blogspot.com), or only those of registries. */
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
 * The registrable domain: `mail.example.co.uk` → `example.co.uk`; null for a public suffix itself.
 * `domain`: lower-case ASCII. With private suffixes `a.b.github.io` → `b.github.io`, without them `github.io`.
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
