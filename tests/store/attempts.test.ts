import { expect, it } from 'vitest';
import type { StoreEvent } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { purge } from './cast.ts';

const WINDOW = 60_000;

describeStores('attempts', (lab) => {
  it('are counted in a window that begins with the first', async () => {
    const store = await lab.open();
    const endsAt = lab.clock.now() + WINDOW;
    expect(await store.attempts.count('jane@example.com', WINDOW)).toEqual({ count: 1, endsAt });
    lab.clock.advance(WINDOW - 1);
    expect(await store.attempts.count('jane@example.com', WINDOW)).toEqual({ count: 2, endsAt });
    expect(await store.attempts.count('bob@example.com', WINDOW)).toMatchObject({ count: 1 });
    lab.clock.advance(1);
    expect(await store.attempts.count('jane@example.com', WINDOW)).toEqual({ count: 1, endsAt: endsAt + WINDOW });
  });

  it('begin anew when their window is more than one window ahead, as the clock was', async () => {
    const events: StoreEvent[] = [];
    const store = await lab.open({ onEvent: (event) => events.push(event) });
    await store.attempts.count('a', WINDOW);
    lab.clock.step(-WINDOW);
    expect(await store.attempts.count('a', WINDOW)).toMatchObject({ count: 2 });
    expect(events).toEqual([]);
    lab.clock.step(-1);
    const endsAt = lab.clock.now() + WINDOW;
    expect(await store.attempts.count('a', WINDOW)).toEqual({ count: 1, endsAt });
    expect(await store.attempts.count('a', WINDOW)).toEqual({ count: 2, endsAt });
    expect(events).toEqual([{ kind: 'attempt_window_restarted' }]);
  });

  it('begin anew when they are cleared', async () => {
    const store = await lab.open();
    await store.attempts.count('a', WINDOW);
    await store.attempts.count('b', WINDOW);
    await store.attempts.clear('a');
    await store.attempts.clear('nobody');
    expect(await store.attempts.count('a', WINDOW)).toMatchObject({ count: 1 });
    expect(await store.attempts.count('b', WINDOW)).toMatchObject({ count: 2 });
  });

  it('are counted apart by origin, and cleared together', async () => {
    const store = await lab.open();
    const count = async (subject: string, origin?: string) =>
      (await store.attempts.count(subject, WINDOW, origin)).count;
    expect([await count('a', 'x'), await count('a', 'y'), await count('a', 'x'), await count('a')]).toEqual([
      1, 1, 2, 1,
    ]);
    expect([await count('b', 'x'), await count('b', 'x')]).toEqual([1, 2]);
    await store.attempts.clear('a');
    expect([await count('a', 'x'), await count('a', 'y'), await count('a'), await count('b', 'x')]).toEqual([
      1, 1, 1, 3,
    ]);
  });

  it('on many nodes at once are each counted', async () => {
    const stores = [await lab.open(), await lab.open(), await lab.open()];
    const counts = Array.from({ length: 60 }, (_, i) => stores[i % 3]!.attempts.count('jane@example.com', WINDOW));
    const all = (await Promise.all(counts)).map((one) => one.count).sort((a, b) => a - b);
    expect(all).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
  });

  it('take any subject, and keep no address', async () => {
    const store = await lab.open();
    const subject = `${'x'.repeat(10_000)}\0\uD800`;
    expect(await store.attempts.count(subject, WINDOW)).toMatchObject({ count: 1 });
    expect(await store.attempts.count(subject, WINDOW)).toMatchObject({ count: 2 });
    await store.attempts.count('jane@example.com', WINDOW);
    const kept = await lab.sql('SELECT subject FROM attempts');
    for (const { subject: name } of kept) expect(name).toMatch(/^[0-9a-f]{64}$/);
  });

  it('are forgotten when their window is over', async () => {
    const store = await lab.open();
    for (let i = 0; i < 1_200; i++) await store.attempts.count(`${i}`, WINDOW);
    lab.clock.advance(1);
    await store.attempts.count('late', WINDOW);
    lab.clock.advance(WINDOW - 1);
    expect(await purge(lab, store, 0)).toBe(1_200);
    expect(await store.attempts.count('late', WINDOW)).toMatchObject({ count: 2 });
  });
});
