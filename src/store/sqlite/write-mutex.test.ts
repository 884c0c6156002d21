import { describe, expect, it } from 'vitest';
import { WriteMutex } from './threads.ts';

describe('a turn', () => {
  it('runs one after the other, in order, and outlives failures', async () => {
    const mutex = new WriteMutex();
    const log: string[] = [];
    const work = (name: string, fail = false) =>
      mutex.run(async () => {
        log.push(`${name} begins`);
        await new Promise(setImmediate);
        log.push(`${name} ends`);
        if (fail) throw new Error(name);
        return name;
      });
    const all = await Promise.allSettled([work('a'), work('b', true), work('c'), mutex.run(() => 'd')]);
    expect(all.map((one) => (one.status === 'fulfilled' ? one.value : 'failed'))).toEqual(['a', 'failed', 'c', 'd']);
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });

  it('is shared by work that allows it, in order of arrival with the rest, and outlives its failures', async () => {
    const mutex = new WriteMutex();
    const under = new Set<string>();
    const met: string[] = [];
    const work = (name: string) => async (): Promise<void> => {
      under.add(name);
      for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
      met.push([...under].join(''));
      under.delete(name);
      if (name === 'b') throw new Error(name);
    };
    const release = mutex.acquire();
    const all = Promise.allSettled([
      mutex.runShared(work('a')),
      mutex.runShared(work('b')),
      mutex.run(work('c')),
      mutex.runShared(work('d')),
      mutex.runShared(work('e')),
      mutex.run(work('f')),
    ]);
    await new Promise(setImmediate);
    expect(under.size).toBe(0);
    (await release)();
    expect((await all).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
    expect(met).toEqual(['ab', 'b', 'c', 'de', 'e', 'f']);
  });
});
