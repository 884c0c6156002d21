import { expect, it } from 'vitest';
import { describeStores } from '../../tests/lab/stores.ts';
import type { AccountId, TrafficRow } from '../store/store.ts';
import { createTrafficCounter, percentile } from './traffic.ts';

const HOUR = 3_600_000;

describeStores('request counts', (lab) => {
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

  it('are kept by hour, status, level and bucket, and added to those in the store', async () => {
    const { store, id, rows } = await opened();
    const counter = createTrafficCounter(store.traffic, lab.clock);
    counter.refused(id, 400);
    counter.refused(id, 429);
    counter.refused(id, 429);
    counter.verified(id, 'mx', 0);
    await counter.flush();
    counter.refused(id, 429);
    counter.verified(id, 'smtp', 2000);
    lab.clock.advance(HOUR);
    counter.refused(id, 599);
    await counter.flush();
    await counter.flush();
    expect(await rows()).toEqual(['0 mx 0 1', '0 smtp 80 1', '0 status 400 1', '0 status 429 3', '1 status 599 1']);
    expect(percentile(new Map([[80, 1]]), 0.5)).toBeCloseTo(2000, -2);
  });

  it('survive a failed write, together with what is counted meanwhile', async () => {
    const { store, id, rows } = await opened();
    let down = true;
    const traffic = {
      ...store.traffic,
      add: async (rows: readonly TrafficRow[]) => {
        counter.refused(id, 402);
        if (down) throw new Error('down');
        await store.traffic.add(rows);
      },
    };
    const counter = createTrafficCounter(traffic, lab.clock);
    counter.refused(id, 402);
    await expect(counter.flush()).rejects.toThrow('down');
    lab.clock.advance(HOUR);
    await expect(counter.flush()).rejects.toThrow('down');
    down = false;
    await counter.flush();
    expect(await rows()).toEqual(['0 status 402 2', '1 status 402 1']);
  });

  it('are bounded, so that memory does not grow while the store is down', async () => {
    const { store } = await opened();
    const written: TrafficRow[] = [];
    const counter = createTrafficCounter(
      { ...store.traffic, add: async (rows) => void written.push(...rows.slice()) },
      lab.clock,
    );
    for (let i = 0; i < 150_000; i += 1) counter.refused(`acc_${i}` as AccountId, 400);
    await counter.flush();
    expect(written).toHaveLength(100_000);
  });
});
