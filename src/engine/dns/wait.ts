/** Waiting for a question that others may be waiting for too: each leaves when its own time is over. */
import type { Clock } from '../../kernel/clock.ts';
import type { DnsAnswer } from './records.ts';

export interface Limit {
  /** Clock.elapsed() ms. */
  readonly deadline: number;
  readonly signal?: AbortSignal;
}

const SLACK_MS = 1000;

/** `flight.answer`, or `timeout` at the deadline or on abort. `until`: when the flight ends by itself, elapsed ms. */
export function waitFor(
  flight: { readonly answer: Promise<DnsAnswer>; readonly until: number },
  limit: Limit,
  clock: Clock,
): Promise<DnsAnswer> {
  const { signal } = limit;
  if (!signal && limit.deadline >= flight.until) return flight.answer;
  return new Promise((resolve) => {
    const leave = (): void => settle({ kind: 'timeout' });
    // No longer than the flight, give or take: a timer takes 24 days at most.
    const end = Math.min(limit.deadline, flight.until + SLACK_MS);
    const timer = setTimeout(leave, Math.max(0, end - clock.elapsed()));
    signal?.addEventListener('abort', leave);
    function settle(answer: DnsAnswer): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
      resolve(answer);
    }
    void flight.answer.then(settle);
  });
}
