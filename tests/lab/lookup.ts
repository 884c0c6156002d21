/** Look-ups of mail servers, each on a DNS server of its own. */
import { onTestFinished } from 'vitest';
import { lookUpMailServers, type MxLookupOptions, runLookup } from '../../src/engine/dns/mx-lookup.ts';
import { createResolver, type Resolver } from '../../src/engine/dns/resolver.ts';
import type { DnsEvidence } from '../../src/engine/evidence.ts';
import { systemClock as clock } from '../../src/kernel/clock.ts';
import { type DnsLab, type Zone, zone } from './dns.ts';

export const TOOLS: MxLookupOptions = {
  hostsWanted: 1,
  random: () => 0,
  allowPrivate: false,
  own: new Set(),
  domainData: { provider: (host) => (host.endsWith('.big.test') ? { name: 'big', kind: 'mailbox' } : null) },
};
/** An address that may be dialled. */
export const PUBLIC = '8.8.8.8';

/** A DNS server with these records, and a resolver that asks it; both are closed after the test. */
export async function world(records: Zone, timeoutMs = 300): Promise<{ dns: DnsLab; resolver: Resolver }> {
  const dns = await zone(records);
  const resolver = createResolver({ servers: dns.servers, timeoutMs, clock });
  onTestFinished(async () => {
    resolver.close();
    await dns.close();
  });
  return { dns, resolver };
}

/** `ms`: until the deadline. */
export function run(
  resolver: Resolver,
  domain: string,
  engine: Partial<MxLookupOptions> = {},
  ms = 10_000,
  extraWaitMs = 0,
) {
  const limit = { deadlineMs: clock.elapsed() + ms, extraWaitMs, clock };
  return runLookup(lookUpMailServers(domain, { ...TOOLS, ...engine }), resolver, limit);
}

/** The look-up in a world of its own. */
export async function find(
  records: Zone,
  engine: Partial<MxLookupOptions> = {},
  domain = 'd.test',
): Promise<DnsEvidence> {
  return run((await world(records)).resolver, domain, engine);
}
