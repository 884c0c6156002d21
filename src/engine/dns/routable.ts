/** Which addresses may be dialled: publicly routable ones that are not our own. */
import type { NetworkInterfaceInfo } from 'node:os';
import { type Groups, inBlock, type Block as Network, parseCidr, parseIp, withoutZone } from '../../kernel/ip.ts';

interface SpecialBlock {
  readonly cidr: string;
  /** The document that reserves the block (or, for an exception, makes it reachable). */
  readonly source: string;
  /** `refuse` the block; `pass` it although a wider block is refused; or check the IPv4 address in the last 32 bits. */
  readonly rule: 'refuse' | 'pass' | 'inner_v4';
  /** Reached only from this host, or from a network whose owner decides who is in it. */
  readonly isPrivate?: true;
}

/**
 * IANA's special-purpose address registries (RFC 6890, as updated by RFC 8190), multicast and reserved blocks. The
 * most specific block decides. Sources: https://www.iana.org/assignments/iana-ipv4-special-registry and
 * iana-ipv6-special-registry; blocks marked "globally reachable" there are listed only inside a wider refused one.
 */
export const SPECIAL_BLOCKS: readonly SpecialBlock[] = [
  { cidr: '0.0.0.0/8', source: 'RFC 791 §3.2, "this network"', rule: 'refuse' },
  { cidr: '10.0.0.0/8', source: 'RFC 1918, private use', rule: 'refuse', isPrivate: true },
  { cidr: '100.64.0.0/10', source: 'RFC 6598, shared address space of carriers', rule: 'refuse', isPrivate: true },
  { cidr: '127.0.0.0/8', source: 'RFC 1122 §3.2.1.3, loopback', rule: 'refuse', isPrivate: true },
  { cidr: '169.254.0.0/16', source: 'RFC 3927, link local', rule: 'refuse', isPrivate: true },
  { cidr: '172.16.0.0/12', source: 'RFC 1918, private use', rule: 'refuse', isPrivate: true },
  { cidr: '192.0.0.0/24', source: 'RFC 6890 §2.1, IETF protocol assignments', rule: 'refuse' },
  { cidr: '192.0.0.9/32', source: 'RFC 7723, PCP anycast', rule: 'pass' },
  { cidr: '192.0.0.10/32', source: 'RFC 8155, TURN anycast', rule: 'pass' },
  { cidr: '192.0.2.0/24', source: 'RFC 5737, documentation', rule: 'refuse' },
  { cidr: '192.88.99.0/24', source: 'RFC 7526, 6to4 relay anycast (deprecated)', rule: 'refuse' },
  { cidr: '192.168.0.0/16', source: 'RFC 1918, private use', rule: 'refuse', isPrivate: true },
  { cidr: '198.18.0.0/15', source: 'RFC 2544, benchmarking', rule: 'refuse' },
  { cidr: '198.51.100.0/24', source: 'RFC 5737, documentation', rule: 'refuse' },
  { cidr: '203.0.113.0/24', source: 'RFC 5737, documentation', rule: 'refuse' },
  { cidr: '224.0.0.0/4', source: 'RFC 5771, multicast', rule: 'refuse' },
  { cidr: '240.0.0.0/4', source: 'RFC 1112 §4, reserved', rule: 'refuse' },
  { cidr: '255.255.255.255/32', source: 'RFC 8190, limited broadcast', rule: 'refuse' },

  { cidr: '::/0', source: 'RFC 4291 §2.4: outside 2000::/3 nothing is global unicast', rule: 'refuse' },
  { cidr: '::/128', source: 'RFC 4291 §2.5.2, unspecified', rule: 'refuse' },
  { cidr: '::1/128', source: 'RFC 4291 §2.5.3, loopback', rule: 'refuse', isPrivate: true },
  { cidr: '::/96', source: 'RFC 4291 §2.5.5.1, IPv4-compatible (deprecated)', rule: 'refuse' },
  { cidr: '::ffff:0:0/96', source: 'RFC 4291 §2.5.5.2, IPv4-mapped', rule: 'inner_v4' },
  { cidr: '64:ff9b::/96', source: 'RFC 6052 §2.1, NAT64', rule: 'inner_v4' },
  { cidr: '64:ff9b:1::/48', source: 'RFC 8215, local NAT64', rule: 'refuse' },
  { cidr: '100::/64', source: 'RFC 6666, discard only', rule: 'refuse' },
  { cidr: '100:0:0:1::/64', source: 'RFC 9780, dummy prefix', rule: 'refuse' },
  { cidr: '2000::/3', source: 'RFC 4291 §2.4, global unicast', rule: 'pass' },
  { cidr: '2001::/23', source: 'RFC 2928, IETF protocol assignments', rule: 'refuse' },
  { cidr: '2001::/32', source: 'RFC 4380, Teredo', rule: 'refuse' },
  { cidr: '2001:1::1/128', source: 'RFC 7723, PCP anycast', rule: 'pass' },
  { cidr: '2001:1::2/128', source: 'RFC 8155, TURN anycast', rule: 'pass' },
  { cidr: '2001:1::3/128', source: 'RFC 9665, SRP anycast', rule: 'pass' },
  { cidr: '2001:2::/48', source: 'RFC 5180, benchmarking', rule: 'refuse' },
  { cidr: '2001:3::/32', source: 'RFC 7450, AMT', rule: 'pass' },
  { cidr: '2001:4:112::/48', source: 'RFC 7535, AS112', rule: 'pass' },
  { cidr: '2001:10::/28', source: 'RFC 4843, ORCHID (deprecated)', rule: 'refuse' },
  { cidr: '2001:20::/28', source: 'RFC 7343, ORCHIDv2', rule: 'pass' },
  { cidr: '2001:30::/28', source: 'RFC 9374, drone remote identification', rule: 'pass' },
  { cidr: '2001:db8::/32', source: 'RFC 3849, documentation', rule: 'refuse' },
  { cidr: '2002::/16', source: 'RFC 3056, 6to4: leads to an IPv4 address by way of a relay', rule: 'refuse' },
  { cidr: '3fff::/20', source: 'RFC 9637, documentation', rule: 'refuse' },
  { cidr: '5f00::/16', source: 'RFC 9602, SRv6 segment identifiers', rule: 'refuse' },
  { cidr: 'fc00::/7', source: 'RFC 4193, unique local', rule: 'refuse', isPrivate: true },
  { cidr: 'fe80::/10', source: 'RFC 4291 §2.5.6, link local', rule: 'refuse', isPrivate: true },
  { cidr: 'fec0::/10', source: 'RFC 3879, site local (deprecated)', rule: 'refuse' },
  { cidr: 'ff00::/8', source: 'RFC 4291 §2.7, multicast', rule: 'refuse' },
];

interface RuledBlock extends Network {
  readonly rule: SpecialBlock['rule'];
  readonly isPrivate: boolean;
}

const V4 = blocksOfFamily(2);
const V6 = blocksOfFamily(8);
const HOLDING_V4 = V6.filter(({ rule }) => rule === 'inner_v4');

/** The blocks of one address family (by number of groups), the most specific first. */
function blocksOfFamily(length: number): RuledBlock[] {
  return SPECIAL_BLOCKS.map(({ cidr, rule, isPrivate = false }) => ({
    ...(parseCidr(cidr) ?? { groups: [], bits: 0 }),
    rule,
    isPrivate,
  }))
    .filter(({ groups }) => groups.length === length)
    .sort((a, b) => b.bits - a.bits);
}

function isPubliclyRoutable(address: Groups): boolean {
  for (const block of address.length === 2 ? V4 : V6) {
    if (!inBlock(address, block)) continue;
    return block.rule === 'inner_v4' ? isPubliclyRoutable(address.slice(6)) : block.rule === 'pass';
  }
  return true;
}

/** Is this an address of loopback, of a private network or of one link? Its zone does not matter. */
export function isPrivateAddress(ip: string): boolean {
  const address = parseIp(withoutZone(ip));
  const blocks = address?.length === 2 ? V4 : V6;
  return address !== null && blocks.find((block) => inBlock(address, block))?.isPrivate === true;
}

/** Canonical key of an address; an IPv4-mapped or NAT64 address has the key of its IPv4 address. */
function addressKey(address: Groups): string {
  const inner = address.length === 8 && HOLDING_V4.some((block) => inBlock(address, block));
  return (inner ? address.slice(6) : address).join(':');
}

export interface Routing {
  /** Test setups only: every address is routable, our own too. */
  readonly allowPrivate: boolean;
  /** This host's addresses, as `ownAddresses` gives them. */
  readonly own: ReadonlySet<string>;
}

/** May this address be dialled? False for text that is no IP address. */
export function routable(ip: string, { allowPrivate, own }: Routing): boolean {
  const address = parseIp(ip);
  if (address === null) return false;
  return allowPrivate || (isPubliclyRoutable(address) && !own.has(addressKey(address)));
}

/** The addresses in what `os.networkInterfaces()` returns, in the form that `routable` compares. */
export function ownAddresses(interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>): ReadonlySet<string> {
  const all = Object.values(interfaces).flatMap((infos) => infos ?? []);
  return new Set(
    all.flatMap((info) => {
      const address = parseIp(withoutZone(info.address));
      return address ? [addressKey(address)] : [];
    }),
  );
}
