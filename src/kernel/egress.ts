/** Mail servers are asked from an address of this host, or by a SOCKS server on another one. */
import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';

/** It speaks SOCKS 5 (RFC 1928). */
export interface SocksServer {
  /** It may be a name or an IP address. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Certificates (PEM) that may have signed that of the server; null: those that the system trusts. */
  readonly ca: string | null;
  /** A function, so that nothing that prints or serializes the rest can show them. Null: none are sent. */
  readonly credentials: () => { readonly user: string; readonly password: string } | null;
}

export interface Egress {
  /** Appears in replies, logs and metrics. */
  readonly name: string;
  /** The name that is given with EHLO. */
  readonly helo: string;
  /** The sender is `user@host` or `<>`. */
  readonly from: string;
  /** The local address to connect from; null: the system chooses. */
  readonly bind: string | null;
  /** Mail servers are reached through this; null means directly. */
  readonly via: SocksServer | null;
  /** Versions of IP in which it reaches mail servers. */
  readonly families: readonly IpFamily[];
  /** Its share of the domains is relative to the weights of the others. */
  readonly weight: number;
  /** Mail operators that may be asked from here; null: all. */
  readonly operators: { readonly only: readonly string[] } | { readonly except: readonly string[] } | null;
}

/** Whether everything that an entry says is the same, password included. */
export function isSameEgress(a: Egress, b: Egress): boolean {
  const shown = ({ via, ...rest }: Egress) => ({ ...rest, via: via && { ...via, credentials: via.credentials() } });
  return isDeepStrictEqual(shown(a), shown(b));
}

export type IpFamily = 4 | 6;
export const IP_FAMILIES: readonly IpFamily[] = [4, 6];
/** Name of the egress whose local address the system chooses. */
export const DEFAULT_EGRESS = 'default';

/** The short form: one HELO name and sender for all local addresses; without any, the system chooses. */
export const egressesOf = ({
  helo,
  from,
  bind,
}: Pick<Egress, 'helo' | 'from'> & { bind: readonly string[] }): Egress[] => {
  const addresses: readonly (string | null)[] = bind.length === 0 ? [null] : bind;
  return addresses.map((address) => ({
    name: address ?? DEFAULT_EGRESS,
    helo,
    from,
    bind: address,
    via: null,
    families: address === null ? IP_FAMILIES : [isIP(address) === 6 ? 6 : 4],
    weight: 1,
    operators: null,
  }));
};
