import { describe, expect, it } from 'vitest';
import { logQuery, logSearch } from './search.ts';

const NOW = Date.parse('2026-11-23T12:30:00Z');
const queryOf = (query: string) => logQuery(logSearch(Object.fromEntries(new URLSearchParams(query))), NOW);

describe('the time of a search in the log', () => {
  it.each([
    ['hour=2026-11-23T09:00:00Z', '2026-11-23T09:00:00.000Z', '2026-11-23T10:00:00.000Z'],
    ['hour=2026-11-23T09:00:00Z&until=2026-11-23T12:00:00Z', '2026-11-23T09:00:00.000Z', '2026-11-23T12:00:00.000Z'],
    ['', undefined, undefined],
    // As the charts that lead there; new rows come in.
    ['range=24h', '2026-11-22T13:00:00.000Z', undefined],
    ['range=month', '2026-11-01T00:00:00.000Z', undefined],
    ['from=2026-11-03&to=2026-11-04', '2026-11-03T00:00:00.000Z', '2026-11-05T00:00:00.000Z'],
  ])('%s', (query, from, to) => {
    const { from: since, to: until } = { from: undefined, to: undefined, ...queryOf(query) };
    expect([since, until]).toEqual([from, to]);
  });
});

it.each([
  ['key=key_1&not=key', { key: 'key_1', not: 'key' }],
  ['key=key_1&level=mx&not=key,level,color', { key: 'key_1', level: 'mx', not: 'level,key' }],
  // Without a value there is nothing to negate.
  ['not=key', {}],
  ['key=key_1&not=query', { key: 'key_1' }],
])('filters that are negated: %s', (query, search) => {
  expect(logSearch(Object.fromEntries(new URLSearchParams(query)))).toEqual(search);
});
