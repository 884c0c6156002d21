import { registrableDomain } from '../address/domain.ts';
import { dataFile, readData } from '../data.ts';
import type { Lists } from '../lists/lists.ts';

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
export const OTHERS = 'other';

/** Whose a mail host is. */
export interface HostOwners {
  readonly registrableDomain: (host: string) => string | null;
  /** Name of the provider in the list of mail hosts, or null. */
  readonly providerOf: (host: string) => string | null;
}

export const hostOwners = (lists: () => Pick<Lists, 'provider'>): HostOwners => ({
  registrableDomain,
  providerOf: (host) => lists().provider(host)?.name ?? null,
});

/**
 * Key of the operator, for throttling and caches: of each mail host, the provider if known, else the registrable
 * domain. Not the recipient's domain: one operator may serve thousands of domains. All hosts count: a provider's name
 * in one MX record of a domain does not make the others its hosts, and what they reply must not be held against it.
 */
export function operatorKey(
  dns: { readonly hosts: readonly { readonly host: string }[] },
  { registrableDomain, providerOf }: HostOwners,
): string {
  const owners = dns.hosts.map(({ host }) => providerOf(host) ?? registrableDomain(host) ?? host);
  return [...new Set(owners)].sort().join(' ');
}
