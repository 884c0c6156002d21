import { describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.ts';
import { createLogger } from '../kernel/log.ts';
import { Closers } from './closers.ts';

const logger = createLogger('silent');

function recorded(totalMs?: number) {
  const closers = new Closers(logger, totalMs === undefined ? {} : { totalMs });
  const log: string[] = [];
  const add = (name: string, close: () => void | Promise<void> = () => undefined, withinMs = 1000) =>
    closers.add(name, withinMs, () => {
      log.push(name);
      return close();
    });
  return { closers, log, add };
}
const never = () => new Promise<void>(() => undefined);

describe('closers', () => {
  it('run one after the other, the newest first, and once', async () => {
    const { closers, log, add } = recorded();
    add('store', () => void log.push('store done'));
    add('requests', async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      log.push('requests done');
    });
    expect(closers.closing).toBe(false);
    const [first, second] = [closers.closeAll(), closers.closeAll()];
    expect(closers.closing).toBe(true);
    expect(await first).toEqual([]);
    expect(await second).toEqual([]);
    expect(log).toEqual(['requests', 'requests done', 'store', 'store done']);
  });

  it('name those that fail, and go on', async () => {
    const { closers, log, add } = recorded();
    add('store');
    add('at once', () => {
      throw new Error('no');
    });
    add('later', () => Promise.reject(new Error('no')));
    expect(await closers.closeAll()).toEqual(['later', 'at once']);
    expect(log).toEqual(['later', 'at once', 'store']);
  });

  it('give up one that hangs at its bound', async () => {
    const { closers, log, add } = recorded();
    add('store');
    add('hung', never, 600);
    const begun = systemClock.elapsed();
    expect(await closers.closeAll()).toEqual(['hung']);
    expect(systemClock.elapsed() - begun).toBeLessThan(1500);
    expect(log).toEqual(['hung', 'store']);
  });

  it('end within the bound of the whole, and each gets its turn, when all of them hang', async () => {
    const { closers, log, add } = recorded(3000);
    for (const name of ['a', 'b', 'c', 'd']) add(name, never, 60_000);
    const begun = systemClock.elapsed();
    expect(await closers.closeAll()).toEqual(['d', 'c', 'b', 'a']);
    expect(systemClock.elapsed() - begun).toBeLessThan(3500);
    expect(log).toEqual(['d', 'c', 'b', 'a']);
  });
});
