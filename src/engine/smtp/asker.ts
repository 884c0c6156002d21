/**
 * Is this host fit to ask at all? When port 25 is closed, or our IP is refused everywhere, the mailbox question is
 * answered at once with that reason, instead of timing out address by address. Nothing is asked to find out but one
 * control question when there is a suspicion: the evidence of the checks themselves tells.
 */
import type { Clock } from '../../kernel/clock.ts';
import type { DnsEvidence, SmtpEvidence } from '../evidence.ts';
import type { MailboxQuestion } from '../verify.ts';
import type { ControlAnswer } from './control-hosts.ts';
import { CATCH_ALL_SKIPPED, notAsked } from './findings.ts';

export const ASKER_CONDITIONS = ['ok', 'port_closed', 'refused_everywhere'] as const;
export type AskerCondition = (typeof ASKER_CONDITIONS)[number];

export interface AskerState {
  readonly state: AskerCondition;
  /** `Clock.now()` ms. */
  readonly since: number;
}

export interface AskerOptions {
  readonly clock: Clock;
  /** The key of who runs these mail hosts (operators.ts). */
  readonly operatorOf: (dns: DnsEvidence) => string;
  /** Whether the classification rule of this id is about our IP address. */
  readonly aboutOurIp: (rule: string) => boolean;
  /** False where the operator wants no breaker: refusals of our IP then stop nothing. */
  readonly stopsWhenRefused: boolean;
  /** The control question (control-hosts.ts). Asked one at a time. */
  readonly askControls: () => Promise<ControlAnswer>;
}

/** Between two control questions, and between two trials while this host is unfit. */
const PATIENCE_MS = 30_000;
/** Operators in a row, all different, when no control can be asked. */
const UNREACHABLE_OPERATORS = 3;
const REFUSING_OPERATORS = 4;
/** A connection that was given less time than this by the caller's deadline says nothing about the port. */
const FAIR_CONNECT_MS = 2_000;

export type WatchedAsker = MailboxQuestion & { state(): AskerState };

/** The mailbox question under watch. Memory is bounded: a handful of operators' names. */
export function watchAsker(mailbox: MailboxQuestion, options: AskerOptions): WatchedAsker {
  const watch = new Watch(options);
  return {
    state: () => watch.state,
    async check(subject, limit) {
      const refusal = watch.refusal();
      if (refusal !== null) return refusal;
      const began = options.clock.elapsed();
      const underWay = watch.begin(limit.signal);
      const answer = await mailbox.check(subject, { ...limit, signal: underWay.signal });
      underWay.end();
      if (answer.smtp.rule === CANCELLED && limit.signal?.aborted !== true) {
        const cut = watch.refusal('peek');
        if (cut !== null) return { ...cut, smtp: { ...cut.smtp, transcript: answer.smtp.transcript } };
      }
      watch.learn(options.operatorOf(subject.dns), answer.smtp, began);
      return answer;
    },
  };
}

const CANCELLED = 'dialogue.cancelled';
type Refusal = Awaited<ReturnType<MailboxQuestion['check']>>;

const REFUSALS: Readonly<Record<Exclude<AskerCondition, 'ok'>, Refusal>> = {
  port_closed: refusalOf('smtp_unreachable', 'asker.port_closed'),
  refused_everywhere: refusalOf('smtp_blocked', 'asker.refused_everywhere'),
};

function refusalOf(finding: 'smtp_unreachable' | 'smtp_blocked', rule: string): Refusal {
  const transcript = [{ at: 0, from: 'note' as const, text: `not dialled: ${rule}` }];
  return { smtp: { ...notAsked(finding, rule), transcript }, catchAll: CATCH_ALL_SKIPPED };
}

class Watch {
  readonly #options: AskerOptions;
  state: AskerState;
  /** Operators that failed in a row, as many as are needed for a conclusion. */
  readonly #unreachable = new Set<string>();
  readonly #refusing = new Set<string>();
  #reachedAt = Number.NEGATIVE_INFINITY;
  #acceptedAt = Number.NEGATIVE_INFINITY;
  #triedAt = Number.NEGATIVE_INFINITY;
  #controlAt = Number.NEGATIVE_INFINITY;
  /** Null while the controls are being asked, and before the first time. */
  #control: ControlAnswer | null = null;
  readonly #underWay = new Set<AbortController>();

  constructor(options: AskerOptions) {
    this.#options = options;
    this.state = { state: 'ok', since: options.clock.now() };
  }

  /** Why nobody is asked now; null for who is to be asked, which includes one trial every 30 s. */
  refusal(how: 'take_trial' | 'peek' = 'take_trial'): Refusal | null {
    const { state } = this.state;
    if (state === 'ok') return null;
    const now = this.#options.clock.elapsed();
    if (how === 'peek' || now - this.#triedAt < PATIENCE_MS) return REFUSALS[state];
    this.#triedAt = now;
    return null;
  }

  /** A check begins; its signal is the caller's, and ours when the port is found to be closed. */
  begin(outer: AbortSignal | undefined): { signal: AbortSignal; end(): void } {
    const cut = new AbortController();
    const onAbort = () => cut.abort();
    if (outer?.aborted) cut.abort();
    outer?.addEventListener('abort', onAbort, { once: true });
    this.#underWay.add(cut);
    const end = () => {
      this.#underWay.delete(cut);
      outer?.removeEventListener('abort', onAbort);
    };
    return { signal: cut.signal, end };
  }

  /** What a check that began at `began` says of us. Of those begun before the last good news, bad news is stale. */
  learn(operator: string, smtp: SmtpEvidence, began: number) {
    const now = this.#options.clock.elapsed();
    if (smtp.rule?.startsWith('pace.')) this.#triedAt = Number.NEGATIVE_INFINITY;
    switch (signOf(smtp, now - began, this.#options.aboutOurIp)) {
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
        add(this.#refusing, operator, REFUSING_OPERATORS);
        if (this.#refusing.size === REFUSING_OPERATORS) this.#set('refused_everywhere');
        return;
      case 'unreachable':
        if (began >= this.#reachedAt) this.#onUnreachable(operator, now);
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
    this.#options.askControls().then(
      (answer) => this.#onControl(answer, now),
      () => this.#onControl('unusable', now),
    );
  }

  #onControl(answer: ControlAnswer, askedAt: number): void {
    this.#control = answer;
    if (answer === 'open') this.#onReached(this.#options.clock.elapsed());
    else if (this.#reachedAt > askedAt) return;
    else if (answer === 'unusable') this.#concludeAlone();
    else {
      this.#set('port_closed');
      // Who waits for a connection, or for a turn to try one, need not wait any longer.
      for (const cut of this.#underWay) cut.abort();
    }
  }

  #concludeAlone(): void {
    if (this.#unreachable.size === UNREACHABLE_OPERATORS) this.#set('port_closed');
  }

  #set(state: AskerCondition): void {
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
 * What the evidence of one check says about us. `accepts`: a server talked about the recipient. `refuses`: it refused our
 * IP. `greets`: it was reached and said something else. Null: nothing was learnt.
 */
function signOf(
  { stage, code, finding, rule }: SmtpEvidence,
  tookMs: number,
  aboutOurIp: (rule: string) => boolean,
): 'accepts' | 'refuses' | 'greets' | 'unreachable' | null {
  if (stage === null || rule === CANCELLED) return null;
  if (stage === 'connect') {
    const fair = finding === 'smtp_unreachable' || (finding === 'smtp_timeout' && tookMs >= FAIR_CONNECT_MS);
    return fair ? 'unreachable' : null;
  }
  if (code === null) return stage === 'banner' ? null : 'greets';
  if (finding === 'smtp_blocked') return rule !== null && aboutOurIp(rule) ? 'refuses' : 'greets';
  return finding === 'smtp_temporary_failure' ? 'greets' : 'accepts';
}
