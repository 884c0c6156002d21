import { expect, it } from 'vitest';
import { hasOutlier, ticksOf } from './bars.ts';

it.each([
  [0, [0, 1]],
  [1, [0, 1]],
  [3, [0, 1, 2, 3]],
  [9, [0, 5, 10]],
  [12_000, [0, 5_000, 10_000, 15_000]],
  [40, [0, 10, 20, 30, 40]],
])('the axis of %d has lines at whole numbers', (most, ticks) => expect(ticksOf(most, false)).toEqual(ticks));

it('the logarithmic axis has powers of ten', () => {
  expect(ticksOf(950, true)).toEqual([0, 1, 10, 100, 1_000]);
  expect(ticksOf(0, true)).toEqual([0, 1]);
});

it.each([
  [[5, 6, 0, 400], true],
  [[5, 6, 7, 40], false],
  [[0, 0, 40], false],
  [[], false],
])('%j has a value that flattens the others: %s', (values, is) => expect(hasOutlier(values)).toBe(is));
