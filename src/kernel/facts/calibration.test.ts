import { expect, it } from 'vitest';
import { numbersFrom } from '../../../tests/lab/numbers.ts';
import { confidenceOf, contradictingOutcome, groupKey, groupOf, shareOf } from './calibration.ts';

it.each([
  // Newcombe, Statistics in Medicine 17 (1998) 857, table I, method 4.
  [81, 263, 0.2535, 0.3682],
  [15, 148, 0.0598, 0.1644],
])('%i of %i has the interval that was published', (hits, n, low, high) => {
  const exact = shareOf(hits, n);
  expect([exact?.low, exact?.high].map((bound) => bound?.toFixed(4))).toEqual([low.toFixed(4), high.toFixed(4)]);
});

it.each([
  [0, 20, 0, 0.2005],
  [1, 29, 0.0018, 0.1963],
])('%i of %i, ten times as often, is within the interval that was published', (hits, n, low, high) => {
  const share = shareOf(hits * 10, n * 10);
  expect(share!.low).toBeGreaterThanOrEqual(low);
  expect(share!.high).toBeLessThanOrEqual(high);
});

it('says nothing of fewer than 50', () => {
  expect(shareOf(0, 49)).toBeNull();
  expect(confidenceOf({ sent: 49, bounced: 0 })).toBeNull();
  expect(confidenceOf({ sent: 50, bounced: 50 })).toMatchObject({ p: 0, low: 0, n: 50 });
  expect(confidenceOf({ sent: 50, bounced: 0 })).toMatchObject({ p: 1, high: 1, n: 50 });
});

const coveredIn = (truth: number, sent: number, runs: number): number => {
  const random = numbersFrom(1927);
  let covered = 0;
  for (let run = 0; run < runs; run++) {
    let bounced = 0;
    for (let i = 0; i < sent; i++) if (random() < truth) bounced += 1;
    const { low, high } = shareOf(bounced, sent)!;
    if (low <= truth && truth <= high) covered += 1;
  }
  return covered;
};

it.each([0.04, 0.3, 0.004])('covers the truth where %d bounce, in at least 930 of 1,000 runs', (truth) => {
  const covered = coveredIn(truth, 1_000, 1_000);
  expect(covered).toBeGreaterThanOrEqual(930);
  // An interval that covers everything says nothing.
  expect(covered).toBeLessThan(1_000);
});

/** The probability of `hits` of `n` each, by their ratios. */
function binomial(n: number, p: number): number[] {
  const all = [Math.exp(n * Math.log1p(-p))];
  for (let hits = 1; hits <= n; hits++) all.push(((all[hits - 1]! * (n - hits + 1)) / hits) * (p / (1 - p)));
  return all;
}

it.each([50, 200, 1_000])('covers every truth in 94.9 of 100 cases or more, of %i', (n) => {
  const intervals = Array.from({ length: n + 1 }, (_, hits) => shareOf(hits, n)!);
  for (let step = 0; step < 300; step++) {
    // From 0.003 % to 45 %, evenly on a logarithmic scale: what matters happens where few bounce.
    const truth = 10 ** (-4.5 + (step * 4.15) / 300);
    const probability = binomial(n, truth);
    const covered = intervals.reduce(
      (sum, { low, high }, hits) => (low <= truth && truth <= high ? sum + probability[hits]! : sum),
      0,
    );
    expect(covered, `${truth}`).toBeGreaterThan(0.949);
  }
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
