/**
 * `did_you_mean` for text that is no address, or one that only looks like the address that was meant: what is left of
 * it without what people, programs and keyboards put into one.
 */
import confusables from '../../../data/confusables.json' with { type: 'json' };
import { trimBlanks } from '../../kernel/blanks.ts';
import { ADDRESS_LENGTH } from '../../kernel/facts/limits.ts';
import { type Address, type ParseOptions, parseAddress } from './parse.ts';
import { didYouMean, didYouMeanText, providerOf, type SuggestionLists } from './suggest.ts';

/**
 * The address that was probably meant by a text, with its domain corrected; null if that is not plain, or the text itself.
 * Each step undoes one kind of damage: characters that stand for others, an at sign that is spelled
 * out or missing, what stands around the address, blanks in it, its domain, dots of its local part.
 */
export function intendedAddress(text: string, lists: SuggestionLists, options: ParseOptions = {}): string | null {
  if (text.length > ADDRESS_LENGTH.max) return null;
  const whole = parseAddress(text, { ...options, allowUnknownTld: true });
  if (whole.ok) return suggestionFor(whole.address, lists, options);
  const readable = withAtSign(trimBlanks(plainText(text)), lists);
  const at = readable.lastIndexOf('@');
  if (at < 0) return null;
  const local = localIn(readable.slice(0, at));
  if (local === null) return null;
  for (const domain of domainsIn(readable.slice(at + 1), lists)) {
    const bare = `${local}@${domain}`;
    const corrected = didYouMeanText(bare, lists, options);
    if (corrected !== null) return corrected;
    const parsed = parseAddress(bare, options);
    if (parsed.ok) return parsed.address.normalized;
  }
  return null;
}

/**
 * The address that was probably meant by one that could exist: a local part of ASCII whose characters were set as
 * typographic or full-width ones, a domain whose letters only look like those of ASCII, a mistyped provider.
 */
export function suggestionFor(address: Address, lists: SuggestionLists, options: ParseOptions = {}): string | null {
  const local = address.needsSmtputf8 && !address.quoted ? plainText(address.localPart) : address.localPart;
  const lookalike = address.domain === address.unicodeDomain ? null : lookalikeOf(address.unicodeDomain, lists);
  const isPlain = local === address.localPart || !ASCII.test(local);
  if (isPlain && lookalike === null) return didYouMean(address, lists);
  const meant = `${isPlain ? address.localPart : local}@${lookalike ?? address.domain}`;
  const parsed = parseAddress(meant, options);
  return parsed.ok ? (didYouMean(parsed.address, lists) ?? parsed.address.normalized) : null;
}

const ASCII = /^[\x21-\x7e]+$/;
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** Of any width and script; UTS 46 reads the others as the first. */
const FULL_STOPS = /[\u3002\uff61]/g;
const QUOTES = { single: /[\u2018-\u201b\u2032\u2039\u203a]/g, double: /[\u00ab\u00bb\u201c-\u201f\u2033]/g };

/**
 * With the ASCII characters that typographic, full-width and invisible ones stand for (Unicode's compatibility
 * mappings); letters of any script stay.
 */
function plainText(text: string): string {
  if (ASCII.test(text)) return text;
  return [...text.replaceAll(INVISIBLE, '').replaceAll(FULL_STOPS, '.')]
    .map(plainCharacter)
    .join('')
    .replaceAll(QUOTES.single, "'")
    .replaceAll(QUOTES.double, '"');
}

/** And the minus sign. */
const DASH = /^[\p{Pd}\u2212]$/u;

function plainCharacter(character: string): string {
  if (character < '\u0080') return character;
  if (DASH.test(character)) return '-';
  if (/^\p{White_Space}$/u.test(character)) return ' ';
  // An accent that stands alone is a slip of a dead key.
  if (/^\p{Sk}$/u.test(character)) return '';
  const mapped = character.normalize('NFKC');
  if (DASH.test(mapped)) return '-';
  return ASCII.test(mapped) ? mapped : character;
}

const ENCODED_AT = /%40|&#64;|&#x40;|&commat;/gi;
const SPELLED_AT = /\s*[([{<]\s*at\s*[)\]}>]\s*|\s+at\s+(?=[^\s]+$)/i;
const SPELLED_DOT = /\s*[([{<]\s*dot\s*[)\]}>]\s*|\s+dot\s+/gi;
/** Shorter names of providers end many words. */
const SHORTEST_NAME_BEHIND = 5;

/** With an at sign where it was encoded, spelled out, doubled, or left out before the domain of a provider. */
function withAtSign(text: string, lists: SuggestionLists): string {
  const decoded = text.includes('@') ? text : text.replaceAll(ENCODED_AT, '@');
  if (decoded.includes('@')) return withOneAt(decoded, lists);
  const spelled = decoded.replaceAll(SPELLED_DOT, '.').replace(SPELLED_AT, '@');
  if (spelled.includes('@') || /\s/.test(spelled)) return spelled;
  const lower = spelled.toLowerCase();
  const behind = lists.suggestDomains
    .filter((domain) => domain.indexOf('.') >= SHORTEST_NAME_BEHIND && lower.endsWith(domain))
    .reduce((longest, domain) => (domain.length > longest.length ? domain : longest), '');
  if (behind === '') return spelled;
  // The key of the at sign without Shift, on many keyboards.
  const local = spelled.slice(0, -behind.length).replace(/2$/, '');
  return local.length < 2 ? spelled : `${local}@${behind}`;
}

/** `ada@@example.com` has one, and in `ada@gmail@com` the second is a dot. */
function withOneAt(text: string, lists: SuggestionLists): string {
  const single = text.replaceAll(/\s*@(\s*@)+\s*/g, '@');
  const [first, last] = [single.indexOf('@'), single.lastIndexOf('@')];
  if (first === last) return single;
  const domain = trimBlanks(single.slice(first + 1).replaceAll('@', '.')).toLowerCase();
  return lists.suggestDomains.includes(domain) ? `${single.slice(0, first)}@${domain}` : single;
}

/** A word of a name, as in `Ada L` or `"Lovelace, Ada"`. */
const NAME_WORD = /^\p{Lu}[\p{L}\p{M}'’.-]*,?$/u;
const OPENING = /^["'`*_~|({[<]+/;

/**
 * The local part at the end of what stands before the at sign: behind a label, an opening mark, or the name of its
 * owner. Null where other words stand before it, as any of them may belong to it.
 */
function localIn(before: string): string | null {
  const text = trimBlanks(before);
  const quoted = /(?:^|[\s:<])("(?:[^"\\]|\\.)+")$/.exec(text)?.[1];
  if (quoted !== undefined) return quoted;
  const open = text.lastIndexOf('<');
  const words = (open < 0 ? text : text.slice(open + 1)).split(/\s+/);
  let last = words.pop() ?? '';
  if (words.length === 1 && /^[^\p{Lu}]+\.$/u.test(words[0] ?? '')) last = `${words.pop()}${last}`;
  if (words.length > 0 && !isIntroduction(words, last)) return null;
  const bare = last.replace(/^.*:/s, '').replace(OPENING, '');
  const local = bare.replace(/^\.+|\.+$/g, '').replaceAll(/\.{2,}/g, '.');
  return local === '' ? null : local;
}

/** A label that ends with a colon, or a name of two words and more; the local part itself is written small. */
function isIntroduction(words: readonly string[], local: string): boolean {
  if (words.at(-1)?.endsWith(':') || /^["'`({[<]/.test(local)) return true;
  return words.length > 1 && words.every((word) => NAME_WORD.test(word)) && !/^\p{Lu}/u.test(local);
}

const LABELS = /^[\p{L}\p{M}\p{N}-]+(\.[\p{L}\p{M}\p{N}-]+)*/u;

/** What may have been meant as the domain, the plainest first. */
function* domainsIn(after: string, lists: SuggestionLists): Generator<string> {
  const text = trimBlanks(after).replace(/^https?:\/*/i, '');
  const joined = text.replaceAll(/\s*[.,;/]+\s*/g, '.').replaceAll(/\s*-\s*/g, '-');
  // As a whole word, then without the blanks beside its dots and hyphens.
  const dotted = joined.replaceAll(/\s+/g, '.').toLowerCase();
  if (lists.suggestDomains.includes(dotted)) yield dotted;
  for (const spaced of new Set([text.split(/[\s<>()[\]{}"'`?]/, 1)[0] ?? '', joined])) {
    const stops = spaced.replaceAll(/[.,;/]+/g, '.').replace(/^\.+|\.+$/g, '');
    const domain = LABELS.exec(stops)?.[0].replace(/^-+|-+$/g, '');
    if (domain === undefined || domain === '') continue;
    // What follows is no part of an address: at the most a closing mark, and a remark in brackets.
    const rest = stops.slice(domain.length);
    if (!/^[-\s"'`*_~|)}\]>.,;:!?]*(\(.*\))?[\s"'`)}\]>.,;:!?]*$/s.test(rest)) continue;
    const provider = providerIn(domain.toLowerCase(), lists);
    if (provider !== null) yield provider;
    yield domain;
  }
}

/** Of `gmail` and `gmail-com`, gmail.com; null for what has a dot, or is no name of a provider. */
function providerIn(domain: string, { suggestDomains }: SuggestionLists): string | null {
  if (domain.includes('.')) return null;
  const dotted = domain.replaceAll('-', '.');
  return suggestDomains.includes(dotted) ? dotted : providerOf(domain, suggestDomains);
}

const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries(confusables.letters).flatMap(([ascii, letters]) =>
    [...letters].map((letter): [string, string] => [letter, ascii]),
  ),
);

/**
 * The domain in ASCII that looks like one in Unicode: a provider's, or any if a label mixes ASCII letters with others
 * that look like them (UTS 39 §5), which no registry allows. Null for names in their own right.
 */
function lookalikeOf(unicodeDomain: string, { suggestDomains }: SuggestionLists): string | null {
  const labels = unicodeDomain.split('.');
  const shown = labels.map(shownAs);
  const domain = shown.join('.');
  if (!ASCII.test(domain) || domain === unicodeDomain) return null;
  if (suggestDomains.includes(domain)) return domain;
  const isMixed = labels.every(
    (label, i) =>
      label === shown[i] || (/[a-z]/.test(label) && /\P{Script=Latin}/u.test(label.replaceAll(/[\d-]/g, ''))),
  );
  return isMixed ? domain : null;
}

const shownAs = (label: string): string =>
  [...label.normalize('NFD').replaceAll(/\p{Mn}/gu, '')].map((letter) => LOOKALIKES.get(letter) ?? letter).join('');
