/**
 * `did_you_mean`: the provider that a mistyped domain probably meant. A deterministic hint; no address is ever
 * rejected because of it.
 */
import typos from '../../../data/typos.json' with { type: 'json' };
import { distance } from '../../kernel/nearest.ts';
import { memoizeBounded } from '../memoize.ts';
import { isPublicSuffix } from './domain.ts';
import { addsLetter, type Slip, slipBetween, slipsOf } from './edits.ts';
import { type Address, type ParseOptions, parseAddress } from './parse.ts';

/** The part of the lists (lists/lists.ts) needed here. */
export interface SuggestionLists {
  /** A known provider: never "corrected". */
  isKnownDomain(domain: string): boolean;
  /** Domains worth suggesting, most used first; lower-case ASCII. */
  readonly suggestDomains: readonly string[];
}

interface Target {
  readonly domain: string;
  /** `yahoo` of `yahoo.co.uk`. */
  readonly name: string;
  /** `co.uk` of `yahoo.co.uk`. */
  readonly rest: string;
  /** Code units of the first three letters of the name; NaN where there are fewer. */
  readonly start: readonly [number, number, number];
}

const CORRECTIONS: ReadonlyMap<string, string> = new Map(Object.entries(typos.corrections));
const NEVER: ReadonlySet<string> = new Set(typos.never);
/**
 * Names like many a word or surname: only what no word has, a doubled letter or two swapped ones, is a typo of them.
 */
const WORDS: ReadonlySet<string> = new Set(typos.words);
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
/** Of a provider whose name alone says which one is meant. */
const SHORTEST_PROVIDER = 5;
const REGISTRIES_ONLY = { allowPrivateDomains: false };

/** Minimum number of memoized domains; the maximum is twice that. */
const REMEMBERED = 10_000;

/** The whole address with the likely domain, or null. The local part stays unchanged. */
export function didYouMean(address: Pick<Address, 'localPart' | 'domain'>, lists: SuggestionLists): string | null {
  const domain = likelyDomainBy(lists)(address.domain);
  return domain && `${address.localPart}@${domain}`;
}

/**
 * The same for a text that `parseAddress` rejects as `unknown_tld` (`jane@gmail.con`) or `single_label`
 * (`jane@gmailcom`); null for other faults.
 */
export function didYouMeanText(text: string, lists: SuggestionLists, options: ParseOptions = {}): string | null {
  const parsed = parseAddress(text, { ...options, allowUnknownTld: true });
  if (parsed.ok) return didYouMean(parsed.address, lists);
  if (parsed.error !== 'single_label') return null;
  const at = text.lastIndexOf('@') + 1;
  const domain = withoutDots(text.slice(at).toLowerCase(), targetsOf(lists.suggestDomains));
  if (domain === null) return null;
  const meant = parseAddress(text.slice(0, at) + domain, options);
  return meant.ok ? meant.address.normalized : null;
}

/**
 * The most used domain of the provider with this name; null for short names and those that are words. For domains that
 * exist without taking mail, and names without a top-level domain.
 */
export function providerOf(name: string, suggestDomains: readonly string[]): string | null {
  if (name.length < SHORTEST_PROVIDER || WORDS.has(name)) return null;
  return targetsOf(suggestDomains).all.find((target) => target.name === name)?.domain ?? null;
}

/** The same local part at the provider whose name a domain has that takes no mail (`ada@gmail.de`); null for others. */
export function providerElsewhere(
  { localPart, domain }: Pick<Address, 'localPart' | 'domain'>,
  lists: SuggestionLists,
) {
  const { name, rest } = split(domain);
  const provider = isPublicSuffix(rest, REGISTRIES_ONLY) ? providerOf(name, lists.suggestDomains) : null;
  return provider === null || provider === domain ? null : `${localPart}@${provider}`;
}

const remembered = new WeakMap<SuggestionLists, (domain: string) => string | null>();

/** One memo per list object: when lists/watch.ts replaces the lists, it starts empty. */
function likelyDomainBy(lists: SuggestionLists): (domain: string) => string | null {
  const known = remembered.get(lists);
  if (known) return known;
  const likely = memoizeBounded(REMEMBERED, (domain) => likelyDomain(domain, lists));
  remembered.set(lists, likely);
  return likely;
}

function likelyDomain(domain: string, lists: SuggestionLists): string | null {
  if (lists.isKnownDomain(domain) || NEVER.has(domain)) return null;
  const targets = targetsOf(lists.suggestDomains);
  if (targets.domains.has(domain)) return null;
  const typed = split(domain);
  const corrected = CORRECTIONS.get(domain);
  if (corrected !== undefined) return corrected;
  const moved = withoutDots(domain, targets) ?? withoutRepetition(domain, targets);
  if (moved !== null) return moved;
  const suffixExists = isPublicSuffix(typed.rest, REGISTRIES_ONLY);
  let best: { domain: string; cost: number } | null = null;
  for (const target of targets.all) {
    if (!comparable(typed, target)) continue;
    const cost = slips(typed, target, suffixExists);
    if (cost !== null && (best === null || cost < best.cost)) best = { domain: target.domain, cost };
  }
  return best?.domain ?? null;
}

const split = (domain: string): Target => {
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
  /** Length of the longest. */
  readonly longest: number;
  /** `yahoocouk` → `yahoo.co.uk`. */
  readonly byLetters: ReadonlyMap<string, string>;
}
const cache = new WeakMap<readonly string[], Targets>();

function targetsOf(domains: readonly string[]): Targets {
  const known = cache.get(domains);
  if (known) return known;
  const byLetters = new Map(domains.map((domain) => [domain.replaceAll('.', ''), domain]));
  const longest = Math.max(0, ...domains.map((domain) => domain.length));
  const targets = { all: domains.map(split), domains: new Set(domains), longest, byLetters };
  cache.set(domains, targets);
  return targets;
}

/**
 * Number of typos that lead from `target` to `typed`, or null when it is more likely another name. Name and suffix are
 * compared separately: the same name under another existing suffix is a country variant (yahoo.com.br), not a typo.
 */
function slips(typed: Target, target: Target, suffixExists: boolean): number | null {
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
  if (WORDS.has(target)) return null;
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
  if (WORDS.has(target) && slip.kind !== 'doubled' && slip.kind !== 'swapped') return false;
  return target.length >= SHORTEST[slip.kind][slip.first ? 'first' : 'inside'];
}

/** Two missing letters are rather another name (hmail). */
const areTwoSlips = (typed: string, target: string): boolean =>
  typed[0] === target[0] &&
  typed.length >= target.length - 1 &&
  slipsOf(target).some((once) => isSlip(once, target) && isSlip(typed, once));
