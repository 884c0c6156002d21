import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WindowCounts } from './windows.ts';

const MINUTE_MS = 60_000;

describe('counts in windows', () => {
  it('give a key its slots in each window, and no more', () => {
    const counts = new WindowCounts(MINUTE_MS, 10);
    const taken = (now: number) => [1, 2, 3].map(() => counts.take([{ key: 'a', max: 2 }], now));
    expect(taken(0)).toEqual([true, true, false]);
    expect(taken(MINUTE_MS - 1)).toEqual([false, false, false]);
    expect(taken(MINUTE_MS)).toEqual([true, true, false]);
  });

  it('do not count for the keys after one whose slots are used up', () => {
    const counts = new WindowCounts(MINUTE_MS, 10);
    const narrow = { key: 'narrow', max: 2 };
    expect(counts.take([{ key: 'wide', max: 1 }, narrow], 0)).toBe(true);
    expect(counts.take([{ key: 'wide', max: 1 }, narrow], 0)).toBe(false);
    expect([counts.take([narrow], 0), counts.take([narrow], 0)]).toEqual([true, false]);
  });

  it('tell whether there is room without counting', () => {
    const counts = new WindowCounts(MINUTE_MS, 10);
    const slots = [{ key: 'a', max: 1 }];
    expect([counts.hasRoom(slots, 0), counts.hasRoom(slots, 0)]).toEqual([true, true]);
    counts.take(slots, 0);
    expect(counts.hasRoom(slots, 0)).toBe(false);
  });

  it('forget the key counted longest ago beyond their number of keys', () => {
    const counts = new WindowCounts(MINUTE_MS, 2);
    const take = (key: string) => counts.take([{ key, max: 1 }], 0);
    expect(['a', 'b', 'a', 'c', 'b'].map(take)).toEqual([true, true, false, true, true]);
  });

  it('say when the window ends', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 45 }), fc.integer({ min: 1, max: 1_000 }), (now, seconds) => {
        const counts = new WindowCounts(seconds * 1000, 2);
        const slots = [{ key: 'a', max: 1 }];
        counts.take(slots, now);
        const left = counts.secondsLeft(now);
        expect(left).toBeGreaterThanOrEqual(1);
        expect(left).toBeLessThanOrEqual(seconds);
        expect(counts.hasRoom(slots, now + left * 1000)).toBe(true);
      }),
    );
  });
});
