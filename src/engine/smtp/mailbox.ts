/** The mailbox check: queries the hosts of a domain about one address and combines the results. */
import { isIP, isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import { within } from '../../kernel/bounded-wait.ts';
import { type Clock, HOUR_MS, toIso } from '../../kernel/clock.ts';
import { type Egress, IP_FAMILIES, type IpFamily, isSameEgress } from '../../kernel/egress.ts';
import type { AttemptNext } from '../../kernel/facts/reasons.ts';
import type { Address } from '../address/parse.ts';
import type { CatchAllEvidence, DnsEvidence, HostAttempt, SmtpEvidence, SmtpFinding, SmtpSource } from '../evidence.ts';
import { SMTP_FINDINGS } from '../findings.ts';
import {
  type ClassifiedReply,
  type ClassifyReply,
  type DialogueOutcome,
  type DialogueSetup,
  forwardPath,
  type NextStep,
  PROXY_FAILED,
  type RecipientQuestion,
  type ReplyReading,
} from './dialogue.ts';
import { EgressRests, type ProbeProxy } from './egress-rest.ts';
import { GREYLISTED_MS, LearnedHosts } from './learned-hosts.ts';
import { backgroundTenant } from './limiter.ts';
import { SMTP_LIMITS, type SmtpLimits } from './limits.ts';
import {
  type HostOwners,
  loadSilentOperators,
  mailOperatorKey,
  type OperatorNames,
  type SilentOperator,
} from './operators.ts';
import { type RequestResult, type ServedRequest, SessionPool } from './pool.ts';
import { blankedText, type SmtpReply } from './reply.ts';
import { Transcript } from './session.ts';
import { SharedRates, type SharedRatesOptions } from './shared-rates.ts';
import { type AddressRejection, Throttle } from './throttle.ts';

export interface MailboxLimit {
  /** The deadline is on the clock of `Clock.elapsed()`. */
  readonly deadlineMs: number;
  /**
   * Likewise: a check whose turn has not come by then is not begun, so that its time is not spent waiting. Default: the
   * deadline.
   */
  readonly startByMs?: number;
  /** When it is aborted, the dialogue ends with QUIT. */
  readonly signal?: AbortSignal;
  /** Aborted: a check that waits for its turn is canceled, and what was sent is still answered. */
  readonly lastCall?: AbortSignal;
  /** The mailbox is checked on its behalf: tenants take turns at each mail server. It is opaque. */
  readonly tenant: string;
  /** Name of the egress from which the recipient was asked about before, and deferred; default: never. */
  readonly egress?: string | null;
  /** Nobody waits for the answer: others come first. */
  readonly isBackground?: boolean;
}

interface MailboxSubject {
  readonly address: Address;
  readonly dns: DnsEvidence;
}

/** Queries the hosts in `dns` about one address, never throws. */
export interface MailboxQuestion {
  check(subject: MailboxSubject, limit: MailboxLimit): Promise<{ smtp: SmtpEvidence; catchAll: CatchAllEvidence }>;
}

/** The classifier (classify.ts) takes this input. */
export interface ReadRequest {
  readonly stage: Parameters<ClassifyReply>[0];
  readonly reply: SmtpReply;
  /** Names the provider, if it is known. */
  readonly operator: string | null;
  readonly echoes: {
    readonly address: string;
    readonly ourNames: readonly string[];
    readonly ourIps: readonly string[];
  };
}

interface CheckLimit extends MailboxLimit {
  /** Ends the check as well: shared by all of them. */
  readonly suspended?: AbortSignal;
}

export interface MailboxCheckOptions extends HostOwners {
  readonly clock: Clock;
  /** Returns whole numbers below n, of a cryptographically strong source: `randomInt` of kernel/ids.ts. */
  readonly random: RandomBelow;
  readonly classify: (request: ReadRequest) => ReplyReading;
  /** Guards addresses: `(ip) => routable(ip, { allowPrivate, own })`. */
  readonly mayDial: (ip: string) => boolean;
  readonly port: number;
  /** There is at least one. */
  readonly egresses: readonly Egress[];
  readonly connectionsPerHost: number;
  readonly ratePerOperator: number;
  readonly breakerSeconds: number;
  /** `demanded`, the default, uses TLS only where the server insists. */
  readonly tls?: 'demanded' | 'opportunistic';
  /** Our addresses as servers may echo them. */
  readonly ownIps?: readonly string[];
  /** Laboratories: an unqualified HELO name is taken. */
  readonly anyHelo?: boolean;
  /** See DialRoutesOptions; default: nobody is asked, so an operator's breaker opens for single accounts alone. */
  readonly askOperator?: (operator: string, egress: string) => void;
  /** Default: nothing is tried, and an egress that has rested is believed to work. */
  readonly probeProxy?: ProbeProxy;
  /** Set where other processes use the address too; by default, none does. */
  readonly sharedRates?: SharedRatesOptions | null;
  readonly limits?: Partial<SmtpLimits>;
  /** By default, they are those of data/smtp-operators.json. */
  readonly silentOperators?: readonly SilentOperator[];
}

/** Throws a TypeError for an unqualified HELO name or an invalid sender. */
export function createMailboxCheck(options: MailboxCheckOptions) {
  const { clock, egresses, port, mayDial, connectionsPerHost, ratePerOperator, breakerSeconds } = options;
  const senders = new Senders(options);
  const limits = { ...SMTP_LIMITS, ...options.limits };
  const { dialogues, networkFactor } = limits;
  const shared = options.sharedRates ? new SharedRates(clock, options.sharedRates) : null;
  const probe = options.probeProxy ?? (() => Promise.resolve('unknown' as const));
  const rests = new EgressRests(egresses, clock, limits.egressRestMs, probe);
  const throttle = new Throttle({
    clock,
    rests,
    askOperator: options.askOperator ?? (() => {}),
    connectionsPerHost,
    ratePerOperator,
    networkFactor,
    breakerSeconds,
    egresses,
    dialogues,
    shared,
  });
  const learned = new LearnedHosts(clock);
  const pool = new SessionPool({ clock, limits, throttle, learned, port, mayDial });
  const silent = new Set((options.silentOperators ?? loadSilentOperators()).map(({ operator }) => operator));
  const deps: CheckDeps = {
    options,
    senders,
    limits,
    throttle,
    learned,
    pool,
    silent,
    cache: new CatchAllCache(clock),
  };
  return {
    /** It never rejects. */
    check: (subject: MailboxSubject, limit: CheckLimit) => new MailboxCheckRun(deps, subject, limit).run(),
    /** Name of the egress from which the first host is asked; null: there is none. */
    egressFor: (subject: MailboxSubject, limit: CheckLimit) => new MailboxCheckRun(deps, subject, limit).firstEgress(),
    /** Operators whose breaker is open for an egress. */
    breakersOpen: (egress: string) => throttle.breakersOpen(egress),
    /** Seconds for which an egress rests; 0: it does not. */
    restsForSeconds: (egress: string) => throttle.restsForSeconds(egress),
    /**
     * From where dialogues begin from now on: those under way end as they began, and limits and breakers of an egress
     * are kept by its name. Throws a TypeError as `createMailboxCheck` does, and changes nothing then.
     */
    reload(next: readonly Egress[]) {
      senders.reload(next);
      throttle.reload(next);
    },
    /** Forgets which domains are catch-all. */
    forgetCatchAll: () => deps.cache.clear(),
    /** `slices`: of the rates shared with other processes, which this one has or waits for. */
    stats: () => ({
      ...throttle.stats(),
      sessions: pool.sessions.open,
      idle: pool.sessions.idle,
      slices: shared?.slices ?? 0,
    }),
    /** Metrics show it. */
    useByOperator: (names: OperatorNames) => throttle.useByOperator(names),
    /** Ends every session; resolves when the slices of shared rates are given back. */
    async close() {
      rests.close();
      pool.close();
      await shared?.close();
    },
  };
}

export type MailboxCheck = ReturnType<typeof createMailboxCheck>;

interface SenderIdentity {
  readonly egress: Egress;
  /** The null sender `<>` is an empty string. */
  readonly sender: string;
  readonly names: readonly string[];
  /** Another one for each change of the entry: sessions are not shared across it. */
  readonly version: number;
}

/** As who each egress asks. */
class Senders {
  readonly #anyHelo: boolean;
  /** The key is the name of the egress; earlier ones stay, as dialogues from there may be under way. */
  readonly #known = new Map<string, SenderIdentity>();
  /** Names and addresses of this host, as servers may echo them. */
  ourNames: readonly string[] = [];
  ourIps: readonly string[];
  #versions = 0;

  constructor({ egresses, anyHelo = false, ownIps = [] }: MailboxCheckOptions) {
    this.#anyHelo = anyHelo;
    this.ourIps = ownIps;
    this.reload(egresses);
  }

  reload(egresses: readonly Egress[]): void {
    const changed = egresses.filter((egress) => {
      const before = this.#known.get(egress.name)?.egress;
      return before === undefined || !isSameEgress(before, egress);
    });
    const identities = changed.map((egress) => senderIdentity(egress, this.#anyHelo, this.#versions++));
    for (const identity of identities) this.#known.set(identity.egress.name, identity);
    this.ourNames = [...new Set([...this.ourNames, ...identities.flatMap(({ names }) => names)])];
    this.ourIps = [...new Set([...this.ourIps, ...identities.flatMap(({ egress }) => egress.bind ?? [])])];
  }

  /** Throws if there never was an egress of that name. */
  of(egress: string): SenderIdentity {
    const found = this.#known.get(egress);
    if (found === undefined) throw new TypeError(`no egress ${egress}`);
    return found;
  }
}

/** Throws a TypeError for what a server would refuse. */
function senderIdentity(egress: Egress, anyHelo: boolean, version: number): SenderIdentity {
  const { helo, from } = egress;
  const sender = parseSender(from);
  if (sender === null) throw new TypeError('The sender (from) must be an email address or <>.');
  if (!isQualifiedName(helo) && !(anyHelo && /^[a-z0-9.[\]:-]+$/i.test(helo))) {
    throw new TypeError('The HELO name (helo) must be a fully qualified host name, such as mail.example.com.');
  }
  const names = sender === '' ? [helo] : [sender, helo, sender.slice(sender.lastIndexOf('@') + 1)];
  return { egress, sender, names, version };
}

/** Share of the remaining time that a host may take to greet while there is another host to try. */
const GREET_SHARE = 0.7;

/** This many sessions may follow one that failed, with the same address: without PIPELINING, with TLS 1.2, in clear. */
const MOST_SESSIONS_MORE = 3;

/** What is said of another session with the same address; null: the next host or address is asked, or nobody. */
const ONCE_MORE: Readonly<Record<NextStep, { readonly next: AttemptNext; readonly note: string } | null>> = {
  next_address: null,
  next_host: null,
  stop: null,
  without_pipelining: { next: 'without_pipelining', note: 'PIPELINING went wrong: once more without it' },
  tls_1_2: { next: 'tls_1_2', note: 'TLS 1.3 failed: once more with TLS 1.2' },
  in_clear: { next: 'in_clear', note: 'TLS failed: once more in clear' },
  new_session: { next: 'new_session', note: 'once more in a new session' },
  rejoin: { next: 'new_session', note: 'once more in a new session' },
};

/** All checks share it. */
interface CheckDeps {
  readonly options: MailboxCheckOptions;
  readonly senders: Senders;
  readonly limits: SmtpLimits;
  readonly throttle: Throttle;
  readonly learned: LearnedHosts;
  readonly pool: SessionPool;
  readonly silent: ReadonlySet<string>;
  readonly cache: CatchAllCache;
}
/** The sender depends on the egress. */
type UnsentQuestion = Omit<RecipientQuestion, 'sender'>;
const isAborted = ({ aborted }: AbortSignal): boolean => aborted;
/** `egress`: from which it was asked, or was to be. */
type AskedRequest = RequestResult & { readonly egress: string };
type AnsweredRequest = ServedRequest & { readonly outcome: Extract<ServedRequest['outcome'], { kind: 'answered' }> };

/** Runs one mailbox check: host by host, then the random recipient. */
class MailboxCheckRun {
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
  /** Names the egress of the last question. */
  #askedFrom = '';
  /** This failure has the lowest rank so far. */
  #failure: SmtpResult | null = null;
  /**
   * The most informative deferral of the recipient (RFC 5321 §4.2.1: 4yz to RCPT) so far. It stands unless a later host
   * tells mailboxes apart.
   */
  #deferral: SmtpResult | null = null;
  readonly #attempts: HostAttempt[] = [];
  /** Dialogues in which our IP address was rejected. */
  #refusedUs: readonly AddressRejection[] = [];
  /** The TLS handshake with these addresses has failed. */
  #inClear: readonly string[] = [];
  /** The cached catch-all answer, in which case no probe was sent. */
  #cached: CatchAllAnswer | null = null;
  /** Publishes the result of this check's probe to others at the domain; null while it has none. */
  #publish: ((evidence: CatchAllEvidence | null) => void) | null = null;
  /** The random local part is the same one in every session of this check. */
  #probed: string | null = null;

  constructor(deps: CheckDeps, { address, dns }: MailboxSubject, limit: CheckLimit) {
    this.#deps = deps;
    this.#address = address;
    this.#dns = dns;
    this.#limit = limit;
    this.#tenant = limit.isBackground ? backgroundTenant(limit.tenant) : limit.tenant;
    this.#signals = [limit.signal, limit.suspended].filter((signal) => signal !== undefined);
    this.#transcript = new Transcript(deps.options.clock, deps.limits, address.localPart);
    this.#recipientDomain = deps.options.registrableDomain(address.domain) ?? address.domain;
    this.#operator = mailOperatorKey(dns, deps.options);
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
      const answer = await this.#walk({ path, stage: 'rcpt', probe: (host) => this.#probePath(host) });
      if (answer === null) return this.#end(this.#deferral ?? this.#failure ?? this.#notAsked());
      const found = this.#resultOf(answer.outcome, answer);
      if (found.finding === 'smtp_blocked') this.#noteRefusal(answer);
      if (found.finding !== 'accepted') return this.#end(this.#afterDeferral(found, answer));
      if (this.#silent) {
        const rule = 'operator.accepts_all';
        return this.#end({ ...found, finding: 'smtp_unverifiable', rule, decidedBy: 'operator' });
      }
      const catchAll = this.#cached === null ? await this.#catchAll(answer) : this.#known(this.#cached);
      if (this.#deferral === null || catchAll.result !== 'fail' || !this.#isBackup(answer.host))
        return this.#end(found, catchAll);
      this.#transcript.add('note', `${answer.host} accepts every mailbox: the deferral stands`);
      return this.#end(this.#deferral);
    } finally {
      this.#publish?.(null);
    }
  }

  /** After a deferral, what a later host says counts only if it is about the mailbox, not about us or its relaying. */
  #afterDeferral(found: SmtpResult, { host, address, egress }: ServedRequest): SmtpResult {
    const { aboutMailbox } = SMTP_FINDINGS[found.finding];
    if (this.#deferral === null || (aboutMailbox && found.finding !== 'relay_denied')) return found;
    this.#transcript.add('note', `${host} says nothing of the mailbox: the deferral stands`);
    if (found.finding === 'smtp_blocked') this.#deps.learned.learn({ egress, address }, { refusesUs: true });
    return this.#deferral;
  }

  /** Whether it only keeps mail for hosts that are preferred, and may accept what they would not. */
  #isBackup(host: string): boolean {
    const [first] = this.#dns.hosts;
    const priority = this.#dns.hosts.find((one) => one.host === host)?.priority;
    return first !== undefined && priority !== undefined && priority > first.priority;
  }

  /**
   * What a backup does with random recipients says nothing of the domain, and what is done for one egress nothing of
   * another: each is remembered apart.
   */
  #catchAllOwner(host: string): string {
    const operator = `${this.#askedFrom}\n${this.#operator}`;
    return this.#isBackup(host) ? `${operator}\n${host}` : operator;
  }

  firstEgress(): string | null {
    const { limits, throttle } = this.#deps;
    const reaches = (family: IpFamily) => throttle.reaches(family, this.#operatorOfDomain);
    const [first] = dialCandidates(this.#dns, limits, reaches);
    return first === undefined ? null : this.#egressTo(first.address);
  }

  /** Why no host was dialled. */
  #notAsked(): SmtpResult {
    const { throttle } = this.#deps;
    const isAllowed = IP_FAMILIES.some((family) => throttle.reaches(family, this.#operatorOfDomain));
    return isAllowed
      ? resultWithoutDialogue('dialogue', 'smtp_unreachable', 'dialogue.no_address')
      : resultWithoutDialogue('host', 'smtp_unverifiable', 'egress.none_for_operator');
  }

  get #silent(): boolean {
    return this.#dns.provider !== null && this.#deps.silent.has(this.#dns.provider.name);
  }

  /**
   * Goes from host to host until one has answered about the recipient; null when none did. One that defers the
   * recipient is no better than one that is busy: the next is asked (RFC 5321 §5.1).
   */
  async #walk(question: UnsentQuestion): Promise<AnsweredRequest | null> {
    let left = this.#candidates(question);
    for (let candidate = left[0]; candidate !== undefined; candidate = left[0]) {
      const service = await this.#askUntilServed(candidate, question, left.length > 1);
      // A session that others opened may have been with another host of the domain.
      const asked = left.find((one) => isSameCandidate(one, service)) ?? candidate;
      left = left.filter((one) => one !== asked);
      if ('refused' in service) {
        this.#onRefused(service);
        if (service.refused === 'address_blocked') continue;
        return null;
      }
      const { outcome } = service;
      const isDeferred = this.#noteDeferral(question, service);
      if (outcome.kind === 'answered' && !isDeferred) {
        this.#noteAttempt(service, null);
        return { ...service, outcome };
      }
      if (outcome.kind === 'failed') this.#onFailure(service);
      left = this.#leftAfter(left, service, isDeferred);
      const [next] = this.#over() ? [] : left;
      const step = isDeferred ? 'deferred' : next?.host === service.host ? 'next_address' : 'next_host';
      this.#noteAttempt(service, next === undefined ? null : step);
      if (next === undefined) return null;
      if (isDeferred) this.#transcript.add('note', `${service.host} defers the recipient: ${next.host} is asked`);
    }
    return null;
  }

  /**
   * Returns hosts in order of preference; the one comes first that greylisted the recipient before, and may have waited
   * for it since.
   */
  #candidates({ path }: UnsentQuestion): readonly DialCandidate[] {
    const { limits, throttle, learned } = this.#deps;
    const all = dialCandidates(this.#dns, limits, (family) => throttle.reaches(family, this.#operatorOfDomain));
    const egress = all[0] === undefined ? '' : this.#egressTo(all[0].address);
    const first = learned.greylistedAt({ egress, path });
    return first === null || all[0]?.host === first
      ? all
      : [...all.filter(({ host }) => host === first), ...all.filter(({ host }) => host !== first)];
  }

  async #askUntilServed(candidate: DialCandidate, question: UnsentQuestion, others: boolean): Promise<AskedRequest> {
    const { learned, options } = this.#deps;
    let service = await this.#ask(candidate, question, others, false);
    for (let more = 0; more < MOST_SESSIONS_MORE; more++) {
      if ('refused' in service || service.outcome.kind === 'answered' || this.#over()) break;
      const again = ONCE_MORE[service.outcome.next];
      if (again === null) break;
      this.#transcript.add('note', again.note);
      this.#noteAttempt(service, again.next);
      if (again.next === 'in_clear') this.#inClear = [...this.#inClear, candidate.address];
      service = await this.#ask(candidate, question, others, true);
    }
    const isAnswered = !('refused' in service) && service.outcome.kind === 'answered';
    // Where servers demand TLS, clear text has no answer.
    if (isAnswered && options.tls === 'opportunistic' && this.#inClear.includes(candidate.address))
      learned.learn({ egress: service.egress, address: candidate.address }, { tls: 'none' });
    return service;
  }

  /** Whether the recipient was deferred, which another host may not do. */
  #noteDeferral({ path }: UnsentQuestion, service: ServedRequest): boolean {
    const classified = decidingReply(service.outcome);
    const { finding } = service.outcome;
    const isOfRecipient = classified?.stage === 'rcpt' && classified.reply.code < 500;
    if (!isOfRecipient || (finding !== 'greylisted' && finding !== 'smtp_temporary_failure')) return false;
    // The first one that greylists it will be the first to take it.
    if (finding === 'greylisted' && this.#deferral?.finding !== 'greylisted')
      this.#deps.learned.noteGreylisted({ egress: service.egress, path }, service.host);
    if (this.#deferral === null || outranks(finding, this.#deferral.finding))
      this.#deferral = this.#resultOf(service.outcome, service);
    return true;
  }

  /** Leaves out those that are not to be asked after this. */
  #leftAfter(left: readonly DialCandidate[], { host, address, outcome }: ServedRequest, isDeferred: boolean) {
    if (isDeferred) {
      // The same server may have another name.
      const others = left.filter((one) => one.host !== host && one.address !== address);
      return others.filter((one) => !this.#hasRefusedUs(one));
    }
    if (outcome.kind === 'failed' && outcome.next === 'stop') return [];
    const isOfHost = outcome.kind === 'failed' && outcome.next === 'next_host';
    return isOfHost ? left.filter((one) => one.host !== host) : left;
  }

  #hasRefusedUs({ host, address }: DialCandidate): boolean {
    const { refusesUs } = this.#deps.learned.of({ egress: this.#egressTo(address), address });
    if (refusesUs) this.#transcript.add('note', `${host} [${address}] is not asked: it refused us before`);
    return refusesUs;
  }

  #noteAttempt(service: ServedRequest, next: AttemptNext | null): void {
    const { stage, code, rule } = this.#resultOf(service.outcome, service);
    this.#attempts.push({ host: service.host, address: service.address, stage, code, rule, next });
  }

  async #ask(
    { host, address }: DialCandidate,
    question: UnsentQuestion,
    others: boolean,
    fresh: boolean,
  ): Promise<AskedRequest> {
    const { deadlineMs, startByMs } = this.#limit;
    const egress = this.#egressTo(address);
    const identity = this.#deps.senders.of(egress);
    this.#askedFrom = egress;
    const sender = senderFor(identity.sender, this.#address.domain);
    const retryAfterSeconds = this.#deps.throttle.restsForSeconds(egress);
    if (retryAfterSeconds > 0) return { refused: 'resting', retryAfterSeconds, egress };
    const from = Math.max(this.#deps.options.clock.elapsed(), startByMs ?? 0);
    const service = await this.#deps.pool.ask({
      fresh,
      tls: this.#tlsWith(address),
      host,
      address,
      egress,
      tenant: this.#tenant,
      // A host that deferred the recipient may have an open session, which must not be asked again.
      hosts: `${egress}\n${identity.version}\n${this.#hosts}${this.#deferral === null ? '' : `\n${address}`}`,
      operator: this.#operator,
      domain: this.#recipientDomain,
      read: this.#read,
      question: { ...question, sender },
      transcript: this.#transcript,
      deadlineMs,
      startByMs: this.#attempts.length === 0 && question.stage === 'rcpt' ? (startByMs ?? deadlineMs) : deadlineMs,
      greetByMs: others ? from + (deadlineMs - from) * GREET_SHARE : deadlineMs,
      signals: this.#signals,
      lastCall: this.#limit.lastCall,
    });
    return { ...service, egress };
  }

  /** Returns the operator of all hosts, dialed or not. */
  readonly #operatorOfDomain = (): string => mailOperatorKey({ hosts: this.#dns.records }, this.#deps.options);

  #egressTo(address: string): string {
    const kept = this.#limit.egress ?? null;
    const operator = this.#operatorOfDomain;
    return this.#deps.throttle.chooseEgress({ operator, domain: this.#recipientDomain, address, kept });
  }

  #resultOf(outcome: DialogueOutcome, where: Omit<ServedRequest, 'outcome'>): SmtpResult {
    return smtpResultOf(outcome, where, this.#address.localPart);
  }

  #tlsWith(address: string): DialogueSetup['tls'] {
    return this.#inClear.includes(address) ? 'never' : (this.#deps.options.tls ?? 'demanded');
  }

  readonly #read: ClassifyReply = (stage, reply, path) => {
    const { options, senders } = this.#deps;
    const { ourNames, ourIps } = senders;
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
        retryAfterSeconds: null,
        readBy: 'rule',
        probability: null,
      };
    }
  };

  /** Called by the dialogue once the real address was accepted. */
  #probePath(host: string): string | null {
    const { cache, pool } = this.#deps;
    if (this.#silent) return null;
    const { domain } = this.#address;
    const owner = this.#catchAllOwner(host);
    this.#cached = cache.get(domain, owner);
    if (this.#cached !== null) return null;
    // It has its own already where a session failed after the recipient seemed to be accepted.
    if (this.#publish === null) {
      if (cache.underWay(domain, owner, this.#tenant) !== undefined) return null;
      this.#publish = cache.begin(domain, owner, this.#tenant);
    }
    return pool.takesOneRecipient({ operator: this.#operator, tenant: this.#tenant }) ? null : this.#randomPath(owner);
  }

  #randomPath(owner: string): string {
    const { domain } = this.#address;
    this.#probed ??= this.#deps.cache.greylistedProbe(domain, owner) ?? randomLocalPart(this.#deps.options.random);
    return `${this.#probed}@${domain}`;
  }

  async #catchAll({ outcome, host, address }: AnsweredRequest): Promise<CatchAllEvidence> {
    const owner = this.#catchAllOwner(host);
    const shared = this.#publish === null ? await this.#ofAnother(owner) : null;
    if (shared !== null) return shared;
    const { probe } = outcome;
    const evidence =
      probe === null || probe.finding === 'reconnect'
        ? await this.#probeAgain({ host, address })
        : catchAllOf(probe.finding, probe.classified, this.#deps.options.clock.now());
    const { result, why, checkedAt } = evidence;
    const { cache } = this.#deps;
    if (why === 'greylisted' && this.#probed !== null) cache.noteGreylisted(this.#address.domain, owner, this.#probed);
    if (checkedAt !== null && (result === 'pass' || result === 'fail'))
      cache.set(this.#address.domain, owner, { result, checkedAt });
    // What only this check had no time for, others still have to find out.
    this.#publish?.(this.#over() ? null : evidence);
    return evidence;
  }

  /** What another check at the domain finds out; null: nobody does, so this check has to. */
  async #ofAnother(owner: string): Promise<CatchAllEvidence | null> {
    const { cache } = this.#deps;
    const { domain } = this.#address;
    for (;;) {
      const probe = cache.underWay(domain, owner, this.#tenant);
      const known = cache.get(domain, owner);
      if (known !== null) return this.#known(known);
      if (probe === undefined) {
        this.#publish = cache.begin(domain, owner, this.#tenant);
        return null;
      }
      const ms = Math.max(0, Math.ceil(this.#limit.deadlineMs - this.#deps.options.clock.elapsed()));
      const evidence = await within({ ms, signals: this.#signals, late: () => null }, () => probe);
      if (evidence !== null) return { ...evidence, cached: true };
      if (this.#over()) return CATCH_ALL_TIMEOUT;
    }
  }

  #known({ result, checkedAt }: CatchAllAnswer): CatchAllEvidence {
    this.#transcript.add('note', `no random recipient: the answer of ${toIso(checkedAt)} is remembered`);
    return { result, why: null, retryAfterSeconds: null, cached: true, checkedAt };
  }

  /** The random recipient in a session of its own, for operators that take one recipient per session. */
  async #probeAgain(candidate: DialCandidate): Promise<CatchAllEvidence> {
    if (this.#over()) return CATCH_ALL_TIMEOUT;
    const path = this.#randomPath(this.#catchAllOwner(candidate.host));
    const question: UnsentQuestion = { path, stage: 'probe', probe: () => null };
    const service = await this.#ask(candidate, question, false, true);
    if ('refused' in service) {
      return { ...CATCH_ALL_TIMEOUT, why: NOT_DIALLED[service.refused](null).finding };
    }
    return catchAllOf(service.outcome.finding, decidingReply(service.outcome), this.#deps.options.clock.now());
  }

  #over(): boolean {
    const { lastCall } = this.#limit;
    if (lastCall !== undefined && isAborted(lastCall)) return true;
    return this.#signals.some(isAborted) || this.#deps.options.clock.elapsed() >= this.#limit.deadlineMs;
  }

  #onFailure(service: ServedRequest): void {
    const found = this.#resultOf(service.outcome, service);
    if (this.#failure === null || outranks(found.finding, this.#failure.finding)) this.#failure = found;
    if (found.finding === 'smtp_blocked') this.#noteRefusal(service);
  }

  #noteRefusal({ outcome, host, address, egress }: ServedRequest): void {
    const classified = decidingReply(outcome);
    // A 4xx to RCPT may be about the recipient's own servers, and passes: it closes nothing for others.
    if (classified?.reading.meaning !== 'us_ip' || (classified.stage === 'rcpt' && classified.reply.code < 500)) return;
    const where = { operator: this.#operator, host, address, domain: this.#recipientDomain, egress };
    this.#refusedUs = [
      ...this.#refusedUs,
      { where, account: this.#limit.tenant, isForDomain: classified.stage === 'rcpt' },
    ];
  }

  #onRefused({ refused, retryAfterSeconds, egress }: Extract<AskedRequest, { refused: NotDialled }>): void {
    const found = { ...NOT_DIALLED[refused](retryAfterSeconds), egress };
    this.#transcript.add('note', `not dialled: ${found.rule}`);
    if (this.#failure === null || outranks(found.finding, this.#failure.finding)) this.#failure = found;
  }

  /** Breakers open only if no host of the operator had a better answer than rejecting our IP address. */
  #end(found: SmtpResult, catchAll: CatchAllEvidence = CATCH_ALL_SKIPPED) {
    if (found.finding === 'smtp_blocked') {
      // One rejection for each address, however many names or sessions it came in.
      for (const refusal of new Map(this.#refusedUs.map((one) => [one.where.address, one])).values())
        this.#deps.throttle.refused(refusal);
    }
    const retryAfterSeconds = found.retryAfterSeconds ?? catchAll.retryAfterSeconds;
    const rest = { retryAfterSeconds, attempts: this.#attempts, transcript: this.#transcript.end() };
    return { smtp: { ...found, ...rest }, catchAll };
  }
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/**
 * Whether a name may be in EHLO: a qualified host name (RFC 5321 §2.3.5), neither `localhost` nor an IP literal nor
 * one label alone, which strict servers refuse and which no PTR record can match.
 */
export function isQualifiedName(name: string): boolean {
  const labels = name.split('.');
  if (name.length > 253 || labels.length < 2 || !labels.every((label) => LABEL.test(label))) return false;
  const top = labels.at(-1)?.toLowerCase() ?? '';
  return isIP(name) === 0 && !/^\d+$/.test(top) && top !== 'localhost' && top !== 'localdomain';
}

const DOT_ATOM = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;

/** Returns the MAIL FROM address without brackets; empty for `<>`, the null sender; null if it is invalid. */
export function parseSender(text: string): string | null {
  const inner = text.startsWith('<') && text.endsWith('>') ? text.slice(1, -1) : text;
  if (inner === '') return text === '<>' ? '' : null;
  const at = inner.lastIndexOf('@');
  const local = inner.slice(0, at);
  if (at < 1 || local.length > 64 || !DOT_ATOM.test(local)) return null;
  const domain = inner.slice(at + 1);
  return domain.length <= 253 && domain.split('.').every((label) => LABEL.test(label)) ? inner : null;
}

/**
 * The sender for a recipient's domain: never that domain itself, because its server would treat the mail as forged
 * (SPF, "sender must authenticate"); the null sender is used instead.
 */
export function senderFor(sender: string, recipientDomain: string): string {
  const domain = sender.slice(sender.lastIndexOf('@') + 1);
  return domain.toLowerCase() === recipientDomain.toLowerCase() ? '' : sender;
}

const ONSETS = ['b', 'br', 'c', 'd', 'dr', 'f', 'g', 'h', 'j', 'k', 'kl', 'l', 'm', 'n', 'p', 'r', 's', 'st', 't', 'v'];
const VOWELS = ['a', 'e', 'i', 'o', 'u', 'ai', 'ea', 'ie'];
const CODAS = ['', '', '', 'l', 'n', 'r', 's', 'm'];

/** `random(n)` returns an integer x with 0 ≤ x < n, from a cryptographically secure source. */
type RandomBelow = (n: number) => number;

function syllables(count: number, random: RandomBelow): string {
  let text = '';
  for (let i = 0; i < count; i++) {
    for (const sounds of [ONSETS, VOWELS, CODAS]) text += sounds[random(sounds.length)] ?? '';
  }
  return text;
}

/**
 * A random local part that does not exist: `karosten.brilavean4821`. Given name, dot, surname, digits, 20 to 30
 * characters: valid under the format rules of the large providers (letters, digits and one dot, at most 30), so that a
 * rejection is about the mailbox. Seven syllables of about 9 bits plus four digits give over 70 bits, so collisions
 * with real mailboxes or earlier probes do not happen, and filters cannot recognize it as a probe.
 */
function randomLocalPart(random: RandomBelow): string {
  for (;;) {
    const digits = String(1000 + random(9000));
    const name = `${syllables(3, random)}.${syllables(4, random)}${digits}`;
    if (name.length >= 20 && name.length <= 30) return name;
  }
}

/** One address of one mail host, to be dialled. */
interface DialCandidate {
  readonly host: string;
  readonly address: string;
}

/**
 * Addresses to dial, in order: hosts by preference, with one IPv4 and one IPv6 address each if available. IPv4 first:
 * reverse DNS and reputation of a sending host are more often set up correctly there. `reachable(family)`: whether
 * there is an egress address for it.
 */
export function dialCandidates(
  dns: DnsEvidence,
  limits: SmtpLimits,
  reachable: (family: 4 | 6) => boolean,
): readonly DialCandidate[] {
  const list: DialCandidate[] = [];
  for (const { host, addresses } of dns.hosts.slice(0, limits.hosts)) {
    const usable = addresses.filter((address) => reachable(isIPv6(address) ? 6 : 4));
    for (const address of alternateFamilies(usable).slice(0, limits.addressesPerHost)) list.push({ host, address });
  }
  return list;
}

const isSameCandidate = (one: DialCandidate, service: AskedRequest): boolean =>
  !('refused' in service) && one.host === service.host && one.address === service.address;

function alternateFamilies(addresses: readonly string[]): readonly string[] {
  if (addresses.length < 2) return addresses;
  const [v4, v6] = [addresses.filter((address) => !isIPv6(address)), addresses.filter(isIPv6)];
  return [...v4.slice(0, 1), ...v6.slice(0, 1), ...v4.slice(1), ...v6.slice(1)];
}

/** Whether `a` is the finding to report when one host ended in `a` and another in `b`. */
export const outranks = (a: SmtpFinding, b: SmtpFinding): boolean => SMTP_FINDINGS[a].rank < SMTP_FINDINGS[b].rank;

type SmtpResult = Omit<SmtpEvidence, 'transcript' | 'attempts'>;

/** The reply that decided it; null if none did. */
const decidingReply = (outcome: DialogueOutcome): ClassifiedReply | null =>
  outcome.kind === 'answered' ? outcome.rcpt : outcome.classified;

/** The evidence of one outcome; `host` and `address` null if no host was dialled. */
function smtpResultOf(outcome: DialogueOutcome, where: Omit<ServedRequest, 'outcome'>, localPart: string): SmtpResult {
  const classified = decidingReply(outcome);
  return {
    finding: outcome.finding,
    host: where.host,
    address: where.address,
    egress: where.egress,
    stage: outcome.kind === 'answered' ? outcome.rcpt.stage : outcome.stage,
    code: classified?.reply.code ?? null,
    enhancedCode: classified?.reply.enhanced ?? null,
    message: classified === null ? null : blankedText(classified.reply.text, localPart),
    tls: where.secure,
    rule: outcome.kind === 'answered' ? outcome.rcpt.reading.rule : outcome.rule,
    decidedBy:
      classified !== null ? 'server' : outcome.kind === 'failed' && outcome.cancelled ? 'cancelled' : 'dialogue',
    readBy: classified?.reading.readBy ?? null,
    probability: classified?.reading.probability ?? null,
    retryAfterSeconds: classified?.reading.retryAfterSeconds ?? null,
  };
}

/** Makes the result of a finding without a dialogue. */
export const resultWithoutDialogue = (
  decidedBy: SmtpSource,
  finding: SmtpFinding,
  rule: string,
  retryAfterSeconds: number | null = null,
): SmtpResult => ({
  finding,
  host: null,
  address: null,
  egress: null,
  stage: null,
  code: null,
  enhancedCode: null,
  message: null,
  tls: false,
  rule,
  decidedBy,
  readBy: null,
  probability: null,
  retryAfterSeconds,
});

type NotDialled = Extract<RequestResult, { refused: string }>['refused'];

const NOT_DIALLED: Readonly<Record<NotDialled, (retryAfterSeconds: number | null) => SmtpResult>> = {
  blocked: (retryAfterSeconds) => resultWithoutDialogue('throttle', 'smtp_blocked', 'pace.breaker', retryAfterSeconds),
  address_blocked: (retryAfterSeconds) =>
    resultWithoutDialogue('throttle', 'smtp_blocked', 'pace.breaker', retryAfterSeconds),
  resting: (retryAfterSeconds) => resultWithoutDialogue('host', 'smtp_unreachable', PROXY_FAILED, retryAfterSeconds),
  late: (retryAfterSeconds) => resultWithoutDialogue('throttle', 'smtp_timeout', 'pace.deadline', retryAfterSeconds),
  cancelled: (retryAfterSeconds) =>
    resultWithoutDialogue('cancelled', 'smtp_timeout', 'dialogue.cancelled', retryAfterSeconds),
};

const NO_CATCH_ALL = { why: null, retryAfterSeconds: null, cached: false, checkedAt: null } as const;
export const CATCH_ALL_SKIPPED: CatchAllEvidence = { ...NO_CATCH_ALL, result: 'skipped' };
const CATCH_ALL_TIMEOUT: CatchAllEvidence = { ...NO_CATCH_ALL, result: 'unknown', why: 'smtp_timeout' };

/**
 * The catch-all result from the reply to the random recipient, after the real one was accepted. `reconnect`: even a
 * session of its own gave no answer. `now`: when the reply came.
 */
export function catchAllOf(
  finding: SmtpFinding | 'reconnect',
  classified: ClassifiedReply | null,
  now: number,
): CatchAllEvidence {
  const why = finding === 'reconnect' ? 'smtp_temporary_failure' : finding;
  const { asProbe } = SMTP_FINDINGS[why];
  return typeof asProbe === 'string'
    ? { ...NO_CATCH_ALL, result: asProbe, checkedAt: now }
    : { ...NO_CATCH_ALL, result: 'unknown', why, retryAfterSeconds: classified?.reading.retryAfterSeconds ?? null };
}

/** A catch-all domain rarely changes; another domain may become a catch-all any day. */
const CATCH_ALL_KEPT_MS = { fail: 24 * HOUR_MS, pass: 6 * HOUR_MS } as const;
const MOST_DOMAINS = 50_000;

interface CatchAllAnswer {
  readonly result: 'pass' | 'fail';
  /** The time is on the clock of `Clock.now()`. */
  readonly checkedAt: number;
}

/** Whether a domain accepts any mailbox, remembered per domain and operator; what is unknown is not remembered. */
class CatchAllCache {
  readonly #options: { readonly max: number; readonly perf: { now(): number }; readonly ttlResolution: number };
  // Both are created with the first answer (docs/architecture.md#what-v8-does).
  #cache: LRUCache<string, CatchAllAnswer> | null = null;
  /** Random local parts that were greylisted: a new one at each retry would be greylisted again, forever. */
  #greylisted: LRUCache<string, string> | null = null;

  /** Domains that are being probed, by tenant: what one waits for may be held up by its own work, of any amount. */
  readonly #underWay = new Map<string, Promise<CatchAllEvidence | null>>();

  constructor(clock: Clock, max = MOST_DOMAINS) {
    this.#options = { max, perf: { now: () => clock.elapsed() }, ttlResolution: 0 };
  }

  get(domain: string, operator: string): CatchAllAnswer | null {
    return this.#cache?.get(`${domain}\n${operator}`) ?? null;
  }

  /**
   * The result of the tenant's probe that is under way for a domain, null if it comes to nothing; undefined: there is
   * none.
   */
  underWay(domain: string, operator: string, tenant: string): Promise<CatchAllEvidence | null> | undefined {
    return this.#underWay.get(`${domain}\n${operator}\n${tenant}`);
  }

  /**
   * Others of the tenant wait for the result of this probe. The returned function must be called with it, or with null
   * for none.
   */
  begin(domain: string, operator: string, tenant: string): (evidence: CatchAllEvidence | null) => void {
    const key = `${domain}\n${operator}\n${tenant}`;
    let resolve: (evidence: CatchAllEvidence | null) => void = () => {};
    const promise = new Promise<CatchAllEvidence | null>((settle) => {
      resolve = settle;
    });
    this.#underWay.set(key, promise);
    return (evidence) => {
      if (this.#underWay.get(key) === promise) this.#underWay.delete(key);
      resolve(evidence);
    };
  }

  /** The random local part that this domain's server has greylisted; null for none. */
  greylistedProbe(domain: string, operator: string): string | null {
    return this.#greylisted?.get(`${domain}\n${operator}`) ?? null;
  }

  noteGreylisted(domain: string, operator: string, localPart: string): void {
    this.#greylisted ??= new LRUCache({ ...this.#options, ttl: GREYLISTED_MS });
    this.#greylisted.set(`${domain}\n${operator}`, localPart);
  }

  clear(): void {
    this.#cache?.clear();
    this.#greylisted?.clear();
  }

  set(domain: string, operator: string, answer: CatchAllAnswer): void {
    this.#cache ??= new LRUCache(this.#options);
    this.#cache.set(`${domain}\n${operator}`, answer, { ttl: CATCH_ALL_KEPT_MS[answer.result] });
  }
}
