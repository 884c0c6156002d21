/**
 * One label of an internationalized domain: mapped by UTS 46 (nontransitional), then checked against IDNA2008 (RFC 5891
 * §4.2, RFC 5892), which rejects symbols, emoji, old jamo and characters out of context that UTS 46 alone accepts.
 */
import { toASCII, toUnicode } from 'tr46';

export interface Label {
  /** The A-label, or the label itself in lower case. */
  readonly ascii: string;
  readonly unicode: string;
}

/** CheckHyphens is off because plain labels such as `r3---sn` exist in the DNS; U-labels are checked below. */
const RULES = { checkHyphens: false, checkJoiners: true, useSTD3ASCIIRules: true } as const;

/**
 * RFC 5892 §2.1 LetterDigits with its exceptions (§2.6), CONTEXTJ and CONTEXTO; UTS 46 has mapped unstable characters.
 */
const PERMITTED =
  /^[\p{Ll}\p{Lu}\p{Lo}\p{Lm}\p{Mn}\p{Mc}\p{Nd}\u002D\u00DF\u03C2\u06FD\u06FE\u0F0B\u3007\u00B7\u0375\u05F3\u05F4\u30FB\u200C\u200D]*$/u;
/** RFC 5892 §2.6 (disallowed exceptions), §2.4 (ignorable blocks), §2.9 (old Hangul jamo). */
const EXCLUDED =
  /[\u0640\u07FA\u302E\u302F\u3031-\u3035\u303B\u1100-\u11FF\uA960-\uA97F\uD7B0-\uD7FF\u{1D100}-\u{1D24F}]|[\u20D0-\u20FF]/u;

/** RFC 5892 appendix A.3 to A.9. */
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
 * `raw`: one label without dots, at most 255 UTF-16 units (punycode is quadratic). Null when it is not valid under
 * IDNA2008, or is an A-label that does not round-trip. The caller checks leading and trailing hyphens and the length.
 */
export function toLabel(raw: string): Label | null {
  const ascii = toASCII(raw, RULES);
  if (ascii === null || ascii === '' || ascii.includes('.')) return null;
  if (!ascii.startsWith('xn--')) return { ascii, unicode: ascii };
  const claimed = raw.normalize('NFKC').toLowerCase();
  if (claimed.startsWith('xn--') && claimed !== ascii) return null;
  const { domain: unicode, error } = toUnicode(ascii, RULES);
  if (error || ASCII_ONLY.test(unicode) || !validUnicodeLabel(unicode)) return null;
  return { ascii, unicode };
}

/**
 * Index in `raw` of the first character that no valid label can contain, or -1 when only the label as a whole is
 * invalid.
 */
export function offendingCharacter(raw: string): number {
  let index = 0;
  for (const character of raw) {
    if (!permitted(toUnicode(character, RULES).domain)) return index;
    index += character.length;
  }
  return -1;
}

/** RFC 5893: index of the first label that breaks the Bidi rule in this domain (labels in ASCII form), or -1. */
export function bidiViolation(labels: readonly string[]): number {
  if (toASCII(labels.join('.'), { ...RULES, checkBidi: true }) !== null) return -1;
  // Appending a right-to-left label makes the domain a Bidi domain, so that the rule applies to every label.
  const index = labels.findIndex((label) => toASCII(`${label}.xn--4db`, { ...RULES, checkBidi: true }) === null);
  return Math.max(index, 0);
}
