/** What a question to the DNS can end in: the values that the rest of the engine reads. */
export type RecordType = 'A' | 'AAAA' | 'MX' | 'TXT' | 'PTR' | 'NS' | 'SOA' | 'CNAME';

/**
 * One record. Hosts are lower case without the last dot, `.` is the root; a name with octets that no host name has
 * begins with a backslash. `priority` is the MX preference, `minimum` is in seconds.
 */
export type DnsRecord =
  | { readonly type: 'A' | 'AAAA'; readonly address: string }
  | { readonly type: 'MX'; readonly host: string; readonly priority: number }
  | { readonly type: 'TXT'; readonly text: string }
  | { readonly type: 'PTR' | 'NS' | 'CNAME'; readonly host: string }
  | { readonly type: 'SOA'; readonly minimum: number };

export type DnsFailure = 'servfail' | 'refused' | 'timeout' | 'malformed' | 'network';

export type DnsAnswer =
  /** Records of the asked type only, at the end of the CNAME chain. `ttl` in seconds, the least of the chain. */
  | {
      readonly kind: 'records';
      readonly records: readonly DnsRecord[];
      readonly ttl: number;
      /** The names the CNAMEs led to, in order; empty without CNAME. */
      readonly cname: readonly string[];
    }
  | { readonly kind: 'nodata' | 'nxdomain'; readonly ttl: number; readonly cname: readonly string[] }
  /**
   * Could not tell; never cached. `network`: no server could be reached (refused port, no route). `malformed`: what came
   * was no DNS reply, or a CNAME chain without end.
   */
  | { readonly kind: DnsFailure };

/** A name that can be put into a question: printable ASCII, labels of 1 to 63 octets, 253 in all (RFC 1035 §2.3.4). */
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

/** As `canBeAsked`, of letters, digits, hyphens and underscores alone: what a mail host may be called. */
export const isHostName = (name: string): boolean => canBeAsked(name) && /^[a-z0-9_.-]+$/.test(name) && name !== '.';
