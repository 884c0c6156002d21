/** How much each mail operator is used and slows us down, for metrics. */
import type { LimiterUse } from './limiter-options.ts';
import { OTHERS } from './operators.ts';

export interface OperatorUse {
  /** Name of the provider, or OTHERS. */
  readonly operator: string;
  readonly dialoguesOpen: number;
  /** Dialogues begun so far. */
  readonly begun: number;
  /** Checks. */
  readonly waiting: number;
  /** Circuit breakers, one for each egress address. */
  readonly breakersOpen: number;
  readonly breakersHalfOpen: number;
  /** The rate relative to the configured one; the lowest. */
  readonly pace: number;
}

/** Which operators are named: at most `most` of those that `isNamed` admits. */
export interface OperatorNames {
  readonly isNamed: (operator: string) => boolean;
  readonly most: number;
}

/**
 * By operator, for a bounded number of names: the `most` most active of those that `isNamed` admits; all others
 * together. Names that are no provider's come from the DNS of the addresses that are checked, so they are neither few
 * nor ours to tell.
 */
export function useByOperator(
  limiters: Iterable<readonly [operator: string, use: LimiterUse]>,
  { isNamed, most }: OperatorNames,
): OperatorUse[] {
  const uses = new Map<string, OperatorUse>();
  const add = (use: OperatorUse) => uses.set(use.operator, sumOf(uses.get(use.operator) ?? unused(use.operator), use));
  add(unused(OTHERS));
  for (const [operator, { open, begun, waiting, breaker, pace }] of limiters) {
    add({
      operator: isNamed(operator) ? operator : OTHERS,
      ...{ dialoguesOpen: open, begun, waiting, pace },
      breakersOpen: breaker === 'open' ? 1 : 0,
      breakersHalfOpen: breaker === 'half_open' ? 1 : 0,
    });
  }
  const named = [...uses.values()].filter(({ operator }) => operator !== OTHERS).sort((a, b) => b.begun - a.begun);
  for (const use of named.slice(most)) add({ ...use, operator: OTHERS });
  return [...named.slice(0, most), uses.get(OTHERS) ?? unused(OTHERS)];
}

const unused = (operator: string): OperatorUse => ({
  operator,
  ...{ dialoguesOpen: 0, begun: 0, waiting: 0, breakersOpen: 0, breakersHalfOpen: 0 },
  pace: 1,
});

const sumOf = (a: OperatorUse, b: OperatorUse): OperatorUse => ({
  operator: a.operator,
  dialoguesOpen: a.dialoguesOpen + b.dialoguesOpen,
  begun: a.begun + b.begun,
  waiting: a.waiting + b.waiting,
  breakersOpen: a.breakersOpen + b.breakersOpen,
  breakersHalfOpen: a.breakersHalfOpen + b.breakersHalfOpen,
  pace: Math.min(a.pace, b.pace),
});
