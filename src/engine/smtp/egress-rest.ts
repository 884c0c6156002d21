/**
 * Egresses whose SOCKS server fails: after three failures in a row, others take over their share, and nobody waits for
 * them. An egress is probed before it returns.
 *
 * A server that hangs when it is to connect to one mail server may be kept waiting by that one, which anybody may have.
 * So only what it does before that is believed at once; for the rest a probe has to confirm it.
 */
import type { Clock } from '../../kernel/clock.ts';
import { contain, warnOfFault } from '../../kernel/contain.ts';
import { type Egress, isSameEgress } from '../../kernel/egress.ts';
import type { TunnelFailure } from './tunnel.ts';

/** `unknown`: there was no mail server to try. */
export type ProxyCondition = 'works' | 'fails' | 'unknown';

/** Whether the SOCKS server of an egress works. `reached`: a mail server reached through it before; null: none. */
export type ProbeProxy = (egress: Egress, reached: string | null) => Promise<ProxyCondition>;

const FAILURES_IN_A_ROW = 3;
/** 1, 2, 4, 8, 15, 15 … times the first rest. */
const LONGEST_REST = 15;

interface RestState {
  readonly egress: Egress;
  failures: number;
  /** Counts rests in a row, the present one included. */
  rests: number;
  /** `Clock.elapsed()` ms; null: it does not rest. */
  untilMs: number | null;
  timer: NodeJS.Timeout | null;
  reached: string | null;
  isProbed: boolean;
  /** Its entry was changed or removed: results that arrive later do not count. */
  isForgotten: boolean;
}

export class EgressRests {
  readonly #clock: Clock;
  readonly #probe: ProbeProxy;
  readonly #firstMs: number;
  #states: ReadonlyMap<string, RestState> = new Map();
  #isClosed = false;

  constructor(egresses: readonly Egress[], clock: Clock, firstMs: number, probe: ProbeProxy) {
    this.#clock = clock;
    this.#probe = probe;
    this.#firstMs = firstMs;
    this.reload(egresses);
  }

  /** An entry that has changed starts over: what was wrong with it may be fixed. */
  reload(egresses: readonly Egress[]): void {
    const fresh = {
      failures: 0,
      rests: 0,
      untilMs: null,
      timer: null,
      reached: null,
      isProbed: false,
      isForgotten: false,
    };
    const before = this.#states;
    const stateOf = (egress: Egress): RestState => {
      const known = before.get(egress.name);
      return known !== undefined && isSameEgress(known.egress, egress) ? known : { ...fresh, egress };
    };
    this.#states = new Map(egresses.map((egress) => [egress.name, stateOf(egress)]));
    const kept = new Set(this.#states.values());
    for (const state of before.values()) if (!kept.has(state)) this.#forget(state);
  }

  #forget(state: RestState): void {
    if (state.timer !== null) clearTimeout(state.timer);
    state.isForgotten = true;
  }

  isResting(name: string): boolean {
    return this.#states.get(name)?.untilMs != null;
  }

  /** Seconds until it is probed again, at least one; 0: it does not rest. */
  secondsLeft(name: string): number {
    const untilMs = this.#states.get(name)?.untilMs ?? null;
    return untilMs === null ? 0 : Math.max(1, Math.ceil((untilMs - this.#clock.elapsed()) / 1000));
  }

  /** What a SOCKS server made of a connection to `address`; null: it connected us. */
  onTunnel(name: string, address: string, failure: TunnelFailure | null): void {
    const state = this.#states.get(name);
    if (state === undefined || this.#isClosed) return;
    if (failure?.blames !== 'proxy') {
      state.reached = failure === null ? address : state.reached;
      // While it rests, what began before says nothing of now.
      if (state.untilMs === null) [state.failures, state.rests] = [0, 0];
      return;
    }
    state.failures++;
    if (state.untilMs !== null || state.failures < FAILURES_IN_A_ROW) return;
    if (failure.step === 'request') this.#confirm(state, 'fails');
    else this.#rest(state);
  }

  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#states.values()) if (timer !== null) clearTimeout(timer);
  }

  #rest(state: RestState): void {
    const ms = this.#firstMs * Math.min(2 ** state.rests, LONGEST_REST);
    state.rests++;
    state.untilMs = this.#clock.elapsed() + ms;
    const onTime = () => this.#confirm(state, 'works');
    state.timer = setTimeout(contain(warnOfFault, onTime), ms);
    state.timer.unref();
  }

  /** One probe at a time. `instead`: what to believe where there was nothing to try. */
  #confirm(state: RestState, instead: Exclude<ProxyCondition, 'unknown'>): void {
    if (state.isProbed || this.#isClosed) return;
    state.isProbed = true;
    this.#probe(state.egress, state.reached)
      .then((found) => {
        if (this.#isClosed || state.isForgotten) return;
        if ((found === 'unknown' ? instead : found) !== 'works') return this.#rest(state);
        // `rests` stays until a dialogue was reached through it.
        [state.failures, state.untilMs] = [0, null];
      })
      .catch(warnOfFault)
      .finally(() => {
        state.isProbed = false;
      })
      .catch(warnOfFault);
  }
}
