/** Results of a DNS query, as the rest of the engine sees them. */
export type RecordType = 'A' | 'AAAA' | 'MX' | 'TXT' | 'PTR' | 'NS' | 'SOA' | 'CNAME';

/**
 * One record. Hosts are lower case without the trailing dot, `.` is the root; a name with octets not allowed in a host
 * name begins with a backslash. `priority` is the MX preference, `minimum` is in seconds.
 */
export type DnsRecord =
  | { readonly type: 'A' | 'AAAA'; readonly address: string }
  | { readonly type: 'MX'; readonly host: string; readonly priority: number }
  | { readonly type: 'TXT'; readonly text: string }
  | { readonly type: 'PTR' | 'NS' | 'CNAME'; readonly host: string }
  | { readonly type: 'SOA'; readonly minimum: number };

/** How a server lies (trust.ts). */
export type Distrust = 'denies_every_name' | 'answers_every_name';
/** Why a reply is not used. `unconfirmed`: a denial, while the control queries fail. */
export type Untrusted = Distrust | 'unconfirmed';
export type DnsFailure = 'servfail' | 'refused' | 'timeout' | 'malformed' | 'network' | Untrusted;

const UNTRUSTED: Readonly<Record<Untrusted, true>> = {
  denies_every_name: true,
  answers_every_name: true,
  unconfirmed: true,
};
export const isUntrusted = (kind: string): kind is Untrusted => Object.hasOwn(UNTRUSTED, kind);
export const isLie = (kind: string): kind is Distrust => isUntrusted(kind) && kind !== 'unconfirmed';

export type DnsAnswer =
  /** Records of the queried type, at the end of the CNAME chain. `ttl`: seconds, the lowest of the chain. */
  | {
      readonly kind: 'records';
      readonly records: readonly DnsRecord[];
      readonly ttl: number;
      /** CNAME targets, in order; empty without CNAME. */
      readonly cname: readonly string[];
    }
  | { readonly kind: 'nodata' | 'nxdomain'; readonly ttl: number; readonly cname: readonly string[] }
  /**
   * Inconclusive; never cached. `network`: no server could be reached (port closed, no route). `malformed`: an invalid
   * DNS reply, or an endless CNAME chain.
   */
  | { readonly kind: DnsFailure };

/** A name that can be queried: printable ASCII, labels of 1 to 63 octets, 253 in all (RFC 1035 §2.3.4). */
export function canBeAsked(name: string): boolean {
  if (name === '.') return true;
  if (name.length === 0 || name.length > 253) return false;
  let label = 0;
  for (let i = 0; i < name.length; i++) {
    const c = name.charCodeAt(i);
    if (c === 0x2e) {
      if (label === 0) return false;
      label = 0;
    } else if (c <= 0x20 || c >= 0x7f || c === 0x5c || ++label > 63) return false;
  }
  return label > 0;
}

/** As `canBeAsked`, but only letters, digits, hyphens and underscores: a valid name for a mail host. */
export const isHostName = (name: string): boolean => canBeAsked(name) && /^[a-z0-9_.-]+$/.test(name) && name !== '.';
