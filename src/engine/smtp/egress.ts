/**
 * Can this host connect to mail servers at all? When port 25 is blocked, or our IP address is rejected everywhere,
 * mailbox checks are answered immediately with that reason, instead of timing out address by address. The state is
 * inferred from the evidence of the checks themselves; canary hosts are probed only on suspicion.
 */
import type { Clock } from '../../kernel/clock.ts';
import type { DnsEvidence, SmtpEvidence } from '../evidence.ts';
import { SMTP_FINDINGS } from '../findings.ts';
import type { MailboxQuestion } from '../verify.ts';
import type { Connectivity } from './canary-hosts.ts';
import type { MailboxCheck } from './mailbox.ts';
import { CATCH_ALL_SKIPPED, resultWithoutDialogue } from './result.ts';

export const EGRESS_CONDITIONS = ['ok', 'port_closed', 'refused_everywhere'] as const;
type EgressCondition = (typeof EGRESS_CONDITIONS)[number];

export interface EgressHealth {
  readonly state: EgressCondition;
  /** `Clock.now()` ms. */
  readonly since: number;
}

interface EgressMonitorOptions {
  readonly clock: Clock;
  /** Key of the operator of these mail hosts (operators.ts). */
  readonly operatorOf: (dns: DnsEvidence) => string;
  /** Whether the classification rule of this id is about our IP address. */
  readonly aboutOurIp: (rule: string) => boolean;
  /** False if the breaker is disabled: rejections of our IP then suspend nothing. */
  readonly stopsWhenRefused: boolean;
  /** See canary-hosts.ts. One probe at a time. */
  readonly probeConnectivity: () => Promise<Connectivity>;
}

/** Between two canary probes, and between two trials while checks are suspended. */
const PATIENCE_MS = 30_000;
/** Different operators in a row, when no canary host can be probed. */
const UNREACHABLE_OPERATORS = 3;
const REFUSING_OPERATORS = 4;
/** A connection attempt that the deadline cut shorter than this says nothing about the port. */
const FAIR_CONNECT_MS = 2_000;

export type MonitoredMailboxCheck = MailboxQuestion & { state(): EgressHealth };

/** The mailbox check, monitored. Memory is bounded: a handful of operator names. */
export function monitorEgress(
  mailbox: Pick<MailboxCheck, 'check'>,
  options: EgressMonitorOptions,
): MonitoredMailboxCheck {
  const monitor = new EgressMonitor(options);
  return {
    state: () => monitor.state,
    async check(subject, limit) {
      const refusal = monitor.refusal();
      if (refusal !== null) return refusal;
      const began = options.clock.elapsed();
      const answer = await mailbox.check(subject, { ...limit, cut: monitor.cut });
      if (answer.smtp.decidedBy === 'cancelled' && limit.signal?.aborted !== true) {
        const cut = monitor.refusal('peek');
        if (cut !== null) return { ...cut, smtp: { ...cut.smtp, transcript: answer.smtp.transcript } };
      }
      monitor.learn(subject.dns, answer.smtp, began);
      return answer;
    },
  };
}

type Refusal = Awaited<ReturnType<MailboxQuestion['check']>>;

const REFUSALS: Readonly<Record<Exclude<EgressCondition, 'ok'>, Refusal>> = {
  port_closed: refusalOf('smtp_unreachable', 'egress.port_closed'),
  refused_everywhere: refusalOf('smtp_blocked', 'egress.refused_everywhere'),
};

function refusalOf(finding: 'smtp_unreachable' | 'smtp_blocked', rule: string): Refusal {
  const transcript = { lines: [{ at: 0, from: 'note' as const, text: `not dialled: ${rule}` }] };
  return { smtp: { ...resultWithoutDialogue('host', finding, rule), transcript }, catchAll: CATCH_ALL_SKIPPED };
}

class EgressMonitor {
  readonly #options: EgressMonitorOptions;
  state: EgressHealth;
  /** Operators that failed in a row, up to the number needed for a conclusion. */
  readonly #unreachable = new Set<string>();
  readonly #refusing = new Set<string>();
  #reachedAt = Number.NEGATIVE_INFINITY;
  #acceptedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #controlAt = Number.NEGATIVE_INFINITY;
  /** Null while a probe is under way, and before the first one. */
  #control: Connectivity | null = null;
  #cut = new AbortController();

  constructor(options: EgressMonitorOptions) {
    this.#options = options;
    this.state = { state: 'ok', since: options.clock.now() };
  }

  /** The answer while checks are suspended; null when the check may run, which includes one trial every 30 s. */
  refusal(how: 'take_trial' | 'peek' = 'take_trial'): Refusal | null {
    const { state } = this.state;
    if (state === 'ok') return null;
    const now = this.#options.clock.elapsed();
    if (how === 'peek' || now - this.#triedAt < PATIENCE_MS) return REFUSALS[state];
    this.#triedAt = now;
    return null;
  }

  /** For checks that begin now: aborts when the port turns out to be closed. */
  get cut(): AbortSignal {
    return this.#cut.signal;
  }

  /** Learns from a check that began at `began`. A failure that began before the last success is stale. */
  learn(dns: DnsEvidence, smtp: SmtpEvidence, began: number) {
    const now = this.#options.clock.elapsed();
    if (smtp.decidedBy === 'throttle') this.#triedAt = Number.NEGATIVE_INFINITY;
    switch (egressSignal(smtp, now - began, this.#options.aboutOurIp)) {
      case 'accepts':
        this.#acceptedAt = now;
        this.#refusing.clear();
        this.#onReached(now);
        this.#set('ok');
        return;
      case 'greets':
        return this.#onReached(now);
      case 'refuses':
        this.#onReached(now);
        if (began < this.#acceptedAt || !this.#options.stopsWhenRefused) return;
        add(this.#refusing, this.#options.operatorOf(dns), REFUSING_OPERATORS);
        if (this.#refusing.size === REFUSING_OPERATORS) this.#set('refused_everywhere');
        return;
      case 'unreachable':
        if (began >= this.#reachedAt) this.#onUnreachable(this.#options.operatorOf(dns), now);
        return;
      case null:
    }
  }

  #onReached(now: number): void {
    this.#reachedAt = now;
    this.#unreachable.clear();
    if (this.state.state === 'port_closed') this.#set('ok');
  }

  #onUnreachable(operator: string, now: number) {
    add(this.#unreachable, operator, UNREACHABLE_OPERATORS);
    if (now - this.#controlAt >= PATIENCE_MS) return this.#askControls(now);
    if (this.#control === 'open') this.#unreachable.clear();
    if (this.#control === 'unusable') this.#concludeAlone();
  }

  #askControls(now: number): void {
    this.#controlAt = now;
    this.#control = null;
    this.#options.probeConnectivity().then(
      (answer) => this.#onControl(answer, now),
      () => this.#onControl('unusable', now),
    );
  }

  #onControl(answer: Connectivity, askedAt: number): void {
    this.#control = answer;
    if (answer === 'open') this.#onReached(this.#options.clock.elapsed());
    else if (this.#reachedAt > askedAt) return;
    else if (answer === 'unusable') this.#concludeAlone();
    else {
      this.#set('port_closed');
      // Checks that wait for a connection or a permit need not wait any longer.
      const cut = this.#cut;
      this.#cut = new AbortController();
      cut.abort();
    }
  }

  #concludeAlone(): void {
    if (this.#unreachable.size === UNREACHABLE_OPERATORS) this.#set('port_closed');
  }

  #set(state: EgressCondition): void {
    if (this.state.state === state) return;
    const { clock } = this.#options;
    this.state = { state, since: clock.now() };
    this.#triedAt = state === 'ok' ? Number.NEGATIVE_INFINITY : clock.elapsed();
  }
}

function add(operators: Set<string>, operator: string, most: number): void {
  if (operators.size < most) operators.add(operator);
}

/**
 * What the evidence of one check says about us. `accepts`: a server talked about the recipient. `refuses`: it refused
 * our IP. `greets`: it was reached and said something else. Null: inconclusive.
 */
function egressSignal(
  { stage, code, finding, rule, decidedBy }: SmtpEvidence,
  tookMs: number,
  aboutOurIp: (rule: string) => boolean,
): 'accepts' | 'refuses' | 'greets' | 'unreachable' | null {
  if (stage === null || decidedBy === 'cancelled') return null;
  if (stage === 'connect') {
    const fair = finding === 'smtp_unreachable' || (finding === 'smtp_timeout' && tookMs >= FAIR_CONNECT_MS);
    return fair ? 'unreachable' : null;
  }
  if (code === null) return stage === 'banner' ? null : 'greets';
  const { egress } = SMTP_FINDINGS[finding];
  return egress === 'blocks' ? (rule !== null && aboutOurIp(rule) ? 'refuses' : 'greets') : egress;
}
