/** A key's IP allowlist: canonical addresses and CIDRs of both families. */
import { BlockList } from 'node:net';

const MOST = 1_000;
const lists = new Map<string, BlockList>();

const familyOf = (ip: string): 'ipv4' | 'ipv6' => (ip.includes(':') ? 'ipv6' : 'ipv4');

function build(json: string): BlockList {
  const list = new BlockList();
  for (const entry of JSON.parse(json) as string[]) {
    const slash = entry.indexOf('/');
    if (slash < 0) list.addAddress(entry, familyOf(entry));
    else list.addSubnet(entry.slice(0, slash), Number(entry.slice(slash + 1)), familyOf(entry));
  }
  return list;
}

/**
 * Whether `ip` (canonical; v4-mapped already folded to v4) is on the list, given as the JSON text that the key's row
 * holds. The empty list lets everyone in. The text is the cache's key, so an edited list is a new entry, never stale.
 */
export function isAllowed(json: string, ip: string): boolean {
  if (json === '[]') return true;
  let list = lists.get(json);
  if (list === undefined) {
    if (lists.size >= MOST) lists.clear();
    list = build(json);
    lists.set(json, list);
  }
  return list.check(ip, familyOf(ip));
}
