/**
 * `did_you_mean`: the provider that a mistyped domain probably meant. A deterministic hint; no address is ever
 * rejected because of it.
 */
import typos from '../../../data/typos.json' with { type: 'json' };
import { memoizeBounded } from '../memoize.ts';
import { isPublicSuffix } from './domain.ts';
import { addsLetter, distance, isFingerSlip } from './edits.ts';
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
}

const CORRECTIONS: ReadonlyMap<string, string> = new Map(Object.entries(typos.corrections));
const NEVER: ReadonlySet<string> = new Set(typos.never);
const TLD_SLIPS: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(typos.tldSlips));

/** Shorter names are one letter away from too many words. */
const SHORTEST_NAME = 5;
/** From this length on, any single edit counts as a typo … */
const LONG_NAME = 8;
/** … and from this length on, two edits do. */
const VERY_LONG_NAME = 9;
const REGISTRIES_ONLY = { allowPrivateDomains: false };

/** Minimum number of memoized domains; the maximum is twice that. */
const REMEMBERED = 10_000;

/** The whole address with the likely domain, or null. The local part stays unchanged. */
export function didYouMean(address: Pick<Address, 'localPart' | 'domain'>, lists: SuggestionLists): string | null {
  const domain = likelyDomainBy(lists)(address.domain);
  return domain && `${address.localPart}@${domain}`;
}

/** The same for a text that `parseAddress` rejects as `unknown_tld` (`jane@gmail.con`); null for other faults. */
export function didYouMeanText(text: string, lists: SuggestionLists, options: ParseOptions = {}): string | null {
  const parsed = parseAddress(text, { ...options, allowUnknownTld: true });
  return parsed.ok ? didYouMean(parsed.address, lists) : null;
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
  const typed = split(domain);
  if (targets.some((target) => target.domain === domain)) return null;
  const corrected = CORRECTIONS.get(domain);
  if (corrected !== undefined) return corrected;
  const suffixExists = isPublicSuffix(typed.rest, REGISTRIES_ONLY);
  let best: { domain: string; cost: number } | null = null;
  for (const target of targets) {
    const cost = slips(typed, target, suffixExists);
    if (cost !== null && (best === null || cost < best.cost)) best = { domain: target.domain, cost };
  }
  return best?.domain ?? null;
}

const split = (domain: string): Target => {
  const dot = domain.indexOf('.');
  return { domain, name: domain.slice(0, dot), rest: domain.slice(dot + 1) };
};

const cache = new WeakMap<readonly string[], readonly Target[]>();

function targetsOf(domains: readonly string[]): readonly Target[] {
  const known = cache.get(domains);
  if (known) return known;
  const targets = domains.map(split);
  cache.set(domains, targets);
  return targets;
}

/**
 * Number of typos that lead from `target` to `typed`, or null when it is more likely another name. Name and suffix are
 * compared separately: the same name under another existing suffix is a country variant (yahoo.com.br), not a typo.
 */
function slips(typed: Target, target: Target, suffixExists: boolean): number | null {
  if (!comparable(typed.name, target.name)) return null;
  if (typed.rest === target.rest) return nameSlips(typed.name, target.name);
  if (suffixExists) {
    const usual = TLD_SLIPS.get(target.rest)?.includes(typed.rest) === true;
    return usual && typed.name === target.name && target.name.length >= SHORTEST_NAME ? 1 : null;
  }
  if (Math.abs(typed.rest.length - target.rest.length) > 1 || distance(typed.rest, target.rest) > 1) return null;
  const name = typed.name === target.name ? 0 : nameSlips(typed.name, target.name);
  return name === null || name > 1 ? null : name + 1;
}

/**
 * Cheap prefilter, true for every pair that `nameSlips` accepts: the first letter matches, possibly one position late.
 */
const comparable = (typed: string, target: string): boolean =>
  Math.abs(typed.length - target.length) <= 2 && (typed[0] === target[0] || typed[1] === target[0]);

function nameSlips(typed: string, target: string): number | null {
  if (target.length < SHORTEST_NAME) return null;
  const edits = distance(typed, target);
  if (edits === 1 && isFingerSlip(typed, target)) return 1;
  const longEnough = target.length >= (edits === 1 ? LONG_NAME : VERY_LONG_NAME);
  const another = edits > 2 || typed[0] !== target[0] || (typed.length >= target.length && !addsLetter(typed, target));
  return longEnough && !another ? edits : null;
}
