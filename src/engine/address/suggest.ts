/**
 * `did_you_mean`: the provider that a mistyped domain probably meant. A deterministic hint; no address is ever
 * rejected because of it.
 */
import confusables from '../../../data/confusables.json' with { type: 'json' };
import typos from '../../../data/typos.json' with { type: 'json' };
import { trimBlanks } from '../../kernel/blanks.ts';
import { ADDRESS_LENGTH } from '../../kernel/facts/limits.ts';
import { memoizeBounded } from '../../kernel/memoize.ts';
import { distance } from '../../kernel/nearest.ts';
import { type Address, isPublicSuffix, type ParseOptions, parseAddress } from './parse.ts';

const KEYBOARD_ROWS = ['1234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'];
const NEAR = new Map<string, string[]>();
const addNeighbors = (a: string, b: string): void => {
  NEAR.set(a, [...(NEAR.get(a) ?? []), b]);
  NEAR.set(b, [...(NEAR.get(b) ?? []), a]);
};
for (const [r, row] of KEYBOARD_ROWS.entries()) {
  for (const [i, key] of [...row].entries()) {
    for (const near of [row[i + 1], KEYBOARD_ROWS[r + 1]?.[i - 1], KEYBOARD_ROWS[r + 1]?.[i]])
      if (near) addNeighbors(key, near);
  }
}
// These look alike; they are not adjacent keys.
addNeighbors('i', 'l');
addNeighbors('1', 'l');
addNeighbors('1', 'i');

/** Adjacent keys on a QWERTY keyboard, or characters that look alike. */
const neighbors = (a: string, b: string): boolean => NEAR.get(a)?.includes(b) ?? false;

/** Says how one key went wrong. */
type Slip = 'swapped' | 'doubled' | 'missing' | 'neighbor' | 'neighbor_added';

/**
 * The slip that turns `target` into `typed`, which is at distance 1: two letters swapped, one doubled or left out, an
 * adjacent key hit instead or as well. Null: rather another name, such as an added plural or number. `first`: the slip
 * is at the first letter.
 */
function slipBetween(typed: string, target: string): { readonly kind: Slip; readonly first: boolean } | null {
  let at = 0;
  while (at < target.length && typed[at] === target[at]) at++;
  const [was = '', is = ''] = [target[at], typed[at]];
  const slip = (kind: Slip) => ({ kind, first: at === 0 });
  if (typed.length === target.length) {
    if (typed[at + 1] === was && target[at + 1] === is) return slip('swapped');
    return neighbors(is, was) ? slip('neighbor') : null;
  }
  if (typed.length < target.length) return slip('missing');
  if (is === typed[at - 1]) return slip('doubled');
  // A number behind a name is meant, one between two letters is not.
  const odd = /\d/.test(is) ? was !== '' : addsLetter(typed, target);
  const near = odd && [typed[at - 1], was].some((key) => key && neighbors(is, key));
  return near ? slip('neighbor_added') : null;
}

/** Returns every text that one slip makes of `target`. */
function slipsOf(target: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < target.length; at++) {
    const [before, key = '', after] = [target.slice(0, at), target[at], target.slice(at + 1)];
    const next = after[0] ?? '';
    found.push(before + after, before + key + key + after);
    if (next !== '') found.push(before + next + key + after.slice(1));
    for (const near of NEAR.get(key) ?? []) found.push(before + near + after, before + near + key + after);
  }
  return found;
}

/** False when the added character makes it another name: a digit, a hyphen, a plural. */
function addsLetter(typed: string, target: string): boolean {
  return typed !== `${target}s` && typed.replace(/[a-z]/g, '') === target.replace(/[a-z]/g, '');
}

/** The part of the domain data that is needed here. */
export interface SuggestionData {
  /** A known provider is never "corrected". */
  isKnownDomain(domain: string): boolean;
  /** These domains are worth suggesting, most used first, in lower-case ASCII. */
  readonly suggestDomains: readonly string[];
}

interface Target {
  readonly domain: string;
  /** The name in `yahoo.co.uk` is `yahoo`. */
  readonly name: string;
  /** The rest of `yahoo.co.uk` is `co.uk`. */
  readonly rest: string;
  /** Code units of the first three letters of the name; NaN where there are fewer. */
  readonly start: readonly [number, number, number];
}

const CORRECTIONS: ReadonlyMap<string, string> = new Map(Object.entries(typos.corrections));
const NEVER: ReadonlySet<string> = new Set(typos.never);
/**
 * Names like many a word or surname: only what no word has, a doubled letter or two swapped ones, is a typo of them.
 */
const WORD_LIKE: ReadonlySet<string> = new Set(typos.words);
/** Suffix → existing suffix that is typed for it → shortest name behind which it is a slip. */
const TLD_SLIPS: ReadonlyMap<string, Readonly<Record<string, number>>> = new Map(Object.entries(typos.tldSlips));

/**
 * The shortest name of which such a slip is a typo: shorter names are one letter away from too many words. `first`:
 * where it concerns the first letter, which rarely goes wrong and often makes another name (email, ymail).
 */
const SHORTEST: Readonly<Record<Slip, { readonly inside: number; readonly first: number }>> = {
  doubled: { inside: 3, first: 3 },
  swapped: { inside: 4, first: 4 },
  missing: { inside: 5, first: 7 },
  neighbor: { inside: 5, first: 7 },
  neighbor_added: { inside: 5, first: 5 },
};
/** From this length on, one slip in the name and an existing suffix typed for another are a typo, … */
const TLD_AND_NAME_SLIP_NAME = 6;
/** … two slips in the name are, … */
const TWO_SLIPS_NAME = 7;
/** … any single edit is, … */
const LONG_NAME = 8;
/** … and any two edits are. */
const VERY_LONG_NAME = 9;
/** A provider whose name is at least so long is meant by its name alone. */
const SHORTEST_PROVIDER = 5;
const REGISTRIES_ONLY = { allowPrivateDomains: false };

/** Minimum number of memoized domains; the maximum is twice that. */
const MEMOIZED_DOMAINS = 10_000;

/** The whole address with the likely domain, or null. The local part stays unchanged. */
export function didYouMean(address: Pick<Address, 'localPart' | 'domain'>, domainData: SuggestionData): string | null {
  const domain = likelyDomainBy(domainData)(address.domain);
  return domain && `${address.localPart}@${domain}`;
}

/**
 * The same for a text that `parseAddress` rejects as `unknown_tld` (`jane@gmail.con`) or `single_label`
 * (`jane@gmailcom`); null for other faults.
 */
export function didYouMeanText(text: string, domainData: SuggestionData, options: ParseOptions = {}): string | null {
  const parsed = parseAddress(text, { ...options, allowUnknownTld: true });
  if (parsed.ok) return didYouMean(parsed.address, domainData);
  if (parsed.error !== 'single_label') return null;
  const at = text.lastIndexOf('@') + 1;
  const domain = withoutDots(text.slice(at).toLowerCase(), targetsOf(domainData.suggestDomains));
  if (domain === null) return null;
  const meant = parseAddress(text.slice(0, at) + domain, options);
  return meant.ok ? meant.address.normalized : null;
}

/**
 * The most used domain of the provider with this name; null for short names and those that are words. For domains that
 * exist without taking mail, and names without a top-level domain.
 */
function providerOf(name: string, suggestDomains: readonly string[]): string | null {
  if (name.length < SHORTEST_PROVIDER || WORD_LIKE.has(name)) return null;
  return targetsOf(suggestDomains).all.find((target) => target.name === name)?.domain ?? null;
}

/** The same local part at the provider whose name a domain has that takes no mail (`ada@gmail.de`); null for others. */
export function providerElsewhere(
  { localPart, domain }: Pick<Address, 'localPart' | 'domain'>,
  domainData: SuggestionData,
) {
  const { name, rest } = toTarget(domain);
  const provider = isPublicSuffix(rest, REGISTRIES_ONLY) ? providerOf(name, domainData.suggestDomains) : null;
  return provider === null || provider === domain ? null : `${localPart}@${provider}`;
}

const likelyByDomainData = new WeakMap<SuggestionData, (domain: string) => string | null>();

/** One memo for each state of the domain data: it starts empty when they are replaced. */
function likelyDomainBy(domainData: SuggestionData): (domain: string) => string | null {
  const known = likelyByDomainData.get(domainData);
  if (known) return known;
  const likely = memoizeBounded(MEMOIZED_DOMAINS, (domain) => likelyDomain(domain, domainData));
  likelyByDomainData.set(domainData, likely);
  return likely;
}

function likelyDomain(domain: string, domainData: SuggestionData): string | null {
  if (domainData.isKnownDomain(domain) || NEVER.has(domain)) return null;
  const targets = targetsOf(domainData.suggestDomains);
  if (targets.domains.has(domain)) return null;
  const typed = toTarget(domain);
  const corrected = CORRECTIONS.get(domain);
  if (corrected !== undefined) return corrected;
  const moved = withoutDots(domain, targets) ?? withoutRepetition(domain, targets);
  if (moved !== null) return moved;
  const suffixExists = isPublicSuffix(typed.rest, REGISTRIES_ONLY);
  let best: { domain: string; cost: number } | null = null;
  for (const target of targets.all) {
    if (!comparable(typed, target)) continue;
    const cost = slipCount(typed, target, suffixExists);
    if (cost !== null && (best === null || cost < best.cost)) best = { domain: target.domain, cost };
  }
  return best?.domain ?? null;
}

const toTarget = (domain: string): Target => {
  const dot = domain.indexOf('.');
  const name = domain.slice(0, dot);
  const start = [name.charCodeAt(0), name.charCodeAt(1), name.charCodeAt(2)] as const;
  return { domain, name, rest: domain.slice(dot + 1), start };
};

const dotsOf = (domain: string): number => domain.split('.').length - 1;

/** The target that has the same letters, with a dot missing or in another place (`gmailc.om`, `yahoo.couk`). */
function withoutDots(typed: string, { byLetters, longest }: Targets): string | null {
  if (typed.length > longest) return null;
  const target = byLetters.get(typed.replaceAll('.', ''));
  return target !== undefined && dotsOf(typed) <= dotsOf(target) ? target : null;
}

/** The target whose top-level domain was typed twice (`gmail.comcom`, `yahoo.co.uk.uk`). */
function withoutRepetition(typed: string, { domains }: Targets): string | null {
  const [, once = ''] = /^(.+\.([a-z]+?))\.?\2$/.exec(typed) ?? [];
  return domains.has(once) ? once : null;
}

interface Targets {
  readonly all: readonly Target[];
  readonly domains: ReadonlySet<string>;
  /** Counts the characters of the longest. */
  readonly longest: number;
  /** `yahoocouk` → `yahoo.co.uk`. */
  readonly byLetters: ReadonlyMap<string, string>;
}
const targetsByList = new WeakMap<readonly string[], Targets>();

function targetsOf(domains: readonly string[]): Targets {
  const known = targetsByList.get(domains);
  if (known) return known;
  const byLetters = new Map(domains.map((domain) => [domain.replaceAll('.', ''), domain]));
  const longest = Math.max(0, ...domains.map((domain) => domain.length));
  const targets = { all: domains.map(toTarget), domains: new Set(domains), longest, byLetters };
  targetsByList.set(domains, targets);
  return targets;
}

/**
 * Number of typos that lead from `target` to `typed`, or null when it is more likely another name. Name and suffix are
 * compared separately: the same name under another existing suffix is a country variant (yahoo.com.br), not a typo.
 */
function slipCount(typed: Target, target: Target, suffixExists: boolean): number | null {
  if (typed.rest === target.rest) return nameSlips(typed.name, target.name);
  if (suffixExists) {
    const shortest = TLD_SLIPS.get(target.rest)?.[typed.rest] ?? Number.POSITIVE_INFINITY;
    if (target.name.length < shortest) return null;
    if (typed.name === target.name) return 1;
    return target.name.length >= TLD_AND_NAME_SLIP_NAME && isSlip(typed.name, target.name) ? 2 : null;
  }
  if (Math.abs(typed.rest.length - target.rest.length) > 1 || distance(typed.rest, target.rest) > 1) return null;
  const name = typed.name === target.name ? 0 : nameSlips(typed.name, target.name);
  return name === null || name > 1 ? null : name + 1;
}

/** Cheap prefilter, true for every pair that `nameSlips` accepts: nearly all new names are like none of the targets. */
function comparable({ name: typed, start }: Target, { name: target, start: letters }: Target): boolean {
  if (Math.abs(typed.length - target.length) > 2) return false;
  const second = letters[1];
  return start[0] === letters[0] || start[0] === second || start[1] === second || start[2] === second;
}

function nameSlips(typed: string, target: string): number | null {
  if (isSlip(typed, target)) return 1;
  if (WORD_LIKE.has(target)) return null;
  const edits = distance(typed, target);
  if (edits === 2 && target.length >= TWO_SLIPS_NAME && areTwoSlips(typed, target)) return 2;
  const longEnough = target.length >= (edits === 1 ? LONG_NAME : VERY_LONG_NAME);
  const another = edits > 2 || typed[0] !== target[0] || (typed.length >= target.length && !addsLetter(typed, target));
  return longEnough && !another ? edits : null;
}

/** Names of digits (163.com) are never one slip from each other: too many are in use. */
function isSlip(typed: string, target: string): boolean {
  if (distance(typed, target) !== 1) return false;
  const slip = slipBetween(typed, target);
  if (slip === null || /^\d+$/.test(target)) return false;
  if (WORD_LIKE.has(target) && slip.kind !== 'doubled' && slip.kind !== 'swapped') return false;
  return target.length >= SHORTEST[slip.kind][slip.first ? 'first' : 'inside'];
}

/** Two missing letters are rather another name (hmail). */
const areTwoSlips = (typed: string, target: string): boolean =>
  typed[0] === target[0] &&
  typed.length >= target.length - 1 &&
  slipsOf(target).some((once) => isSlip(once, target) && isSlip(typed, once));

/**
 * The address that was probably meant by a text, with its domain corrected; null if that is not plain, or the text
 * itself. Each step undoes one kind of damage: characters that stand for others, an at sign that is spelled out or
 * missing, what is around the address, blanks in it, its domain, dots of its local part.
 */
export function intendedAddress(text: string, domainData: SuggestionData, options: ParseOptions = {}): string | null {
  if (text.length > ADDRESS_LENGTH.max) return null;
  const whole = parseAddress(text, { ...options, allowUnknownTld: true });
  if (whole.ok) return suggestionFor(whole.address, domainData, options);
  const readable = withAtSign(trimBlanks(plainText(text)), domainData);
  const at = readable.lastIndexOf('@');
  if (at < 0) return null;
  const local = localIn(readable.slice(0, at));
  if (local === null) return null;
  for (const domain of domainsIn(readable.slice(at + 1), domainData)) {
    const bare = `${local}@${domain}`;
    const corrected = didYouMeanText(bare, domainData, options);
    if (corrected !== null) return corrected;
    const parsed = parseAddress(bare, options);
    if (parsed.ok) return parsed.address.normalized;
  }
  return null;
}

/**
 * The address that was probably meant by one that could exist: a local part of ASCII whose characters were set as
 * typographic or full-width ones, letters that only look like those of ASCII, a mistyped provider.
 */
export function suggestionFor(address: Address, domainData: SuggestionData, options: ParseOptions = {}): string | null {
  const local = address.needsSmtputf8 && !address.quoted ? asciiLocalPart(address.localPart) : address.localPart;
  const lookalike = address.domain === address.unicodeDomain ? null : lookalikeOf(address.unicodeDomain, domainData);
  const isPlain = local === address.localPart || !ASCII.test(local);
  if (isPlain && lookalike === null) return didYouMean(address, domainData);
  const meant = `${isPlain ? address.localPart : local}@${lookalike ?? address.domain}`;
  const parsed = parseAddress(meant, options);
  return parsed.ok ? (didYouMean(parsed.address, domainData) ?? parsed.address.normalized) : null;
}

const ASCII = /^[\x21-\x7e]+$/;
const IGNORABLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
/** These have any width and script; UTS 46 reads the others as the first. */
const FULL_STOPS = /[\u3002\uff61]/g;
const QUOTE_PAIRS = { single: /[\u2018-\u201b\u2032\u2039\u203a]/g, double: /[\u00ab\u00bb\u201c-\u201f\u2033]/g };

/**
 * Replaces typographic, full-width and invisible characters by the ASCII characters that they stand for (Unicode's
 * compatibility mappings); letters of any script stay.
 */
function plainText(text: string): string {
  if (ASCII.test(text)) return text;
  return [...text.replaceAll(IGNORABLE, '').replaceAll(FULL_STOPS, '.')]
    .map(plainCharacter)
    .join('')
    .replaceAll(QUOTE_PAIRS.single, "'")
    .replaceAll(QUOTE_PAIRS.double, '"');
}

/** Matches all dashes, and the minus sign. */
const DASHES = /^[\p{Pd}\u2212]$/u;

function plainCharacter(character: string): string {
  if (character < '\u0080') return character;
  if (DASHES.test(character)) return '-';
  if (/^\p{White_Space}$/u.test(character)) return ' ';
  // An accent that is alone is a slip of a dead key.
  if (/^\p{Sk}$/u.test(character)) return '';
  const mapped = character.normalize('NFKC');
  if (DASHES.test(mapped)) return '-';
  return ASCII.test(mapped) ? mapped : character;
}

const ENCODED_AT = /%40|&#64;|&#x40;|&commat;/gi;
const SPELLED_AT = /\s*[([{<]\s*at\s*[)\]}>]\s*|\s+at\s+(?=[^\s]+$)/i;
const SPELLED_DOT = /\s*[([{<]\s*dot\s*[)\]}>]\s*|\s+dot\s+/gi;
/** Shorter names of providers are the end of many words. */
const SHORTEST_NAME_BEHIND = 5;

/** Puts an at sign where it was encoded, spelled out, doubled, or left out before the domain of a provider. */
function withAtSign(text: string, domainData: SuggestionData): string {
  const decoded = text.includes('@') ? text : text.replaceAll(ENCODED_AT, '@');
  if (decoded.includes('@')) return withOneAt(decoded, domainData);
  const spelled = decoded.replaceAll(SPELLED_DOT, '.').replace(SPELLED_AT, '@');
  if (spelled.includes('@') || /\s/.test(spelled)) return spelled;
  const lower = spelled.toLowerCase();
  const behind = domainData.suggestDomains
    .filter((domain) => domain.indexOf('.') >= SHORTEST_NAME_BEHIND && lower.endsWith(domain))
    .reduce((longest, domain) => (domain.length > longest.length ? domain : longest), '');
  if (behind === '') return spelled;
  // Many keyboards have the at sign there with Shift.
  const local = spelled.slice(0, -behind.length).replace(/2$/, '');
  return local.length < 2 ? spelled : `${local}@${behind}`;
}

/** `ada@@example.com` has one, and in `ada@gmail@com` the second is a dot. */
function withOneAt(text: string, domainData: SuggestionData): string {
  const single = text.replaceAll(/\s*@(\s*@)+\s*/g, '@');
  const [first, last] = [single.indexOf('@'), single.lastIndexOf('@')];
  if (first === last) return single;
  const domain = trimBlanks(single.slice(first + 1).replaceAll('@', '.')).toLowerCase();
  return domainData.suggestDomains.includes(domain) ? `${single.slice(0, first)}@${domain}` : single;
}

/** Matches a word of a name, as in `Ada L` or `"Lovelace, Ada"`. */
const NAME_WORD = /^\p{Lu}[\p{L}\p{M}'’.-]*,?$/u;
const OPENING = /^["'`*_~|({[<]+/;
const OPENING_MARKS = /^["'`*_~|({[<]*$/;

/**
 * The local part at the end of what is before the at sign: behind a label, an opening mark, or the name of its
 * owner. Null where other words are before it, as any of them may belong to it.
 */
function localIn(before: string): string | null {
  const text = trimBlanks(before);
  const quoted = /(?:^|[\s:<])("(?:[^"\\]|\\.)+")$/.exec(text)?.[1];
  if (quoted !== undefined) return quoted;
  const open = text.lastIndexOf('<');
  const words = (open < 0 ? text : text.slice(open + 1)).split(/\s+/).filter((word) => !OPENING_MARKS.test(word));
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

const DOMAIN_LABELS = /^[\p{L}\p{M}\p{N}-]+(\.[\p{L}\p{M}\p{N}-]+)*/u;

/** What may have been meant as the domain, the plainest first. */
function* domainsIn(after: string, domainData: SuggestionData): Generator<string> {
  const text = trimBlanks(after).replace(/^https?:\/*/i, '');
  const joined = text.replaceAll(/\s*[.,;/]+\s*/g, '.').replaceAll(/\s*-\s*/g, '-');
  // A provider's, with dots for its blanks or without them; then as a whole word, and without the blanks beside its
  // dots and hyphens.
  for (const instead of ['.', '']) {
    const domain = joined.replaceAll(/\s+/g, instead).toLowerCase();
    if (domainData.suggestDomains.includes(domain)) yield domain;
  }
  for (const spaced of new Set([text.split(/[\s<>()[\]{}"'`?]/, 1)[0] ?? '', joined])) {
    const stops = spaced.replaceAll(/[.,;/]+/g, '.').replace(/^\.+|\.+$/g, '');
    const domain = DOMAIN_LABELS.exec(stops)?.[0].replace(/^-+|-+$/g, '');
    if (domain === undefined || domain === '') continue;
    // What follows is no part of an address: at the most a closing mark, and a remark in brackets.
    const rest = stops.slice(domain.length);
    if (!/^[-\s"'`*_~|)}\]>.,;:!?]*(\(.*\))?[\s"'`)}\]>.,;:!?]*$/s.test(rest)) continue;
    const provider = providerIn(domain.toLowerCase(), domainData);
    if (provider !== null) yield provider;
    yield domain;
  }
}

/** Returns gmail.com for `gmail` and `gmail-com`, and null for what has a dot, or is no name of a provider. */
function providerIn(domain: string, { suggestDomains }: SuggestionData): string | null {
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
function lookalikeOf(unicodeDomain: string, { suggestDomains }: SuggestionData): string | null {
  const labels = unicodeDomain.split('.');
  const domain = labels.map(shownAs).join('.');
  if (!ASCII.test(domain) || domain === unicodeDomain) return null;
  return suggestDomains.includes(domain) || labels.every(isMixedOrPlain) ? domain : null;
}

/** Puts the ASCII characters that were meant, as far as that is plain: words of other scripts stay. */
function asciiLocalPart(localPart: string): string {
  const plain = plainText(localPart);
  const words = plain.split('.');
  return words.every(isMixedOrPlain) ? words.map(shownAs).join('.') : plain;
}

/** ASCII, or ASCII letters with some of other scripts that look like them. */
const isMixedOrPlain = (word: string): boolean =>
  ASCII.test(word) || (ASCII.test(shownAs(word)) && /[a-z]/i.test(word) && /(?!\p{Script=Latin})\p{L}/u.test(word));

const shownAs = (label: string): string =>
  [...label.normalize('NFD').replaceAll(/\p{Mn}/gu, '')].map((letter) => LOOKALIKES.get(letter) ?? letter).join('');
