/**
 * As what filters are stored, and what a request is looked up by. Programs of the versions before know three kinds, and
 * take each row of them for a filter that blocks, exactly and for good. A filter that does anything else is of a kind
 * that they never look for.
 */
import {
  FILTER_ACTION_FACTS,
  type FilterAction,
  type FilterMatch,
  type FilterType,
} from '../kernel/facts/filter-types.ts';
import { cidrsContaining, networkOf } from '../kernel/ip.ts';

/** `column`: of `accounts`, how many there are; `count`: the same of its `AccountState`. */
export const FILTER_KINDS = {
  email: { type: 'email', match: 'exact', column: 'filter_emails', count: 'filterEmails' },
  domain: { type: 'domain', match: 'exact', column: 'filter_domains', count: 'filterDomains' },
  ip_address: { type: 'ip_address', match: 'exact', column: 'filter_ips', count: 'filterIps' },
  email_rule: { type: 'email', match: 'exact', column: 'filter_email_rules', count: 'filterEmailRules' },
  domain_rule: { type: 'domain', match: 'exact', column: 'filter_domain_rules', count: 'filterDomainRules' },
  ip_rule: { type: 'ip_address', match: 'exact', column: 'filter_ip_rules', count: 'filterIpRules' },
  mailbox: { type: 'email', match: 'mailbox', column: 'filter_mailboxes', count: 'filterMailboxes' },
  mx_host: { type: 'mx_host', match: 'exact', column: 'filter_mx_hosts', count: 'filterMxHosts' },
} as const satisfies Record<string, { type: FilterType; match: FilterMatch; column: string; count: string }>;

export type FilterKind = keyof typeof FILTER_KINDS;
/** How many filters of each kind an account has. */
export type FilterCounts = { readonly [K in FilterKind as (typeof FILTER_KINDS)[K]['count']]: number };

function namesOf<K extends string>(table: Readonly<Record<K, unknown>>): K[] {
  const names: K[] = [];
  for (const name in table) names.push(name);
  return names;
}
export const FILTER_KIND_NAMES: readonly FilterKind[] = namesOf(FILTER_KINDS);
/** They count the filters of an account. */
export const FILTER_COLUMNS = FILTER_KIND_NAMES.map((kind) => FILTER_KINDS[kind].column);
type CounterRow = Readonly<Record<(typeof FILTER_COLUMNS)[number], number>>;

/** How many filters an account has, of all kinds. */
export const filterCount = (account: CounterRow): number =>
  FILTER_COLUMNS.reduce((sum, column) => sum + account[column], 0);

export const countsOf = (account: CounterRow): FilterCounts => ({
  filterEmails: account.filter_emails,
  filterDomains: account.filter_domains,
  filterIps: account.filter_ips,
  filterEmailRules: account.filter_email_rules,
  filterDomainRules: account.filter_domain_rules,
  filterIpRules: account.filter_ip_rules,
  filterMailboxes: account.filter_mailboxes,
  filterMxHosts: account.filter_mx_hosts,
});

/** Where filters of a type are stored that only block; null: nowhere, as programs before have no such type. */
const BLOCKING: Readonly<Record<FilterType, { readonly plain: FilterKind | null; readonly other: FilterKind }>> = {
  email: { plain: 'email', other: 'email_rule' },
  domain: { plain: 'domain', other: 'domain_rule' },
  ip_address: { plain: 'ip_address', other: 'ip_rule' },
  mx_host: { plain: null, other: 'mx_host' },
};

export function kindOf(filter: {
  readonly filterType: FilterType;
  readonly match: FilterMatch;
  readonly action: FilterAction;
  readonly expiresAt: number | null;
}): FilterKind {
  if (filter.match === 'mailbox') return 'mailbox';
  const { plain, other } = BLOCKING[filter.filterType];
  return plain !== null && filter.action === 'block' && filter.expiresAt === null ? plain : other;
}

/** The kinds under which the same value would match the same: there is one filter of them. */
export function kindsLike(kind: FilterKind): readonly FilterKind[] {
  const { type, match } = FILTER_KINDS[kind];
  return FILTER_KIND_NAMES.filter((one) => FILTER_KINDS[one].type === type && FILTER_KINDS[one].match === match);
}

export const kindsOfType = (type: FilterType): readonly FilterKind[] =>
  FILTER_KIND_NAMES.filter((kind) => FILTER_KINDS[kind].type === type);

/** Canonical values under which the account's filters could match this request, in order of precedence. */
export interface FilterKeys {
  readonly email: string | null;
  /** What the address has in common with all others of its mailbox. */
  readonly mailbox: string | null;
  /** The domain and its parents come longest first. */
  readonly domains: readonly string[];
  /** The end user's IP: filters on it and on blocks that contain it match, the most specific first. */
  readonly ip: string | null;
  /** Null means that the domain's mail hosts are not known yet. */
  readonly mxHosts: readonly string[] | null;
}

/** A filter as requests are matched with it. */
export interface FilterRule {
  readonly id: number;
  readonly filterType: FilterKind;
  readonly value: string;
  readonly action: FilterAction;
  readonly expiresAt: number | null;
}

/** Finds filters of these kinds with one of the values. */
export interface FilterLookup {
  readonly kinds: readonly FilterKind[];
  /** What the values follow from. */
  readonly of: string;
  /** Made when they are needed: most requests of a batch look for the same. */
  readonly values: () => readonly string[];
  /** The most specific value has the lowest; equal ones are equally specific. */
  readonly rank: (value: string) => number;
}

/** The look-ups to make, most specific first. None for kinds of which the account has no filter. */
export function filterLookups(counts: FilterCounts, keys: FilterKeys): FilterLookup[] {
  const lookups: FilterLookup[] = [];
  if (FILTER_KIND_NAMES.every((kind) => counts[FILTER_KINDS[kind].count] === 0)) return lookups;
  const add = (all: readonly FilterKind[], of: string, values: FilterLookup['values'], rank: FilterLookup['rank']) => {
    const kinds = all.filter((kind) => counts[FILTER_KINDS[kind].count] > 0);
    if (kinds.length > 0) lookups.push({ kinds, of, values, rank });
  };
  const { email, mailbox, domains, ip, mxHosts } = keys;
  if (email !== null) add(EXACT_EMAIL, email, () => [email], NO_RANK);
  if (mailbox !== null) add(MAILBOX_KINDS, mailbox, () => [mailbox], NO_RANK);
  const [domain = null] = domains;
  if (domain !== null) add(DOMAIN_KINDS, domain, () => domains, shortness);
  if (ip !== null) {
    // Those of one subscriber are looked for apart: the networks around it are the same for many requests.
    const network = networkAround(ip);
    add(NETWORK, ip, () => cidrsContaining(ip).slice(0, -network.wider), width);
    add(NETWORK, network.of, () => cidrsContaining(ip).slice(-network.wider), width);
  }
  if (mxHosts !== null && mxHosts.length > 0)
    add(
      MX_HOST,
      mxHosts.join(' '),
      () => hostPatterns(mxHosts),
      (value) => (isSuffix(value) ? shortness(value) : ONE_MAILBOX),
    );
  return lookups;
}
/** The /24 or /64 of an address, and how many networks are as wide or wider. */
const networkAround = (ip: string): { readonly of: string; readonly wider: number } =>
  ip.includes(':') ? { of: networkOf(ip), wider: 65 } : { of: ip.slice(0, ip.lastIndexOf('.')), wider: 25 };
const NO_RANK = () => 0;
/** Measures the name of a domain, or a suffix of mail hosts. */
const shortness = (name: string): number => -name.split('.').length;
/** Returns how many bits of a network are free. */
const width = (network: string): number => {
  const slash = network.indexOf('/');
  return slash < 0 ? ONE_MAILBOX : -Number(network.slice(slash + 1));
};
/** Filters of one address, or of one mail host, have this: no prefix and no name is as long. */
const ONE_MAILBOX = -1_000;
const EXACT_EMAIL = kindsLike('email');
const MAILBOX_KINDS = kindsLike('mailbox');
const DOMAIN_KINDS = kindsLike('domain');
const NETWORK = kindsLike('ip_address');
const MX_HOST = kindsLike('mx_host');

/** Returns each kind and value that a look-up is for. */
export const candidatesOf = ({ kinds, values }: FilterLookup): (readonly [kind: FilterKind, value: string])[] =>
  values().flatMap((value) => kinds.map((kind) => [kind, value] as const));

const SUFFIX_MARK = '*.';
const isSuffix = (value: string): boolean => value.startsWith(SUFFIX_MARK);

/** Returns the values that match one of the hosts. */
const hostPatterns = (hosts: readonly string[]): readonly string[] => [
  ...new Set([...hosts, ...hosts.flatMap(suffixesOf)]),
];

function suffixesOf(host: string): string[] {
  const labels = host.split('.');
  return labels.slice(1).map((_, i) => `${SUFFIX_MARK}${labels.slice(i + 1).join('.')}`);
}

/**
 * Returns the filter that counts of those that a look-up has found: the most specific one, and among equals one that
 * allows. Filters that have expired match nothing.
 */
export function mostSpecific(found: readonly FilterRule[], { rank }: FilterLookup, now: number): FilterRule | null {
  let best: FilterRule | null = null;
  for (const rule of found) {
    if (rule.expiresAt !== null && rule.expiresAt <= now) continue;
    const behind = best === null ? -1 : rank(rule.value) - rank(best.value);
    if (behind < 0 || (behind === 0 && best !== null && FILTER_ACTION_FACTS[best.action].yields)) best = rule;
  }
  return best;
}
