import { describe, expect, it } from 'vitest';
import { WriteMutex } from './write-mutex.ts';

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
});
