import { expect, it } from 'vitest';
import { onAbort } from './on-abort.ts';

it('tells all listeners of an aborted signal once, but those that left', () => {
  const ending = new AbortController();
  const told: string[] = [];
  onAbort(ending.signal, () => told.push('a'));
  const leave = onAbort(ending.signal, () => told.push('b'));
  onAbort(ending.signal, () => told.push('c'));
  leave();
  expect(told).toEqual([]);
  ending.abort();
  ending.abort();
  expect(told).toEqual(['a', 'c']);
});

it('has one listener at the signal, however many wait', () => {
  const ending = new AbortController();
  let added = 0;
  const { signal } = ending;
  const add = signal.addEventListener.bind(signal);
  signal.addEventListener = (...input: Parameters<typeof add>) => {
    added += 1;
    add(...input);
  };
  for (let i = 0; i < 100; i += 1) onAbort(signal, () => {});
  expect(added).toBe(1);
});
