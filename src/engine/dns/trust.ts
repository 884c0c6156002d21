/**
 * Whether a DNS server tells the truth. A server without a way out to the Internet may deny every name, and a captive
 * portal may invent an address for every name; neither is a finding about a domain. Control queries for names that
 * cannot be missing, and for one that cannot exist (`.invalid`, RFC 6761 §6.4), tell.
 *
 * `Trust` is a state machine without sockets or a clock: replies and results of control queries in, rulings and control
 * queries out. Times are `Clock.elapsed()` ms. One instance per server; `createCheckedTransport` runs it.
 */
import { type Clock, HOUR_MS } from '../../kernel/clock.ts';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import { randomToken } from '../../kernel/ids.ts';
import type { Distrust, Untrusted } from '../evidence.ts';
import { type DnsQuestion, type DnsReply, isDistrust } from './message.ts';
import type { DnsTransport, QueryOutcome } from './transport.ts';

/** `unchecked`: no round of control queries has ended with a result yet. */
export const TRUST_STATES = ['unchecked', 'trusted', 'denies_every_name', 'answers_every_name'] as const;
export type TrustState = (typeof TRUST_STATES)[number];

/** `minor` is a denial on which no verdict rests. */
type ReplyKind = 'positive' | 'denial' | 'minor';
type Ruling = 'believe' | 'hold' | Untrusted;
type RoundOutcome = 'trusted' | Distrust | 'inconclusive';

interface ControlRound {
  /** All control names and `.invalid`; else one name, to confirm a denial. */
  readonly full: boolean;
  /** Queries without a result, and whether the one for `.invalid` is among them. */
  open: number;
  invalidOpen: boolean;
  found: boolean;
  denied: boolean;
}

export interface ControlQuery {
  readonly question: DnsQuestion;
  /** The name that cannot exist. */
  readonly invalid: boolean;
  readonly round: ControlRound;
}

/** What follows from an event: further queries to send, the end of the round, or nothing yet. */
export type TrustStep = { readonly send: readonly ControlQuery[] } | { readonly end: RoundOutcome } | null;

/** Denials per hour of which each is confirmed; beyond that, confirmations become rarer with each one. */
const CONFIRMED_EACH = 5;
/** A denial is confirmed if nothing was found for this long. */
const UNPROVEN_MS = 5 * 60_000;
/** How often a name that cannot exist is tried, while the server is in use. */
const INVALID_MS = 30 * 60_000;
/** For so long after a round that did not end in trust, replies do not cause another one. */
const ROUND_RETRY_MS = 1000;

/**
 * The kind of a reply. AAAA denials are minor: a host without AAAA records is common, and every verdict that rests on
 * missing addresses needs the A query to be denied as well.
 */
export function replyKind({ type }: DnsQuestion, { nxdomain, records }: DnsReply): ReplyKind {
  const found = !nxdomain && records.some(({ record }) => record.type === type || record.type === 'CNAME');
  return found ? 'positive' : type === 'AAAA' ? 'minor' : 'denial';
}

/** Makes the query for a control name: NS of a top-level domain or the root, MX of a mail domain. */
export const controlQuestion = (name: string): DnsQuestion => ({
  name,
  type: name.lastIndexOf('.') <= 0 ? 'NS' : 'MX',
});

export class Trust {
  readonly #options: ConstructorParameters<typeof Trust>[0];
  #state: TrustState = 'unchecked';
  #round: ControlRound | null = null;
  /** Control names that were found when last asked, in the order of the confirmations. */
  readonly #found = new Set<DnsQuestion>();
  #learned: DnsQuestion | null = null;
  #lastFound = Number.NEGATIVE_INFINITY;
  #lastInvalid = Number.NEGATIVE_INFINITY;
  #lastFailure = Number.NEGATIVE_INFINITY;
  /** Denials believed since something was found. */
  #run = 0;
  /** Counts the confirmations in the hour since `#hour`. */
  #confirmations = 0;
  #hour = Number.NEGATIVE_INFINITY;

  constructor(options: {
    /** There is at least one. */
    controls: readonly DnsQuestion[];
    /** Returns a different name under `.invalid` at each call. */
    invalidName: () => string;
    /** The resolver of a laboratory may know only its own names: any name that is found counts as a control. */
    laboratory: boolean;
  }) {
    this.#options = options;
  }

  get state(): TrustState {
    return this.#state;
  }

  /** Whether a round is under way. */
  get checking(): boolean {
    return this.#round !== null;
  }

  /** Whether a reply can be used. `hold`: once the round that is under way, or that the caller begins, has ended. */
  rule(kind: ReplyKind, now: number): Ruling {
    const recheck = now - this.#lastFailure >= ROUND_RETRY_MS;
    switch (this.#state) {
      case 'unchecked':
        if (recheck) return 'hold';
        return kind === 'denial' ? 'unconfirmed' : 'believe';
      case 'trusted':
        if (kind !== 'denial') return 'believe';
        if (this.#run < this.#allowedRun(now) && now - this.#lastFound <= UNPROVEN_MS) {
          this.#run++;
          return 'believe';
        }
        return recheck ? 'hold' : 'unconfirmed';
      case 'denies_every_name':
        return recheck || (kind === 'positive' && this.#options.laboratory) ? 'hold' : this.#state;
      case 'answers_every_name':
        return recheck ? 'hold' : this.#state;
    }
  }

  /** An ordinary query was answered with records. True: the server is trusted, which confirms the denials held. */
  onFound(question: DnsQuestion, now: number): boolean {
    if (this.#options.laboratory) {
      if (this.#learned) this.#found.delete(this.#learned);
      this.#learned = question;
      if (this.#state === 'trusted') this.#found.add(question);
      if (this.#round) this.#round.found = true;
    }
    if (this.#state !== 'trusted') return false;
    this.#run = 0;
    this.#lastFound = now;
    return true;
  }

  /** Whether it is time to try a name that cannot exist, without a denial to confirm. */
  invalidIsDue(now: number): boolean {
    return this.#state === 'trusted' && this.#round === null && now - this.#lastInvalid >= INVALID_MS;
  }

  /** Begins a round; the queries to send. Each one's result goes to `onControl`. */
  begin(now: number): readonly ControlQuery[] {
    if (this.#state !== 'trusted') return this.#beginFull();
    if (now - this.#hour >= HOUR_MS) {
      this.#hour = now;
      this.#confirmations = 0;
    }
    this.#confirmations++;
    const [control] = this.#found;
    if (control === undefined) return this.#beginFull();
    // It goes to the end of the order: caches between us and the Internet may have the answer to the same question for
    // long.
    this.#found.delete(control);
    this.#found.add(control);
    return this.#queries([control], now - this.#lastInvalid >= INVALID_MS, false);
  }

  /** `null`: the query failed. Results that arrive after their round are of no consequence. */
  onControl(query: ControlQuery, kind: ReplyKind | null, now: number): TrustStep {
    const { round, question, invalid } = query;
    round.open--;
    if (invalid) {
      round.invalidOpen = false;
      this.#lastInvalid = now;
    } else if (kind === 'positive') this.#found.add(question);
    else this.#found.delete(question);
    if (round !== this.#round) return null;
    if (invalid && kind === 'positive') return { end: this.#end('answers_every_name', now) };
    if (!invalid && kind === 'positive') round.found = true;
    if (!invalid && kind === 'denial') round.denied = true;
    return this.conclude(now);
  }

  /** Ends the round, as far as the results so far allow. */
  conclude(now: number): TrustStep {
    const round = this.#round;
    if (round === null) return null;
    if (round.found && !round.invalidOpen) return { end: this.#end('trusted', now) };
    if (round.open > 0) return null;
    if (!round.full) return { send: this.#beginFull() };
    return { end: this.#end(round.denied ? 'denies_every_name' : 'inconclusive', now) };
  }

  #beginFull(): readonly ControlQuery[] {
    const { controls } = this.#options;
    return this.#queries(this.#learned ? [...controls, this.#learned] : controls, true, true);
  }

  #queries(questions: readonly DnsQuestion[], invalid: boolean, full: boolean): readonly ControlQuery[] {
    const open = questions.length + (invalid ? 1 : 0);
    const round = { full, open, invalidOpen: invalid, found: false, denied: false };
    this.#round = round;
    const queries = questions.map((question) => ({ question, invalid: false, round }));
    if (!invalid) return queries;
    return [...queries, { question: { name: this.#options.invalidName(), type: 'A' }, invalid: true, round }];
  }

  #end(outcome: RoundOutcome, now: number): RoundOutcome {
    this.#round = null;
    this.#lastFailure = outcome === 'trusted' ? Number.NEGATIVE_INFINITY : now;
    if (outcome === 'trusted') this.#lastFound = now;
    if (outcome === 'inconclusive') return outcome;
    if (outcome !== 'trusted') this.#found.clear();
    this.#run = 0;
    if (this.#state !== outcome) this.#hour = Number.NEGATIVE_INFINITY;
    this.#state = outcome;
    return outcome;
  }

  /**
   * How many denials in a row are believed without a confirmation. None at first, so that a server whose answers become
   * false is found out at once; after some confirmations in the same hour, which traffic with many dead domains causes,
   * twice as many after each, so that an hour costs a handful of control queries whatever the traffic.
   */
  #allowedRun(now: number): number {
    const confirmations = now - this.#hour >= HOUR_MS ? 0 : this.#confirmations;
    return confirmations < CONFIRMED_EACH ? 0 : 2 ** Math.min(confirmations - CONFIRMED_EACH, 20);
  }
}

export interface CheckedTransport extends DnsTransport {
  trust(): TrustState;
  /** Begins the first round of control queries, unless it has begun. */
  check(): void;
}

/** Milliseconds between the rounds of control queries to a server with false answers, if nothing is asked of it. */
const TRUST_RECHECK_MS = 10_000;
/** Attempts of a control query that is not answered, as of any other query. */
const CONTROL_ATTEMPTS = 2;

type TransportReply = Extract<QueryOutcome, { kind: 'reply' }>;

interface HeldReply {
  readonly reply: TransportReply;
  readonly isDenial: boolean;
  readonly done: (outcome: QueryOutcome) => void;
}

/** A transport that passes on only replies that can be trusted, as Trust rules for this server. */
export function createCheckedTransport(
  transport: DnsTransport,
  options: {
    /** There is at least one. */
    controls: readonly DnsQuestion[];
    laboratory: boolean;
    /** Bounds one control query. */
    timeoutMs: number;
    clock: Clock;
    onChange: (from: TrustState, to: TrustState) => void;
  },
): CheckedTransport {
  const { controls, laboratory, timeoutMs, clock } = options;
  const invalidName = () => `mailvet-${randomToken(16).toLowerCase()}.invalid`;
  const trust = new Trust({ controls, laboratory, invalidName });
  const held = new Set<HeldReply>();
  const controlsOpen = new Set<() => void>();
  let shown: TrustState = trust.state;
  let recheck: NodeJS.Timeout | undefined;
  let closed = false;

  function send(queries: readonly ControlQuery[]): void {
    for (const query of queries) sendOne(query, CONTROL_ATTEMPTS);
  }

  function sendOne(query: ControlQuery, attempts: number): void {
    const onOutcome = (outcome: QueryOutcome) => {
      controlsOpen.delete(cancel);
      if (outcome.kind === 'timeout' && attempts > 1) return sendOne(query, attempts - 1);
      const kind = outcome.kind === 'reply' ? replyKind(query.question, outcome.reply) : null;
      follow(trust.onControl(query, kind, clock.elapsed()));
    };
    const cancel = transport.ask(query.question, timeoutMs, contain(warnOfFault, onOutcome));
    controlsOpen.add(cancel);
  }

  function follow(step: TrustStep): void {
    if (step === null || closed) return;
    if ('send' in step) {
      send(step.send);
      return;
    }
    if (trust.state !== shown) {
      const from = shown;
      shown = trust.state;
      options.onChange(from, shown);
    }
    clearTimeout(recheck);
    if (isDistrust(trust.state)) recheck = setTimeout(contain(warnOfFault, begin), TRUST_RECHECK_MS).unref();
    release(step.end);
  }

  function release(outcome: RoundOutcome): void {
    if (held.size === 0) return;
    const all = [...held];
    held.clear();
    for (const { reply, isDenial, done } of all) {
      if (outcome === 'trusted') done(reply);
      else if (outcome === 'inconclusive') done(isDenial ? { kind: 'unconfirmed' } : reply);
      else done({ kind: outcome });
    }
  }

  function begin(): void {
    if (!closed && !trust.checking) send(trust.begin(clock.elapsed()));
  }

  function ask(question: DnsQuestion, timeoutMs: number, done: (outcome: QueryOutcome) => void): () => void {
    let mine: HeldReply | null = null;
    const onFault = (fault: unknown): void => {
      warnOfFault(fault);
      done({ kind: 'network' });
    };
    const onOutcome = (outcome: QueryOutcome) => {
      if (outcome.kind !== 'reply') return done(outcome);
      const now = clock.elapsed();
      const kind = replyKind(question, outcome.reply);
      const ruling = trust.rule(kind, now);
      if (ruling === 'hold') {
        mine = { reply: outcome, isDenial: kind === 'denial', done };
        held.add(mine);
        begin();
      }
      if (kind === 'positive') {
        if (trust.onFound(question, now)) {
          release('trusted');
          if (trust.invalidIsDue(now)) begin();
        } else follow(trust.conclude(now));
      }
      if (ruling === 'believe') done(outcome);
      else if (ruling !== 'hold') done({ kind: ruling });
    };
    const cancel = transport.ask(question, timeoutMs, contain(onFault, onOutcome));
    return () => {
      cancel();
      if (mine) held.delete(mine);
    };
  }

  return {
    ask,
    trust: () => trust.state,
    check() {
      if (trust.state === 'unchecked') begin();
    },
    close() {
      closed = true;
      clearTimeout(recheck);
      for (const cancel of controlsOpen) cancel();
      controlsOpen.clear();
      held.clear();
      transport.close();
    },
  };
}
