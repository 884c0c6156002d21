import { expect, it } from 'vitest';
import { within } from './bounded-wait.ts';

const never = () => new Promise<never>(() => undefined);
const fail = (message: string) => () => {
  throw new Error(message);
};
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

it('gives what the work gives before the end, and leaves no timer behind', async () => {
  const before = timers();
  const bounds = { ms: 60_000, signals: [new AbortController().signal], late: () => 'late' };
  expect(await within(bounds, async () => 'done')).toBe('done');
  await expect(within(bounds, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(within(bounds, fail('at once'))).rejects.toThrow('at once');
  expect(timers()).toBe(before);
});

it('gives what `late` returns or throws when the time is over', async () => {
  expect(await within({ ms: 1, late: () => 'late' }, never)).toBe('late');
  await expect(within({ ms: 1, late: fail('late') }, never)).rejects.toThrow('late');
});

it('throws an error of its own, or the reason of the signal', async () => {
  await expect(within({ ms: 1 }, never)).rejects.toThrow('no answer within 0.001 s');
  const ending = new AbortController();
  const wait = within({ ms: 60_000, signals: [ending.signal] }, never);
  ending.abort(new Error('the end'));
  await expect(wait).rejects.toThrow('the end');
  await expect(within({ signals: [ending.signal] }, never)).rejects.toThrow('the end');
});

it('ends with the first signal that is aborted', async () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const wait = within({ ms: 60_000, signals: [one.signal, other.signal], late: () => 'late' }, never);
  other.abort();
  expect(await wait).toBe('late');
});

it('does not begin the work after a signal', async () => {
  let begun = false;
  const work = async () => {
    begun = true;
  };
  expect(await within({ signals: [AbortSignal.abort()], late: () => 'late' }, work)).toBe('late');
  expect(begun).toBe(false);
});

it('has work that fails later trouble nobody', async () => {
  const work = Promise.withResolvers<never>();
  expect(await within({ ms: 1, late: () => 'late' }, () => work.promise)).toBe('late');
  // A rejection without a handler would fail this run.
  work.reject(new Error('too late'));
  await new Promise(setImmediate);
});
