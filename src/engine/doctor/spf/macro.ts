/** Macros of a domain-spec (RFC 7208 §7). */
import { parseIp } from '../../../kernel/ip.ts';

interface MacroValues {
  /** `user@host`: the sender; for `<>`, `postmaster@` the HELO name. */
  readonly sender: string;
  readonly ip: string;
  readonly helo: string;
  /** The domain whose record is read. */
  readonly domain: string;
}

const EXPAND = /%(?:%|_|-|\{([slodiphv])(\d{0,3})(r?)([.\-+,/_=]*)\}|)/gi;

/** Whether a domain-spec is well-formed, whatever the values. */
export const isMacroString = (spec: string): boolean =>
  [...spec.matchAll(EXPAND)].every(([all, letter, digits = '']) =>
    letter === undefined ? all !== '%' : !/^0+$/.test(digits),
  );

/** Expands a domain-spec, truncated from the left to 253 octets (§7.3); null if it is invalid. */
export function expand(spec: string, values: MacroValues): string | null {
  if (!isMacroString(spec)) return null;
  const text = spec.replace(EXPAND, (all, letter?: string, digits?: string, r?: string, delimiters?: string) => {
    if (all === '%%') return '%';
    if (all === '%_') return ' ';
    if (letter === undefined) return '%20';
    const value = transform(macroValue(letter.toLowerCase(), values), digits ?? '', r !== '', delimiters || '.');
    return letter === letter.toUpperCase() ? encodeURIComponent(value) : value;
  });
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
      // `p` should not be used (§7.2); `unknown` is its value if no validated name exists (§7.3).
      return 'unknown';
  }
}

/** IPv4 unchanged; IPv6 as 32 dot-separated nibbles. */
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
