/**
 * The pipeline: syntax → filters → disposable → dns → smtp. Stages collect evidence; the first conclusive one ends the
 * run; `decideVerdict` evaluates it.
 */
import { trimBlanks } from '../kernel/blanks.ts';
import type { Clock } from '../kernel/clock.ts';
import { FILTER_ACTION_FACTS } from '../kernel/facts/filter-types.ts';
import { TIMEOUT_MS } from '../kernel/facts/limits.ts';
import { type Address, type ParseOptions, parseAddress, type SyntaxFault } from './address/parse.ts';
import { intendedAddress, providerElsewhere, suggestionFor } from './address/suggest.ts';
import type { DomainData } from './data/domain-data.ts';
import { lookUpFromCache, lookUpMailServers, type MxLookupOptions, runLookup } from './dns/mx-lookup.ts';
import type { QueryLimit, Resolver } from './dns/resolver.ts';
import type { DisposableEvidence, DnsEvidence, Evidence, Level, MatchedFilter } from './evidence.ts';
import { DNS_FINDINGS } from './findings.ts';
import type { MailboxLimit, MailboxQuestion } from './smtp/mailbox.ts';

export interface EngineDeps {
  readonly clock: Clock;
  readonly resolver: Resolver;
  /** Called for each run, so that they can be replaced at run time. */
  readonly domainData: () => DomainData;
  readonly mailbox: MailboxQuestion;
  /** Test setups only: allows loopback and private mail hosts, and special-use TLDs. */
  readonly allowPrivate: boolean;
  /** Returns 0 ≤ random < 1 and shuffles mail hosts of equal preference. */
  readonly random: () => number;
  /** This host's own addresses are never dialed. */
  readonly ownAddresses: ReadonlySet<string>;
}

/** Milliseconds reserved from the budget, so that the response is sent before the caller times out. */
const REPLY_MARGIN_MS = 50;
const HOSTS_WANTED: Readonly<Record<Level, number>> = { mx: 1, smtp: 3 };

const parseOptions = ({ allowPrivate }: EngineDeps): ParseOptions => ({ allowReserved: allowPrivate });

/**
 * Offline stages: syntax and domain data. Blanks around the address do not count. `syntax.result` and
 * `disposable.result` show whether they were conclusive. A top-level domain that no list has passes: the dns stage
 * knows.
 */
export function runOffline(email: string, requested: Level, engine: EngineDeps): Evidence {
  const domainData = engine.domainData();
  const options = parseOptions(engine);
  const text = trimBlanks(email);
  const parsed = parseAddress(text, { ...options, allowUnknownTld: true });
  const common = { requested, email, dns: null, smtp: null, catchAll: null, listVersion: domainData.version };
  if (!parsed.ok)
    return { ...common, ...malformedEvidence(email, parsed), didYouMean: intendedAddress(text, domainData, options) };
  const { address } = parsed;
  const relayOperator = domainData.relayOperator(address.domain);
  return {
    ...common,
    syntax: { result: 'pass', address },
    filter: NO_FILTER,
    disposable: disposableByName(address.domain, domainData),
    flags: {
      role: domainData.role(address.localPart) === 'role',
      free: domainData.isFree(address.domain),
      relay: relayOperator !== null,
    },
    relayOperator,
    didYouMean: suggestionFor(address, domainData, options),
  };
}

/** Evidence of a malformed address; the index of the fault is that in the text without the blanks around it. */
const malformedEvidence = (email: string, { error, index }: SyntaxFault) =>
  ({
    syntax: { result: 'fail', error, index: email.indexOf(trimBlanks(email)) + index },
    filter: { result: 'skipped', filter: null },
    disposable: NOT_LOOKED_UP,
    dns: null,
    flags: null,
    relayOperator: null,
  }) as const;

const NO_FILTER = { result: 'pass', filter: null } as const;
const NOT_LOOKED_UP: DisposableEvidence = { result: 'skipped', matched: null, by: null };

/**
 * A filter that blocks ends the run: later stages are skipped. One that allows leaves out the lists, and nothing else.
 * Only the first one counts.
 */
export function withFilter(e: Evidence, filter: MatchedFilter): Evidence {
  if (!isUnfiltered(e)) return e;
  const result = FILTER_ACTION_FACTS[filter.action].blocks ? 'fail' : 'pass';
  return { ...e, filter: { result, filter }, disposable: NOT_LOOKED_UP };
}

/** What the account's own mail has shown ends the run, unless a filter decides: it blocks, or allows all the same. */
export const withBounce = (e: Evidence): Evidence => (isUnfiltered(e) ? { ...e, bounced: true } : e);

/** Whether a filter may still decide. */
export const isUnfiltered = (e: Evidence): boolean =>
  e.syntax.result === 'pass' && e.filter.result === 'pass' && e.filter.filter === null && !e.bounced;

const isConclusive = (e: Evidence): boolean =>
  e.syntax.result === 'fail' || e.filter.result === 'fail' || e.bounced === true || e.disposable.result === 'fail';

const addressOf = (e: Evidence): Address => {
  if (e.syntax.result === 'fail') throw new TypeError('an address that does not parse has no later stages');
  return e.syntax.address;
};

const lookupOptions = (e: Evidence, engine: EngineDeps): MxLookupOptions => ({
  hostsWanted: HOSTS_WANTED[e.requested],
  allowPrivate: engine.allowPrivate,
  own: engine.ownAddresses,
  random: engine.random,
  domainData: engine.domainData(),
});

/**
 * Evidence of the dns stage, and whether the mail hosts are disposable; or of a malformed address, if the top-level
 * domain does not exist.
 */
export function withDns(e: Evidence, dns: DnsEvidence, engine: EngineDeps): Evidence {
  const strict = dns.finding === 'tld_not_found' ? parseAddress(trimBlanks(e.email), parseOptions(engine)) : null;
  if (strict?.ok === false) return { ...e, ...malformedEvidence(e.email, strict) };
  const [address, domainData] = [addressOf(e), engine.domainData()];
  const takesNoMail = DNS_FINDINGS[dns.finding].verdict?.deliverability === 'undeliverable';
  const disposable =
    e.filter.filter === null ? disposableByHost(e.disposable, address.domain, dns, domainData) : e.disposable;
  const didYouMean = e.didYouMean ?? (takesNoMail ? providerElsewhere(address, domainData) : null);
  const free =
    e.flags?.free === false && dns.provider !== null && domainData.isFreeAt(address.domain, dns.provider.name);
  const flags = free && e.flags !== null ? { ...e.flags, free } : e.flags;
  return { ...e, dns, didYouMean, flags, disposable };
}

/** The complete evidence if no waiting is needed (offline stages, cached DNS), else null. */
export function runFromCache(e: Evidence, engine: EngineDeps): Evidence | null {
  if (isConclusive(e)) return e;
  const dns = lookUpFromCache(addressOf(e).domain, lookupOptions(e, engine), engine.resolver);
  if (dns === null) return null;
  const found = withDns(e, dns, engine);
  return needsMailboxCheck(found) ? null : found;
}

/** The filter for an address of which this is known, if one matches its mail hosts. */
type MatchHostFilter = (e: Evidence) => Promise<MatchedFilter | null>;

/** The evidence with the filter for its mail hosts, if they are known and no other one matched. */
async function withHostFilter(e: Evidence, matchHosts: MatchHostFilter | null): Promise<Evidence> {
  if (matchHosts === null || !isUnfiltered(e)) return e;
  const filter = await matchHosts(e);
  return filter === null ? e : withFilter(e, filter);
}

/**
 * Runs the remaining stages. `timeoutMs` is the total budget; what is not known by then is reported as unknown.
 * `tenant`: see MailboxLimit. `matchHosts`: of an account with filters of mail hosts, which may allow what the lists
 * have.
 */
export async function runOnline(
  e: Evidence,
  limit: { timeoutMs: number; signal?: AbortSignal; tenant: string },
  engine: EngineDeps,
  matchHosts: MatchHostFilter | null = null,
): Promise<Evidence> {
  if (isConclusive(e) && (matchHosts === null || !isUnfiltered(e))) return e;
  const deadlineMs = engine.clock.elapsed() + limit.timeoutMs - REPLY_MARGIN_MS;
  const bound = limit.signal ? { deadlineMs, signal: limit.signal } : { deadlineMs };
  const extraWaitMs = dnsExtraWaitMs(limit.timeoutMs);
  const looked = withDns(e, await lookUpDomain(e, { ...bound, extraWaitMs }, engine), engine);
  const found = await withHostFilter(looked, matchHosts);
  return needsMailboxCheck(found) ? checkMailbox(found, { ...bound, tenant: limit.tenant }, engine) : found;
}

/** Milliseconds beyond the usual 5 s that the dns stage may take: what a time limit is longer than the default. */
export const dnsExtraWaitMs = (timeoutMs: number): number => Math.max(0, timeoutMs - TIMEOUT_MS.default);

/** Runs the dns stage; its evidence holds for all addresses of the domain at this level. */
export function lookUpDomain(e: Evidence, limit: QueryLimit, engine: EngineDeps): Promise<DnsEvidence> {
  const lookup = lookUpMailServers(addressOf(e).domain, lookupOptions(e, engine));
  return runLookup(lookup, engine.resolver, { ...limit, clock: engine.clock });
}

/** Runs the smtp stage, for evidence that needs it. */
export async function checkMailbox(e: Evidence, limit: MailboxLimit, engine: EngineDeps): Promise<Evidence> {
  if (e.dns === null) throw new TypeError('the mailbox check needs the mail hosts');
  return { ...e, ...(await engine.mailbox.check({ address: addressOf(e), dns: e.dns }, limit)) };
}

/** Whether the smtp stage is left to do. */
export const needsMailboxCheck = (e: Evidence): boolean =>
  e.requested === 'smtp' && !isConclusive(e) && e.dns !== null && DNS_FINDINGS[e.dns.finding].mx === 'pass';

type Hit = ReturnType<DomainData['disposableHost']>;
const hits = new WeakMap<DnsEvidence, { readonly domainData: DomainData; readonly hit: Hit }>();

/** Made once for evidence that many addresses of a domain share. */
function hostHit(dns: DnsEvidence, domainData: DomainData): Hit {
  const known = hits.get(dns);
  if (known?.domainData === domainData) return known.hit;
  const hosts = dns.records.map(({ host }) => host);
  const addresses = dns.hosts.flatMap((host) => host.addresses);
  const hit = domainData.disposableHost(hosts, addresses);
  hits.set(dns, { domainData, hit });
  return hit;
}

/** The domain, or a parent of it, is on the list. Suspicion alone is `unknown`. */
function disposableByName(domain: string, domainData: DomainData): DisposableEvidence {
  const { verdict, matched } = domainData.disposable(domain);
  if (verdict === 'disposable') return { result: 'fail', matched, by: 'list' };
  if (verdict === 'suspected') return { result: 'unknown', matched, by: 'list' };
  return { result: 'pass', matched: null, by: null };
}

/** The MX hosts belong to a disposable service. Allowlist and relays take precedence here, too. */
export function disposableByHost(
  byName: DisposableEvidence,
  domain: string,
  dns: DnsEvidence,
  domainData: DomainData,
): DisposableEvidence {
  if (byName.result === 'fail') return byName;
  const hit = hostHit(dns, domainData);
  if (hit === null || domainData.disposable(domain).verdict === 'allowed') return byName;
  return { result: 'fail', matched: hit.matched, by: 'mail_host' };
}
