import { readFileSync } from 'node:fs';
import { dataFile } from '../data.ts';
import type { DnsEvidence } from '../evidence.ts';

/** A mail operator that never tells: it accepts recipients that do not exist (data/smtp-operators.json). */
export interface SilentOperator {
  /** Name of the provider, as the list of mail hosts has it. */
  readonly operator: string;
  readonly why: string;
  readonly source: string;
}

export function loadSilentOperators(path: string = dataFile('smtp-operators.json')): readonly SilentOperator[] {
  return JSON.parse(readFileSync(path, 'utf8')) as SilentOperator[];
}

/**
 * Who is asked, for pace and caches: the provider if it is a known one, else its mail hosts' registrable domains. Not
 * the recipient's domain: thousands of domains are one operator to whoever runs the servers.
 */
export function operatorKey(dns: DnsEvidence, registrableDomain: (host: string) => string | null): string {
  if (dns.provider !== null) return dns.provider.name;
  return [...new Set(dns.hosts.map(({ host }) => registrableDomain(host) ?? host))].sort().join(' ');
}
