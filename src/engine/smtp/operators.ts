/** The operators of mail hosts: whose a host is, what is known of them, and how much they are used. */
import { registrableDomain } from '../address/parse.ts';
import type { DomainData } from '../data/domain-data.ts';
import { dataFile, readData } from '../data-files.ts';
import type { LimiterUse } from './limiter.ts';

/** An operator that accepts recipients that do not exist (data/smtp-operators.json). */
export interface SilentOperator {
  /** Name of the provider, as the list of mail hosts has it. */
  readonly operator: string;
  readonly why: string;
  readonly source: string;
}

export function loadSilentOperators(path: string = dataFile('smtp-operators.json')): readonly SilentOperator[] {
  return JSON.parse(readData(path));
}

/** All operators that are no provider of the list of mail hosts. */
export const OTHER_OPERATORS = 'other';

/** Whose a mail host is. */
export const hostOwners = (domainData: () => Pick<DomainData, 'provider'>) => ({
  registrableDomain,
  /** Returns the name of the provider in the list of mail hosts, or null. */
  providerOf: (host: string) => domainData().provider(host)?.name ?? null,
});

export type HostOwners = ReturnType<typeof hostOwners>;

const OPERATOR_DOMAINS_MAX = 3;

/** Domains of an operator itself, by the key of `mailOperatorKey`: a few are enough. */
export function domainsOfOperator(
  operator: string,
  domainData: Pick<DomainData, 'providerDomains' | 'providerNames'>,
): string[] {
  if (domainData.providerNames.has(operator))
    return domainData.providerDomains(operator).slice(0, OPERATOR_DOMAINS_MAX);
  return operator.includes(' ') ? [] : [operator];
}
/**
 * Key of the operator, for throttling and caches: of each mail host, the provider if known, else the registrable
 * domain. Not the recipient's domain: one operator may serve thousands of domains. All hosts count: a provider's name
 * in one MX record of a domain does not make the others its hosts, and what they reply must not be held against it.
 */
export function mailOperatorKey(
  dns: { readonly hosts: readonly { readonly host: string }[] },
  { registrableDomain, providerOf }: HostOwners,
): string {
  const owners = dns.hosts.map(({ host }) => providerOf(host) ?? registrableDomain(host) ?? host);
  return [...new Set(owners)].sort().join(' ');
}

/** How much a mail operator is used and slows us down, for metrics. */
export interface OperatorUse {
  /** The operator is the name of the provider, or OTHER_OPERATORS. */
  readonly operator: string;
  readonly dialoguesOpen: number;
  /** Counts dialogues so far. */
  readonly begun: number;
  /** Counts checks. */
  readonly waiting: number;
  /** Circuit breakers, one for each egress address. */
  readonly breakersOpen: number;
  readonly breakersHalfOpen: number;
  /** The pace is the lowest rate relative to the configured one. */
  readonly pace: number;
}

/** Which operators are named: at most `most` of those that `isNamed` admits. */
export interface OperatorNames {
  readonly isNamed: (operator: string) => boolean;
  readonly most: number;
}

/**
 * Returns the use of a bounded number of operators: the `most` most active of those that `isNamed` admits, and all
 * others together. Names that are no provider's come from the DNS of the addresses that are checked, so they are
 * neither few nor ours to tell.
 */
export function useByOperator(
  limiters: Iterable<readonly [operator: string, use: LimiterUse]>,
  { isNamed, most }: OperatorNames,
): OperatorUse[] {
  const uses = new Map<string, OperatorUse>();
  const add = (use: OperatorUse) => uses.set(use.operator, addUse(uses.get(use.operator) ?? unused(use.operator), use));
  add(unused(OTHER_OPERATORS));
  for (const [operator, { open, begun, waiting, breaker, pace }] of limiters) {
    add({
      operator: isNamed(operator) ? operator : OTHER_OPERATORS,
      dialoguesOpen: open,
      begun,
      waiting,
      pace,
      breakersOpen: breaker === 'open' ? 1 : 0,
      breakersHalfOpen: breaker === 'half_open' ? 1 : 0,
    });
  }
  const named = [...uses.values()]
    .filter(({ operator }) => operator !== OTHER_OPERATORS)
    .sort((a, b) => b.begun - a.begun);
  for (const use of named.slice(most)) add({ ...use, operator: OTHER_OPERATORS });
  return [...named.slice(0, most), uses.get(OTHER_OPERATORS) ?? unused(OTHER_OPERATORS)];
}

const unused = (operator: string): OperatorUse => ({
  operator,
  dialoguesOpen: 0,
  begun: 0,
  waiting: 0,
  breakersOpen: 0,
  breakersHalfOpen: 0,
  pace: 1,
});

const addUse = (a: OperatorUse, b: OperatorUse): OperatorUse => ({
  operator: a.operator,
  dialoguesOpen: a.dialoguesOpen + b.dialoguesOpen,
  begun: a.begun + b.begun,
  waiting: a.waiting + b.waiting,
  breakersOpen: a.breakersOpen + b.breakersOpen,
  breakersHalfOpen: a.breakersHalfOpen + b.breakersHalfOpen,
  pace: Math.min(a.pace, b.pace),
});
