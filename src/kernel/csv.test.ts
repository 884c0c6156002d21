import { expect, it } from 'vitest';
import { csvLine } from './csv.ts';

it.each([
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '\n=1',
  '＝1',
  '＋1',
  '－1',
  '＠1',
  "'=1",
])('a cell that a spreadsheet would take for a formula is text: %j', (cell) => {
  expect(csvLine([cell]).replace(/^"/, '')).toMatch(/^'/);
});

it('other cells stay what they are', () => {
  expect(csvLine(['a=b', "it's", "'", 'x-y', 3, -3, null])).toBe("a=b,it's,',x-y,3,-3,\r\n");
});
