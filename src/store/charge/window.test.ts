import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_PLANS, termsOf } from '../../kernel/facts/plans.ts';
import { countRequest, windowAhead, windowOf } from './window.ts';

const fresh = (rateLimit: number | null = 3) => ({
  rateLimit,
  windowStart: 0,
  windowCount: 0,
});

const TERMS = termsOf(DEFAULT_PLANS, 'starter');

describe('the rate window', () => {
  it('has the limit of the plan unless one is set', () => {
    expect(windowOf(fresh(null), TERMS, 0)).toEqual({ limit: 60, remaining: 60, resetAt: 300_000 });
    expect(windowOf(fresh(7), TERMS, 299_999)).toEqual({ limit: 7, remaining: 7, resetAt: 300_000 });
    expect(windowOf(fresh(7), TERMS, 300_000)).toEqual({ limit: 7, remaining: 7, resetAt: 600_000 });
  });

  it('shows nothing left, not less, when the limit was lowered', () => {
    expect(windowOf({ ...fresh(2), windowCount: 9 }, TERMS, 0).remaining).toBe(0);
  });

  it('lets at most the limit through per window while the clock is off by a window, and goes back only from further', () => {
    const times = fc.array(fc.integer({ min: 0, max: 1_500_000 }), { maxLength: 60 });
    fc.assert(
      fc.property(times, fc.nat({ max: 4 }), (moments, limit) => {
        const account = fresh(limit);
        const through = new Map<number, number>();
        for (const now of moments) {
          const before = account.windowStart;
          const ahead = windowAhead(account, now);
          if (ahead > 0) through.clear();
          if (countRequest(account, TERMS, now))
            through.set(account.windowStart, (through.get(account.windowStart) ?? 0) + 1);
          else continue;
          if (ahead === 0) expect(account.windowStart).toBeGreaterThanOrEqual(before);
          else expect(account.windowStart).toBe(before - ahead);
          expect(account.windowStart % 300_000).toBe(0);
          expect(account.windowStart - now).toBeLessThanOrEqual(300_000);
        }
        for (const count of through.values()) expect(count).toBeLessThanOrEqual(limit);
      }),
    );
  });
});
