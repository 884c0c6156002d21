import { expect, it } from 'vitest';
import { every } from './rounds.ts';

const HOUR_MS = 3_600_000;

it('runs a round when told to, and one more for all that are asked for meanwhile', async () => {
  const ends: PromiseWithResolvers<void>[] = [];
  const rounds = every(
    HOUR_MS,
    () => {
      const end = Promise.withResolvers<void>();
      ends.push(end);
      return end.promise;
    },
    () => {},
  );
  rounds.now();
  expect(ends).toHaveLength(1);
  rounds.now();
  rounds.now();
  expect(ends).toHaveLength(1);
  ends[0]?.resolve();
  await new Promise(setImmediate);
  expect(ends).toHaveLength(2);
  ends[1]?.resolve();
  await new Promise(setImmediate);
  expect(ends).toHaveLength(2);
  await rounds.stop();
  rounds.now();
  expect(ends).toHaveLength(2);
});
