import { expect, it } from 'vitest';
import { countUncertainReplies } from './uncertain.ts';

const reply = (more: { operator?: string; fingerprint?: string; rule?: string } = {}) => ({
  operator: 'other',
  fingerprint: 'f',
  code: 550,
  enhanced: null,
  template: 'hm',
  rule: 'unmatched.5xx',
  finding: 'smtp_unverifiable' as const,
  ...more,
});

it('adds up by operator and kind until they are taken; what is put back is not lost', () => {
  const noted = countUncertainReplies();
  noted.note(reply());
  noted.note(reply());
  noted.note(reply({ operator: 'google' }));
  const taken = noted.take();
  expect(taken).toEqual([
    { ...reply(), count: 2 },
    { ...reply({ operator: 'google' }), count: 1 },
  ]);
  expect(noted.take()).toEqual([]);
  noted.note(reply());
  noted.putBack(taken);
  expect(noted.take().map(({ count }) => count)).toEqual([3, 1]);
  expect(noted.totals.get('unmatched.5xx')).toBe(4);
});

it('is bounded, and a server with ever new texts does not displace other operators', () => {
  const noted = countUncertainReplies();
  for (let n = 0; n < 5_000; n++) noted.note(reply({ fingerprint: `f${n}` }));
  noted.note(reply({ operator: 'google' }));
  expect(noted.totals.get('unmatched.5xx')).toBe(5_001);
  const taken = noted.take();
  expect(taken.length).toBeLessThan(100);
  expect(taken.at(-1)?.operator).toBe('google');
  for (let n = 0; n < 5_000; n++) noted.note(reply({ operator: `o${n}` }));
  expect(noted.take().length).toBeLessThanOrEqual(200);
});
