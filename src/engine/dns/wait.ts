/** Waiting for a shared query: each caller leaves at its own deadline. */
import type { Clock } from '../../kernel/clock.ts';
import { contain } from '../../kernel/contain.ts';
import { onAbort } from '../../kernel/on-abort.ts';
import type { DnsAnswer } from './records.ts';

export interface Limit {
  /** Clock.elapsed() ms. */
  readonly deadline: number;
  /** Milliseconds that slow servers may take beyond the usual 5 s; default 0. */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
}

/** A flight that ends this soon after the deadline is waited for: most deadlines are as long as a flight. */
const NEARLY_MS = 20;

/** `flight.answer`, or `timeout` at the deadline or on abort. `until`: when the flight itself ends, elapsed ms. */
export function waitFor(
  flight: { readonly answer: Promise<DnsAnswer>; readonly until: number },
  limit: Limit,
  clock: Clock,
): Promise<DnsAnswer> {
  const { signal } = limit;
  const endsInTime = limit.deadline + NEARLY_MS >= flight.until;
  if (!signal && endsInTime) return flight.answer;
  return new Promise((resolve, reject) => {
    const leave = contain(reject, (): void => settle({ kind: 'timeout' }));
    const timer = endsInTime ? undefined : setTimeout(leave, Math.max(0, limit.deadline - clock.elapsed()));
    const ignoreAbort = signal && onAbort(signal, leave);
    function settle(answer: DnsAnswer): void {
      clearTimeout(timer);
      ignoreAbort?.();
      resolve(answer);
    }
    flight.answer.then(contain(reject, settle), reject);
  });
}
