import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { canonicalIp, ipMatcher, parseHostPort, withoutZone } from '../kernel/ip.ts';

/**
 * Who calls: the socket's address, or, only behind the proxies named in the configuration, the one they forward: the
 * right-most entry of X-Forwarded-For that is no trusted proxy itself. Canonical; v4-mapped addresses as IPv4.
 */
export function callerIp(trusted: readonly string[]): (request: IncomingMessage) => string {
  const isProxy = ipMatcher(trusted);
  // A connection has one far end; finding its canonical form again for each of its requests would be for nothing.
  const peers = new WeakMap<Socket, string>();
  const peerOf = (connection: Socket): string => {
    let peer = peers.get(connection);
    if (peer === undefined) {
      peer = peerIp(connection);
      peers.set(connection, peer);
    }
    return peer;
  };
  return (request) => {
    const socket = peerOf(request.socket);
    if (trusted.length === 0 || !isProxy(socket)) return socket;
    const hops = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',').slice(-32).reverse();
    let caller = socket;
    for (const hop of hops) {
      const ip = hopIp(hop.trim());
      // What is not an address was not written by a proxy that we trust: stop at the last one that was.
      if (ip === null) break;
      caller = ip;
      if (!isProxy(ip)) break;
    }
    return caller;
  };
}

/** The far end of a connection, canonical; `0.0.0.0` once it is closed. */
export const peerIp = (connection: Pick<Socket, 'remoteAddress'>): string =>
  canonicalIp(withoutZone(connection.remoteAddress ?? '')) ?? '0.0.0.0';

/** Some proxies append the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function hopIp(hop: string): string | null {
  const parsed = parseHostPort(hop, 1);
  return parsed && withoutZone(parsed.address);
}
