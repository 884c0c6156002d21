import { expect, it } from 'vitest';
import { LIST_STEPS } from '../../kernel/list-work.ts';
import { GiveWay } from './give-way.ts';

it('is alone until a single call comes, and again some time after the last one', () => {
  let [now, calls] = [1_000, 7];
  const way = new GiveWay({ now: () => now, elapsed: () => now }, () => calls);
  expect(way.isAlone()).toBe(true);
  calls += 1;
  expect(way.isAlone()).toBe(false);
  expect(way.steps()).toBe(LIST_STEPS.besideCalls);
  now += 49;
  // Seen without another call in between: they still come.
  expect(way.isAlone()).toBe(false);
  calls += 1;
  expect(way.isAlone()).toBe(false);
  now += 50;
  expect(way.isAlone()).toBe(true);
  expect(way.steps()).toBe(LIST_STEPS.alone);
});
