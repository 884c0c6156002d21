/** Macros of a domain-spec (RFC 7208 §7). */
import { parseIp } from '../../dns/ip.ts';

export interface MacroValues {
  /** `user@host`: the sender; `postmaster@` the HELO name for `<>`. */
  readonly sender: string;
  readonly ip: string;
  readonly helo: string;
  /** The domain whose record is read. */
  readonly domain: string;
}

const EXPAND = /%(?:%|_|-|\{([slodiphv])(\d{0,3})(r?)([.\-+,/_=]*)\}|)/gi;

/** The name that a domain-spec means, cut at 253 octets from the left (§7.3); null for one that cannot be read. */
export function expand(spec: string, values: MacroValues): string | null {
  let broken = false;
  const text = spec.replace(EXPAND, (all, letter?: string, digits?: string, r?: string, delimiters?: string) => {
    if (all === '%%') return '%';
    if (all === '%_') return ' ';
    if (all === '%-') return '%20';
    if (letter === undefined || digits === '0') broken = true;
    if (letter === undefined) return '';
    const value = transform(macroValue(letter.toLowerCase(), values), digits ?? '', r !== '', delimiters || '.');
    return letter === letter.toUpperCase() ? encodeURIComponent(value) : value;
  });
  if (broken) return null;
  let name = text.replace(/\.$/, '').toLowerCase();
  while (name.length > 253 && name.includes('.')) name = name.slice(name.indexOf('.') + 1);
  return name === '' ? null : name;
}

function macroValue(letter: string, { sender, ip, helo, domain }: MacroValues): string {
  const at = sender.lastIndexOf('@');
  switch (letter) {
    case 's':
      return sender;
    case 'l':
      return sender.slice(0, at);
    case 'o':
      return sender.slice(at + 1);
    case 'd':
      return domain;
    case 'i':
      return dotted(ip);
    case 'h':
      return helo;
    case 'v':
      return ip.includes(':') ? 'ip6' : 'in-addr';
    default:
      // `p`, the validated name, is not to be published (§7.2), and this is what stands for none.
      return 'unknown';
  }
}

/** IPv4 as it is; IPv6 as 32 nibbles with dots. */
const dotted = (ip: string): string =>
  ip.includes(':') ? [...(parseIp(ip) ?? []).map((g) => g.toString(16).padStart(4, '0')).join('')].join('.') : ip;

function transform(value: string, digits: string, reverse: boolean, delimiters: string): string {
  let parts: string[] = [''];
  for (const char of value) {
    if (delimiters.includes(char)) parts.push('');
    else parts[parts.length - 1] += char;
  }
  if (reverse) parts = parts.reverse();
  return (digits === '' ? parts : parts.slice(-Number(digits))).join('.');
}
