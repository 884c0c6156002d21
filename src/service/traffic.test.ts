import { expect, it } from 'vitest';
import { describeStores } from '../../tests/lab/stores.ts';
import { percentile } from '../kernel/latency.ts';
import type { AccountId, TrafficRow } from '../store/store.ts';
import { createTrafficCounter } from './traffic.ts';

const HOUR = 3_600_000;

describeStores('the counts of requests', (lab) => {
  const opened = async () => {
    const store = await lab.open();
    const { id } = await store.accounts.create({ name: 'a', plan: 'premium', rateLimit: null, credits: 0 });
    const hour = Math.floor(lab.clock.now() / HOUR) * HOUR;
    const rows = async () => {
      const all = await store.traffic.list(id, hour, hour + 24 * HOUR);
      return all
        .map(({ hour: at, metric, bucket, count }) => `${(at - hour) / HOUR} ${metric} ${bucket} ${count}`)
        .sort();
    };
    return { store, id, rows };
  };

  it('work: by hour, status, level and bucket, added to what the store has', async () => {
    const { store, id, rows } = await opened();
    const counter = createTrafficCounter(store.traffic, lab.clock);
    counter.refused(id, 400);
    counter.refused(id, 429);
    counter.refused(id, 429);
    counter.verified(id, 'mx', 0);
    await counter.tell();
    counter.refused(id, 429);
    counter.verified(id, 'smtp', 2000);
    lab.clock.advance(HOUR);
    counter.refused(id, 599);
    await counter.tell();
    await counter.tell();
    expect(await rows()).toEqual(['0 mx 0 1', '0 smtp 80 1', '0 status 400 1', '0 status 429 3', '1 status 599 1']);
    expect(percentile(new Map([[80, 1]]), 0.5)).toBeCloseTo(2000, -2);
  });

  it('are kept while the store does not take them, whatever is counted meanwhile', async () => {
    const { store, id, rows } = await opened();
    let down = true;
    const traffic = {
      ...store.traffic,
      add: async (told: readonly TrafficRow[]) => {
        counter.refused(id, 402);
        if (down) throw new Error('down');
        await store.traffic.add(told);
      },
    };
    const counter = createTrafficCounter(traffic, lab.clock);
    counter.refused(id, 402);
    await expect(counter.tell()).rejects.toThrow('down');
    lab.clock.advance(HOUR);
    await expect(counter.tell()).rejects.toThrow('down');
    down = false;
    await counter.tell();
    expect(await rows()).toEqual(['0 status 402 2', '1 status 402 1']);
  });

  it('are bounded: a process without a store does not fill its memory', async () => {
    const { store } = await opened();
    const told: TrafficRow[] = [];
    const counter = createTrafficCounter(
      { ...store.traffic, add: async (rows) => void told.push(...rows.slice()) },
      lab.clock,
    );
    for (let i = 0; i < 150_000; i += 1) counter.refused(`acc_${i}` as AccountId, 400);
    await counter.tell();
    expect(told).toHaveLength(100_000);
  });
});
