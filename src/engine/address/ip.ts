/**
 * Canonical IP addresses and CIDR blocks: dotted decimal for v4, RFC 5952 for v6, a v4-mapped address as v4, a block
 * with its host bits zeroed, a block of one address as the address.
 */
import ipaddr from 'ipaddr.js';

/** 2 (v4) or 8 (v6) groups of 16 bits, most significant first. */
type Groups = readonly number[];

interface Block {
  readonly groups: Groups;
  readonly bits: number;
}

/**
 * Four decimal numbers without leading zeros: `127.1`, `0x7f.0.0.1` and `010.0.0.1` mean different hosts to different
 * parsers.
 */
const V4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
const LEADING_ZERO = /(?:^|\.)0\d/;
const V6 = /^[\da-fA-F:]+(?:[\d.]+)?$/;
const V6_MAX_LENGTH = 45;
const PREFIX = /^(?:0|[1-9]\d{0,2})$/;
const WIDTH = { 2: 32, 8: 128 } as const;

function v4Groups(text: string): Groups | null {
  if (text.length > 15 || !V4.test(text) || LEADING_ZERO.test(text)) return null;
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return [(a << 8) | b, (c << 8) | d];
}

const isMapped = (g: Groups): boolean =>
  g.length === 8 && g[5] === 0xffff && g[0] === 0 && g[1] === 0 && g[2] === 0 && g[3] === 0 && g[4] === 0;

/** As written, v4-mapped still v6. Null for zone ids (`fe80::1%eth0`), brackets, ports, and shortened v4 forms. */
function groupsOf(text: string): Groups | null {
  if (!text.includes(':')) return v4Groups(text);
  if (text.length > V6_MAX_LENGTH || !V6.test(text)) return null;
  const hexadecimal = withoutDots(text);
  return hexadecimal !== null && ipaddr.IPv6.isValid(hexadecimal) ? ipaddr.IPv6.parse(hexadecimal).parts : null;
}

/**
 * The dotted end of a v6 address as two groups, null when it is not a v4 address. ipaddr.js would read the deprecated
 * `::192.0.2.1` (RFC 4291 §2.5.5.1) as v4-mapped, and octal numbers; other parsers read these as other hosts.
 */
function withoutDots(text: string): string | null {
  if (!text.includes('.')) return text;
  const end = text.lastIndexOf(':') + 1;
  const groups = v4Groups(text.slice(end));
  return groups && text.slice(0, end) + groups.map((group) => group.toString(16)).join(':');
}

const widthOf = (groups: Groups): number => (groups.length === 2 ? WIDTH[2] : WIDTH[8]);

/** The block in its own family: v4-mapped of /96 or longer becomes v4; host bits are zeroed. */
function blockOf(groups: Groups, bits: number): Block {
  if (isMapped(groups) && bits >= 96) return blockOf(groups.slice(6), bits - 96);
  return { groups: groups.map((group, i) => group & maskOf(bits - i * 16)), bits };
}

/** Mask of one group of which the first `bits` count. */
const maskOf = (bits: number): number => (bits >= 16 ? 0xffff : bits <= 0 ? 0 : (0xffff << (16 - bits)) & 0xffff);

function parseBlock(text: string): Block | null {
  const slash = text.indexOf('/');
  const groups = groupsOf(slash < 0 ? text : text.slice(0, slash));
  if (groups === null) return null;
  if (slash < 0) return blockOf(groups, widthOf(groups));
  const prefix = text.slice(slash + 1);
  return PREFIX.test(prefix) && Number(prefix) <= widthOf(groups) ? blockOf(groups, Number(prefix)) : null;
}

function textOf(groups: Groups): string {
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

const blockText = ({ groups, bits }: Block): string =>
  bits === widthOf(groups) ? textOf(groups) : `${textOf(groups)}/${bits}`;

/** One address in canonical form, or null. `::ffff:192.0.2.1` → `192.0.2.1`. Not trimmed. */
export function canonicalIp(text: string): string | null {
  const groups = groupsOf(text);
  return groups && textOf(isMapped(groups) ? groups.slice(6) : groups);
}

/** An address or a block in canonical form, or null: `10.1.2.3/8` → `10.0.0.0/8`, `2001:DB8::1/128` → `2001:db8::1`. */
export function canonicalCidr(text: string): string | null {
  const block = parseBlock(text);
  return block && blockText(block);
}

/**
 * Every canonical value that covers the address, narrowest first: 33 for v4, 129 for v6; none for an invalid address.
 * One indexed lookup of these finds a matching filter, however many filters there are.
 */
export function cidrsContaining(ip: string): readonly string[] {
  const whole = groupsOf(ip);
  if (whole === null) return [];
  const groups = [...(isMapped(whole) ? whole.slice(6) : whole)];
  const width = widthOf(groups);
  const values = [textOf(groups)];
  for (let bits = width - 1; bits >= 0; bits--) {
    const at = bits >> 4;
    groups[at] = (groups[at] ?? 0) & maskOf(bits & 15);
    values.push(`${textOf(groups)}/${bits}`);
  }
  return values;
}

function covers(block: Block, groups: Groups): boolean {
  return (
    block.groups.length === groups.length &&
    block.groups.every((group, i) => ((groups[i] ?? 0) & maskOf(block.bits - i * 16)) === group)
  );
}

/**
 * A matcher for a list of addresses and blocks, parsed once. Invalid entries match nothing, and an invalid address
 * matches no entry: an allowlist fails closed.
 */
export function ipMatcher(list: readonly string[]): (ip: string) => boolean {
  const blocks = list.map(parseBlock).filter((block) => block !== null);
  return (ip) => {
    const whole = groupsOf(ip);
    if (whole === null) return false;
    const groups = isMapped(whole) ? whole.slice(6) : whole;
    return blocks.some((block) => covers(block, groups));
  };
}
