import { expect, it } from 'vitest';
import { UNCERTAIN_REPLIES_MAX, UNCERTAIN_REPLIES_PER_OPERATOR } from '../../src/kernel/facts/limits.ts';
import type { UncertainReplyCount } from '../../src/store/store.ts';
import { describeStores } from '../lab/stores.ts';
import { purge } from './cast.ts';

const DAY = 24 * 3600_000;

const reply = (more: Partial<UncertainReplyCount> = {}): UncertainReplyCount => ({
  operator: 'google',
  fingerprint: 'f',
  code: 550,
  enhanced: null,
  template: 'hm _rcpt',
  rule: 'unmatched.5xx',
  finding: 'smtp_unverifiable',
  count: 1,
  ...more,
});
const ALL = { unmatched: false, limit: UNCERTAIN_REPLIES_MAX };

describeStores('uncertain replies', (lab) => {
  it('add up by operator and kind, with when they were seen and how they were read last', async () => {
    const store = await lab.open();
    await store.uncertainReplies.add([]);
    const { now: first } = await store.clock.read();
    await store.uncertainReplies.add([reply({ count: 2 }), reply({ operator: 'other' })]);
    lab.clock.advance(DAY);
    const { now: last } = await store.clock.read();
    await store.uncertainReplies.add([reply({ count: 3, rule: 'us.refused', finding: 'smtp_blocked' })]);
    const { items, total } = await store.uncertainReplies.list(ALL);
    expect(total).toBe(2);
    expect(items).toEqual([
      {
        ...reply({ count: 5, rule: 'us.refused', finding: 'smtp_blocked' }),
        firstSeen: expect.any(Number),
        lastSeen: expect.any(Number),
      },
      { ...reply({ operator: 'other' }), firstSeen: expect.any(Number), lastSeen: expect.any(Number) },
    ]);
    expect(items[0]!.firstSeen).toBeGreaterThanOrEqual(first);
    expect(items[0]!.lastSeen).toBeGreaterThanOrEqual(last);
    const unmatched = await store.uncertainReplies.list({ unmatched: true, limit: 10 });
    expect(unmatched).toMatchObject({ total: 1, items: [{ operator: 'other' }] });
    expect((await store.uncertainReplies.list({ unmatched: false, limit: 1 })).items).toHaveLength(1);
  });

  it('of concurrent nodes are all counted', async () => {
    const nodes = [await lab.open(), await lab.open()];
    const some = ['a', 'b', 'c', 'd'].map((fingerprint) => reply({ fingerprint }));
    await Promise.all(
      Array.from({ length: 10 }, (_, n) => nodes[n % 2]!.uncertainReplies.add(n % 3 === 0 ? some.toReversed() : some)),
    );
    const { items } = await nodes[0]!.uncertainReplies.list(ALL);
    expect(items.map(({ count }) => count)).toEqual([10, 10, 10, 10]);
  });

  it('are bounded by operator and in total; the most frequent stay', async () => {
    const store = await lab.open();
    await store.uncertainReplies.add([reply({ count: 7 })]);
    const hostile = (n: number) => reply({ operator: 'other', fingerprint: `f${n}` });
    for (let batch = 0; batch < 2; batch++) {
      const many = Array.from({ length: UNCERTAIN_REPLIES_PER_OPERATOR }, (_, n) => hostile(batch * 1_000 + n));
      await store.uncertainReplies.add([...many, reply({ operator: 'other', count: 2 })]);
    }
    const { items, total } = await store.uncertainReplies.list(ALL);
    expect(total).toBe(UNCERTAIN_REPLIES_PER_OPERATOR + 1);
    expect(items.slice(0, 2)).toMatchObject([
      { operator: 'google', count: 7 },
      { operator: 'other', count: 4 },
    ]);
    for (let n = 0; n < UNCERTAIN_REPLIES_MAX; n += 200) {
      await store.uncertainReplies.add(Array.from({ length: 200 }, (_, i) => reply({ operator: `provider ${n + i}` })));
    }
    const full = await store.uncertainReplies.list(ALL);
    expect(full.total).toBe(UNCERTAIN_REPLIES_MAX);
    expect(full.items[0]).toMatchObject({ operator: 'google', count: 7 });
  });

  it('end with the retention of the log', async () => {
    const store = await lab.open();
    await store.uncertainReplies.add([reply(), reply({ fingerprint: 'old' })]);
    lab.clock.advance(20 * DAY);
    await store.uncertainReplies.add([reply()]);
    lab.clock.advance(11 * DAY);
    await purge(lab, store, lab.clock.now() - 30 * DAY);
    expect(await store.uncertainReplies.list(ALL)).toMatchObject({ total: 1, items: [{ fingerprint: 'f', count: 2 }] });
  });
});
