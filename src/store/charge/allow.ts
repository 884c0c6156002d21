/** A key's IP allowlist: canonical addresses and CIDRs of both families. */
import { ipMatcher } from '../../kernel/ip.ts';

const MOST = 1_000;

const cache = new Map<string, (ip: string) => boolean>();

/**
 * Whether `ip` (canonical; v4-mapped already folded to v4) is on the list, given as the JSON text that the key's row
 * holds. An empty list allows every address. The text is the cache key, so an edited list is never stale.
 */
export function isAllowed(json: string, ip: string): boolean {
  if (json === '[]') return true;
  let matches = cache.get(json);
  if (matches === undefined) {
    if (cache.size >= MOST) cache.clear();
    const entries: string[] = JSON.parse(json);
    matches = ipMatcher(entries);
    cache.set(json, matches);
  }
  return matches(ip);
}
