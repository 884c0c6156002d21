/**
 * Learns which mail hosts are disposable: those that serve at least LEARN_LISTED listed domains and no known good one.
 *
 * Whoever owns a listed domain can point its MX at anybody's mail host, or a name of a host at anybody's address. So
 * what the owner of the host says counts more: a host whose own domain receives mail there and is on no list is not
 * learned, nor an address whose confirmed name (PTR, RFC 1912 §2.1) is of a domain on no list.
 */
import type { Clock } from '../../kernel/clock.ts';
import { isMailHostName } from '../dns/message.ts';
import type { Resolver } from '../dns/resolver.ts';
import { ptrName } from '../doctor/reverse.ts';
import { registrableOf } from './disposable-file.ts';
import type { HostEvidence, LearnedDisposableHosts, NotLearned, RefusedHost } from './domain-data.ts';

/** Listed domains, by registrable domain, that a disposable host serves at least. */
const LEARN_LISTED = 5;
/** Counting ends here, so that it is bounded. */
const COUNTED = 1_000;
const SAMPLE = 5;
/** One domain has at most this many. */
const HOSTS_MAX = 5;
const HOST_ADDRESSES_MAX = 8;
/** Candidates whose owners are looked up, those with the most listed domains first. */
const CANDIDATES_MAX = 3_000;
/** Without so many answers about known good domains, what they use is not known, and nothing is learned. */
const GOOD_ANSWERS_SHARE = 0.8;
const LEARN_QUERY_MS = 5_000;

export type LearnKind = 'listed' | 'good';

/** Where a domain receives mail; `hosts` null: no definite answer. */
export interface LearnRow {
  readonly domain: string;
  readonly kind: LearnKind;
  readonly hosts: readonly string[] | null;
  readonly addresses: readonly string[];
}

/** The lists say this of names. */
interface LearnLists {
  /** Says whether many customers share a mail host. */
  isShared(host: string): boolean;
  /** Includes suspected ones. */
  isListed(domain: string): boolean;
}

export interface LearnDns {
  readonly resolver: Pick<Resolver, 'ask'>;
  readonly clock: Pick<Clock, 'elapsed'>;
  readonly signal: AbortSignal;
  /** False for addresses that no mail server on the Internet has. */
  readonly mayCount: (address: string) => boolean;
}

const queryLimit = ({ clock, signal }: LearnDns) => ({ deadlineMs: clock.elapsed() + LEARN_QUERY_MS, signal });

/** The domain's MX hosts and their addresses. An implicit MX does not count: it is mostly a web server. */
export async function lookUpHosts(
  domain: string,
  kind: LearnKind,
  lists: Pick<LearnLists, 'isShared'>,
  dns: LearnDns,
): Promise<LearnRow> {
  const hosts = await mxOf(domain, dns);
  if (hosts === null) return { domain, kind, hosts: null, addresses: [] };
  // What is shared never counts, so its addresses need not be known.
  const own = hosts.filter((host) => !lists.isShared(host));
  const addresses = await Promise.all(own.map((host) => hostAddresses(host, dns)));
  const counted = [...new Set(addresses.flat())].filter(dns.mayCount).slice(0, HOST_ADDRESSES_MAX);
  return { domain, kind, hosts: own, addresses: counted };
}

async function mxOf(domain: string, dns: LearnDns): Promise<string[] | null> {
  const answer = await dns.resolver.ask(domain, 'MX', queryLimit(dns));
  if (answer.kind === 'nodata' || answer.kind === 'nxdomain') return [];
  if (answer.kind !== 'records') return null;
  const records = answer.records.flatMap((record) => (record.type === 'MX' ? [record] : []));
  const hosts = records.sort((a, b) => a.priority - b.priority).map(({ host }) => host);
  const usable = hosts.filter((host) => isMailHostName(host) && host.includes('.') && !/^[\d.]+$/.test(host));
  return [...new Set(usable)].slice(0, HOSTS_MAX);
}

async function hostAddresses(host: string, dns: LearnDns): Promise<string[]> {
  const answers = await Promise.all(
    (['A', 'AAAA'] as const).map((type) => dns.resolver.ask(host, type, queryLimit(dns))),
  );
  return answers.flatMap((answer) =>
    answer.kind === 'records' ? answer.records.flatMap((record) => ('address' in record ? record.address : [])) : [],
  );
}

interface ServedDomains {
  /** Both sets hold registrable domains. */
  readonly listed: Set<string>;
  readonly good: Set<string>;
}

/** Counts rows; memory grows with the number of different hosts. */
export function createHostTally() {
  const hosts = new Map<string, ServedDomains>();
  const addresses = new Map<string, ServedDomains>();
  let good = 0;
  let answered = 0;

  function count(all: Map<string, ServedDomains>, names: readonly string[], kind: LearnKind, domain: string): void {
    for (const name of names) {
      const served = all.get(name) ?? { listed: new Set(), good: new Set() };
      all.set(name, served);
      if (served[kind].size < COUNTED) served[kind].add(domain);
    }
  }

  return {
    add({ domain, kind, hosts: mx, addresses: ips }: LearnRow): void {
      if (kind === 'good') {
        good++;
        if (mx !== null) answered++;
      }
      // Subdomains are free, registrable domains are not.
      const owner = registrableOf(domain) ?? domain;
      count(hosts, mx ?? [], kind, owner);
      count(addresses, ips, kind, owner);
    },
    hosts,
    addresses,
    /** Whether enough is known of good domains. */
    isComplete: () => good > 0 && answered >= good * GOOD_ANSWERS_SHARE,
  };
}
type HostTally = ReturnType<typeof createHostTally>;

const evidence = ({ listed }: ServedDomains): HostEvidence => ({
  listed: listed.size,
  sample: [...listed].slice(0, SAMPLE),
});

/** Judges what was counted. `pause` is awaited before each look-up of an owner. */
export async function judgeHosts(
  tally: HostTally,
  made: string,
  lists: LearnLists,
  dns: LearnDns & { readonly pause: () => Promise<void> },
): Promise<LearnedDisposableHosts> {
  const refused = new Map<string, RefusedHost>();
  const goodOwners = new Set<string>();
  for (const [host, { good }] of tally.hosts) if (good.size > 0) goodOwners.add(registrableOf(host) ?? host);

  async function checkCandidates(
    served: ReadonlyMap<string, ServedDomains>,
    refusal: (name: string) => Promise<NotLearned | null>,
  ): Promise<Map<string, HostEvidence>> {
    const candidates = [...served].filter(([, { listed }]) => listed.size >= LEARN_LISTED);
    candidates.sort(([, a], [, b]) => b.listed.size - a.listed.size);
    const learned = new Map<string, HostEvidence>();
    for (const [name, one] of candidates.slice(0, CANDIDATES_MAX)) {
      const why = one.good.size > 0 ? 'serves_good' : await refusal(name);
      if (why === null) learned.set(name, evidence(one));
      else refused.set(name, { ...evidence(one), why, good: [...one.good].slice(0, SAMPLE) });
    }
    return learned;
  }

  async function hostRefusal(host: string): Promise<NotLearned | null> {
    const owner = registrableOf(host);
    if (owner === null) return 'not_confirmed';
    if (lists.isListed(owner)) return null;
    if (goodOwners.has(owner)) return 'kin_serves_good';
    await dns.pause();
    const own = await mxOf(owner, dns);
    if (own === null) return 'not_confirmed';
    return own.some((mx) => registrableOf(mx) === owner) ? 'owner_uses_it' : null;
  }

  const hosts = await checkCandidates(tally.hosts, hostRefusal);
  const owners = new Set([...hosts.keys()].map((host) => registrableOf(host)));

  async function addressRefusal(address: string): Promise<NotLearned | null> {
    await dns.pause();
    const answer = await dns.resolver.ask(ptrName(address), 'PTR', queryLimit(dns));
    if (answer.kind === 'nodata' || answer.kind === 'nxdomain') return null;
    if (answer.kind !== 'records') return 'not_confirmed';
    for (const record of answer.records.slice(0, HOSTS_MAX)) {
      if (record.type !== 'PTR' || !isMailHostName(record.host) || isGeneric(record.host, address)) continue;
      const owner = registrableOf(record.host);
      if (owner === null || lists.isListed(owner) || owners.has(owner)) continue;
      if ((await hostAddresses(record.host, dns)).includes(address)) return 'named_by_owner';
    }
    return null;
  }

  const addresses = await checkCandidates(tally.addresses, addressRefusal);
  dns.signal.throwIfAborted();
  return { made, hosts, addresses, refused };
}

/** A name that a hoster gives to every address, such as `static.7.113.0.203.example.net`. */
function isGeneric(host: string, address: string): boolean {
  const parts = address.split(/[.:]/).filter((part) => part !== '');
  const digits = host.split(/[^\da-f]+/);
  return parts.slice(-2).every((part) => digits.some((text) => text === part || text.endsWith(part.padStart(3, '0'))));
}
