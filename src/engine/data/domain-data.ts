/**
 * What is known of mail domains and hosts, in memory; a lookup takes about 1 µs. The files come with the package, but
 * for two of a folder that this process or `mailvet disposable update` replaces whole, and which is watched: newer
 * disposable domains, and mail hosts that were learned to be disposable (learn.ts).
 */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import type { ProviderKind } from '../../kernel/facts/reasons.ts';
import { randomToken } from '../../kernel/ids.ts';
import { memoizeBounded } from '../../kernel/memoize.ts';
import { isPublicSuffix } from '../address/parse.ts';
import { dataFile, readData } from '../data-files.ts';
import {
  asciiName,
  type DisposableFile,
  entryOf,
  parseDisposable,
  registrableOf,
  type SetAside,
  sourceLetters,
} from './disposable-file.ts';

/** `name` without its first label, or null when fewer than two labels would remain. */
function parentOf(name: string): string | null {
  const dot = name.indexOf('.');
  return dot === -1 || name.indexOf('.', dot + 1) === -1 ? null : name.slice(dot + 1);
}

/** Returns `name` itself or the nearest parent (of two labels or more) in `known`, or null. */
export function nearestKnown(name: string, known: { has(name: string): boolean }): string | null {
  for (let rest: string | null = name; rest !== null; rest = parentOf(rest)) if (known.has(rest)) return rest;
  return null;
}

/** Whether `entry` applies to `name`: it is not a public suffix, and not above the registrable domain. */
function speaksFor(entry: string, name: string): boolean {
  const registrable = registrableOf(name);
  return registrable !== null && entry.length >= registrable.length;
}

interface DisposableAnswer {
  readonly verdict: 'disposable' | 'suspected' | 'allowed' | 'none';
  /** The deciding entry is the domain itself or a parent of it. */
  readonly matched: string | null;
}

export interface DomainData {
  /** The version is the date of the disposable list, as `YYYY-MM-DD`. */
  readonly version: string;
  /** Counts the domains of the verdict tier. */
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
  /** Says whether many unrelated customers share a mail host. */
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
  /** Returns the operator of an alias or privacy-relay domain or a subdomain of one; null for others. */
  relayOperator(domain: string): string | null;
  role(localPart: string): 'role' | 'perhaps' | 'none';
  /** The provider of this mail host; the longest matching suffix wins. */
  provider(mxHost: string): { readonly name: string; readonly kind: ProviderKind } | null;
  readonly providerNames: ReadonlySet<string>;
  /** Returns the registrable domains of a provider's mail hosts. */
  providerDomains(name: string): readonly string[];
  /**
   * Whose mail hosts, shared by unrelated customers, a name covers: those that it names or, with `below`, those under
   * it. A provider's name, else the domain of the hosts.
   */
  sharedHosts(name: string, below: boolean): readonly string[];
  /** A known provider is never "corrected". */
  isKnownDomain(domain: string): boolean;
  /** The targets of did_you_mean come most used first. */
  readonly suggestDomains: readonly string[];
  /** Why a domain is or is not on the lists: the output of `disposable show`. Reads files, so not for the hot path. */
  explain(domain: string): DomainExplanation;
}

/** Returns the package's data/, for sources and bundles. */
export const packagedDir = (): string => dirname(dataFile('lists.json'));

export const readDisposable = (dir: string): DisposableFile =>
  // The file is ASCII; latin1 keeps one byte per character.
  parseDisposable(readData(join(dir, 'disposable.txt'), 'latin1'));

/** All lists of `dir`. Throws when a file is missing or damaged: verdicts without lists would be wrong. */
export const loadDomainData = (dir: string = packagedDir()): DomainData =>
  assembleDomainData(readFacts(dir), readDisposable(dir));

/** Minimum number of memoized names; the maximum is twice that. */
const MEMOIZED_NAMES = 10_000;

const NOT_LISTED: DisposableAnswer = { verdict: 'none', matched: null };

function assembleDomainData(
  facts: Facts,
  file: DisposableFile,
  learned: LearnedDisposableHosts = NO_LEARNED_HOSTS,
): DomainData {
  const { relays, mx, providers, mistyped } = facts;
  const { verdict } = file;
  const cleared = new Set([...facts.allow.keys(), ...relays.keys()]);
  const free = new Set(facts.free.filter((name) => !mistyped.has(name)));
  // An update may list a free provider. Checked per lookup, so that a start need not look them all up.
  const stillFree = memoizeBounded(MEMOIZED_NAMES, (name) => !verdict.has(name));
  const isFree = (domain: string) => free.has(domain) && stillFree(domain);
  const providerNames = new Set([...providers.values()].map(({ name }) => name));
  const known = new Set([...facts.known.keys(), ...facts.suggest, ...cleared, ...providers.keys()]);

  // One search for all three, because the search dominates the cost.
  const disposable = memoizeBounded(MEMOIZED_NAMES, (domain: string): DisposableAnswer => {
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
    return NOT_LISTED;
  });

  const isShared = (host: string) => nearestKnown(host, mx.never) !== null || nearestKnown(host, providers) !== null;

  const operatedBy = memoizeBounded(MEMOIZED_NAMES, (host: string) => {
    if (nearestKnown(host, mx.never) !== null) return null;
    const operated = nearestKnown(host, mx.hosts);
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

  const lists: DomainData = {
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
      const relay = nearestKnown(domain, relays);
      return relay === null ? null : (relays.get(relay)?.operator ?? null);
    },
    role: facts.role,
    provider: (mxHost) => {
      const suffix = nearestKnown(mxHost, providers);
      return suffix === null ? null : (providers.get(suffix) ?? null);
    },
    providerNames,
    providerDomains: (name) => [
      ...new Set([...providers].flatMap(([suffix, one]) => (one.name === name ? (registrableOf(suffix) ?? []) : []))),
    ],
    sharedHosts(name, below) {
      const own = nearestKnown(name, providers) ?? nearestKnown(name, mx.never);
      const under = below
        ? [...providers.keys(), ...mx.never.keys()].filter((suffix) => suffix.endsWith(`.${name}`))
        : [];
      const suffixes = own === null ? under : [own, ...under];
      return [...new Set(suffixes.map((suffix) => providers.get(suffix)?.name ?? suffix))].sort();
    },
    isKnownDomain: (domain) =>
      !mistyped.has(domain) &&
      (known.has(domain) ||
        isFree(domain) ||
        nearestKnown(domain, relays) !== null ||
        disposable(domain).verdict === 'disposable'),
    suggestDomains: facts.suggest,
    explain: (domain) => explainDomain(domain, lists, facts, file),
  };
  return lists;
}

interface WatchOptions {
  /** Whether mail hosts that were learned count; default true. */
  readonly learned?: boolean;
  /** The folder is data/ of the package by default. */
  readonly packaged?: string;
  /**
   * Minimum interval in milliseconds between two stat calls. The default is shorter than `disposable update` takes to
   * exit after its rename, so that the next request sees the new list; its cost is not measurable.
   */
  readonly checkEveryMs?: number;
}

export interface WatchedDomainData {
  /** Read this property for every verification. Loading a changed list takes about 20 ms, once. */
  readonly current: DomainData;
  /** The disposable list of `current` is this file. */
  readonly file: DisposableFile;
  /** NO_LEARNED_HOSTS where it is turned off. */
  readonly learned: LearnedDisposableHosts;
  /** Says whether learned mail hosts count. */
  readonly learns: boolean;
  /** Whether it was downloaded; false: it came with the package. */
  readonly downloaded: boolean;
  /** Why the downloaded list is not used although it exists; null if there is no problem. */
  readonly problem: string | null;
}

/**
 * `dir` is the output directory of `disposable update`; it need not exist (null: only the packaged lists). The newer of
 * that file and the packaged one is used. Without timers or handles: the file is checked on access.
 */
export function watchDomainData(dir: string | null, clock: Clock, options: WatchOptions = {}): WatchedDomainData {
  const { packaged = packagedDir(), checkEveryMs = 20, learned: learns = true } = options;
  const facts = readFacts(packaged);
  const shipped = readDisposable(packaged);
  let lists = assembleDomainData(facts, shipped);
  let inUse: DisposableFile = shipped;
  let seen: string | null = null;
  let learned = NO_LEARNED_HOSTS;
  let learnedSeen: string | null = null;
  let problem: string | null = null;
  let nextLook = Number.NEGATIVE_INFINITY;

  function look(): void {
    if (dir === null || clock.elapsed() < nextLook) return;
    nextLook = clock.elapsed() + checkEveryMs;
    const learnedStamp = learns ? stampOf(dir, LEARNED_FILE) : null;
    const newlyLearned = learnedStamp !== learnedSeen;
    if (newlyLearned) {
      learnedSeen = learnedStamp;
      learned = readLearned(dir) ?? learned;
    }
    const stamp = stampOf(dir, DISPOSABLE_FILE);
    if (stamp === seen) {
      if (newlyLearned) lists = assembleDomainData(facts, inUse, learned);
      return;
    }
    seen = stamp;
    const read = stamp === null ? { file: shipped, problem: null } : readOverlay(dir, shipped);
    problem = read.problem;
    // An unreadable download changes nothing: the list in use is good.
    const chosen = read.file ?? inUse;
    if (chosen === inUse && !newlyLearned) return;
    inUse = chosen;
    lists = assembleDomainData(facts, chosen, learned);
  }

  look();
  return {
    get current() {
      look();
      return lists;
    },
    get file() {
      look();
      return inUse;
    },
    get learned() {
      look();
      return learned;
    },
    learns,
    get downloaded() {
      look();
      return inUse !== shipped;
    },
    get problem() {
      return problem;
    },
  };
}

/** Changes whenever the file is replaced; null if there is no file. */
function stampOf(dir: string, name: string): string | null {
  try {
    // An error for a file that is not there costs 10 times as much.
    const found = statSync(join(dir, name), { throwIfNoEntry: false });
    return found === undefined ? null : `${found.ino} ${found.size} ${found.mtimeMs}`;
  } catch {
    return null;
  }
}

/** Null: unreadable, and what was learned before stays. */
function readLearned(dir: string): LearnedDisposableHosts | null {
  try {
    return parseLearned(readFileSync(join(dir, LEARNED_FILE), 'utf8'));
  } catch {
    return null;
  }
}

/** The downloaded list, or the packaged one if it is newer; on the same date the download wins. */
function readOverlay(dir: string, shipped: DisposableFile): { file: DisposableFile | null; problem: string | null } {
  try {
    const file = readDisposable(dir);
    return { file: file.version >= shipped.version ? file : shipped, problem: null };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { file: null, problem: `${join(dir, 'disposable.txt')}: ${why}` };
  }
}

/** Returns the disposable list in use for `dir`: the baseline of `disposable update`. */
export function currentDisposable(dir: string, packaged: string): DisposableFile {
  const shipped = readDisposable(packaged);
  return stampOf(dir, DISPOSABLE_FILE) === null ? shipped : (readOverlay(dir, shipped).file ?? shipped);
}

/** `disposable update` writes it. */
export const DISPOSABLE_FILE = 'disposable.txt';
/** The job that learns mail hosts writes this file. */
export const LEARNED_FILE = 'learned-hosts.json';

/**
 * Writes a temporary file and renames it: readers see either the old file or the new one. Returns its path; throws an
 * Error with a message for users.
 */
export function replaceFile(dir: string, name: string, text: string): string {
  const path = join(dir, name);
  const draft = join(dir, `.${name.replace(/\..*$/, '')}-${randomToken(8)}.tmp`);
  try {
    // Perhaps within the folder of the store, which only its own user may enter.
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    writeSynced(draft, text);
    renameSync(draft, path);
    return path;
  } catch (cause) {
    removeDraft(draft);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${path} could not be written: ${why}`, { cause });
  }
}

function writeSynced(path: string, text: string): void {
  const handle = openSync(path, 'wx', 0o644);
  try {
    writeFileSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function removeDraft(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The directory was removed: report the first error.
  }
}

/** Where a mail host or address that serves listed domains is. */
export interface HostEvidence {
  /** Listed domains that it serves, by registrable domain; counting ends at 1,000. */
  readonly listed: number;
  /** The sample names some of the listed domains. */
  readonly sample: readonly string[];
}

/** Why a host that serves listed domains is not disposable. */
const NOT_LEARNED = {
  serves_good: 'it also serves known good domains',
  kin_serves_good: 'another host of its domain serves known good domains',
  owner_uses_it: 'its own domain, which is on no list, receives mail there',
  named_by_owner: 'the owner of the address gives it a name of a domain that is on no list',
  not_confirmed: 'its owner could not be looked up',
} as const;
export type NotLearned = keyof typeof NOT_LEARNED;

export interface RefusedHost extends HostEvidence {
  readonly why: NotLearned;
  /** Some of the known good domains that it serves. */
  readonly good: readonly string[];
}

export interface LearnedDisposableHosts {
  /** The time is in ISO 8601. */
  readonly made: string;
  readonly hosts: ReadonlyMap<string, HostEvidence>;
  readonly addresses: ReadonlyMap<string, HostEvidence>;
  /** The keys are hosts and addresses. */
  readonly refused: ReadonlyMap<string, RefusedHost>;
}

/** The file is unusable. */
class LearnedFileError extends Error {}

export const formatLearned = ({ made, hosts, addresses, refused }: LearnedDisposableHosts): string =>
  `${JSON.stringify({ made, hosts: [...hosts], addresses: [...addresses], refused: [...refused] }, null, 1)}\n`;

/** Throws LearnedFileError. */
export function parseLearned(text: string): LearnedDisposableHosts {
  try {
    const { made, hosts, addresses, refused } = JSON.parse(text);
    if (typeof made !== 'string' || !made.endsWith('Z')) throw new LearnedFileError('it has no time');
    return { made, hosts: new Map(hosts), addresses: new Map(addresses), refused: new Map(refused) };
  } catch (error) {
    if (error instanceof LearnedFileError) throw error;
    throw new LearnedFileError('it is not a list of learned mail hosts', { cause: error });
  }
}

const NO_LEARNED_HOSTS: LearnedDisposableHosts = {
  made: '',
  hosts: new Map(),
  addresses: new Map(),
  refused: new Map(),
};

/** Has the sources' entries for one name between a domain and its registrable domain. */
interface NamedEntry {
  readonly domain: string;
  /** The sources that list it, such as `fakefilter 0.1.1476`. */
  readonly sources: readonly string[];
  /** Why it is in no tier although a source lists it; null if it is in one. */
  readonly setAside: SetAside | null;
}

interface HostExplanation {
  /** The host is the name or address of a mail host. */
  readonly host: string;
  readonly disposable: boolean;
  /** Many unrelated customers share it: it is never disposable. */
  readonly shared: boolean;
  /** The listed domains by which it was learned. */
  readonly learned: HostEvidence | null;
  /** Why it was not, although it serves listed domains. */
  readonly refused: RefusedHost | null;
}

interface DomainExplanation {
  /** Lower-case ASCII; as given if it is not a domain name. */
  readonly domain: string;
  /** The registrable domain is null for a public suffix and for an invalid name. */
  readonly registrable: string | null;
  readonly verdict: 'disposable' | 'suspected' | 'allowed' | 'none';
  /** The deciding entry is the domain or a parent of it. */
  readonly matched: string | null;
  /** Names that a source has, from the domain up to its registrable domain. */
  readonly named: readonly NamedEntry[];
  /** The allowlist's entry comes with its reason. */
  readonly allow: { readonly domain: string; readonly reason: string } | null;
  readonly relay: { readonly domain: string; readonly operator: string; readonly source: string } | null;
  /** Operator, if the domain itself is a free-subdomain zone. */
  readonly zone: string | null;
  readonly free: boolean;
  readonly known: boolean;
  /** A listed typo has this probable target. */
  readonly mistyped: string | null;
  /** The version is the date of the disposable list. */
  readonly version: string;
}

/** The lookups of lists.ts that are explained. */
interface DomainLookups {
  disposable(domain: string): Pick<DomainExplanation, 'verdict' | 'matched'>;
  isFree(domain: string): boolean;
  isKnownDomain(domain: string): boolean;
}

/** `domain`, then its parents up to the registrable domain, with at least two labels each. */
function chain(domain: string, registrable: string | null): string[] {
  const names = [domain];
  for (let rest = domain; registrable !== null && rest.length > registrable.length; ) {
    rest = rest.slice(rest.indexOf('.') + 1);
    names.push(rest);
  }
  return names;
}

/** Explains why a domain is or is not on the lists; accepts any case and Unicode. */
function explainDomain(asked: string, lists: DomainLookups, facts: Facts, file: DisposableFile): DomainExplanation {
  const domain = asciiName(asked.trim().replace(/\.$/, '')) ?? asked;
  const registrable = registrableOf(domain);
  const names = chain(domain, registrable);
  const inWords = (letter: string) => file.sources.get(letter) ?? letter;
  const named = names.flatMap((name): NamedEntry[] => {
    const entry = entryOf(file, name);
    if (entry === null) return [];
    return [{ domain: name, sources: [...sourceLetters(entry.bits)].map(inWords), setAside: entry.reason }];
  });
  const allowed = names.find((name) => facts.allow.has(name));
  const relay = names.map((name) => facts.relays.get(name)).find((row) => row !== undefined);
  return {
    domain,
    registrable,
    ...lists.disposable(domain),
    named,
    allow: allowed === undefined ? null : { domain: allowed, reason: facts.allow.get(allowed) ?? '' },
    relay: relay ?? null,
    zone: facts.zones.get(domain) ?? null,
    free: lists.isFree(domain),
    known: lists.isKnownDomain(domain),
    mistyped: facts.mistyped.get(domain) ?? null,
    version: file.version,
  };
}

const ASIDE: Readonly<Record<SetAside, string>> = {
  suffix: 'it is a public suffix',
  zone: 'it is a free-subdomain zone',
  tld: 'its top-level domain does not exist',
  allow: 'the allowlist clears it',
  relay: 'it is a privacy relay',
};
const VERDICT_LINES: Readonly<Record<DomainExplanation['verdict'], string>> = {
  disposable: 'disposable',
  suspected: 'suspected: not enough sources name it for a verdict',
  allowed: 'not disposable: cleared',
  none: 'not on the list',
};

/** Writes the explanation as text, one line per fact. */
export function explanationLines(e: DomainExplanation): string[] {
  const via = e.matched === null || e.matched === e.domain ? '' : ` (by ${e.matched})`;
  const lines = [`${e.domain}: ${VERDICT_LINES[e.verdict]}${via}`, `list version: ${e.version}`];
  for (const { domain, sources, setAside } of e.named) {
    const aside = setAside === null ? '' : `; does not count, since ${ASIDE[setAside]}`;
    lines.push(`named: ${domain} by ${sources.join(', ')}${aside}`);
  }
  if (e.allow !== null) lines.push(`allowlist: ${e.allow.domain}: ${e.allow.reason}`);
  if (e.relay !== null) lines.push(`relay: ${e.relay.domain}, ${e.relay.operator} (${e.relay.source})`);
  if (e.zone !== null) lines.push(`zone: ${e.zone}`);
  if (e.registrable === null) lines.push('not a registrable domain: a public suffix, or no domain name at all');
  if (e.free) lines.push('free provider');
  if (e.mistyped !== null) lines.push(`probably mistyped for ${e.mistyped}`);
  return lines;
}

/** What is known of a mail host, one line per fact. */
export function hostLines({ host, disposable, shared, learned, refused }: HostExplanation): string[] {
  const lines = [
    `mail host: ${host}: ${disposable ? 'disposable' : shared ? 'shared by many customers' : 'not disposable'}`,
  ];
  if (learned !== null) lines.push(`learned: ${servesLine(learned)}, and no known good one`);
  if (refused !== null) {
    const good = refused.good.length > 0 ? ` (${refused.good.join(', ')})` : '';
    lines.push(`not learned: ${servesLine(refused)}, but ${NOT_LEARNED[refused.why]}${good}`);
  }
  return lines;
}

const servesLine = ({ listed, sample }: HostEvidence): string =>
  `it serves ${listed} listed ${listed === 1 ? 'domain' : 'domains'}, such as ${sample.join(', ')}`;

/** Below this length, dots in a local part are more likely to separate initials than words of a role name. */
const MIN_JOINED = 6;
/** More parts are no name of a function. */
const MAX_PARTS = 5;

/** What says where or for whom, beside a role: `sales_dept`, `support-team`, `info.emea`. */
const ROLE_QUALIFIERS: ReadonlySet<string> = new Set(
  `
  dept department team desk office group unit center centre line mail email mailbox inbox online web global
  international intl emea apac latam uk usa north south east west abteilung service servizio servicio dienst otdel
  отдел
`
    .trim()
    .split(/\s+/),
);

/**
 * Whether a local part is a role name (`role`), one that only some lists contain (`perhaps`), or neither. The tag after
 * the first `+`, quotes, accents and a number at the end are removed and case is folded; `customer.service` and
 * `no_reply` match without their separators, `info.de` and `sales_dept` by a part of them; `<list>-request` is a
 * mailing list's administrative address (RFC 2142 §6). `countries`: top-level domains of two letters.
 */
function createRoles(
  names: { readonly role: readonly string[]; readonly perhaps: readonly string[] },
  countries: ReadonlySet<string>,
) {
  const roles = new Set(names.role.flatMap(spellingsOf));
  const perhaps = new Set(names.perhaps);
  const isQualifier = (part: string): boolean => ROLE_QUALIFIERS.has(part) || countries.has(part) || /^\d+$/.test(part);

  /** Whether one run of parts is a role, and all others are roles or say where. */
  function isComposed(parts: readonly string[]): boolean {
    if (parts.length < 2 || parts.length > MAX_PARTS) return false;
    const isOther = (part: string): boolean => !roles.has(part) && !isQualifier(part);
    // The run contains all those that cannot stand beside it.
    const first = parts.findIndex(isOther);
    const last = parts.findLastIndex(isOther);
    for (let from = 0; from <= (first === -1 ? parts.length - 1 : first); from += 1)
      for (let to = Math.max(from, last) + 1; to <= parts.length; to += 1)
        if (roles.has(parts.slice(from, to).join(''))) return true;
    return false;
  }

  return (localPart: string): 'role' | 'perhaps' | 'none' => {
    const plus = localPart.indexOf('+', 1);
    const name = bareLocalPart(plus === -1 ? localPart : localPart.slice(0, plus));
    if (roles.has(name)) return 'role';
    if (name.endsWith('-request') && name.length > 8) return 'role';
    const joined = withoutSeparators(name);
    if (joined.length !== name.length && joined.length >= MIN_JOINED && roles.has(joined)) return 'role';
    const stem = withoutNumber(name);
    if (stem !== name && (roles.has(stem) || roles.has(withoutSeparators(stem)))) return 'role';
    if (joined.length !== name.length && isComposed(stem.split(/[._-]/))) return 'role';
    return perhaps.has(name) ? 'perhaps' : 'none';
  };
}

/** `büro` is written `buro` and `buero` as well. */
function spellingsOf(name: string): string[] {
  if (isAsciiText(name)) return [name];
  const german = name.replaceAll(/[äöü]/g, (letter) => `${withoutAccents(letter)}e`).replaceAll('ß', 'ss');
  return [...new Set([name.normalize('NFC'), withoutAccents(name), withoutAccents(german)])];
}

const withoutAccents = (text: string): string =>
  text
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .normalize('NFC');

/** Returns it in lower case, without quotes and accents. */
function bareLocalPart(localPart: string): string {
  const isQuoted = localPart.startsWith('"') && localPart.endsWith('"') && localPart.length > 2;
  const text = (isQuoted ? localPart.slice(1, -1) : localPart).toLowerCase();
  return isAsciiText(text) ? text : withoutAccents(text);
}

function isAsciiText(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

function withoutNumber(name: string): string {
  let end = name.length;
  while (end > 0 && isDigit(name.charCodeAt(end - 1))) end -= 1;
  if (end === name.length) return name;
  while (end > 0 && isSeparator(name.charCodeAt(end - 1))) end -= 1;
  return name.slice(0, end);
}

/** Runs on the path of every verification, where a regular expression would be slower. */
function withoutSeparators(name: string): string {
  let joined = '';
  let from = 0;
  for (let at = 0; at < name.length; at++) {
    if (!isSeparator(name.charCodeAt(at))) continue;
    joined += name.slice(from, at);
    from = at + 1;
  }
  return from === 0 ? name : joined + name.slice(from);
}
const isSeparator = (code: number): boolean => code === 0x2e || code === 0x5f || code === 0x2d;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

interface RelayDomain {
  readonly domain: string;
  readonly operator: string;
  readonly source: string;
}
interface Provider {
  readonly name: string;
  readonly kind: ProviderKind;
}

/** Reads the lines of a text file of data/, without comments and empty lines. */
export function readFileLines(dir: string, name: string): string[] {
  const lines = readData(join(dir, name)).split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

/** `name<TAB>text` lines as a map; the text is empty if there is no second column. */
export function readTable(dir: string, name: string): Map<string, string> {
  return new Map(
    readFileLines(dir, name).map((line) => {
      const [key = '', text = ''] = line.split('\t');
      return [key, text];
    }),
  );
}

const readJsonFile = <T>(dir: string, name: string): T => JSON.parse(readData(join(dir, name)));

export const readRelays = (dir: string): Map<string, RelayDomain> =>
  new Map(readJsonFile<RelayDomain[]>(dir, 'relays.json').map((relay) => [relay.domain, relay]));

const readRoles = (dir: string) => readJsonFile<{ role: string[]; perhaps: string[] }>(dir, 'roles.json');

interface ProviderRow {
  suffix: string;
  provider: string;
  kind: ProviderKind | 'alias-relay';
}
/** Reads MX suffixes with their providers. Hosts of alias services count as relays. */
const readProviders = (dir: string): Map<string, Provider> =>
  new Map(
    readJsonFile<ProviderRow[]>(dir, 'mx-providers.json').map(({ suffix, provider, kind }) => [
      suffix,
      { name: provider, kind: kind === 'alias-relay' ? 'relay' : kind },
    ]),
  );

interface DisposableMxFile {
  hosts: { host: string; service: string }[];
  addresses: { address: string; service: string }[];
}
/** Reads mail hosts and addresses of disposable services, and shared hosts, which never count. */
function readDisposableMx(dir: string) {
  const file = readJsonFile<DisposableMxFile>(dir, 'disposable-mx.json');
  return {
    hosts: new Map(file.hosts.map((row) => [row.host, row.service])),
    addresses: new Map(file.addresses.map((row) => [row.address, row.service])),
    never: readTable(dir, 'shared-mail-hosts.txt'),
  };
}

interface FreeFamilyRow {
  /** The provider in mx-providers.json; null: no hosts of it are known. */
  mx: string | null;
  names: string[];
  /** Suffixes are separated by spaces. */
  suffixes: string;
}
interface FreeFamiliesFile {
  families: FreeFamilyRow[];
  /** Maps operators to domains, which are separated by spaces. */
  domains: Record<string, string>;
}
/**
 * Domains of free providers that are known by name, and whose name under another suffix takes its mail hosts to tell.
 */
function readFreeFamilies(dir: string) {
  const { families, domains } = readJsonFile<FreeFamiliesFile>(dir, 'free-families.json');
  const products = families.flatMap(({ names, suffixes }) =>
    names.flatMap((name) => suffixes.split(' ').map((suffix) => `${name}.${suffix}`)),
  );
  const single = Object.values(domains).flatMap((of) => of.split(' '));
  const byName = families.flatMap(({ mx, names }) => (mx === null ? [] : names.map((name) => [name, mx] as const)));
  return { domains: [...products, ...single], providerByName: new Map(byName) };
}

/** Everything but the disposable domains; it comes with the package and does not change while the process lives. */
function readFacts(dir: string) {
  const relays: ReadonlyMap<string, RelayDomain> = readRelays(dir);
  const providers: ReadonlyMap<string, Provider> = readProviders(dir);
  const families = readFreeFamilies(dir);
  return {
    allow: readTable(dir, 'allow.txt'),
    relays,
    zones: readTable(dir, 'zones.txt'),
    free: [...new Set([...readFileLines(dir, 'free.txt'), ...families.domains])],
    freeProviderByName: families.providerByName,
    known: readTable(dir, 'known.txt'),
    mistyped: readTable(dir, 'mistyped.txt'),
    suggest: [...readTable(dir, 'suggest.txt').keys()],
    role: createRoles(readRoles(dir), new Set(readFileLines(dir, 'tlds.txt').filter((name) => name.length === 2))),
    providers,
    mx: readDisposableMx(dir),
  };
}
type Facts = ReturnType<typeof readFacts>;
