/** Where a URL leads: its host, and the addresses of it that may be dialed. */
import { isIP } from 'node:net';
import type { Clock } from '../../kernel/clock.ts';
import type { AttemptError } from '../../kernel/facts/events.ts';
import type { DnsAnswer } from '../dns/message.ts';
import type { Resolver } from '../dns/resolver.ts';
import { routable } from '../dns/routable.ts';

export interface DestinationDeps {
  readonly resolver: Pick<Resolver, 'ask'>;
  readonly clock: Clock;
  /** Test setups only: any address. */
  readonly allowPrivate: boolean;
  readonly ownAddresses: ReadonlySet<string>;
}

interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Addresses of each family that are tried. */
const ADDRESSES_MAX = 2;

/** The host without the brackets of an IPv6 address (RFC 3986 §3.2.2). */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

export const isLiteral = (url: URL): boolean => isIP(hostOf(url)) !== 0;

/** The host cannot be dialed. */
export class NoAddressError extends Error {
  readonly reason: Extract<AttemptError, 'unknown_host' | 'dns_failure' | 'timeout'>;
  constructor(reason: NoAddressError['reason']) {
    super(`No address: ${reason}.`);
    this.name = 'NoAddressError';
    this.reason = reason;
  }
}

/**
 * The addresses of a host name that may be dialed, at least one. Throws NoAddressError, which does not tell a name with
 * other addresses from one without any: what internal names exist is nobody's business.
 */
export async function resolveHost(
  { resolver, clock, allowPrivate, ownAddresses: own }: DestinationDeps,
  name: string,
  deadline: number,
): Promise<readonly HostAddress[]> {
  const answers = await Promise.all([resolver.ask(name, 'A', { deadline }), resolver.ask(name, 'AAAA', { deadline })]);
  const dialable = (answer: DnsAnswer, family: HostAddress['family']): HostAddress[] => {
    const all = answer.kind === 'records' ? answer.records.flatMap((r) => ('address' in r ? [r.address] : [])) : [];
    const some = all.filter((address) => routable(address, { allowPrivate, own })).slice(0, ADDRESSES_MAX);
    return some.map((address) => ({ address, family }));
  };
  const found = [...dialable(answers[0], 4), ...dialable(answers[1], 6)];
  if (found.length > 0) return found;
  const kinds = answers.map(({ kind }) => kind);
  const isSettled = kinds.every((kind) => kind === 'records' || kind === 'nodata' || kind === 'nxdomain');
  if (isSettled) throw new NoAddressError('unknown_host');
  throw new NoAddressError(clock.elapsed() >= deadline ? 'timeout' : 'dns_failure');
}
