import { expect, it } from 'vitest';
import { stack } from './series.ts';

it('stacks each series on those below it and treats missing values as zero', () => {
  const of = (values: (number | null)[]) => ({ label: 'x', tone: 'first' as const, values });
  expect(stack([of([1, 2, null]), of([10, null, 30]), of([100, 200, 300])])).toEqual([
    [1, 2, 0],
    [11, 2, 30],
    [111, 202, 330],
  ]);
  expect(stack([])).toEqual([]);
});
