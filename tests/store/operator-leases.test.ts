import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { describeStores, type StoreLab } from '../lab/stores.ts';

const LEASE_MS = 30_000;

const NODES = ['a', 'b', 'c'];
const OPERATORS = ['x.example', 'y.example'];
const node = fc.constantFrom(...NODES);
const operators = fc.subarray(OPERATORS, { minLength: 1 });
const operation = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('take'), node, operators }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release'), node, operators }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(9_000, LEASE_MS) }) },
  // All at once.
  { weight: 1, arbitrary: fc.record({ do: fc.constant('race'), operators }) },
);

/** Until when each node believes to have an operator. */
class Beliefs {
  readonly #lab: StoreLab;
  readonly #until = new Map<string, number>();

  constructor(lab: StoreLab) {
    this.#lab = lab;
  }

  async take(store: Store, node: string, operators: readonly string[]): Promise<void> {
    const began = this.#lab.clock.now();
    const taken = await store.operatorLeases.take(node, operators, LEASE_MS);
    for (const operator of operators) this.set(node, operator, taken.includes(operator) ? began + LEASE_MS : 0);
  }

  set(node: string, operator: string, until: number): void {
    this.#until.set(`${node} ${operator}`, until);
  }

  ownersOf(operator: string): string[] {
    return NODES.filter((node) => (this.#until.get(`${node} ${operator}`) ?? 0) > this.#lab.clock.now());
  }
}

describeStores('leases of mail operators', (lab) => {
  it('belong to one node until they end, and then to whoever takes them', async () => {
    const { operatorLeases: leases } = await lab.open();
    expect(await leases.take('a', ['x', 'y', 'x'], LEASE_MS)).toEqual(['x', 'y']);
    expect(await leases.take('b', ['z', 'y'], LEASE_MS)).toEqual(['z']);
    expect(await leases.ofOthers('b', ['x', 'y', 'z', 'free'])).toEqual(['x', 'y']);
    lab.clock.advance(LEASE_MS - 1);
    expect(await leases.take('b', ['x'], LEASE_MS)).toEqual([]);
    expect(await leases.take('a', ['x'], LEASE_MS)).toEqual(['x']);
    lab.clock.advance(1);
    expect(await leases.take('b', ['x', 'y'], LEASE_MS)).toEqual(['y']);
    await leases.release('b', ['x', 'y']);
    expect(await leases.take('c', ['x', 'y'], LEASE_MS)).toEqual(['y']);
    await leases.release('a', ['x']);
    expect(await leases.take('c', ['x'], LEASE_MS)).toEqual(['x']);
  });

  it('end when the clock of the store is set back', async () => {
    const { operatorLeases: leases } = await lab.open();
    await leases.take('a', ['x'], LEASE_MS);
    lab.clock.step(-60 * 60_000);
    expect(await leases.ofOthers('b', ['x'])).toEqual([]);
    expect(await leases.take('b', ['x'], LEASE_MS)).toEqual(['x']);
  });

  it('take as many operators as there are, from several nodes at once, without a deadlock', async () => {
    const stores = await Promise.all(NODES.map(() => lab.open()));
    const many = Array.from({ length: 1_200 }, (_, i) => `operator-${i}.example`);
    const orders = [many, many.toReversed(), many.toSorted()];
    const taken = await Promise.all(
      stores.map((store, i) => store.operatorLeases.take(NODES[i] ?? '', orders[i] ?? [], LEASE_MS)),
    );
    expect(taken.flat().sort()).toEqual(many.toSorted());
  });

  it('never belong to two nodes, whatever the nodes do in whatever order', async () => {
    const store = await lab.open();
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { maxLength: 30 }), async (operations) => {
        lab.clock.advance(2 * LEASE_MS);
        const beliefs = new Beliefs(lab);
        for (const one of operations) {
          if (one.do === 'take') await beliefs.take(store, one.node, one.operators);
          if (one.do === 'race') await Promise.all(NODES.map((node) => beliefs.take(store, node, one.operators)));
          if (one.do === 'wait') lab.clock.advance(one.ms);
          if (one.do === 'release') {
            for (const operator of one.operators) beliefs.set(one.node, operator, 0);
            await store.operatorLeases.release(one.node, one.operators);
          }
          for (const operator of OPERATORS) {
            const owners = beliefs.ownersOf(operator);
            expect(owners.length).toBeLessThan(2);
            expect(await store.operatorLeases.ofOthers('nobody', [operator])).toHaveLength(owners.length);
          }
        }
      }),
      { numRuns: 50 },
    );
  });
});
