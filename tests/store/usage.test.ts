import { expect, it } from 'vitest';
import { USAGE_HOURS_KEPT_DAYS } from '../../src/kernel/facts/limits.ts';
import { chartOf } from '../../src/service/charts.ts';
import { describeStores } from '../lab/stores.ts';
import { member, purge, verifyNow } from './cast.ts';

const HOUR = 3600_000;
const DAY = 24 * HOUR;

describeStores('usage', (lab) => {
  it('sums a period', async () => {
    const store = await lab.open();
    const who = await member(store);
    const stranger = await member(store);
    const start = lab.clock.now();
    await Promise.all([
      verifyNow(store, who),
      verifyNow(store, who),
      verifyNow(store, who, { status: 'bad', reason: 'disposable_domain' }),
      verifyNow(store, who, { validationType: 'smtp', credits: 10, status: 'bad', reason: 'mailbox_not_found' }),
      verifyNow(store, who, { validationType: 'smtp', credits: 10, reason: 'catch_all' }),
      verifyNow(store, stranger),
    ]);
    expect(await store.usage.summary(who.account.id, start, start + 1)).toEqual({
      requests: 5,
      good: 3,
      bad: 2,
      credits: 23,
      byReason: { catch_all: 1, disposable_domain: 1, mailbox_not_found: 1 },
    });
    expect(await store.usage.summary(who.account.id, start + HOUR, start + DAY)).toEqual({
      requests: 0,
      good: 0,
      bad: 0,
      credits: 0,
      byReason: {},
    });
    expect(await store.usage.summary(who.account.id, start - DAY, start)).toMatchObject({ requests: 0 });
  });

  it('is a series by day, key, reason or level', async () => {
    const store = await lab.open();
    const who = await member(store);
    const start = lab.clock.now();
    await verifyNow(store, who);
    lab.clock.advance(HOUR);
    await verifyNow(store, who, { status: 'bad', reason: 'null_mx' });
    lab.clock.advance(DAY);
    await verifyNow(store, who, { validationType: 'smtp', credits: 10 });
    const series = (grouping: Parameters<typeof store.usage.series>[1]) =>
      store.usage.series(who.account.id, grouping, start, lab.clock.now() + HOUR);
    expect(await series('day')).toEqual([
      { group: '2026-11-20', requests: 2, good: 1, bad: 1, credits: 2 },
      { group: '2026-11-21', requests: 1, good: 1, bad: 0, credits: 10 },
    ]);
    expect(await series('key')).toEqual([{ group: who.key.id, requests: 3, good: 2, bad: 1, credits: 12 }]);
    expect(await series('reason')).toEqual([
      { group: 'none', requests: 2, good: 2, bad: 0, credits: 11 },
      { group: 'null_mx', requests: 1, good: 0, bad: 1, credits: 1 },
    ]);
    expect(await series('validation_type')).toEqual([
      { group: 'mx', requests: 2, good: 1, bad: 1, credits: 2 },
      { group: 'smtp', requests: 1, good: 1, bad: 0, credits: 10 },
    ]);
  });

  it('is a series of hours, those without requests left out', async () => {
    const store = await lab.open();
    const who = await member(store);
    const stranger = await member(store);
    const start = lab.clock.now();
    lab.clock.advance(HOUR / 2);
    await verifyNow(store, who);
    await verifyNow(store, who, { status: 'bad', reason: 'null_mx', credits: 0 });
    await verifyNow(store, stranger);
    lab.clock.advance(2 * HOUR);
    await verifyNow(store, who, { validationType: 'smtp', credits: 10 });
    const { id } = who.account;
    const mx = { level: 'mx', status: 'good', reason: null, requests: 1, credits: 1 };
    const bad = { ...mx, status: 'bad', reason: 'null_mx', credits: 0 };
    const smtp = { ...mx, level: 'smtp', credits: 10 };
    const hours = (from: number, to: number) => store.usage.buckets(id, from, to, HOUR);
    const first = [
      { ...bad, at: start },
      { ...mx, at: start },
    ];
    const last = { ...smtp, at: start + 2 * HOUR };
    const [all, early, late] = await Promise.all([
      hours(start, start + DAY),
      hours(start + HOUR - 1, start + 2 * HOUR),
      hours(start + HOUR, start + DAY),
    ]);
    expect(all).toEqual(expect.arrayContaining([...first, last]));
    expect([all.length, late]).toEqual([3, [last]]);
    expect(early).toEqual(expect.arrayContaining(first));
    // By day, and of one key.
    const day = Math.floor(start / DAY) * DAY;
    const days = await store.usage.buckets(id, day, day + DAY, DAY, { keys: [who.key.id] });
    expect(days.map(({ at, requests }) => [at, requests])).toEqual([
      [day, 1],
      [day, 1],
      [day, 1],
    ]);
    expect(await store.usage.buckets(id, day, day + DAY, DAY, { keys: ['another'] })).toEqual([]);
    expect(await store.usage.keyDays(id, day, day + DAY, null)).toEqual([{ keyId: who.key.id, at: day, requests: 3 }]);
  });

  it('counts each request of a batch once', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 1000 });
    await Promise.all(Array.from({ length: 600 }, () => verifyNow(store, who)));
    const start = lab.clock.now();
    expect(await store.usage.summary(who.account.id, start, start + 1)).toMatchObject({ requests: 600, credits: 600 });
    expect(await lab.sql('SELECT requests FROM usage_hours')).toHaveLength(1);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('becomes daily after its time, with the same sums', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 1_000 });
    const other = await member(store);
    const { id } = who.account;
    const start = lab.clock.now();
    for (let i = 0; i < 30; i += 1) {
      await verifyNow(store, who, i % 3 === 0 ? { status: 'bad', reason: 'null_mx', credits: 0 } : {});
      await verifyNow(store, who, { validationType: 'smtp', credits: 10 });
      await verifyNow(store, i % 7 === 0 ? other : { hash: { account: id } });
      lab.clock.advance(5 * HOUR);
    }
    const end = lab.clock.now();
    const views = async () => [
      await store.usage.summary(id, start, end),
      await store.usage.summary(id, 0, end + 90 * DAY),
      await store.usage.series(id, 'day', start - DAY, end),
      await store.usage.series(id, 'key', start, end),
      await store.usage.series(id, 'reason', start, end),
      await store.usage.buckets(id, start, end, 365 * DAY, { keys: [who.key.id] }),
      await store.usage.buckets(id, start, end, 365 * DAY, { source: 'api' }),
      await store.usage.withoutSource(id, start, end),
      await store.usage.series(other.account.id, 'day', start, end),
    ];
    const before = await views();
    const hours = await store.usage.buckets(id, start, end, HOUR);
    const rows = async () => (await lab.sql('SELECT hour FROM usage_hours')).length;
    const many = await rows();
    expect(await store.usage.hoursFrom(id)).toBeNull();
    // Charts of hours are exact for a while, however short the retention is.
    const both = [store, await lab.open()];
    for (const one of both) await purge(lab, one, lab.clock.now() - 1);
    expect(await store.usage.buckets(id, start, end, HOUR)).toEqual(hours);
    lab.clock.advance(USAGE_HOURS_KEPT_DAYS * DAY - 3 * DAY);
    await purge(lab, store, lab.clock.now() - 1);
    const from = (await store.usage.hoursFrom(id)) ?? 0;
    expect(from).toBe(Math.floor((end - 3 * DAY) / DAY) * DAY);
    expect(await views()).toEqual(before);
    expect((await store.usage.buckets(id, from, end, HOUR)).map(({ at }) => at)).toEqual(
      hours.map(({ at }) => at).filter((at) => at >= from),
    );
    // A day is counted as a whole, whichever part of it is asked for.
    const firstDay = Math.floor(start / DAY) * DAY;
    const [day] = await store.usage.series(id, 'day', start, start + DAY - (start - firstDay));
    expect(await store.usage.summary(id, firstDay + 20 * HOUR, firstDay + 21 * HOUR)).toMatchObject({
      requests: day!.requests,
      credits: day!.credits,
    });
    // A chart of hours shows days where there is nothing else.
    const chart = (at: number) =>
      chartOf(store, lab.clock, id, { from: at, to: at + DAY, bucket: 'hour', key: null, source: null });
    expect(await chart(firstDay)).toMatchObject({ bucket: 'day', totals: { requests: day!.requests } });
    expect(await chart(from)).toMatchObject({ bucket: 'hour' });
    lab.clock.advance(30 * DAY);
    await Promise.all(both.map((one) => purge(lab, one, lab.clock.now() - 1)));
    expect(await views()).toEqual(before);
    expect(await rows()).toBeLessThan(many / 2);
    expect((await lab.sql('SELECT hour FROM usage_hours')).filter(({ hour }) => Number(hour) % DAY !== 0)).toEqual([]);
    expect(await store.accounts.audit()).toEqual([]);
  });
});
