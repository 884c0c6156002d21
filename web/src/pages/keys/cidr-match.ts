/**
 * Whether a list of IP addresses and CIDR blocks contains an address, by the rules of the service: IPv4-mapped IPv6
 * counts as IPv4, a block never contains addresses of the other family, and invalid entries match nothing.
 */
export function matchesCidrs(ip: string, list: readonly string[]): boolean {
  const address = readIp(ip);
  if (address === null) return false;
  return list.some((entry) => {
    const block = readBlock(entry.trim());
    if (block === null || block.width !== address.width) return false;
    const rest = BigInt(block.width - block.prefix);
    return block.value >> rest === address.value >> rest;
  });
}

/** Entries separated by white space, commas or semicolons. */
export const parseEntries = (text: string): string[] => text.split(/[\s,;]+/).filter((entry) => entry !== '');

interface Ip {
  readonly value: bigint;
  readonly width: 32 | 128;
}
type Block = Ip & { readonly prefix: number };

const NUMBER = /^(0|[1-9]\d{0,2})$/;
const GROUP = /^[\da-f]{1,4}$/i;
/** ::ffff:0:0/96, RFC 4291 §2.5.5.2. */
const MAPPED = 0xffffn;

function readBlock(text: string): Block | null {
  const [before = '', prefix, ...more] = text.split('/');
  const ip = readAsWritten(before);
  if (ip === null || more.length > 0 || (prefix !== undefined && !NUMBER.test(prefix))) return null;
  const bits = prefix === undefined ? ip.width : Number(prefix);
  if (bits > ip.width) return null;
  const isMapped = ip.width === 128 && bits >= 96 && ip.value >> 32n === MAPPED;
  return isMapped ? { ...asV4(ip), prefix: bits - 96 } : { ...ip, prefix: bits };
}

function readIp(text: string): Ip | null {
  const ip = readAsWritten(text);
  return ip?.width === 128 && ip.value >> 32n === MAPPED ? asV4(ip) : ip;
}

const asV4 = ({ value }: Ip): Ip => ({ value: value & 0xffffffffn, width: 32 });

function readAsWritten(text: string): Ip | null {
  const value = text.includes(':') ? readV6(text) : readV4(text);
  return value === null ? null : { value, width: text.includes(':') ? 128 : 32 };
}

/** No leading zeros: some parsers read them as octal. */
function readV4(text: string): bigint | null {
  const parts = text.split('.');
  if (parts.length !== 4 || parts.some((part) => !NUMBER.test(part) || Number(part) > 255)) return null;
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function readV6(text: string): bigint | null {
  const [left, right, ...more] = text.split('::').map(readGroups);
  if (left === undefined || left === null || right === null || more.length > 0) return null;
  const missing = 8 - left.length - (right?.length ?? 0);
  // `::` stands for at least one group; without it there are exactly eight.
  if (right === undefined ? missing !== 0 : missing < 1) return null;
  const groups = [...left, ...Array<bigint>(missing).fill(0n), ...(right ?? [])];
  return groups.reduce((value, group) => (value << 16n) | group, 0n);
}

/** Groups of 16 bits; a dotted IPv4 address at the end is two. */
function readGroups(text: string): bigint[] | null {
  if (text === '') return [];
  const parts = text.split(':');
  const last = parts.at(-1) ?? '';
  const v4 = last.includes('.') ? readV4(last) : null;
  if (last.includes('.')) parts.pop();
  if (parts.some((part) => !GROUP.test(part)) || (last.includes('.') && v4 === null)) return null;
  const groups = parts.map((part) => BigInt(`0x${part}`));
  return v4 === null ? groups : [...groups, v4 >> 16n, v4 & 0xffffn];
}
