import { expect, it } from 'vitest';
import { SharedStrings } from './workbook.ts';

/**
 * Of very different sizes, over several chunks of a megabyte and pages; some empty, some of several bytes per letter.
 */
const textOf = (n: number): string =>
  n % 7 === 0 ? '' : n % 5_000 === 1 ? 'ü'.repeat(30_000) : `jane.doe${n}@example.com`;
const MANY = 150_000;

it('gives each text back by its number', () => {
  const strings = new SharedStrings(65_536);
  for (let n = 0; n < MANY; n++) strings.add(textOf(n));
  const wrong: number[] = [];
  for (let n = 0; n < MANY; n++) if (strings.at(n) !== textOf(n)) wrong.push(n);
  expect(wrong).toEqual([]);
  expect([-1, MANY, Number.NaN].map((n) => strings.at(n))).toEqual(['', '', '']);
});

it('fills chunks to their last byte', () => {
  const strings = new SharedStrings(65_536);
  const texts = Array.from({ length: 40 }, (_, n) => String.fromCharCode(97 + (n % 26)).repeat(65_536));
  for (const text of [...texts, '', 'end']) strings.add(text);
  for (const [n, text] of [...texts, '', 'end'].entries()) expect(strings.at(n) === text, `${n}`).toBe(true);
});
