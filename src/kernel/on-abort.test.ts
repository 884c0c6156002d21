import { expect, it } from 'vitest';
import { onAbort } from './on-abort.ts';

it('tells all listeners of an aborted signal once, but those that left', () => {
  const ending = new AbortController();
  const calls: string[] = [];
  onAbort(ending.signal, () => calls.push('a'));
  const leave = onAbort(ending.signal, () => calls.push('b'));
  onAbort(ending.signal, () => calls.push('c'));
  leave();
  expect(calls).toEqual([]);
  ending.abort();
  ending.abort();
  expect(calls).toEqual(['a', 'c']);
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
