/** The DNS servers to use: from an option, or from the system. */
import { getServers } from 'node:dns';
import { DNS_PORT } from '../../kernel/facts/limits.ts';
import { type HostPort, parseHostPort } from '../../kernel/ip.ts';

export type Server = HostPort;

const parseServer = (text: string): Server | null => parseHostPort(text, DNS_PORT);

/**
 * The servers in a comma-separated list; the default port is 53. On a fault: the first entry that is not `ip[:port]` or
 * `[ipv6][:port]`, as written.
 */
export function parseServers(text: string): { ok: true; servers: Server[] } | { ok: false; entry: string } {
  const servers: Server[] = [];
  for (const entry of text.split(',')) {
    const server = parseServer(entry.trim());
    if (!server) return { ok: false, entry: entry.trim() };
    servers.push(server);
  }
  return { ok: true, servers };
}

/** The system's servers (resolv.conf and its like); 127.0.0.1 when it names no usable one. */
export function systemServers(): Server[] {
  const servers = getServers()
    .map(parseServer)
    .filter((server) => server !== null);
  return servers.length > 0 ? servers : [{ address: '127.0.0.1', port: DNS_PORT }];
}
