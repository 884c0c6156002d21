import { expect, it } from 'vitest';
import type { AccountId, TrafficRow } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { member, purge } from './cast.ts';

const HOUR = 3600_000;
const DAY = 24 * HOUR;

describeStores('traffic', (lab) => {
  const row = (account: AccountId, more: Partial<TrafficRow> = {}): TrafficRow => ({
    account,
    hour: Math.floor(lab.clock.now() / HOUR) * HOUR,
    metric: 'status',
    bucket: 429,
    count: 1,
    ...more,
  });

  it('adds up, and is listed by hour to nobody but its account', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const stranger = await member(store);
    const { hour } = row(account.id);
    await store.traffic.add([]);
    await store.traffic.add([
      row(account.id, { count: 2 }),
      row(account.id, { metric: 'smtp', bucket: 70 }),
      row(account.id, { hour: hour + HOUR, metric: 'mx', bucket: 3, count: 5 }),
      row(account.id, { count: 3 }),
      row(stranger.account.id, { count: 100 }),
    ]);
    await store.traffic.add([row(account.id), row(account.id, { bucket: 404 })]);
    expect(await store.traffic.list(account.id, hour + 1, hour + 2 * HOUR)).toEqual([
      row(account.id, { metric: 'smtp', bucket: 70 }),
      row(account.id, { bucket: 404 }),
      row(account.id, { count: 6 }),
      row(account.id, { hour: hour + HOUR, metric: 'mx', bucket: 3, count: 5 }),
    ]);
    expect(await store.traffic.list(account.id, hour, hour + HOUR)).toHaveLength(3);
    expect(await store.traffic.list(account.id, hour + HOUR, hour + HOUR)).toEqual([]);
  });

  it('of accounts that are gone is left out', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const gone = await member(store);
    await store.accounts.remove(gone.account.id);
    await store.traffic.add([row('acc_none' as AccountId), row(gone.account.id), row(account.id)]);
    await store.traffic.add([row(gone.account.id)]);
    expect(await lab.sql('SELECT account_id FROM traffic_hours')).toEqual([{ account_id: account.id }]);
  });

  it('is counted once by many nodes that tell at the same time, in whatever order', async () => {
    const stores = [await lab.open(), await lab.open()];
    const accounts = await Promise.all(Array.from({ length: 4 }, () => member(stores[0]!)));
    const rows = accounts.flatMap(({ account }) =>
      Array.from({ length: 100 }, (_, bucket) => row(account.id, { metric: 'mx', bucket })),
    );
    const tellings = Array.from({ length: 10 }, (_, i) =>
      stores[i % 2]!.traffic.add(i % 2 === 0 ? rows : rows.toReversed()),
    );
    await Promise.all(tellings);
    const { hour } = rows[0]!;
    for (const { account } of accounts) {
      const listed = await stores[0]!.traffic.list(account.id, hour, hour + HOUR);
      expect(listed.map((one) => one.count)).toEqual(Array.from({ length: 100 }, () => 10));
    }
  });

  it('of very many counters is told and listed whole', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    const { hour } = row(account.id);
    const rows = Array.from({ length: 11_000 }, (_, i) =>
      row(account.id, {
        hour: hour + Math.floor(i / 100) * HOUR,
        metric: i % 2 === 0 ? 'mx' : 'smtp',
        bucket: i % 100,
      }),
    );
    await store.traffic.add(rows);
    const listed = await store.traffic.list(account.id, hour, hour + 110 * HOUR);
    expect(listed).toHaveLength(11_000);
    expect(new Set(listed.map((one) => `${one.hour} ${one.metric} ${one.bucket}`)).size).toBe(11_000);
  });

  it('is kept for as long as a chart goes back', async () => {
    const store = await lab.open();
    const { account } = await member(store);
    await store.traffic.add([row(account.id), row(account.id, { hour: row(account.id).hour + HOUR })]);
    lab.clock.advance(800 * DAY);
    expect(await purge(lab, store, 0)).toBe(1);
    expect(await lab.sql('SELECT hour FROM traffic_hours')).toHaveLength(1);
  });
});
