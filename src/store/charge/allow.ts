/** A key's IP allowlist: canonical addresses and CIDRs of both families. */
import { BlockList } from 'node:net';

const MOST = 1_000;

type Family = 'ipv4' | 'ipv6';
/** A list per family: a single BlockList would match IPv4 addresses against ::/0, as IPv4-mapped ones. */
type Lists = Readonly<Record<Family, BlockList>>;
const cache = new Map<string, Lists>();

const familyOf = (ip: string): Family => (ip.includes(':') ? 'ipv6' : 'ipv4');

function build(json: string): Lists {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  const entries: string[] = JSON.parse(json);
  for (const entry of entries) {
    const family = familyOf(entry);
    const slash = entry.indexOf('/');
    if (slash < 0) lists[family].addAddress(entry, family);
    else lists[family].addSubnet(entry.slice(0, slash), Number(entry.slice(slash + 1)), family);
  }
  return lists;
}

/**
 * Whether `ip` (canonical; v4-mapped already folded to v4) is on the list, given as the JSON text that the key's row
 * holds. An empty list allows every address. The text is the cache key, so an edited list is never stale.
 */
export function isAllowed(json: string, ip: string): boolean {
  if (json === '[]') return true;
  let lists = cache.get(json);
  if (lists === undefined) {
    if (cache.size >= MOST) cache.clear();
    lists = build(json);
    cache.set(json, lists);
  }
  const family = familyOf(ip);
  return lists[family].check(ip, family);
}
