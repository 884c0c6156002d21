/**
 * As what filters are stored, and what a request is looked up by. Programs of the versions before know three kinds, and
 * take each row of them for a filter that blocks, exactly and for good. A filter that does anything else is of a kind
 * that they never look for.
 */
import type { FilterAction, FilterMatch, FilterType } from '../kernel/facts/filter-types.ts';
import { cidrsContaining } from '../kernel/ip.ts';

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
/** The counters of an account. */
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
  /** The domain and its parents, longest first. */
  readonly domains: readonly string[];
  /** The end user's IP: filters on it and on blocks that contain it match, the most specific first. */
  readonly ip: string | null;
  /** The domain's mail hosts; null: not known yet. */
  readonly mxHosts: readonly string[] | null;
}

/** What one filter would be found by. */
type Candidate = readonly [kind: FilterKind, value: string];

/**
 * The look-ups to make, most specific first: those of one array are equally specific. None for kinds of which the
 * account has no filter.
 */
export function* filterCandidates(counts: FilterCounts, keys: FilterKeys): Generator<readonly Candidate[]> {
  const present = (kinds: readonly FilterKind[]) => kinds.filter((kind) => counts[FILTER_KINDS[kind].count] > 0);
  const each = (kinds: readonly FilterKind[], value: string) => kinds.map((kind) => [kind, value] as const);
  if (keys.email !== null) {
    const exact = present(EXACT_EMAIL);
    if (exact.length > 0) yield each(exact, keys.email);
  }
  if (counts.filterMailboxes > 0 && keys.mailbox !== null) yield [['mailbox', keys.mailbox]];
  const domains = present(DOMAIN);
  if (domains.length > 0) for (const domain of keys.domains) yield each(domains, domain);
  const networks = present(NETWORK);
  if (networks.length > 0 && keys.ip !== null)
    for (const network of cidrsContaining(keys.ip)) yield each(networks, network);
  if (counts.filterMxHosts > 0 && keys.mxHosts !== null)
    for (const hosts of hostPatterns(keys.mxHosts)) yield hosts.map((host) => ['mx_host', host] as const);
}
const EXACT_EMAIL = kindsLike('email');
const DOMAIN = kindsLike('domain');
const NETWORK = kindsLike('ip_address');

/** The values that match one of the hosts: all names first, then `*.suffix` by length in labels, longest first. */
function hostPatterns(hosts: readonly string[]): readonly (readonly string[])[] {
  const patterns = new Set(hosts.flatMap(suffixesOf));
  const byLength = Map.groupBy(patterns, (pattern) => pattern.split('.').length);
  const suffixes = [...byLength].sort(([a], [b]) => b - a).map(([, equals]) => equals);
  return hosts.length === 0 ? [] : [[...new Set(hosts)], ...suffixes];
}

function suffixesOf(host: string): string[] {
  const labels = host.split('.');
  return labels.slice(1).map((_, i) => `*.${labels.slice(i + 1).join('.')}`);
}

/** The only one of equally specific filters that counts: `allow` wins. Those that have expired match nothing. */
export function winner<F extends { readonly action: FilterAction; readonly expiresAt: number | null }>(
  found: readonly F[],
  now: number,
): F | null {
  const inForce = found.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
  return inForce.find(({ action }) => action === 'allow') ?? inForce[0] ?? null;
}
