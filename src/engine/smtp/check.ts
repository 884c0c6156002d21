/** One mailbox check: host by host, then the random recipient. */
import type { Address } from '../address/parse.ts';
import type { CatchAllEvidence, DnsEvidence, SmtpEvidence } from '../evidence.ts';
import type { CatchAllCache } from './catchall.ts';
import { forwardPath } from './commands.ts';
import type { DialogueSetup } from './events.ts';
import { senderFor } from './identity.ts';
import { inTime } from './in-time.ts';
import type { SmtpLimits } from './limits.ts';
import { operatorKey } from './operators.ts';
import type { CheckLimit, MailboxCheckOptions } from './options.ts';
import type { Question, Read } from './outcome.ts';
import type { Pool } from './pool.ts';
import { randomLocalPart } from './probe.ts';
import {
  CATCH_ALL_SKIPPED,
  type Candidate,
  candidates,
  catchAllFromCache,
  catchAllOf,
  heardIn,
  NOT_DIALLED,
  outranks,
  type Refused,
  resultOf,
  resultWithoutDialogue,
  type SmtpResult,
} from './result.ts';
import type { Refusal } from './routes.ts';
import { backgroundOf } from './tenants.ts';
import type { Throttle } from './throttle.ts';
import { Transcript } from './transcript.ts';
import type { Served, Service } from './waiting-lines.ts';

/** Share of the remaining time that a host may take to greet while there is another host to try. */
const GREET_SHARE = 0.7;

/** Shared by all checks. */
export interface CheckDeps {
  readonly options: MailboxCheckOptions;
  readonly sender: string;
  /** Names and addresses of this host, as servers may echo them. */
  readonly ourNames: readonly string[];
  readonly ourIps: readonly string[];
  readonly limits: SmtpLimits;
  readonly throttle: Throttle;
  readonly pool: Pool;
  readonly silent: ReadonlySet<string>;
  readonly cache: CatchAllCache;
}
const isAborted = ({ aborted }: AbortSignal): boolean => aborted;
/** `egress`: from which it was asked, or was to be. */
type Asked = Service & { readonly egress: string };
type Answer = Served & { readonly outcome: Extract<Served['outcome'], { kind: 'answered' }> };

export class Check {
  readonly #deps: CheckDeps;
  readonly #address: Address;
  readonly #dns: DnsEvidence;
  readonly #limit: CheckLimit;
  readonly #tenant: string;
  readonly #signals: readonly AbortSignal[];
  readonly #transcript: Transcript;
  readonly #operator: string;
  readonly #hosts: string;
  /** Its registrable one: whoever has it may have any number below. */
  readonly #recipientDomain: string;
  /** The failure with the lowest rank so far. */
  #failure: SmtpResult | null = null;
  /** Dialogues in which our IP address was rejected. */
  #refusedUs: readonly Refusal[] = [];
  /** Addresses whose TLS handshake failed. */
  #inClear: readonly string[] = [];
  /** The cached catch-all result, in which case no probe was sent. */
  #cached: 'pass' | 'fail' | null = null;
  /** Publishes the result of this check's probe to others at the domain; null while it has none. */
  #publish: ((evidence: CatchAllEvidence | null) => void) | null = null;
  /** The random local part: the same one in every session of this check. */
  #probed: string | null = null;

  constructor(deps: CheckDeps, { address, dns }: { address: Address; dns: DnsEvidence }, limit: CheckLimit) {
    this.#deps = deps;
    this.#address = address;
    this.#dns = dns;
    this.#limit = limit;
    this.#tenant = limit.isBackground ? backgroundOf(limit.tenant) : limit.tenant;
    this.#signals = [limit.signal, limit.cut].filter((signal) => signal !== undefined);
    this.#transcript = new Transcript(deps.options.clock, deps.limits, address.localPart);
    this.#recipientDomain = deps.options.registrableDomain(address.domain) ?? address.domain;
    this.#operator = operatorKey(dns, deps.options);
    this.#hosts = `${this.#operator}\n${dns.hosts
      .map(({ host }) => host)
      .sort()
      .join(' ')}`;
  }

  async run(): Promise<{ smtp: SmtpEvidence; catchAll: CatchAllEvidence }> {
    try {
      const path = forwardPath(this.#address);
      if (path === null)
        return this.#end(resultWithoutDialogue('dialogue', 'smtp_unverifiable', 'dialogue.unsendable'));
      const sender = senderFor(this.#deps.sender, this.#address.domain);
      const answer = await this.#walk({ path, sender, stage: 'rcpt', probe: () => this.#probePath() });
      if (answer === null)
        return this.#end(this.#failure ?? resultWithoutDialogue('dialogue', 'smtp_unreachable', 'dialogue.no_address'));
      const found = resultOf(answer.outcome, answer);
      if (found.finding === 'smtp_blocked') this.#noteRefusal(answer);
      if (found.finding !== 'accepted') return this.#end(found);
      if (this.#silent) {
        const rule = 'operator.accepts_all';
        return this.#end({ ...found, finding: 'smtp_unverifiable', rule, decidedBy: 'operator' });
      }
      return this.#end(found, this.#cached === null ? await this.#catchAll(answer) : catchAllFromCache(this.#cached));
    } finally {
      this.#publish?.(null);
    }
  }

  get #silent(): boolean {
    return this.#dns.provider !== null && this.#deps.silent.has(this.#dns.provider.name);
  }

  /** From host to host until one has answered about the recipient; null when none did. */
  async #walk(question: Question): Promise<Answer | null> {
    const { limits, throttle } = this.#deps;
    const all = candidates(this.#dns, limits, (family) => throttle.reaches(family));
    let failedHost: string | null = null;
    let left = all.length;
    for (const candidate of all) {
      left--;
      if (candidate.host === failedHost) continue;
      let service = await this.#ask(candidate, question, left > 0, false);
      for (let tries = 0; tries < 2 && this.#deservesAnother(service, candidate); tries++)
        service = await this.#ask(candidate, question, left > 0, true);
      if ('refused' in service) {
        this.#onRefused(service);
        if (service.refused === 'address_blocked') continue;
        return null;
      }
      const { outcome } = service;
      if (outcome.kind === 'answered') return { ...service, outcome };
      this.#onFailure(service);
      if (outcome.next === 'stop' || this.#over()) return null;
      if (outcome.next === 'next_host') failedHost = candidate.host;
    }
    return null;
  }

  /** Whether the failure was specific to the session or to TLS, so that another session may have an answer. */
  #deservesAnother(service: Asked, { address }: Candidate): boolean {
    if ('refused' in service || service.outcome.kind === 'answered' || this.#over()) return false;
    const { next } = service.outcome;
    if (next === 'in_clear') {
      this.#transcript.add('note', 'TLS failed: once more in clear');
      this.#inClear = [...this.#inClear, address];
    }
    return next === 'in_clear' || next === 'new_session' || next === 'rejoin';
  }

  async #ask({ host, address }: Candidate, question: Question, others: boolean, fresh: boolean): Promise<Asked> {
    const { deadline, startBy } = this.#limit;
    const egress = this.#egressTo(address);
    const from = Math.max(this.#deps.options.clock.elapsed(), startBy ?? 0);
    const service = await this.#deps.pool.ask({
      fresh,
      tls: this.#tlsWith(address),
      host,
      address,
      egress,
      tenant: this.#tenant,
      hosts: `${egress}\n${this.#hosts}`,
      operator: this.#operator,
      domain: this.#recipientDomain,
      read: this.#read,
      question,
      transcript: this.#transcript,
      deadline,
      startBy: this.#failure === null && question.stage === 'rcpt' ? (startBy ?? deadline) : deadline,
      greetBy: others ? from + (deadline - from) * GREET_SHARE : deadline,
      signals: this.#signals,
      lastCall: this.#limit.lastCall,
    });
    return { ...service, egress };
  }

  #egressTo(address: string): string {
    const kept = this.#limit.egress ?? null;
    const operator = () => operatorKey({ hosts: this.#dns.records }, this.#deps.options);
    return this.#deps.throttle.chooseEgress({ operator, domain: this.#recipientDomain, address, kept });
  }

  #tlsWith(address: string): DialogueSetup['tls'] {
    return this.#inClear.includes(address) ? 'never' : (this.#deps.options.tls ?? 'demanded');
  }

  readonly #read: Read = (stage, reply, path) => {
    const { options, ourNames, ourIps } = this.#deps;
    const operator = this.#dns.provider?.name ?? null;
    try {
      return options.classify({ stage, reply, operator, echoes: { address: path ?? '', ourNames, ourIps } });
    } catch {
      // A defect in the rules must cost this one answer, not the process: the caller is a socket event.
      this.#transcript.add('note', 'the reply could not be classified');
      return {
        meaning: 'unclear',
        finding: 'smtp_temporary_failure',
        rule: 'classify.failed',
        retryAfter: null,
        readBy: 'rule',
        probability: null,
      };
    }
  };

  /** Called by the dialogue once the real address was accepted. */
  #probePath(): string | null {
    const { cache, pool } = this.#deps;
    if (this.#silent) return null;
    const { domain } = this.#address;
    this.#cached = cache.get(domain, this.#operator);
    if (this.#cached !== null || cache.underWay(domain, this.#operator, this.#tenant) !== undefined) return null;
    this.#publish = cache.begin(domain, this.#operator, this.#tenant);
    return pool.takesOneRecipient({ operator: this.#operator, tenant: this.#tenant }) ? null : this.#randomPath();
  }

  #randomPath(): string {
    const { domain } = this.#address;
    this.#probed ??=
      this.#deps.cache.greylistedProbe(domain, this.#operator) ?? randomLocalPart(this.#deps.options.random);
    return `${this.#probed}@${domain}`;
  }

  async #catchAll({ outcome, host, address }: Answer): Promise<CatchAllEvidence> {
    const shared = this.#publish === null ? await this.#ofAnother() : null;
    if (shared !== null) return shared;
    const { probe } = outcome;
    const evidence =
      probe === null || probe.finding === 'reconnect'
        ? await this.#probeAgain({ host, address })
        : catchAllOf(probe.finding, probe.heard);
    const { result, why } = evidence;
    const { cache } = this.#deps;
    if (why === 'greylisted' && this.#probed !== null)
      cache.noteGreylisted(this.#address.domain, this.#operator, this.#probed);
    if (result === 'pass' || result === 'fail') cache.set(this.#address.domain, this.#operator, result);
    // What only this check had no time for, others still have to find out.
    this.#publish?.(this.#over() ? null : evidence);
    return evidence;
  }

  /** What another check at the domain finds out; null: nobody does, so this check has to. */
  async #ofAnother(): Promise<CatchAllEvidence | null> {
    const { cache } = this.#deps;
    const { domain } = this.#address;
    for (;;) {
      const probe = cache.underWay(domain, this.#operator, this.#tenant);
      const known = cache.get(domain, this.#operator);
      if (known !== null) return catchAllFromCache(known);
      if (probe === undefined) {
        this.#publish = cache.begin(domain, this.#operator, this.#tenant);
        return null;
      }
      const limit = { deadline: this.#limit.deadline, signals: this.#signals };
      const evidence = await inTime(probe, limit, this.#deps.options.clock);
      if (evidence !== null) return { ...evidence, cached: true };
      if (this.#over()) return { result: 'unknown', why: 'smtp_timeout', retryAfter: null, cached: false };
    }
  }

  /** The random recipient in a session of its own, for operators that take one recipient per session. */
  async #probeAgain(candidate: Candidate): Promise<CatchAllEvidence> {
    if (this.#over()) return { result: 'unknown', why: 'smtp_timeout', retryAfter: null, cached: false };
    const sender = senderFor(this.#deps.sender, this.#address.domain);
    const question: Question = { path: this.#randomPath(), sender, stage: 'probe', probe: () => null };
    const service = await this.#ask(candidate, question, false, true);
    if ('refused' in service) {
      return { result: 'unknown', why: NOT_DIALLED[service.refused](null).finding, retryAfter: null, cached: false };
    }
    return catchAllOf(service.outcome.finding, heardIn(service.outcome));
  }

  #over(): boolean {
    const { lastCall } = this.#limit;
    if (lastCall !== undefined && isAborted(lastCall)) return true;
    return this.#signals.some(isAborted) || this.#deps.options.clock.elapsed() >= this.#limit.deadline;
  }

  #onFailure(service: Served): void {
    const found = resultOf(service.outcome, service);
    if (this.#failure === null || outranks(found.finding, this.#failure.finding)) this.#failure = found;
    if (found.finding === 'smtp_blocked') this.#noteRefusal(service);
  }

  #noteRefusal({ outcome, host, address, egress }: Served): void {
    const heard = heardIn(outcome);
    // A 4xx to RCPT may be about the recipient's own servers, and passes: it closes nothing for others.
    if (heard?.reading.meaning !== 'us_ip' || (heard.stage === 'rcpt' && heard.reply.code < 500)) return;
    const where = { operator: this.#operator, host, address, domain: this.#recipientDomain, egress };
    this.#refusedUs = [...this.#refusedUs, { where, account: this.#limit.tenant, isForDomain: heard.stage === 'rcpt' }];
  }

  #onRefused({ refused, retryAfter, egress }: Extract<Asked, { refused: Refused }>): void {
    const found = { ...NOT_DIALLED[refused](retryAfter), egress };
    this.#transcript.add('note', `not dialled: ${found.rule}`);
    if (this.#failure === null || outranks(found.finding, this.#failure.finding)) this.#failure = found;
  }

  /** Breakers open only if no host of the operator had a better answer than rejecting our IP address. */
  #end(found: SmtpResult, catchAll: CatchAllEvidence = CATCH_ALL_SKIPPED) {
    if (found.finding === 'smtp_blocked') {
      // One rejection for each address, however many names or sessions it was heard in.
      for (const refusal of new Map(this.#refusedUs.map((one) => [one.where.address, one])).values())
        this.#deps.throttle.refused(refusal);
    }
    const retryAfter = found.retryAfter ?? catchAll.retryAfter;
    return { smtp: { ...found, retryAfter, transcript: this.#transcript.end() }, catchAll };
  }
}
