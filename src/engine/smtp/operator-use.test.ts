import { describe, expect, it } from 'vitest';
import type { LimiterUse } from './limiter.ts';
import { useByOperator } from './operators.ts';

const use = (more: Partial<LimiterUse> = {}): LimiterUse => ({
  open: 1,
  begun: 1,
  waiting: 2,
  breaker: 'closed',
  pace: 1,
  ...more,
});
const isNamed = (operator: string) => operator.startsWith('provider');

describe('use by operator', () => {
  it('names the most active known ones and counts all others together', () => {
    const strangers = Array.from({ length: 5_000 }, (_, i) => [`stranger${i}.test`, use({ begun: 1_000 })] as const);
    const known = Array.from({ length: 100 }, (_, i) => [`provider${i}`, use({ begun: i })] as const);
    const uses = useByOperator([...strangers, ...known], { isNamed, most: 3 });
    expect(uses.map(({ operator }) => operator)).toEqual(['provider99', 'provider98', 'provider97', 'other']);
    expect(uses[3]).toMatchObject({ dialoguesOpen: 5_097, waiting: 2 * 5_097 });
  });

  it('sums over egress addresses, and has the lowest pace', () => {
    const uses = useByOperator(
      [
        ['provider', use({ breaker: 'open', pace: 0.25 })],
        ['provider', use({ breaker: 'half_open' })],
      ],
      { isNamed, most: 3 },
    );
    expect(uses[0]).toMatchObject({
      operator: 'provider',
      dialoguesOpen: 2,
      waiting: 4,
      breakersOpen: 1,
      breakersHalfOpen: 1,
      pace: 0.25,
    });
  });
});
