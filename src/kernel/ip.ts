/**
 * The one parser of IP addresses, CIDR blocks and `host:port`. Canonical forms: dotted decimal for v4, RFC 5952 for v6,
 * a v4-mapped address as v4, a block with its host bits zeroed, a block of one address as the address.
 *
 * Written for speed, because every verification checks some addresses: well under 1 µs for each. Without Node, because
 * the dashboard uses it as well.
 */
import { COLON } from './facts/ascii.ts';

/** Groups have 16 bits, the most significant one is first: IPv4 has two, IPv6 eight. */
export type Groups = readonly number[];

export interface Block {
  readonly groups: Groups;
  readonly bits: number;
}

const PREFIX_LENGTH = /^(?:0|[1-9]\d{0,2})$/;

/**
 * Parses an address, or returns null: four plain decimal numbers, or any form of RFC 4291 §2.2 without a zone.
 * (`0x7f.1`, `127.1`, `010.0.0.1` and `2130706433`, which mean different hosts to different parsers, are not addresses
 * here.) A v4-mapped address stays v6.
 */
export const parseIp = (ip: string): Groups | null => (ip.includes(':') ? parseV6(ip) : parseV4(ip, 0));

const DOT = 0x2e;
const ZERO = 0x30;

/** Reads four numbers without leading zeros, from `from` to the end, as two groups. */
function parseV4(ip: string, from: number): Groups | null {
  let [value, octets, octet, digits] = [0, 0, 0, 0];
  for (let i = from; i <= ip.length; i++) {
    const c = i < ip.length ? ip.charCodeAt(i) : DOT;
    if (c === DOT) {
      if (digits === 0 || octets === 4) return null;
      value = value * 256 + octet;
      octets += 1;
      octet = 0;
      digits = 0;
      continue;
    }
    const hasLeadingZero = digits > 0 && octet === 0;
    if (c < ZERO || c > 0x39 || hasLeadingZero) return null;
    octet = octet * 10 + c - ZERO;
    if (octet > 255) return null;
    digits += 1;
  }
  return octets === 4 ? [Math.floor(value / 65536), value % 65536] : null;
}

function parseV6(ip: string): Groups | null {
  const groups: number[] = [];
  let [gap, start, value] = [-1, 0, 0];
  for (let i = 0; i <= ip.length; i++) {
    const c = i < ip.length ? ip.charCodeAt(i) : COLON;
    if (c === DOT) {
      const last = parseV4(ip, start);
      if (last === null) return null;
      groups.push(...last);
      break;
    }
    if (c !== COLON) {
      const digit = hexDigit(c);
      if (digit < 0 || i - start === 4) return null;
      value = value * 16 + digit;
      continue;
    }
    if (i > start) groups.push(value);
    // The text ends just after a colon: that of `::`, or one too many.
    else if (i === ip.length) {
      if (gap !== groups.length) return null;
    } else if (i === 0) {
      if (ip.charCodeAt(1) !== COLON) return null;
      // This is the second colon of the only `::`.
    } else if (gap < 0) gap = groups.length;
    else return null;
    if (groups.length > 8) return null;
    start = i + 1;
    value = 0;
  }
  if (gap < 0) return groups.length === 8 ? groups : null;
  // `::` must stand for at least one group.
  if (groups.length > 7) return null;
  groups.splice(gap, 0, ...new Array<number>(8 - groups.length).fill(0));
  return groups;
}

/** Returns -1 for anything else. */
function hexDigit(code: number): number {
  if (code >= ZERO && code <= 0x39) return code - ZERO;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

const addressBits = (groups: Groups): number => groups.length * 16;

const isMapped = (g: Groups): boolean =>
  g.length === 8 && g[5] === 0xffff && g[0] === 0 && g[1] === 0 && g[2] === 0 && g[3] === 0 && g[4] === 0;

/** Does what `parseIp` does, but takes a v4-mapped address as v4. */
function parseUnmapped(ip: string): Groups | null {
  const groups = parseIp(ip);
  return groups && isMapped(groups) ? groups.slice(6) : groups;
}

/** Makes the mask of one group of which the first `bits` count. */
const maskOf = (bits: number): number => (bits >= 16 ? 0xffff : bits <= 0 ? 0 : (0xffff << (16 - bits)) & 0xffff);

/** Reads an address or a block as written, without host bits; null for anything else. */
export function parseCidr(text: string): Block | null {
  const slash = text.indexOf('/');
  const groups = parseIp(slash < 0 ? text : text.slice(0, slash));
  if (groups === null) return null;
  if (slash < 0) return { groups, bits: addressBits(groups) };
  const prefix = text.slice(slash + 1);
  if (!PREFIX_LENGTH.test(prefix) || Number(prefix) > addressBits(groups)) return null;
  const bits = Number(prefix);
  return { groups: groups.map((group, i) => group & maskOf(bits - i * 16)), bits };
}

/** The block in its own family: v4-mapped of /96 or longer becomes v4. */
const unmapped = ({ groups, bits }: Block): Block =>
  isMapped(groups) && bits >= 96 ? { groups: groups.slice(6), bits: bits - 96 } : { groups, bits };

/** Whether the first `bits` bits are equal; false for different address families. */
export function inBlock(address: Groups, { groups, bits }: Block): boolean {
  if (address.length !== groups.length) return false;
  const whole = bits >> 4;
  for (let i = 0; i < whole; i++) if (address[i] !== groups[i]) return false;
  const rest = 16 - (bits & 15);
  return rest === 16 || (address[whole] ?? 0) >> rest === (groups[whole] ?? 0) >> rest;
}

/** Canonical text of an address, v4-mapped ones as v6. */
export function textOf(groups: Groups): string {
  if (groups.length === 2) {
    const [high = 0, low = 0] = groups;
    return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
  }
  return v6Text(groups);
}

/** RFC 5952 §4: lower case, no leading zeros, the first longest run of two or more zero groups as `::`. */
function v6Text(groups: Groups): string {
  let start = -1;
  let end = -1;
  for (let i = 0; i < 8; i++) {
    if (groups[i] !== 0) continue;
    const begin = i;
    while (i < 7 && groups[i + 1] === 0) i++;
    const length = i + 1 - begin;
    if (length > 1 && length > end - start) {
      start = begin;
      end = i + 1;
    }
  }
  let text = '';
  for (let i = 0; i < 8; i++) {
    if (i === start) {
      text += '::';
      i = end - 1;
    } else {
      text += (i === 0 || i === end ? '' : ':') + (groups[i] ?? 0).toString(16);
    }
  }
  return text;
}

/**
 * Returns one address in canonical form (`::ffff:192.0.2.1` → `192.0.2.1`), or null. Blanks around it are not allowed.
 */
export function canonicalIp(text: string): string | null {
  const groups = parseUnmapped(text);
  return groups && textOf(groups);
}

/**
 * Returns an address or a block in canonical form, or null: `10.1.2.3/8` → `10.0.0.0/8`, `2001:DB8::1/128` →
 * `2001:db8::1`.
 */
export function canonicalCidr(text: string): string | null {
  const parsed = parseCidr(text);
  if (parsed === null) return null;
  const { groups, bits } = unmapped(parsed);
  return bits === addressBits(groups) ? textOf(groups) : `${textOf(groups)}/${bits}`;
}

/**
 * Every canonical value that covers the address, narrowest first: 33 for v4, 129 for v6; none for an invalid address.
 * One indexed lookup of these finds a matching filter, however many filters there are.
 */
export function cidrsContaining(ip: string): readonly string[] {
  const parsed = parseUnmapped(ip);
  if (parsed === null) return [];
  if (parsed.length === 2) return v4Containing(parsed);
  const groups = [...parsed];
  const values = [textOf(groups)];
  for (let bits = addressBits(groups) - 1; bits >= 0; bits--) {
    const at = bits >> 4;
    groups[at] = (groups[at] ?? 0) & maskOf(bits & 15);
    values.push(`${textOf(groups)}/${bits}`);
  }
  return values;
}

/** As above, which for v4 is most of what a look-up costs: only the octet in which the block ends is masked. */
function v4Containing(groups: Groups): readonly string[] {
  const [high = 0, low = 0] = groups;
  const octets = [high >> 8, high & 255, low >> 8, low & 255];
  const values = [textOf(groups)];
  for (let at = 3; at >= 0; at--) {
    const before = octets.slice(0, at).reduce((text, octet) => `${text}${octet}.`, '');
    const after = '.0'.repeat(3 - at);
    for (let bits = 7; bits >= 0; bits--)
      values.push(`${before}${(octets[at] ?? 0) & (0xff00 >> bits) & 255}${after}/${at * 8 + bits}`);
  }
  return values;
}

/**
 * A matcher for a list of addresses and blocks, parsed once. Invalid entries match nothing, and an invalid address
 * matches no entry: an allowlist fails closed.
 */
export function ipMatcher(list: readonly string[]): (ip: string) => boolean {
  const blocks = list.flatMap((text) => parseCidr(text) ?? []).map(unmapped);
  return (ip) => {
    const groups = parseUnmapped(ip);
    return groups !== null && blocks.some((block) => inBlock(groups, block));
  };
}

/** The network that a rate limit counts: the /64 of an IPv6 address, which one subscriber gets, or the IPv4 address. */
export function networkOf(ip: string): string {
  const groups = parseUnmapped(ip);
  if (groups?.length !== 8) return ip;
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':');
}

/** A network that counts callers, and how many times the bound of the narrowest it has. */
interface CountedNetwork {
  readonly network: string;
  readonly times: number;
}
const WIDER = [
  { bits: 48, times: 4 },
  { bits: 56, times: 2 },
];

/**
 * The networks that count an IP address, widest first. One host may have a /56 or /48 of IPv6 (RFC 6177), and so any
 * number of /64s: these are counted as well, with a multiple, as several subscribers may share one.
 */
export function networksOf(ip: string): readonly CountedNetwork[] {
  const groups = parseUnmapped(ip);
  const narrowest = { network: networkOf(ip), times: 1 };
  if (groups?.length !== 8) return [narrowest];
  const [a = 0, b = 0, c = 0, d = 0] = groups;
  const wider = WIDER.map(({ bits, times }) => {
    const last = bits === 56 ? [d & 0xff00] : [];
    return { network: `${[a, b, c, ...last].map((group) => group.toString(16)).join(':')}/${bits}`, times };
  });
  return [...wider, narrowest];
}

/** The widest of them: for what is bounded once for all that one party may hold. */
export const widestNetworkOf = (ip: string): string => networksOf(ip)[0]?.network ?? ip;

const LINK_LOCAL: Block = { groups: [0xfe80, 0, 0, 0, 0, 0, 0, 0], bits: 10 };
const ZONE = /^[\w.~-]{1,32}$/;

/**
 * A canonical address to listen on or connect to, with its zone (RFC 4007 §11) if it is a link-local one:
 * `fe80::1%eth0`. Null for anything else.
 */
export function canonicalScopedIp(text: string): string | null {
  const at = text.indexOf('%');
  if (at < 0) return canonicalIp(text);
  const groups = parseIp(text.slice(0, at));
  const zone = text.slice(at + 1);
  return groups && inBlock(groups, LINK_LOCAL) && ZONE.test(zone) ? `${textOf(groups)}%${zone}` : null;
}

/** The zone names an interface of this host and says nothing about the peer: `fe80::1%eth0` → `fe80::1`. */
export const withoutZone = (ip: string): string => {
  const at = ip.indexOf('%');
  return at < 0 ? ip : ip.slice(0, at);
};

export interface HostPort {
  /** The canonical form; IPv6 has no brackets, but its zone, if any. */
  readonly address: string;
  readonly port: number;
}

const HOST_PORT = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/;

/** Reads `192.0.2.1`, `192.0.2.1:5353`, `::1`, `[::1]` and `[fe80::1%eth0]:5353`; null for any other form. */
export function parseHostPort(text: string, defaultPort: number, minPort = 1): HostPort | null {
  const bare = canonicalScopedIp(text);
  if (bare !== null) return { address: bare, port: defaultPort };
  const [, v6, v4 = '', digits] = HOST_PORT.exec(text) ?? [];
  const port = digits === undefined ? defaultPort : Number(digits);
  const host = v6 ?? v4;
  const address = host.includes(':') === (v6 !== undefined) ? canonicalScopedIp(host) : null;
  return address !== null && port >= minPort && port <= 65535 ? { address, port } : null;
}

/** Writes the form that `parseHostPort` reads. */
export const formatHostPort = ({ address, port }: HostPort): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
