/** What is known of top-level domains without the DNS: the special-use ones, and those of the lists. */
import { parse } from 'tldts';
import { dataFile, readData } from '../data.ts';

/**
 * IANA's special-use domain names (https://www.iana.org/assignments/special-use-domain-names/, read 2026-11) and
 * `internal`, which ICANN reserved for private use in 2024. Not here: example.com, .net and .org, which are special
 * but delegated, and publish a null MX themselves.
 */
const SPECIAL_USE: ReadonlySet<string> = new Set([
  'test', // RFC 6761
  'example', // RFC 6761
  'invalid', // RFC 6761
  'localhost', // RFC 6761
  'local', // RFC 6762
  'onion', // RFC 7686
  'alt', // RFC 9476
  'internal', // ICANN board, 2024-07-29
  'home.arpa', // RFC 8375
  'ipv4only.arpa', // RFC 8880
  'resolver.arpa', // RFC 9462
  'service.arpa', // RFC 9665
  'eap.arpa', // RFC 9965
  'eap-noob.arpa', // RFC 9140
  '6tisch.arpa', // RFC 9031
  '10.in-addr.arpa', // RFC 6761
  '168.192.in-addr.arpa', // RFC 6761
  '254.169.in-addr.arpa', // RFC 6762
  '170.0.0.192.in-addr.arpa', // RFC 8880
  '171.0.0.192.in-addr.arpa', // RFC 8880
  '8.e.f.ip6.arpa', // RFC 6762
  '9.e.f.ip6.arpa', // RFC 6762
  'a.e.f.ip6.arpa', // RFC 6762
  'b.e.f.ip6.arpa', // RFC 6762
  ...Array.from({ length: 16 }, (_, i) => `${i + 16}.172.in-addr.arpa`), // RFC 6761
]);

/**
 * True for a special-use name, which has no public mail whatever the DNS says, and everything under it. `domain`:
 * lower-case ASCII with a dot.
 */
export function isSpecialUse(domain: string): boolean {
  const last = domain.lastIndexOf('.');
  if (domain.slice(last + 1) !== 'arpa') return SPECIAL_USE.has(domain.slice(last + 1));
  for (let at = 0; at !== -1; at = domain.indexOf('.', at + 1)) {
    if (SPECIAL_USE.has(at === 0 ? domain : domain.slice(at + 1))) return true;
  }
  return false;
}

const AS_HOST_NAME = { extractHostname: false, validateHostname: false, detectIp: false } as const;

/** IANA's list, read when it is first needed. */
let delegated: ReadonlySet<string> | null = null;

/**
 * Whether IANA's list or the public suffix list has this top-level domain. Neither alone is enough: a TLD may be
 * without a suffix rule of its own (`za`), and one list is older than the other. Even both do not show that a TLD does
 * not exist, because it may have been delegated since: only the DNS does. `tld`: lower-case ASCII without a dot.
 */
export function tldIsListed(tld: string): boolean {
  delegated ??= new Set(
    readData(dataFile('tlds.txt'))
      .split('\n')
      .filter((line) => /^[^#]/.test(line)),
  );
  if (delegated.has(tld)) return true;
  // The suffix list contains `onion` as if it were delegated.
  return !SPECIAL_USE.has(tld) && parse(tld, AS_HOST_NAME).isIcann === true;
}

/** The top-level domain of `domain` if only the DNS knows whether it exists. `domain`: lower-case ASCII with a dot. */
export function unlistedTld(domain: string): string | null {
  const tld = domain.slice(domain.lastIndexOf('.') + 1);
  return isSpecialUse(domain) || tldIsListed(tld) ? null : tld;
}
