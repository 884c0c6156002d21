import { expect, it } from 'vitest';
import { CALIBRATION_LEAST, confidenceOf, contradictingOutcome, groupKey, groupOf, shareOf } from './calibration.ts';

/** mulberry32: the same numbers every time. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

it.each([
  // Newcombe, Statistics in Medicine 17 (1998) 857, table I, method 3.
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
])('%i of %i is in the interval that was published', (hits, n, low, high) => {
  // Multiples, so that there are enough of them; the interval then is narrower, and within.
  const share = shareOf(hits * 10, n * 10);
  expect(share!.low).toBeGreaterThanOrEqual(low);
  expect(share!.high).toBeLessThanOrEqual(high);
  if (n < CALIBRATION_LEAST) return;
  const exact = shareOf(hits, n);
  expect([exact?.low, exact?.high].map((bound) => bound?.toFixed(4))).toEqual([low.toFixed(4), high.toFixed(4)]);
});

it('says nothing of fewer than 50', () => {
  expect(shareOf(0, 49)).toBeNull();
  expect(confidenceOf({ sent: 49, bounced: 0 })).toBeNull();
  expect(confidenceOf({ sent: 50, bounced: 50 })).toMatchObject({ p: 0, low: 0, n: 50 });
  expect(confidenceOf({ sent: 50, bounced: 0 })).toMatchObject({ p: 1, high: 1, n: 50 });
});

it.each([
  [0.04, 930],
  [0.3, 930],
  // The fewer bounces are expected, the more the coverage depends on how many there can be: here four.
  [0.004, 900],
])('covers the truth where %d bounce, in at least %i of 1,000 runs', (truth, atLeast) => {
  const random = numbersFrom(1927);
  let covered = 0;
  for (let run = 0; run < 1_000; run++) {
    const sent = 1_000;
    let bounced = 0;
    for (let i = 0; i < sent; i++) if (random() < truth) bounced += 1;
    const { low, high } = shareOf(bounced, sent)!;
    if (low <= truth && truth <= high) covered += 1;
  }
  expect(covered).toBeGreaterThanOrEqual(atLeast);
  // An interval that covers everything says nothing.
  expect(covered).toBeLessThan(1_000);
});

it('finds a group by its key again', () => {
  const group = { deliverability: 'risky', reason: 'catch_all', level: 'smtp', provider: 'Ex"ample\n' } as const;
  expect(groupOf(groupKey(group))).toEqual(group);
});

it('takes a delivery to what the account itself has blocked for no contradiction', () => {
  const of = (reason: Parameters<typeof contradictingOutcome>[0]['reason']) =>
    contradictingOutcome({ deliverability: 'undeliverable', reason });
  expect([of('mailbox_not_found'), of('bounced_before'), of('blocked_by_filter')]).toEqual(['delivered', null, null]);
  expect(contradictingOutcome({ deliverability: 'deliverable', reason: null })).toBe('bounced');
  expect(contradictingOutcome({ deliverability: 'unknown', reason: null })).toBeNull();
});
