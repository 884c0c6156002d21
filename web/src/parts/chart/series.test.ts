import { expect, it } from 'vitest';
import { stacked } from './series.ts';

it('stands each on those below it, and takes what is not known for nothing', () => {
  const of = (values: (number | null)[]) => ({ label: 'x', tone: 'good' as const, values });
  expect(stacked([of([1, 2, null]), of([10, null, 30]), of([100, 200, 300])])).toEqual([
    [1, 2, 0],
    [11, 2, 30],
    [111, 202, 330],
  ]);
  expect(stacked([])).toEqual([]);
});
