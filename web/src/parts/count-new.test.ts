import { expect, it } from 'vitest';
import { countNew } from './count-new.ts';

/** Rows of these minutes. */
const rows = (...minutes: number[]) =>
  minutes.map((minute) => ({ id: `row ${minute}`, at: `2026-11-03T10:0${minute}:00Z` }));
const first = rows(5)[0]!;

it.each([
  ['nothing has changed', rows(5, 4), null],
  ['two came before it', rows(7, 6, 5, 4), '2'],
  ['a whole page came before it', rows(9, 8, 7, 6), '4+'],
  ['it is gone, and one came', rows(6, 4, 3), '1'],
  ['the answer is older', rows(4, 3, 2, 1), null],
  ['there is nothing', [], null],
])('%s', (_, newest, count) => expect(countNew(newest, first, 4)).toBe(count));
