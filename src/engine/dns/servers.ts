/** The DNS servers to use: from an option, or from the system. */
import { getServers } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';

export interface Server {
  /** An IP address; IPv6 without brackets, with its zone, if any (`fe80::1%eth0`). */
  readonly address: string;
  readonly port: number;
}

const DNS_PORT = 53;

/** `1.2.3.4`, `1.2.3.4:5353`, `::1`, `[::1]`, `[::1]:5353` → the server, or null for any other form. */
function parseServer(text: string): Server | null {
  const bracketed = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(text);
  const [address = '', port] = bracketed ? bracketed.slice(1, 3) : isIPv6(text) ? [text] : text.split(':', 2);
  if (bracketed ? !isIPv6(address) : isIP(address) === 0) return null;
  if (!bracketed && !isIPv6(text) && text.split(':').length > 2) return null;
  if (port === undefined) return { address, port: DNS_PORT };
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  return number >= 1 && number <= 65535 ? { address, port: number } : null;
}

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

/** The form that `parseServers` reads. */
export const formatServer = ({ address, port }: Server): string =>
  isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;

/** The system's servers (resolv.conf and its like); 127.0.0.1 when it names no usable one. */
export function systemServers(): Server[] {
  const servers = getServers()
    .map(parseServer)
    .filter((server) => server !== null);
  return servers.length > 0 ? servers : [{ address: '127.0.0.1', port: DNS_PORT }];
}
