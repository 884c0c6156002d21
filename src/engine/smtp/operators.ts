import { dataFile, readData } from '../data.ts';
import type { DnsEvidence } from '../evidence.ts';

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

/**
 * Key of the operator, for throttling and caches: the provider if known, else the mail hosts' registrable domains. Not
 * the recipient's domain: one operator may serve thousands of domains.
 */
export function operatorKey(dns: DnsEvidence, registrableDomain: (host: string) => string | null): string {
  if (dns.provider !== null) return dns.provider.name;
  return [...new Set(dns.hosts.map(({ host }) => registrableDomain(host) ?? host))].sort().join(' ');
}
