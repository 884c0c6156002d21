/**
 * Whatever is done to a list in whatever order, by two workers that lose their leases: the sums agree after every step.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ListWork, Store } from '../../src/store/store.ts';
import { describeStores, type StoreLab } from '../lab/stores.ts';
import { eraseAddress, type Member, member } from './cast.ts';
import { claimWith, found, LEASE_MS, uploadList, waitingWith } from './list-cast.ts';
import { BY } from './people.ts';

/** With duplicates, in three blocks. */
const EMAILS = ['a', 'b', '', 'a', 'c', 'd', 'b', 'e', 'f'].map((name) => (name === '' ? '' : `${name}@example.com`));
const DISTINCT = 6;

const worker = fc.constantFrom<string>('one', 'two');
const operation = fc.oneof(
  fc.record({ do: fc.constantFrom('start', 'start', 'pause', 'resume', 'resume', 'top up', 'erase' as const) }),
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('cancel', 'delete') }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('claim', 'claim waiting', 'release', 'lose'), worker }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('record'),
      worker,
      credits: fc.constantFrom(0, 1, 10),
      retryMs: fc.option(fc.constantFrom(1_000, 40 * 60_000)),
      take: fc.integer({ min: 1, max: 4 }),
      keep: fc.boolean(),
    }),
  },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/**
 * A balance of 50 does not cover the price of 60: most sequences begin with a list that runs, or they would seldom have
 * one.
 */
const opening = fc.constantFrom<Operation[]>([], ...Array(4).fill([{ do: 'top up' }, { do: 'start' }]));

class World {
  readonly store: Store;
  readonly who: Member;
  readonly id: string;
  readonly lab: StoreLab;
  /** What each worker believes to have. */
  readonly works = new Map<string, ListWork[]>();
  charged = 0;
  /** Numbers of the addresses with a result. */
  readonly done = new Set<number>();

  constructor(lab: StoreLab, store: Store, who: Member, id: string) {
    [this.lab, this.store, this.who, this.id] = [lab, store, who, id];
  }

  async run(operation: Operation): Promise<void> {
    const { store, who, id } = this;
    const account = who.account.id;
    switch (operation.do) {
      case 'start':
        await store.lists.start(account, id);
        return;
      case 'pause':
      case 'resume':
      case 'cancel':
      case 'delete':
        await store.lists.change(account, id, operation.do);
        return;
      case 'top up':
        await store.accounts.grant(account, 25, 'more', BY);
        return;
      case 'erase':
        await eraseAddress(store, account, 'c@example.com', BY);
        return;
    }
    if (!('worker' in operation)) throw new TypeError('The operation needs a worker.');
    const mine = this.works.get(operation.worker) ?? [];
    switch (operation.do) {
      case 'claim':
        this.works.set(operation.worker, [...mine, ...(await claimWith(store, who, id, operation.worker, 2))]);
        return;
      case 'claim waiting':
        this.lab.clock.advance(1_000);
        this.works.set(operation.worker, [...mine, ...(await waitingWith(store, who, id, operation.worker))]);
        return;
      case 'release':
        await store.lists.release({ account, list: id, lease: operation.worker });
        return;
      // It goes on with what it had, as others do meanwhile.
      case 'lose':
        this.lab.clock.advance(LEASE_MS);
        return;
    }
    if (!('take' in operation)) throw new TypeError('The operation takes some.');
    const { credits, retryMs, take, keep } = operation;
    const outcomes = mine.slice(0, take).map((work) => found(work, { credits, validationType: 'smtp' }, retryMs));
    // What is kept comes a second time.
    if (!keep) this.works.set(operation.worker, mine.slice(take));
    const { charged, results } = await store.lists.record(account, id, outcomes);
    this.charged += charged;
    for (const address of results) {
      expect(this.done.has(address), `address ${address} has a result already`).toBe(false);
      this.done.add(address);
    }
  }

  async check(): Promise<void> {
    const { store, who, id } = this;
    expect(await store.accounts.audit()).toEqual([]);
    const list = await store.lists.get(who.account.id, id);
    const { locked, balance } = (await store.accounts.get(who.account.id)) ?? { locked: -1, balance: -1 };
    expect(balance).toBeGreaterThanOrEqual(0);
    expect(locked).toBe(list?.credits.held ?? 0);
    if (list === null) return;
    expect(list.credits.used).toBe(this.charged);
    const { status, deliverability } = list.breakdown;
    expect(list.done).toBe(this.done.size);
    expect(status.good + status.bad).toBe(list.done);
    expect(Object.values(deliverability).reduce((sum, n) => sum + n)).toBe(list.done);
    expect(list.done + list.waiting).toBeLessThanOrEqual(list.rows.addresses);
    const isOver = ['completed', 'cancelled', 'failed'].includes(list.status);
    if (isOver) expect(locked).toBe(0);
    expect(list.status === 'completed').toBe(
      list.startedAt !== null && list.done >= list.rows.addresses && list.status !== 'cancelled',
    );
  }

  /** Whatever happened, two fresh workers bring a list that runs to its end. */
  async finish(): Promise<void> {
    const { store, who, id, lab } = this;
    await store.accounts.grant(who.account.id, 100, 'more', BY);
    await this.run({ do: 'start' });
    await this.run({ do: 'resume' });
    lab.clock.advance(LEASE_MS);
    for (let n = 0; n < 10; n++) {
      const list = await store.lists.get(who.account.id, id);
      if (list === null || list.status !== 'running') return;
      lab.clock.advance(60 * 60_000);
      await this.run({ do: 'claim', worker: 'third' });
      await this.run({ do: 'claim waiting', worker: 'third' });
      await this.run({ do: 'record', worker: 'third', credits: 1, retryMs: null, take: 100, keep: false });
    }
    expect.fail('The list never ended.');
  }
}

describeStores('a list to which anything happens', (lab) => {
  it('keeps the sums, charges each address once, and ends', async () => {
    const store = await lab.open();
    await fc.assert(
      fc.asyncProperty(opening, fc.array(operation, { maxLength: 25 }), async (opened, operations) => {
        const who = await member(store, { credits: 50 });
        const id = await uploadList(store, who, EMAILS, { level: 'smtp', block: 3 });
        const world = new World(lab, store, who, id);
        for (const one of [...opened, ...operations]) {
          await world.run(one);
          await world.check();
        }
        await world.finish();
        await world.check();
        expect(world.charged).toBeLessThanOrEqual(DISTINCT * 10);
      }),
      // Each run audits after every step.
      { numRuns: 20 + Number(process.env.MAILVET_TEST_ROUNDS ?? 1) * 5, endOnFailure: true },
    );
  });
});
