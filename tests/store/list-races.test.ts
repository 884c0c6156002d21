import { expect, it } from 'vitest';
import { describeStores } from '../lab/stores.ts';
import { member } from './cast.ts';
import { addressesOf, claimWith, found, startedList } from './list-cast.ts';

const ADDRESSES = 60;
const BLOCK = 10;

describeStores('work on a list at the same time', (lab) => {
  it('claims each chunk once and records each result once', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 1_000 });
    const { id: account } = who.account;
    const id = await startedList(store, who, addressesOf(ADDRESSES), { block: BLOCK });
    const chunks = ADDRESSES / BLOCK;
    const claimed = await Promise.all(
      Array.from({ length: chunks }, (_, i) => claimWith(store, who, id, `worker ${i}`, 1)),
    );
    const works = claimed.flat();
    expect(works.map(({ address }) => address).sort((a, b) => a - b)).toEqual(
      Array.from({ length: ADDRESSES }, (_, i) => i + 1),
    );
    // Every result is reported twice, by batches that have other neighbours.
    const batches = Array.from({ length: chunks * 2 }, (_, n) => works.filter((_, i) => i % chunks === n % chunks));
    const recorded = await Promise.all(
      batches.map((batch) =>
        store.lists.record(
          account,
          id,
          batch.map((work) => found(work)),
        ),
      ),
    );
    expect(recorded.reduce((sum, batch) => sum + batch.recorded, 0)).toBe(ADDRESSES);
    expect(recorded.filter(({ outcome }) => outcome === 'completed')).toHaveLength(1);
    expect(await store.lists.get(account, id)).toMatchObject({
      status: 'completed',
      done: ADDRESSES,
      credits: { held: 0, used: ADDRESSES },
    });
    expect(await store.accounts.get(account)).toMatchObject({ balance: 1_000 - ADDRESSES, locked: 0 });
    expect(await store.accounts.audit()).toEqual([]);
  });
});
