/**
 * The lists in memory; a lookup takes about 1 µs. `disposable.txt` may come from a newer download than the other files
 * of data/ (watch.ts).
 */
import { dirname, join } from 'node:path';
import type { ProviderKind } from '../../kernel/facts/reasons.ts';
import { isPublicSuffix } from '../address/domain.ts';
import { dataFile, readData } from '../data.ts';
import { memoizeBounded } from '../memoize.ts';
import { type DisposableFile, parseDisposable } from './entries.ts';
import { explain, type HostExplanation, type ListExplanation } from './explain.ts';
import { type Facts, readFacts } from './facts.ts';
import { type LearnedHosts, NOTHING_LEARNED } from './learned.ts';
import { nearest, parentOf, registrableOf, speaksFor } from './names.ts';

interface DisposableAnswer {
  readonly verdict: 'disposable' | 'suspected' | 'allowed' | 'none';
  /** The deciding entry: the domain itself or a parent of it. */
  readonly matched: string | null;
}

export interface Lists {
  /** Date of the disposable list, `YYYY-MM-DD`. */
  readonly version: string;
  /** Domains of the verdict tier. */
  readonly size: number;
  /**
   * `domain` in lower-case ASCII (A-labels). Matches parents up to the registrable domain; allowlist and relays take
   * precedence.
   */
  disposable(domain: string): DisposableAnswer;
  /** Whether the MX hosts (lower case) or their addresses belong to a disposable service. Shared hosts never count. */
  disposableHost(
    mxHosts: readonly string[],
    addresses: readonly string[],
  ): { readonly matched: string; readonly service: string } | null;
  /** A mail host that many unrelated customers share. */
  isShared(host: string): boolean;
  /** Whether a list names the domain, a parent, or suspects it. */
  isListed(domain: string): boolean;
  /** Domains that are certainly no disposable ones, in order: providers, relays, cleared and suggested domains. */
  knownGood(): readonly string[];
  /** Why a mail host is disposable, or not. */
  explainHost(host: string): HostExplanation;
  isFree(domain: string): boolean;
  /** Whether a domain that is not known is one of a free provider: its name, and the provider of its mail hosts. */
  isFreeAt(domain: string, provider: string): boolean;
  /** Its operator, of an alias or privacy-relay domain or a subdomain of one; null for others. */
  relayOperator(domain: string): string | null;
  role(localPart: string): 'role' | 'perhaps' | 'none';
  /** The provider of this mail host; the longest matching suffix wins. */
  provider(mxHost: string): { readonly name: string; readonly kind: ProviderKind } | null;
  /** Of all providers. */
  readonly providerNames: ReadonlySet<string>;
  /** The registrable domains of a provider's mail hosts. */
  providerDomains(name: string): readonly string[];
  /** A known provider: never "corrected". */
  isKnownDomain(domain: string): boolean;
  /** Targets of did_you_mean, most used first. */
  readonly suggestDomains: readonly string[];
  /** Why a domain is or is not on the lists: the output of `disposable show`. Reads files, so not for the hot path. */
  explain(domain: string): ListExplanation;
}

/** The package's data/, for sources and bundles. */
export const packagedDir = (): string => dirname(dataFile('lists.json'));

export const readDisposable = (dir: string): DisposableFile =>
  // The file is ASCII; latin1 keeps one byte per character.
  parseDisposable(readData(join(dir, 'disposable.txt'), 'latin1'));

/** All lists of `dir`. Throws when a file is missing or damaged: verdicts without lists would be wrong. */
export const loadLists = (dir: string = packagedDir()): Lists => assemble(readFacts(dir), readDisposable(dir));

/** Minimum number of memoized names; the maximum is twice that. */
const REMEMBERED = 10_000;

const NOTHING: DisposableAnswer = { verdict: 'none', matched: null };

export function assemble(facts: Facts, file: DisposableFile, learned: LearnedHosts = NOTHING_LEARNED): Lists {
  const { relays, mx, providers, mistyped } = facts;
  const { verdict } = file;
  const cleared = new Set([...facts.allow.keys(), ...relays.keys()]);
  const free = new Set(facts.free.filter((name) => !mistyped.has(name)));
  // An update may list a free provider. Checked per lookup, so that a start need not look them all up.
  const stillFree = memoizeBounded(REMEMBERED, (name) => !verdict.has(name));
  const isFree = (domain: string) => free.has(domain) && stillFree(domain);
  const providerNames = new Set([...providers.values()].map(({ name }) => name));
  const known = new Set([...facts.known.keys(), ...facts.suggest, ...cleared, ...providers.keys()]);

  // One search for all three, because the search dominates the cost.
  const disposable = memoizeBounded(REMEMBERED, (domain: string): DisposableAnswer => {
    let listed: string | null = null;
    let suspected: string | null = null;
    for (let name: string | null = domain; name !== null; name = parentOf(name)) {
      if (cleared.has(name)) return { verdict: 'allowed', matched: name };
      if (listed !== null) continue;
      const tier = file.tier(name);
      if (tier === 'verdict') listed = name;
      else if (suspected === null && tier === 'suspicion') suspected = name;
    }
    if (listed !== null && speaksFor(listed, domain)) return { verdict: 'disposable', matched: listed };
    if (suspected !== null && speaksFor(suspected, domain)) return { verdict: 'suspected', matched: suspected };
    return NOTHING;
  });

  const isShared = (host: string) => nearest(host, mx.never) !== null || nearest(host, providers) !== null;

  const operatedBy = memoizeBounded(REMEMBERED, (host: string) => {
    if (nearest(host, mx.never) !== null) return null;
    const operated = nearest(host, mx.hosts);
    if (operated !== null) return { matched: operated, service: mx.hosts.get(operated) ?? operated };
    const { verdict: tier, matched } = disposable(host);
    if (tier === 'disposable' && matched !== null) return { matched, service: matched };
    const counts = learned.hosts.has(host) && tier !== 'allowed' && !isShared(host);
    return counts ? { matched: host, service: host } : null;
  });

  const disposableHost = (mxHosts: readonly string[], addresses: readonly string[]) => {
    for (const host of mxHosts) {
      const hit = operatedBy(host);
      if (hit !== null) return hit;
    }
    for (const address of addresses) {
      const service = mx.addresses.get(address);
      if (service !== undefined) return { matched: address, service };
      if (learned.addresses.has(address) && !mxHosts.some(isShared)) return { matched: address, service: address };
    }
    return null;
  };

  const isListed = (domain: string) => ['disposable', 'suspected'].includes(disposable(domain).verdict);
  let knownGood: readonly string[] | null = null;

  const lists: Lists = {
    version: file.version,
    size: verdict.size,
    disposable,
    disposableHost,
    isShared,
    isListed,
    knownGood() {
      knownGood ??= [...new Set([...known, ...free])]
        .filter((name) => !verdict.has(name) && !mistyped.has(name))
        .sort();
      return knownGood;
    },
    explainHost: (host) => ({
      host,
      disposable: operatedBy(host) !== null || learned.addresses.has(host),
      shared: isShared(host),
      learned: learned.hosts.get(host) ?? learned.addresses.get(host) ?? null,
      refused: learned.refused.get(host) ?? null,
    }),
    isFree,
    isFreeAt(domain, provider) {
      const dot = domain.indexOf('.');
      const isFamily = facts.freeProviderByName.get(domain.slice(0, dot)) === provider;
      return isFamily && isPublicSuffix(domain.slice(dot + 1), { allowPrivateDomains: false }) && !verdict.has(domain);
    },
    relayOperator(domain) {
      const relay = nearest(domain, relays);
      return relay === null ? null : (relays.get(relay)?.operator ?? null);
    },
    role: facts.role,
    provider: (mxHost) => {
      const suffix = nearest(mxHost, providers);
      return suffix === null ? null : (providers.get(suffix) ?? null);
    },
    providerNames,
    providerDomains: (name) => [
      ...new Set([...providers].flatMap(([suffix, one]) => (one.name === name ? (registrableOf(suffix) ?? []) : []))),
    ],
    isKnownDomain: (domain) =>
      !mistyped.has(domain) &&
      (known.has(domain) ||
        isFree(domain) ||
        nearest(domain, relays) !== null ||
        disposable(domain).verdict === 'disposable'),
    suggestDomains: facts.suggest,
    explain: (domain) => explain(domain, lists, facts, file),
  };
  return lists;
}
