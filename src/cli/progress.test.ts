import { expect, it } from 'vitest';
import { createProgress, EMPTY_TALLY } from './progress.ts';

const drawing = (size: number) => {
  let now = 0;
  const drawn: string[] = [];
  const progress = createProgress(size, { elapsed: () => now }, (text) => drawn.push(text.replace('\r\u001b[K', '')));
  return { progress, drawn, wait: (ms: number) => (now += ms) };
};

it('shows share, rows, rate and the time left', () => {
  const { progress, drawn, wait } = drawing(1000);
  progress.at(0, { ...EMPTY_TALLY, good: 0, bad: 0 });
  wait(10_000);
  progress.at(250, { ...EMPTY_TALLY, good: 1500, bad: 500 });
  expect(drawn).toEqual([
    '[                              ] 0 %  0 rows',
    '[########                      ] 25 %  2,000 rows, 200/s, 30 s left',
  ]);
});

it('is redrawn ten times a second at most', () => {
  const { progress, drawn, wait } = drawing(100_000);
  for (let i = 0; i < 1000; i++) {
    wait(1);
    progress.at(i, { ...EMPTY_TALLY, good: i, bad: 0 });
  }
  expect(drawn).toHaveLength(10);
});

it('shows no share of an input of unknown size', () => {
  const { progress, drawn, wait } = drawing(0);
  wait(1000);
  progress.at(500, { ...EMPTY_TALLY, good: 3, bad: 0 });
  expect(drawn[0]).toBe(`[${' '.repeat(30)}] 0 %  3 rows, 3/s`);
});

it.each([
  [5_200, { ...EMPTY_TALLY, good: 1, bad: 0 }, '1 row in 6 s: 1 good, 0 bad\n'],
  [
    600_000,
    { good: 1200, bad: 34, withoutVerdict: 2, blank: 3, unreadable: 1 },
    '1,240 rows in 10 min: 1,200 good, 34 bad, 2 without a verdict, 3 blank, 1 unreadable\n',
  ],
  [7_500_000, { ...EMPTY_TALLY, good: 0, bad: 2 }, '2 rows in 2 h 05 min: 0 good, 2 bad\n'],
])('ends with a tally after %d ms', (ms, tally, text) => {
  const { progress, drawn, wait } = drawing(10);
  wait(ms);
  progress.end(tally);
  expect(drawn).toEqual([text]);
});
