import { type Level, PRICE } from '../kernel/facts/plans.ts';
import type { Deliverability, Reason, Status } from '../kernel/facts/reasons.ts';

export interface Verdict<R extends Reason | null = Reason | null> {
  readonly status: Status;
  readonly deliverability: Deliverability;
  readonly reason: R;
  /** The level that produced the verdict; it is the one billed. */
  readonly level: Level;
  readonly credits: number;
}

/** A filter match is free: nothing was checked. */
export const verdict = <R extends Reason | null>(
  status: Status,
  deliverability: Deliverability,
  reason: R,
  level: Level,
): Verdict<R> => ({
  status,
  deliverability,
  reason,
  level,
  credits: reason === 'blocked_by_filter' ? 0 : PRICE[level],
});
