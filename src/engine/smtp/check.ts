/** One run of the mailbox question: from host to host, then the random recipient. */
import type { Address } from '../address/parse.ts';
import type { CatchAllEvidence, DnsEvidence, SmtpEvidence } from '../evidence.ts';
import type { CatchAllCache } from './catchall.ts';
import { forwardPath } from './commands.ts';
import type { DialogueSetup } from './events.ts';
import {
  CATCH_ALL_SKIPPED,
  type Candidate,
  candidates,
  catchAllOf,
  type Found,
  foundBy,
  notAsked,
  tellsMore,
} from './findings.ts';
import { senderFor } from './identity.ts';
import type { SmtpLimits } from './limits.ts';
import type { MailboxCheckOptions } from './mailbox.ts';
import { operatorKey } from './operators.ts';
import type { Question, Read } from './outcome.ts';
import type { Pace } from './pace.ts';
import type { Pool, Served, Service } from './pool.ts';
import { randomLocalPart } from './probe.ts';
import { Transcript } from './transcript.ts';

/** Share of what is left that one host may take to greet while another could be asked instead. */
const GREET_SHARE = 0.7;

/** What all runs share. */
export interface World {
  readonly options: MailboxCheckOptions;
  readonly sender: string;
  readonly limits: SmtpLimits;
  readonly pace: Pace;
  readonly pool: Pool;
  readonly silent: ReadonlySet<string>;
  readonly cache: CatchAllCache;
}
type Answer = Served & { readonly outcome: Extract<Served['outcome'], { kind: 'answered' }> };

export class Check {
  readonly #world: World;
  readonly #address: Address;
  readonly #dns: DnsEvidence;
  readonly #limit: { readonly deadline: number; readonly signal?: AbortSignal };
  readonly #transcript: Transcript;
  readonly #operator: string;
  readonly #hosts: string;
  /** The most telling failure so far. */
  #failure: Found | null = null;
  #refusedUs: Served | null = null;
  /** Addresses whose TLS handshake failed. */
  readonly #inClear = new Set<string>();
  /** What the cache said when the real address was accepted, so that no probe was sent. */
  #cached: 'pass' | 'fail' | null = null;
  /** The random local part of this run: the same one in every session of it. */
  #probed: string | null = null;

  constructor(
    world: World,
    { address, dns }: { address: Address; dns: DnsEvidence },
    limit: { deadline: number; signal?: AbortSignal },
  ) {
    this.#world = world;
    this.#address = address;
    this.#dns = dns;
    this.#limit = limit;
    this.#transcript = new Transcript(world.options.clock, world.limits, address.localPart);
    this.#operator = operatorKey(dns, world.options.registrableDomain);
    this.#hosts = `${this.#operator}\n${dns.hosts
      .map(({ host }) => host)
      .sort()
      .join(' ')}`;
  }

  async run(): Promise<{ smtp: SmtpEvidence; catchAll: CatchAllEvidence }> {
    const path = forwardPath(this.#address);
    if (path === null) return this.#end(notAsked('smtp_unverifiable', 'dialogue.unsendable'));
    const question: Question = {
      path,
      sender: senderFor(this.#world.sender, this.#address.domain),
      stage: 'rcpt',
      probe: () => this.#probePath(),
    };
    const answer = await this.#walk(question);
    if (answer === null) return this.#end(this.#failure ?? notAsked('smtp_unreachable', 'dialogue.no_address'));
    const found = foundBy(answer.outcome, answer);
    if (found.finding === 'smtp_blocked') this.#noteRefusal(answer);
    if (found.finding !== 'accepted') return this.#end(found);
    if (this.#silent) return this.#end({ ...found, finding: 'smtp_unverifiable', rule: 'operator.never_tells' });
    return this.#end(found, await this.#catchAll(answer));
  }

  get #silent(): boolean {
    return this.#dns.provider !== null && this.#world.silent.has(this.#dns.provider.name);
  }

  /** From host to host until one has answered about the recipient; null when none did. */
  async #walk(question: Question): Promise<Answer | null> {
    const { limits, pace } = this.#world;
    const all = candidates(this.#dns, limits, (family) => pace.egressOf(family).length > 0);
    for (let i = 0; i < all.length; i++) {
      const service = await this.#askOne(all[i]!, question, i + 1 < all.length);
      if ('refused' in service) {
        this.#onTurnRefused(service.refused, service.retryAfter);
        return null;
      }
      const { outcome } = service;
      if (outcome.kind === 'answered') return { ...service, outcome };
      this.#onFailure(service);
      if (outcome.next === 'stop' || this.#over()) return null;
      if (outcome.next === 'next_host') while (all[i + 1]?.host === all[i]!.host) i++;
    }
    return null;
  }

  /** One candidate, with a second try where the first one failed for a reason of its own. */
  async #askOne(candidate: Candidate, question: Question, others: boolean): Promise<Service> {
    let service = await this.#ask(candidate, question, others, false);
    for (let tries = 0; tries < 2 && 'outcome' in service && !this.#over(); tries++) {
      const { outcome } = service;
      if (outcome.kind !== 'failed') break;
      if (outcome.next === 'in_clear') {
        this.#transcript.add('note', 'TLS failed: once more in clear');
        this.#inClear.add(candidate.address);
        service = await this.#ask(candidate, question, others, true);
      } else if (outcome.next === 'new_session') {
        service = await this.#ask(candidate, question, others, true);
      } else break;
    }
    return service;
  }

  #ask({ host, address, family }: Candidate, question: Question, others: boolean, fresh: boolean): Promise<Service> {
    const { clock } = this.#world.options;
    const { deadline, signal } = this.#limit;
    const now = clock.elapsed();
    return this.#world.pool.ask({
      fresh,
      tls: this.#tlsWith(address),
      host,
      address,
      family,
      hosts: this.#hosts,
      operator: this.#operator,
      read: this.#read,
      question,
      transcript: this.#transcript,
      deadline,
      greetBy: others ? now + (deadline - now) * GREET_SHARE : deadline,
      signal,
    });
  }

  #tlsWith(address: string): DialogueSetup['tls'] {
    return this.#inClear.has(address) ? 'never' : (this.#world.options.tls ?? 'demanded');
  }

  readonly #read: Read = (stage, reply, path) => {
    const { classify, helo, ownIps, bind } = this.#world.options;
    const echoes = { address: path ?? '', ourNames: [helo], ourIps: [...(ownIps ?? []), ...bind] };
    const operator = this.#dns.provider?.name ?? null;
    try {
      return classify({ stage, reply, operator, echoes });
    } catch {
      // A defect of the rules must cost this one answer, not the process: the caller is a socket's event.
      this.#transcript.add('note', 'the reply could not be classified');
      return { meaning: 'unclear', finding: 'smtp_temporary_failure', rule: 'classify.failed', retryAfter: null };
    }
  };

  /** Asked by the dialogue when the real address was accepted, and only then. */
  #probePath(): string | null {
    const { cache, pool } = this.#world;
    if (this.#silent) return null;
    this.#cached = cache.get(this.#address.domain, this.#operator);
    return this.#cached !== null || pool.takesOneRecipient(this.#operator) ? null : this.#randomPath();
  }

  #randomPath(): string {
    const { domain } = this.#address;
    this.#probed ??=
      this.#world.cache.greylistedProbe(domain, this.#operator) ?? randomLocalPart(this.#world.options.random);
    return `${this.#probed}@${domain}`;
  }

  async #catchAll({ outcome, host, address }: Answer): Promise<CatchAllEvidence> {
    if (this.#cached !== null) return { result: this.#cached, why: null, cached: true };
    const { probe } = outcome;
    const evidence =
      probe === null || probe.finding === 'reconnect'
        ? await this.#probeAnew({ host, address, family: address.includes(':') ? 6 : 4 })
        : catchAllOf(probe.finding);
    const { result, why } = evidence;
    if (why === 'greylisted' && this.#probed !== null) {
      this.#world.cache.noteGreylisted(this.#address.domain, this.#operator, this.#probed);
    }
    if (result === 'pass' || result === 'fail') this.#world.cache.set(this.#address.domain, this.#operator, result);
    return evidence;
  }

  /** The random recipient in a session of its own, where an operator takes one per session. */
  async #probeAnew(candidate: Candidate): Promise<CatchAllEvidence> {
    if (this.#over()) return { result: 'unknown', why: 'smtp_timeout', cached: false };
    const sender = senderFor(this.#world.sender, this.#address.domain);
    const question: Question = { path: this.#randomPath(), sender, stage: 'probe', probe: () => null };
    const service = await this.#ask(candidate, question, false, true);
    if ('refused' in service) {
      return { result: 'unknown', why: service.refused === 'blocked' ? 'smtp_blocked' : 'smtp_timeout', cached: false };
    }
    return catchAllOf(service.outcome.finding);
  }

  #over(): boolean {
    return this.#limit.signal?.aborted === true || this.#world.options.clock.elapsed() >= this.#limit.deadline;
  }

  #onFailure(service: Served): void {
    const found = foundBy(service.outcome, service);
    if (this.#failure === null || tellsMore(found.finding, this.#failure.finding)) this.#failure = found;
    if (found.finding === 'smtp_blocked') this.#noteRefusal(service);
  }

  #noteRefusal(service: Served): void {
    const heard = service.outcome.kind === 'answered' ? service.outcome.rcpt : service.outcome.heard;
    if (heard?.reading.meaning === 'us_ip') this.#refusedUs = service;
  }

  #onTurnRefused(why: 'blocked' | 'late' | 'cancelled', retryAfter: number | null): void {
    const found =
      why === 'blocked'
        ? notAsked('smtp_blocked', 'pace.breaker', retryAfter)
        : notAsked('smtp_timeout', why === 'late' ? 'pace.deadline' : 'dialogue.cancelled', retryAfter);
    this.#transcript.add('note', `not dialled: ${found.rule}`);
    if (this.#failure === null || tellsMore(found.finding, this.#failure.finding)) this.#failure = found;
  }

  /** The breaker opens only when no host of the operator had a better answer than that it refuses our IP. */
  #end(found: Found, catchAll: CatchAllEvidence = CATCH_ALL_SKIPPED) {
    if (found.finding === 'smtp_blocked' && this.#refusedUs !== null) {
      this.#world.pace.refused(this.#operator, this.#refusedUs.egress);
    }
    return { smtp: { ...found, transcript: this.#transcript.lines }, catchAll };
  }
}
