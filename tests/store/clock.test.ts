import { expect, it } from 'vitest';
import { describeStores } from '../lab/stores.ts';
import { member, oldVerifications, verifyNow } from './cast.ts';

const HOUR = 3600_000;
const DAY = 24 * HOUR;
const MONTH = 31 * DAY;

describeStores('the clock of the store', (lab) => {
  const opened = async () => {
    const store = await lab.open();
    const who = await member(store);
    const rows = async () => (await store.verifications.list(who.account.id, { offset: 0, limit: 1 })).total;
    await verifyNow(store, who);
    await store.clock.read();
    return { store, rows };
  };

  it('is believed as long as time passes, and purges go by it', async () => {
    const { store, rows } = await opened();
    lab.clock.advance(MONTH);
    expect(await store.clock.read()).toMatchObject({ doubtedSince: null });
    expect(await store.upkeep.purge(30 * DAY)).toMatchObject({ deleted: { verifications: 1 }, total: 1, full: false });
    expect(await rows()).toBe(0);
  });

  it('is doubted by all nodes for a day when it jumps ahead by more, and nothing is purged meanwhile', async () => {
    const { store, rows } = await opened();
    const other = await lab.open();
    lab.clock.step(MONTH);
    expect(await store.upkeep.purge(30 * DAY)).toEqual({ paused: true });
    expect(await other.upkeep.purge(30 * DAY)).toEqual({ paused: true });
    lab.clock.advance(DAY - 1_000);
    expect(await (await lab.open()).upkeep.purge(30 * DAY)).toEqual({ paused: true });
    expect(await rows()).toBe(1);
    lab.clock.advance(1_000);
    // Nobody set it back: it may have been a long downtime.
    expect(await store.upkeep.purge(30 * DAY)).toMatchObject({ total: 1 });
  });

  it('is believed again as soon as it is set back', async () => {
    const { store, rows } = await opened();
    lab.clock.step(MONTH);
    expect(await store.clock.read()).toMatchObject({ doubtedSince: lab.clock.now() });
    lab.clock.step(-MONTH);
    const back = await store.clock.read();
    expect(back.doubtedSince).toBeNull();
    expect(back.stepMs).toBeLessThan(-MONTH + HOUR);
    expect(await store.upkeep.purge(30 * DAY)).toMatchObject({ total: 0 });
    expect(await rows()).toBe(1);
  });

  it('is doubted by a process that starts more than a day after anything was last seen, not by one a day after', async () => {
    await opened();
    lab.clock.step(DAY);
    expect(await (await lab.open()).clock.peek()).toMatchObject({ stepMs: 0, doubtedSince: null });
    lab.clock.step(1_000);
    expect(await (await lab.open()).clock.peek()).toMatchObject({ doubtedSince: lab.clock.now() });
    lab.clock.step(-2 * DAY);
    expect((await (await lab.open()).clock.peek()).stepMs).toBeLessThan(-DAY + HOUR);
  });
});

describeStores('a round of the purge', (lab) => {
  it('deletes a bounded number of rows; the rest follows in the next', async () => {
    const store = await lab.open();
    const who = await member(store);
    await lab.sql(oldVerifications(who, 51_000));
    expect(await store.upkeep.purge(DAY)).toEqual({
      paused: false,
      deleted: { verifications: 50_000 },
      total: 50_000,
      full: true,
    });
    expect(await store.upkeep.purge(DAY)).toMatchObject({ total: 1_000, full: false });
  });
});
