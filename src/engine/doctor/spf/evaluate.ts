/** check_host() of SPF (RFC 7208 §4): may this address use this sender? */
import { type Groups, inBlock, parseIp } from '../../../kernel/ip.ts';
import type { DnsAnswer, RecordType } from '../../dns/message.ts';
import { type Ask, isFailure } from '../deps.ts';
import { addressesIn, reverseNames } from '../reverse.ts';
import { expand } from './macro.ts';
import { type Directive, isSpf, parseSpf, type SpfResult } from './record.ts';

interface SpfQuestion {
  readonly ip: string;
  /** `user@host`; for `<>` the postmaster of the HELO name (§2.4). */
  readonly sender: string;
  readonly helo: string;
}

interface SpfAnswer {
  readonly result: SpfResult;
  /** The deciding term, or a short description of the error. */
  readonly why: string;
}

/** §4.6.4. */
const MOST_LOOKUPS = 10;
const MOST_VOID = 2;
const MOST_MX = 10;

/** Never rejects; the deadline of `ask` bounds its time, and §4.6.4 the number of queries. */
export async function checkHost(question: SpfQuestion, ask: Ask): Promise<SpfAnswer> {
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
  readonly #ask: Ask;
  #lookups = 0;
  #void = 0;

  constructor(question: SpfQuestion, address: Groups, ask: Ask) {
    this.#question = question;
    this.#address = address;
    this.#ask = ask;
  }

  async check(domain: string): Promise<SpfAnswer> {
    const answer = await this.#ask(domain, 'TXT');
    if (isFailure(answer)) throw new Stop('temperror', `${domain} could not be looked up (${answer.kind})`);
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
        return addressesIn(await this.#look(target, 'A')).length > 0;
      case 'ptr': {
        const { confirmed } = await reverseNames(this.#question.ip, this.#ask);
        return confirmed.some((name) => name === target || name.endsWith(`.${target}`));
      }
      case 'a':
        return this.#within(addressesIn(await this.#look(target, this.#type)), directive);
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
    return answers.flatMap(addressesIn);
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
    if (isFailure(answer)) throw new Stop('temperror', `${name} could not be looked up (${answer.kind})`);
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
