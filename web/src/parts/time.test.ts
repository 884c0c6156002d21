import { expect, it } from 'vitest';
import { rangeOf, timeSearch, timeText, validateDays } from './time.ts';

const NOW = Date.parse('2026-11-20T10:17:31.250Z');

it.each([
  [{ range: '24h' }, '2026-11-19T11:00:00.000Z', '2026-11-20T11:00:00.000Z', 'hour', ['2026-11-19', '2026-11-20']],
  [{ range: '7d' }, '2026-11-13T11:00:00.000Z', '2026-11-20T11:00:00.000Z', 'hour', ['2026-11-13', '2026-11-20']],
  [{ range: '30d' }, '2026-10-22T00:00:00.000Z', '2026-11-21T00:00:00.000Z', 'day', ['2026-10-22', '2026-11-20']],
  [{ range: 'month' }, '2026-11-01T00:00:00.000Z', '2026-11-21T00:00:00.000Z', 'day', ['2026-11-01', '2026-11-20']],
  [{}, '2026-10-22T00:00:00.000Z', '2026-11-21T00:00:00.000Z', 'day', ['2026-10-22', '2026-11-20']],
  [
    { hour: '2026-11-20T08:00:00Z', until: '2026-11-20T10:00:00Z' },
    '2026-11-20T08:00:00.000Z',
    '2026-11-20T10:00:00.000Z',
    'hour',
    ['2026-11-20', '2026-11-20'],
  ],
  [
    { from: '2026-11-01', to: '2026-11-08' },
    '2026-11-01T00:00:00.000Z',
    '2026-11-09T00:00:00.000Z',
    'hour',
    ['2026-11-01', '2026-11-08'],
  ],
  [
    { from: '2026-11-01', to: '2026-11-09' },
    '2026-11-01T00:00:00.000Z',
    '2026-11-10T00:00:00.000Z',
    'day',
    ['2026-11-01', '2026-11-09'],
  ],
] as const)('%o', (search, from, to, bucket, days) => {
  expect(rangeOf(search, NOW)).toEqual({ from, to, bucket, days });
});

it('is constant within an hour and includes the current moment', () => {
  const onTheHour = Date.parse('2026-11-20T10:00:00.000Z');
  expect(rangeOf({ range: '24h' }, onTheHour)).toEqual(rangeOf({ range: '24h' }, NOW));
  expect(rangeOf({ range: 'month' }, Date.parse('2026-11-01T00:00:00Z')).to).toBe('2026-11-02T00:00:00.000Z');
});

it.each([
  [{ range: 'month' }, { range: 'month' }],
  [{ range: 'toString' }, {}],
  [
    { range: '24h', from: '2026-11-01', to: '2026-11-02' },
    { from: '2026-11-01', to: '2026-11-02' },
  ],
  [{ from: '2026-02-30', to: '2026-03-01' }, {}],
  [{ from: '2026-11-02', to: '2026-11-01', range: '7d' }, { range: '7d' }],
  // An end before the start, or without one, is left out.
  [{ hour: '2026-11-23T09:00:00Z', until: '2026-11-23T09:00:00Z' }, { hour: '2026-11-23T09:00:00Z' }],
  [{ until: '2026-11-23T09:00:00Z' }, {}],
  [{ hour: '2026-11-23T09:30:00Z' }, {}],
  [{ from: '2026-11-01' }, {}],
  [{ from: 20261101, to: ['x'] }, {}],
])('parses the search parameters %o', (search, read) => {
  expect(timeSearch(search)).toEqual(read);
});

it.each([
  ['', '2026-11-02', 'from'],
  ['2026-11-01', 'soon', 'to'],
  ['2026-11-02', '2026-11-01', 'to'],
  ['2020-01-01', '2026-11-01', 'from'],
])('%s to %s is invalid at %s', (from, to, field) => {
  expect(validateDays(from, to)?.field).toBe(field);
});

it('accepts one day and at most the limit of the server', () => {
  expect(validateDays('2026-11-01', '2026-11-01')).toBe(null);
  expect(validateDays('2024-08-24', '2026-11-01')).toBe(null);
  expect(validateDays('2024-08-23', '2026-11-01')?.error).toContain('801');
});

it.each([
  [{}, null],
  [{ range: '7d' }, 'Last 7 days'],
  [{ from: '2026-11-01', to: '2026-11-08' }, '1 Nov 2026 – 8 Nov 2026'],
  [{ hour: '2026-11-23T09:00:00Z' }, '23 Nov 2026, 09:00–10:00 UTC'],
  [{ hour: '2026-11-23T21:00:00Z', until: '2026-11-24T02:00:00Z' }, '23 Nov 2026, 21:00–24 Nov 2026, 02:00 UTC'],
] as const)('%o in words', (time, text) => {
  expect(timeText(time)).toBe(text);
});
