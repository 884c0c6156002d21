import { expect, it } from 'vitest';
import { announcedDelay } from '../classify.ts';

it.each([
  ['Greylisted for 5 minutes', 300],
  ['Greylisted for 180 seconds (see http://isg.ee.ethz.ch/tools/postgrey/)', 180],
  ['try again in 5 minutes', 300],
  ['retry after 300 seconds', 300],
  ['Greylisting in action, please come back in 00:04:59', 299],
  ['please come back in 00:05:00', 300],
  ['The email address will be queue for 180sec.', 180],
  ['wait 1 hour 30 minutes', 5400],
  ['retry in 4m30s', 270],
  ['retry in 2 minutes and 5 seconds', 125],
  ['Please try again later (retry timeout: 600s)', 600],
  ['Bitte in 10 Minuten erneut versuchen', 600],
  ['réessayez dans 5 minutes', 300],
  ['повторите через 5 минут', 300],
  ['try again in 99999 days', 86_400],
  ['try again in 999999999999 seconds', null],
  ['try again in 0 seconds', null],
  ['you sent 300 messages in the last 30 minutes', null],
  ['at most 5 per 60 seconds', null],
  ['at 00:05:00 UTC', null],
  ['try again later', null],
  ['', null],
])('%s', (text, seconds) => {
  expect(announcedDelay(text)).toBe(seconds);
});
