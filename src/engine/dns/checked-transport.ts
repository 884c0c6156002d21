/** A transport that passes on only replies that can be trusted: runs the state machine of trust.ts for one server. */
import type { Clock } from '../../kernel/clock.ts';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import { randomToken } from '../../kernel/ids.ts';
import type { Question } from './message.ts';
import { isLie } from './records.ts';
import type { Outcome, Transport } from './transport.ts';
import { type ControlQuery, kindOf, type RoundOutcome, type Step, Trust, type TrustState } from './trust.ts';

export interface CheckedTransport extends Transport {
  readonly trust: TrustState;
  /** Begins the first round of control queries, unless it has begun. */
  check(): void;
}

/** Milliseconds between the rounds of control queries to a server that lies, if nothing is asked of it. */
const RECHECK_MS = 10_000;
/** Attempts of a control query that is not answered, as of any other query. */
const ATTEMPTS = 2;

type Reply = Extract<Outcome, { kind: 'reply' }>;

interface Held {
  readonly reply: Reply;
  readonly isDenial: boolean;
  readonly done: (outcome: Outcome) => void;
}

export function createCheckedTransport(
  transport: Transport,
  options: {
    /** At least one. */
    controls: readonly Question[];
    laboratory: boolean;
    /** Milliseconds per control query. */
    timeoutMs: number;
    clock: Clock;
    onChange: (from: TrustState, to: TrustState) => void;
  },
): CheckedTransport {
  const { controls, laboratory, timeoutMs, clock } = options;
  const invalidName = () => `mailvet-${randomToken(16).toLowerCase()}.invalid`;
  const trust = new Trust({ controls, laboratory, invalidName });
  const held = new Set<Held>();
  const controlsOpen = new Set<() => void>();
  let shown: TrustState = trust.state;
  let recheck: NodeJS.Timeout | undefined;
  let closed = false;

  function send(queries: readonly ControlQuery[]): void {
    for (const query of queries) sendOne(query, ATTEMPTS);
  }

  function sendOne(query: ControlQuery, attempts: number): void {
    const onOutcome = (outcome: Outcome) => {
      controlsOpen.delete(cancel);
      if (outcome.kind === 'timeout' && attempts > 1) return sendOne(query, attempts - 1);
      const kind = outcome.kind === 'reply' ? kindOf(query.question, outcome.reply) : null;
      follow(trust.onControl(query, kind, clock.elapsed()));
    };
    const cancel = transport.ask(query.question, timeoutMs, contain(warnOfFault, onOutcome));
    controlsOpen.add(cancel);
  }

  function follow(step: Step): void {
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
    if (isLie(trust.state)) recheck = setTimeout(contain(warnOfFault, begin), RECHECK_MS).unref();
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

  function ask(question: Question, timeout: number, done: (outcome: Outcome) => void): () => void {
    let mine: Held | null = null;
    const onFault = (fault: unknown): void => {
      warnOfFault(fault);
      done({ kind: 'network' });
    };
    const onOutcome = (outcome: Outcome) => {
      if (outcome.kind !== 'reply') return done(outcome);
      const now = clock.elapsed();
      const kind = kindOf(question, outcome.reply);
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
    const cancel = transport.ask(question, timeout, contain(onFault, onOutcome));
    return () => {
      cancel();
      if (mine) held.delete(mine);
    };
  }

  return {
    ask,
    get trust() {
      return trust.state;
    },
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
