import { expect, it } from 'vitest';
import { DAY_MS } from '../../src/kernel/clock.ts';
import { LOG_SEARCH_ROWS, REJECTED_PER_DAY, REJECTED_PER_MINUTE } from '../../src/kernel/facts/limits.ts';
import { createRejectedRequestLog } from '../../src/service/rejected-requests.ts';
import type { RejectedRequest } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { IP, type Member, member, purge, removeDeleted } from './cast.ts';

const MINUTE = 60_000;
const ALL = { before: null, limit: 100 };

const rejection = ({ account, key }: Member, more: Partial<RejectedRequest> = {}): RejectedRequest => ({
  account: account.id,
  at: 1_000_000,
  requestId: 'req_1',
  keyId: key.id,
  clientIp: IP,
  route: 'POST /v1/verify',
  status: 400,
  code: 'missing_parameter',
  via: null,
  ...more,
});

describeStores('rejected requests', (lab) => {
  it('are listed newest first to their account alone, page by page', async () => {
    const store = await lab.open();
    const [who, stranger] = [await member(store), await member(store)];
    const times = [30, 10, 20, 20, 40];
    await store.rejectedRequests.add([], []);
    await store.rejectedRequests.add(
      times.map((at, i) => rejection(who, { at, requestId: `r${i}` })),
      [],
    );
    const seen: (string | null)[] = [];
    for (let before: Awaited<ReturnType<typeof store.rejectedRequests.list>>['next'] = null; ; ) {
      const { items, next }: Awaited<ReturnType<typeof store.rejectedRequests.list>> =
        await store.rejectedRequests.list(who.account.id, { before, limit: 2 });
      seen.push(...items.map((row) => row.requestId));
      if (next === null) break;
      before = next;
    }
    expect(seen).toEqual(['r4', 'r0', 'r3', 'r2', 'r1']);
    const { items } = await store.rejectedRequests.list(who.account.id, { ...ALL, from: 20, to: 40 });
    expect(items.map((row) => row.at)).toEqual([30, 20, 20]);
    expect((await store.rejectedRequests.list(stranger.account.id, ALL)).items).toEqual([]);
    expect(await store.rejectedRequests.get(stranger.account.id, items[0]!.id)).toBeNull();
    expect(await store.rejectedRequests.get(who.account.id, items[0]!.id)).toEqual(items[0]);
  });

  it('that are only counted add up in one row of their minute, of many nodes at once', async () => {
    const stores = [await lab.open(), await lab.open()];
    const members = await Promise.all(Array.from({ length: 3 }, () => member(stores[0]!)));
    const more = members.map(({ account }) => ({ account: account.id, at: MINUTE, count: 5 }));
    await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        stores[i % 2]!.rejectedRequests.add([], i % 2 === 0 ? more : more.toReversed()),
      ),
    );
    for (const { account } of members) {
      const { items } = await stores[0]!.rejectedRequests.list(account.id, ALL);
      expect(items).toMatchObject([{ at: MINUTE, count: 30, requestId: null, code: null }]);
    }
  });

  it('are searched within a limited number of rows, by request ID in all', async () => {
    const store = await lab.open();
    const who = await member(store);
    const rows = Array.from({ length: LOG_SEARCH_ROWS + 10 }, (_, i) =>
      rejection(who, { at: i, requestId: `r${i}`, code: i === 0 ? 'not_found' : 'invalid_json' }),
    );
    await store.rejectedRequests.add(rows, []);
    const first = await store.rejectedRequests.list(who.account.id, { ...ALL, code: 'not_found' });
    expect(first).toMatchObject({ items: [], searchedTo: 10 });
    const second = await store.rejectedRequests.list(who.account.id, { ...ALL, code: 'not_found', before: first.next });
    expect(second).toMatchObject({ items: [{ requestId: 'r0' }], next: null });
    const found = await store.rejectedRequests.list(who.account.id, { ...ALL, requestId: 'r0' });
    expect(found).toMatchObject({ items: [{ at: 0 }], next: null });
  });

  it('end with the retention of the log, and with their account', async () => {
    const store = await lab.open();
    const [short, long, gone] = [await member(store), await member(store), await member(store)];
    await store.accounts.set(short.account.id, { retentionDays: 1 });
    const start = lab.clock.now();
    await store.rejectedRequests.add(
      [short, long, gone].map((who) => rejection(who, { at: start })),
      [{ account: short.account.id, at: start, count: 3 }],
    );
    const left = async () =>
      (await lab.sql('SELECT account_id FROM rejected_requests ORDER BY id')).map((row) => row.account_id);
    await store.accounts.remove(gone.account.id);
    await store.rejectedRequests.add([rejection(gone, { at: start })], []);
    expect(await removeDeleted(store)).toEqual([]);
    expect(await left()).toEqual([short.account.id, long.account.id, short.account.id]);
    lab.clock.advance(DAY_MS + 1);
    await purge(lab, store, start - 29 * DAY_MS);
    expect(await left()).toEqual([long.account.id]);
    await purge(lab, store, lab.clock.now());
    expect(await left()).toEqual([]);
  });

  it('are recorded one by one only within the limits of a minute and a day; the others are counted', async () => {
    const store = await lab.open();
    const who = await member(store);
    let down = true;
    const log = createRejectedRequestLog({
      ...store.rejectedRequests,
      add: (...rows) => (down ? Promise.reject(new Error('down')) : store.rejectedRequests.add(...rows)),
    });
    const minutes = REJECTED_PER_DAY / REJECTED_PER_MINUTE + 10;
    for (let minute = 0; minute < minutes; minute++)
      for (let i = 0; i < REJECTED_PER_MINUTE + 3; i++) log.add(rejection(who, { at: minute * MINUTE + i }));
    await expect(log.flush()).rejects.toThrow('down');
    down = false;
    await log.flush();
    await log.flush();
    const [sums] = await lab.sql(`SELECT CAST(sum(count) AS BIGINT) AS requests, count(*) AS "rows",
      count(request_id) AS alone FROM rejected_requests`);
    expect({ requests: Number(sums?.requests), rows: Number(sums?.rows), alone: Number(sums?.alone) }).toEqual({
      requests: minutes * (REJECTED_PER_MINUTE + 3),
      rows: REJECTED_PER_DAY + minutes,
      alone: REJECTED_PER_DAY,
    });
    log.add(rejection(who, { at: DAY_MS, requestId: 'tomorrow' }));
    await log.flush();
    const { items } = await store.rejectedRequests.list(who.account.id, { ...ALL, requestId: 'tomorrow' });
    expect(items).toHaveLength(1);
  });
});
