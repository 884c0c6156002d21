/** SPF (RFC 7208): may this address use this sender? Records, their macros, and check_host(). */
import { type Groups, inBlock, parseIp } from '../../kernel/ip.ts';
import type { DnsAnswer, RecordType } from '../dns/message.ts';
import { type AskDns, answerAddresses, isFailedAnswer, reverseNames } from './reverse.ts';

interface MacroValues {
  /** The sender is `user@host`; for `<>`, it is `postmaster@` the HELO name. */
  readonly sender: string;
  readonly ip: string;
  readonly helo: string;
  /** The domain whose record is read. */
  readonly domain: string;
}

const EXPAND = /%(?:%|_|-|\{([slodiphv])(\d{0,3})(r?)([.\-+,/_=]*)\}|)/gi;

/** Whether a domain-spec is well-formed, whatever the values. */
const isMacroString = (spec: string): boolean =>
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

/** Returns IPv4 unchanged; IPv6 as 32 dot-separated nibbles. */
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

type SpfResult = 'pass' | 'fail' | 'softfail' | 'neutral' | 'none' | 'permerror' | 'temperror';
const MECHANISMS = ['all', 'include', 'a', 'mx', 'ptr', 'ip4', 'ip6', 'exists'] as const;
type Mechanism = (typeof MECHANISMS)[number];

interface Directive {
  readonly mechanism: Mechanism;
  /** The result when it matches. */
  readonly result: SpfResult;
  /** The value is a domain-spec with macros, or the network of `ip4` and `ip6`; it is empty if omitted. */
  readonly value: string;
  /** The prefix lengths are 32 and 128 by default. */
  readonly v4bits: number;
  readonly v6bits: number;
  /** The report shows the term as written. */
  readonly text: string;
}

interface SpfRecord {
  readonly directives: readonly Directive[];
  /** `redirect=` has this domain-spec. */
  readonly redirect: string | null;
}

const QUALIFIERS: Readonly<Record<string, SpfResult>> = { '+': 'pass', '-': 'fail', '~': 'softfail', '?': 'neutral' };
const TERM = /^([+\-~?]?)([a-z][a-z0-9]*)(?:([:/])(.*))?$/i;
const MODIFIER = /^([a-z][a-z0-9_.-]*)=(.*)$/i;
const MOST_TERMS = 200;

export const isSpf = (text: string): boolean => /^v=spf1(?: |$)/i.test(text);

/** The terms of a record; a string is the invalid term, a permerror also where an earlier one would match (§4.6). */
export function parseSpf(text: string): SpfRecord | string {
  const terms = text
    .slice('v=spf1'.length)
    .split(' ')
    .filter((term) => term !== '');
  if (terms.length > MOST_TERMS) return 'more terms than any record needs';
  const directives: Directive[] = [];
  let redirect: string | null = null;
  for (const term of terms) {
    const [, name, value = ''] = MODIFIER.exec(term) ?? [];
    if (name !== undefined) {
      if (name.toLowerCase() !== 'redirect') continue;
      if (redirect !== null || value === '' || !isMacroString(value)) return term;
      redirect = value;
      continue;
    }
    const directive = parseDirective(term);
    if (directive === null || !isMacroString(directive.value)) return term;
    directives.push(directive);
  }
  return { directives, redirect };
}

function parseDirective(text: string): Directive | null {
  const match = TERM.exec(text);
  const name = match?.[2]?.toLowerCase();
  const mechanism = MECHANISMS.find((known) => known === name);
  const result = QUALIFIERS[match?.[1] || '+'];
  if (match === null || mechanism === undefined || result === undefined) return null;
  const rest = match[3] === '/' ? `/${match[4]}` : (match[4] ?? '');
  if (match[3] === ':' && rest === '') return null;
  const made = { mechanism, result, text };
  switch (mechanism) {
    case 'all':
      return match[3] === undefined ? { ...made, value: '', v4bits: 32, v6bits: 128 } : null;
    case 'include':
    case 'exists':
      return match[3] === ':' ? { ...made, value: rest, v4bits: 32, v6bits: 128 } : null;
    case 'ptr':
      return match[3] === '/' ? null : { ...made, value: rest, v4bits: 32, v6bits: 128 };
    case 'ip4':
    case 'ip6': {
      const [value = '', bits, ...more] = rest.split('/');
      const most = mechanism === 'ip4' ? 32 : 128;
      const length = prefixBits(bits, most);
      if (match[3] !== ':' || more.length > 0 || length === null) return null;
      if (parseIp(value)?.length !== most / 16) return null;
      return { ...made, value, v4bits: length, v6bits: length };
    }
    case 'a':
    case 'mx': {
      const [, value = '', v4, v6] = /^(.*?)(?:\/(\d{1,3}))?(?:\/\/(\d{1,3}))?$/.exec(rest) ?? [];
      const [v4bits, v6bits] = [prefixBits(v4, 32), prefixBits(v6, 128)];
      return v4bits === null || v6bits === null || value.endsWith('/') ? null : { ...made, value, v4bits, v6bits };
    }
  }
}

function prefixBits(text: string | undefined, most: number): number | null {
  if (text === undefined) return most;
  return /^(0|[1-9]\d{0,2})$/.test(text) && Number(text) <= most ? Number(text) : null;
}

interface SpfQuestion {
  readonly ip: string;
  /** The sender is `user@host`; for `<>`, it is the postmaster of the HELO name (§2.4). */
  readonly sender: string;
  readonly helo: string;
}

interface SpfAnswer {
  readonly result: SpfResult;
  /** The reason is the deciding term, or the error in short. */
  readonly why: string;
}

/** §4.6.4. */
const MOST_LOOKUPS = 10;
const MOST_VOID = 2;
const MOST_MX = 10;

/** Never rejects; the deadline of `ask` bounds its time, and §4.6.4 the number of queries. */
export async function checkHost(question: SpfQuestion, ask: AskDns): Promise<SpfAnswer> {
  const address = parseIp(question.ip);
  if (address === null) return { result: 'permerror', why: 'no IP address' };
  const domain = question.sender.slice(question.sender.lastIndexOf('@') + 1).toLowerCase();
  try {
    return await new Evaluation(question, address, ask).check(domain);
  } catch (error) {
    if (error instanceof Stop) return { result: error.result, why: error.message };
    throw error;
  }
}

/** Ends the whole evaluation, at any depth. */
class Stop extends Error {
  readonly result: 'permerror' | 'temperror';
  constructor(result: 'permerror' | 'temperror', why: string) {
    super(why);
    this.result = result;
  }
}

class Evaluation {
  readonly #question: SpfQuestion;
  readonly #address: Groups;
  readonly #ask: AskDns;
  #lookups = 0;
  #void = 0;

  constructor(question: SpfQuestion, address: Groups, ask: AskDns) {
    this.#question = question;
    this.#address = address;
    this.#ask = ask;
  }

  async check(domain: string): Promise<SpfAnswer> {
    const answer = await this.#ask(domain, 'TXT');
    if (isFailedAnswer(answer)) throw new Stop('temperror', `${domain} could not be looked up (${answer.kind})`);
    const texts = answer.kind === 'records' ? answer.records.flatMap((r) => (r.type === 'TXT' ? [r.text] : [])) : [];
    const [text, second] = texts.filter(isSpf);
    if (text === undefined) return { result: 'none', why: `${domain} has no SPF record` };
    if (second !== undefined) throw new Stop('permerror', `${domain} has more than one SPF record`);
    const record = parseSpf(text);
    if (typeof record === 'string') throw new Stop('permerror', `${domain}: "${record}" cannot be read`);
    for (const directive of record.directives) {
      if (await this.#matches(directive, domain))
        return { result: directive.result, why: `"${directive.text}" of ${domain}` };
    }
    if (record.redirect === null) return { result: 'neutral', why: `no term of ${domain} matches` };
    this.#count(`redirect=${record.redirect}`);
    const target = this.#name(record.redirect, domain);
    const redirected = await this.check(target);
    if (redirected.result === 'none') throw new Stop('permerror', `redirect: ${redirected.why}`);
    return redirected;
  }

  async #matches(directive: Directive, domain: string): Promise<boolean> {
    const { mechanism, value } = directive;
    if (mechanism === 'all') return true;
    if (mechanism === 'ip4' || mechanism === 'ip6') return this.#within([value], directive);
    this.#count(directive.text);
    const target = value === '' ? domain : this.#name(value, domain);
    switch (mechanism) {
      case 'include':
        return this.#included(target);
      case 'exists':
        return answerAddresses(await this.#look(target, 'A')).length > 0;
      case 'ptr': {
        const { confirmed } = await reverseNames(this.#question.ip, this.#ask);
        return confirmed.some((name) => name === target || name.endsWith(`.${target}`));
      }
      case 'a':
        return this.#within(answerAddresses(await this.#look(target, this.#type)), directive);
      case 'mx':
        return this.#within(await this.#mailHosts(target), directive);
    }
  }

  async #included(target: string): Promise<boolean> {
    const { result, why } = await this.check(target);
    if (result === 'none') throw new Stop('permerror', `include: ${why}`);
    return result === 'pass';
  }

  async #mailHosts(target: string): Promise<string[]> {
    const answer = await this.#look(target, 'MX');
    const hosts = answer.kind === 'records' ? answer.records.flatMap((r) => (r.type === 'MX' ? [r.host] : [])) : [];
    if (hosts.length > MOST_MX) throw new Stop('permerror', `${target} has more than ${MOST_MX} MX records`);
    const answers = await Promise.all(hosts.map((host) => this.#ask(host, this.#type)));
    return answers.flatMap(answerAddresses);
  }

  #within(bases: readonly string[], { v4bits, v6bits }: Directive): boolean {
    const bits = this.#address.length === 2 ? v4bits : v6bits;
    return bases.some((base) => {
      const groups = parseIp(base);
      return groups !== null && inBlock(this.#address, { groups, bits });
    });
  }

  get #type(): RecordType {
    return this.#address.length === 2 ? 'A' : 'AAAA';
  }

  async #look(name: string, type: RecordType): Promise<DnsAnswer> {
    const answer = await this.#ask(name, type);
    if (isFailedAnswer(answer)) throw new Stop('temperror', `${name} could not be looked up (${answer.kind})`);
    if (answer.kind !== 'records' && ++this.#void > MOST_VOID) {
      throw new Stop('permerror', `more than ${MOST_VOID} look-ups lead nowhere; the last was ${name}`);
    }
    return answer;
  }

  #count(term: string): void {
    if (++this.#lookups > MOST_LOOKUPS) throw new Stop('permerror', `more than ${MOST_LOOKUPS} look-ups, at "${term}"`);
  }

  #name(spec: string, domain: string): string {
    const name = expand(spec, { ...this.#question, domain });
    if (name === null) throw new Stop('permerror', `${domain}: "${spec}" is no name`);
    return name;
  }
}
