/** A key's IP allowlist: canonical addresses and CIDRs of both families. */
import { BlockList } from 'node:net';

const MOST = 1_000;

type Family = 'ipv4' | 'ipv6';
/** A list per family: one BlockList for both would find v4 addresses in ::/0, as v4-mapped ones. */
type Lists = Readonly<Record<Family, BlockList>>;
const cache = new Map<string, Lists>();

const familyOf = (ip: string): Family => (ip.includes(':') ? 'ipv6' : 'ipv4');

function build(json: string): Lists {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const entry of JSON.parse(json) as string[]) {
    const family = familyOf(entry);
    const slash = entry.indexOf('/');
    if (slash < 0) lists[family].addAddress(entry, family);
    else lists[family].addSubnet(entry.slice(0, slash), Number(entry.slice(slash + 1)), family);
  }
  return lists;
}

/**
 * Whether `ip` (canonical; v4-mapped already folded to v4) is on the list, given as the JSON text that the key's row
 * holds. The empty list lets everyone in. The text is the cache's key, so an edited list is a new entry, never stale.
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
