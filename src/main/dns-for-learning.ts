import type { Options } from '../config/read.ts';
import type { LearnDns } from '../engine/data/learn.ts';
import { createResolver } from '../engine/dns/resolver.ts';
import { routable } from '../engine/dns/routable.ts';
import { systemServers } from '../engine/dns/servers.ts';
import type { Clock } from '../kernel/clock.ts';

/** Hosts of many listed domains are the same; those of verified addresses are not kept for them. */
const CACHED_NAMES = 5_000;

/** A resolver for one step of learning mail hosts, whose answers do not displace those for verifications. */
export const dnsForLearning = (options: Options, clock: Clock) => (): Omit<LearnDns, 'signal'> & { close(): void } => {
  const resolver = createResolver({
    servers: options.dnsServers ?? systemServers(),
    timeoutMs: options.dnsTimeoutMs,
    controlNames: options.dnsControlNames,
    laboratory: options.allowPrivateNetworks,
    cacheNames: CACHED_NAMES,
    clock,
  });
  const mayCount = (address: string) =>
    routable(address, { allowPrivate: options.allowPrivateNetworks, own: new Set() });
  return { resolver, clock, mayCount, close: () => resolver.close() };
};
