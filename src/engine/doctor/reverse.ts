/** Reverse DNS: names for IP addresses, and forward confirmation of PTR records. */
import { inBlock, parseIp } from '../../kernel/ip.ts';
import type { DnsAnswer, RecordType } from '../dns/message.ts';

/** Asks a DNS question under the deadline of a check. */
export type AskDns = (name: string, type: RecordType) => Promise<DnsAnswer>;

/** Says whether there are neither records nor a negative answer. */
export const isFailedAnswer = (answer: DnsAnswer): boolean =>
  answer.kind !== 'records' && answer.kind !== 'nodata' && answer.kind !== 'nxdomain';

/**
 * Returns the octets (IPv4) or nibbles (IPv6) in reverse, separated by dots: RFC 1035 §3.5, RFC 3596 §2.5, RFC 5782 §2.
 */
export function reversed(ip: string): string {
  const groups = parseIp(ip) ?? [];
  if (groups.length === 2)
    return groups
      .flatMap((g) => [g >> 8, g & 255])
      .reverse()
      .join('.');
  const nibbles = groups.map((g) => g.toString(16).padStart(4, '0')).join('');
  return [...nibbles].reverse().join('.');
}

export const ptrName = (ip: string): string => `${reversed(ip)}.${ip.includes(':') ? 'ip6' : 'in-addr'}.arpa`;

export function sameIp(a: string, b: string): boolean {
  const [x, y] = [parseIp(a), parseIp(b)];
  return x !== null && y !== null && inBlock(x, { groups: y, bits: x.length * 16 });
}

export const answerAddresses = (answer: DnsAnswer): string[] =>
  answer.kind === 'records' ? answer.records.flatMap((r) => ('address' in r ? [r.address] : [])) : [];

/** A and AAAA of a name; `unknown` when the DNS failed and no address was found. */
export async function lookUpAddresses(name: string, ask: AskDns): Promise<{ addresses: string[]; unknown: boolean }> {
  const answers = await Promise.all([ask(name, 'A'), ask(name, 'AAAA')]);
  const addresses = answers.flatMap(answerAddresses);
  return { addresses, unknown: addresses.length === 0 && answers.some(isFailedAnswer) };
}

interface ReverseNames {
  /** The names come from PTR records. */
  readonly names: readonly string[];
  /** Confirmed names resolve back to the address. */
  readonly confirmed: readonly string[];
  readonly unknown: boolean;
}

/** RFC 7208 §4.6.4 sets this limit. */
const MOST_NAMES = 10;

/** The names of an address, and which of them are forward-confirmed. */
export async function reverseNames(ip: string, ask: AskDns): Promise<ReverseNames> {
  const answer = await ask(ptrName(ip), 'PTR');
  const names = answer.kind === 'records' ? answer.records.flatMap((r) => (r.type === 'PTR' ? [r.host] : [])) : [];
  const type = ip.includes(':') ? 'AAAA' : 'A';
  const checked = await Promise.all(
    names.slice(0, MOST_NAMES).map(async (name) => {
      const forward = await ask(name, type);
      return { name, leadsBack: answerAddresses(forward).some((a) => sameIp(a, ip)), failed: isFailedAnswer(forward) };
    }),
  );
  const confirmed = checked.filter(({ leadsBack }) => leadsBack).map(({ name }) => name);
  const unknown = isFailedAnswer(answer) || (confirmed.length === 0 && checked.some(({ failed }) => failed));
  return { names, confirmed, unknown };
}
