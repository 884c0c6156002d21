import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countRequest, windowOf } from './window.ts';

const fresh = (rateLimit: number | null = 3) => ({
  plan: 'starter' as const,
  rateLimit,
  windowStart: 0,
  windowCount: 0,
});

describe('the rate window', () => {
  it('has the limit of the plan unless one is set', () => {
    expect(windowOf(fresh(null), 0)).toEqual({ limit: 60, remaining: 60, resetAt: 300_000 });
    expect(windowOf(fresh(7), 299_999)).toEqual({ limit: 7, remaining: 7, resetAt: 300_000 });
    expect(windowOf(fresh(7), 300_000)).toEqual({ limit: 7, remaining: 7, resetAt: 600_000 });
  });

  it('shows nothing left, not less, when the limit was lowered', () => {
    expect(windowOf({ ...fresh(2), windowCount: 9 }, 0).remaining).toBe(0);
  });

  it('lets at most the limit through per window, whatever the clock does, and never goes back', () => {
    const times = fc.array(fc.integer({ min: 0, max: 1_500_000 }), { maxLength: 60 });
    fc.assert(
      fc.property(times, fc.nat({ max: 4 }), (moments, limit) => {
        const account = fresh(limit);
        const through = new Map<number, number>();
        for (const now of moments) {
          const before = account.windowStart;
          if (countRequest(account, now)) through.set(account.windowStart, (through.get(account.windowStart) ?? 0) + 1);
          expect(account.windowStart).toBeGreaterThanOrEqual(before);
          expect(account.windowStart % 300_000).toBe(0);
        }
        for (const count of through.values()) expect(count).toBeLessThanOrEqual(limit);
      }),
    );
  });
});
