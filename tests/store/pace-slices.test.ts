import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { SliceRequest, Store } from '../../src/store/store.ts';
import { describeStores, type StoreLab } from '../lab/stores.ts';

const LEASE_MS = 6_000;
const TOTAL = 5;
const REST_MS = 1_000;

const asking = (needs: number, holds = 0, key = 'k', total = TOTAL): SliceRequest => ({
  key,
  total,
  holds,
  needs,
  restMs: REST_MS,
});

/** A node as the engine is one: what it may use is what it knows, and it never gives up what it uses. */
class Node {
  readonly name: string;
  readonly #lab: StoreLab;
  readonly #store: Store;
  #units = 0;
  #allowed = 0;
  #until = 0;
  inUse = 0;
  needs = 0;

  constructor(name: string, lab: StoreLab, store: Store) {
    [this.name, this.#lab, this.#store] = [name, lab, store];
  }

  get units(): number {
    return this.#lab.clock.now() < this.#until ? this.#allowed : 0;
  }

  /** What it may be using: also what was opened when it was allowed to. */
  get occupied(): number {
    this.#expire();
    return Math.max(this.units, this.inUse);
  }

  /** Opens as many dialogues as it may, or closes all. */
  work(opens: boolean): void {
    this.#expire();
    this.inUse = opens ? Math.max(this.inUse, this.units) : 0;
  }

  async renew(): Promise<void> {
    this.#expire();
    if (this.needs === 0) this.#allowed = 0;
    const began = this.#lab.clock.now();
    const holds = Math.max(this.units, Math.min(this.#units, this.inUse));
    const [slice] = await this.#store.paceSlices.lease(this.name, [asking(this.needs, holds)], LEASE_MS);
    if (slice === undefined) return;
    [this.#units, this.#allowed] = [slice.units, Math.min(slice.units, slice.target)];
    this.#until = began + LEASE_MS;
  }

  /** kill -9. */
  die(): void {
    [this.#until, this.inUse] = [0, 0];
  }

  #expire(): void {
    if (this.#lab.clock.now() >= this.#until) this.inUse = 0;
  }
}

const index = fc.nat({ max: 3 });
const operation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('renew'), node: index, needs: fc.nat({ max: 7 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('work'), node: index, opens: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(500, 2_500, LEASE_MS, 20_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die'), node: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('race'), needs: fc.nat({ max: 7 }) }) },
);

describeStores('slices of a limit', (lab) => {
  it('are all of it for a node alone, and go back to it when others need none', async () => {
    const { paceSlices } = await lab.open();
    const lease = async (node: string, needs: number, holds = 0) => {
      const [slice] = await paceSlices.lease(node, [asking(needs, holds)], LEASE_MS);
      return [slice?.units, slice?.target];
    };
    expect(await lease('a', 1)).toEqual([5, 5]);
    // Nothing is free until the first node gives up what it does not use.
    expect(await lease('b', 2)).toEqual([0, 3]);
    expect(await lease('a', 5, 5)).toEqual([5, 3]);
    expect(await lease('a', 5, 4)).toEqual([4, 3]);
    expect(await lease('b', 2)).toEqual([1, 2]);
    expect(await lease('a', 5, 3)).toEqual([3, 3]);
    expect(await lease('b', 2, 1)).toEqual([2, 2]);
    expect(await lease('b', 0, 2)).toEqual([2, 0]);
    expect(await lease('b', 0, 0)).toEqual([0, 0]);
    expect(await lease('a', 5, 3)).toEqual([5, 5]);
    lab.clock.advance(LEASE_MS - 1);
    expect((await lease('b', 2))[0]).toBe(0);
    lab.clock.advance(1);
    expect((await lease('b', 2))[0]).toBe(5);
  });

  it('begin with a full rate only where no other node has just used it', async () => {
    const { paceSlices } = await lab.open();
    const isRested = async (node: string, needs: number) =>
      (await paceSlices.lease(node, [asking(needs)], LEASE_MS))[0]?.isRested;
    expect(await isRested('a', 1)).toBe(true);
    expect(await isRested('b', 1)).toBe(false);
    await isRested('a', 0);
    lab.clock.advance(REST_MS - 1);
    expect(await isRested('b', 1)).toBe(false);
    await isRested('b', 0);
    lab.clock.advance(REST_MS);
    expect(await isRested('a', 1)).toBe(true);
  });

  it('go to one node after the other where there are more nodes than units, in one order at all limits', async () => {
    const { paceSlices } = await lab.open();
    const had = new Set<string>();
    for (let round = 0; round < 200 && had.size < 3; round++) {
      for (const node of ['a', 'b', 'c']) {
        const both = [asking(1, 0, 'k', 1), asking(1, 0, 'l', 1)];
        const [one, two] = await paceSlices.lease(node, both, LEASE_MS);
        expect(one?.target).toBe(two?.target);
        if (one?.units === 1 && two?.units === 1 && one.target === 1) had.add(node);
      }
      lab.clock.advance(2_000);
    }
    expect([...had].sort()).toEqual(['a', 'b', 'c']);
  });

  it('of many limits are leased at once, by several nodes', async () => {
    const stores = await Promise.all([lab.open(), lab.open()]);
    const keys = Array.from({ length: 1_100 }, (_, i) => `limit ${i}`);
    const leased = await Promise.all(
      stores.map((store, i) => {
        const requests = (i === 0 ? keys : keys.toReversed()).map((key) => asking(1, 0, key));
        return store.paceSlices.lease(`node ${i}`, requests, LEASE_MS);
      }),
    );
    const units = new Map<string, number>();
    for (const { key, units: more } of leased.flat()) units.set(key, (units.get(key) ?? 0) + more);
    expect(units.size).toBe(keys.length);
    expect([...new Set(units.values())]).toEqual([TOTAL]);
  });

  it('are never more than the limit, whatever nodes do in whatever order; and are shared evenly in the end', async () => {
    const stores = await Promise.all([lab.open(), lab.open()]);
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 40 }), async (operations) => {
        lab.clock.advance(60_000);
        const nodes = ['a', 'b', 'c', 'd'].map((name, i) => new Node(name, lab, stores[i % 2] as Store));
        const expectWithin = () =>
          expect(nodes.reduce((sum, node) => sum + node.occupied, 0)).toBeLessThanOrEqual(TOTAL);
        for (const one of operations) {
          const node = 'node' in one ? nodes[one.node] : undefined;
          if (one.do === 'renew' && node) {
            node.needs = one.needs;
            await node.renew();
          }
          if (one.do === 'work') node?.work(one.opens);
          if (one.do === 'wait') lab.clock.advance(one.ms);
          if (one.do === 'die') node?.die();
          if (one.do === 'race') {
            for (const each of nodes) each.needs = one.needs;
            await Promise.all(nodes.map((each) => each.renew()));
          }
          expectWithin();
        }
        lab.clock.advance(LEASE_MS);
        for (let round = 0; round < 4; round++) {
          for (const node of nodes) {
            [node.needs, node.inUse] = [TOTAL, 0];
            await node.renew();
            expectWithin();
          }
        }
        expect(nodes.map(({ units }) => units).sort()).toEqual([1, 1, 1, 2]);
      }),
      { numRuns: 60 },
    );
  });
});
