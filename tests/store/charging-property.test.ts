/**
 * Whatever is done in whatever order, on two stores at once, with crashes: the sums agree and nothing is charged twice.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DAY_MS, monthOf } from '../../src/kernel/clock.ts';
import { DEFAULT_PRICES } from '../../src/kernel/facts/plans.ts';
import { openStore } from '../../src/store/open.ts';
import type { Admission, Caller, Store } from '../../src/store/store.ts';
import { describeStores, freshDatabase, type StoreLab, TestClock } from '../lab/stores.ts';
import { asking, eraseAddress, type Member, member, newVerificationId, verdict } from './cast.ts';
import { COMMAND } from './people.ts';
import { SharedModel, sharedOperation } from './shared-model.ts';

const level = fc.constantFrom('mx' as const, 'smtp' as const);
const nth = fc.nat({ max: 50 });
const side = fc.nat({ max: 1 });
/** By API key, without an Idempotency-Key or with one of a few; or a person who is signed in. */
const charged = fc.oneof(fc.constant(null), fc.nat({ max: 3 }), fc.constant('person' as const));
const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('hold' as const), side, who: side, level, key: charged }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('charge' as const), side, who: side, level, key: charged }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('settle' as const), side, nth, cheaper: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('settle again' as const), side, nth }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('give back' as const), side, nth }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('grant' as const),
      side,
      who: side,
      credits: fc.integer({ min: -30, max: 30 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('release the dead' as const), side }) },
  { weight: 8, arbitrary: sharedOperation },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;
/** Operations at once; then perhaps a crash, or time that passes. */
const step = fc.record({
  at: fc.array(operation, { maxLength: 12 }),
  after: fc.option(
    fc.oneof(fc.record({ crash: side }), fc.record({ ms: fc.constantFrom(1, 500, 1_000, 90_000, 20 * DAY_MS) })),
  ),
});

interface Held {
  readonly id: string;
  readonly caller: Caller;
  readonly amount: number;
  readonly idempotency: { route: string; key: string; fingerprint: string } | null;
}

/** Two stores on one database, and what their answers said. */
class World {
  readonly url: string;
  readonly remembering: readonly boolean[];
  readonly clock = new TestClock();
  stores: Store[] = [];
  members: Member[] = [];
  held: Held[] = [];
  /** Record id → what it was acknowledged to cost; a second cost for one id would be a double charge. */
  readonly charged = new Map<string, { account: string; credits: number }>();
  readonly granted = new Map<string, number>();
  readonly shared = new SharedModel((id, credits, account) => this.charge(id, credits, account));

  /** `remembering`: of each store, see `StoreOptions.remembers`. */
  constructor(url: string, remembering: readonly boolean[]) {
    this.url = url;
    this.remembering = remembering;
  }

  async open(side: number): Promise<Store> {
    const remembers = this.remembering[side]!;
    const store = await openStore({ url: this.url, clock: this.clock, time: 'process', remembers });
    await store.migrate();
    return store;
  }

  async begin(): Promise<void> {
    this.stores = [await this.open(0), await this.open(1)];
    for (const [credits, budget] of [
      [25, null],
      [200, 40],
    ] as const) {
      const one = await member(this.stores[0]!, { credits, budget });
      this.members.push(one);
      this.granted.set(one.account.id, credits);
    }
  }

  async run(operation: Operation): Promise<void> {
    const store = this.stores[operation.side]!;
    if ('shared' in operation) await this.shared.run(store, this.members, operation);
    else if (operation.do === 'release the dead') await store.upkeep.releaseDead();
    else if (operation.do === 'grant') await this.grant(store, this.members[operation.who]!, operation.credits);
    else if (operation.do === 'hold' || operation.do === 'charge') await this.ask(store, operation);
    else await this.settle(store, operation);
  }

  async grant(store: Store, { account }: Member, credits: number): Promise<void> {
    const after = await store.accounts.grant(account.id, credits, 'test');
    if (after === null) return;
    this.granted.set(account.id, (this.granted.get(account.id) ?? 0) + credits);
  }

  async ask(store: Store, { who, level, key, do: what }: Extract<Operation, { do: 'hold' | 'charge' }>): Promise<void> {
    const id = newVerificationId();
    const record = verdict(id, { credits: what === 'charge' ? DEFAULT_PRICES[level] : 1 });
    const { hash, account } = this.members[who]!;
    const idempotency = typeof key !== 'number' ? null : { route: 'POST /v1/verify', key: `k${key}`, fingerprint: 'f' };
    const decide = () => (what === 'charge' ? record : null);
    const answer: Admission = await store.charging.admit(
      asking(
        { hash: key === 'person' ? { account: account.id } : hash },
        { id, level, idempotency, decide, holdMs: 1_000 },
      ),
    );
    if (answer.outcome === 'settled') this.acknowledge(answer.record, answer.caller);
    if (answer.outcome === 'admitted')
      this.held.push({ id, caller: answer.caller, amount: DEFAULT_PRICES[level], idempotency });
  }

  async settle(store: Store, operation: Extract<Operation, { do: string; nth: number }>): Promise<void> {
    if (this.held.length === 0) return;
    const at = operation.nth % this.held.length;
    const { id, caller, amount, idempotency } = this.held[at]!;
    if (operation.do !== 'settle again') this.held.splice(at, 1);
    if (operation.do === 'give back') {
      await store.charging.settle({ caller, holdId: id, record: null, idempotency });
      return;
    }
    const credits = operation.do === 'settle' && operation.cheaper ? 1 : amount;
    const record = verdict(id, { credits });
    const settled = await store.charging.settle({ caller, holdId: id, record, idempotency }).catch((error: unknown) => {
      // The reservation of a key belongs to the process that took it.
      const refusals = ['verification_unavailable', ...(idempotency === null ? [] : ['idempotency_in_progress'])];
      expect(error).toMatchObject({ code: expect.toBeOneOf(refusals) });
      return null;
    });
    if (settled !== null && !this.charged.has(id)) this.acknowledge(record, caller);
  }

  acknowledge({ id, credits }: { id: string; credits: number }, caller: Caller): void {
    this.charge(id, credits, caller.accountId);
  }

  charge(id: string, credits: number, account: string): void {
    expect(this.charged.has(id)).toBe(false);
    this.charged.set(id, { account, credits });
  }

  /** The process is gone and another starts: its holds are left behind, as after kill -9. */
  async crash(which: number): Promise<void> {
    await this.stores[which]!.close();
    this.stores[which] = await this.open(which);
  }

  async check(): Promise<void> {
    expect(await this.stores[0]!.accounts.audit()).toEqual([]);
    for (const account of await this.stores[0]!.accounts.list()) {
      expect(account.balance).toBeGreaterThanOrEqual(0);
      expect(account.locked).toBeGreaterThanOrEqual(0);
    }
    await this.checkCredits();
    await this.checkBudgets();
  }

  /** Credits neither appear nor vanish: all that an account was given it has, is held, or was charged. */
  async checkCredits(): Promise<void> {
    const spent = Map.groupBy(this.charged.values(), (charge) => charge.account);
    for (const { account } of this.members) {
      const { balance, locked } = (await this.stores[0]!.accounts.get(account.id))!;
      const charged = (spent.get(account.id) ?? []).reduce((sum, { credits }) => sum + credits, 0);
      expect(balance + locked + charged).toBe(this.granted.get(account.id));
    }
  }

  /** What each key was charged in each month never exceeds its budget. */
  async checkBudgets(): Promise<void> {
    for (const { account, key } of this.members) {
      if (key.budget === null) continue;
      const { items } = await this.stores[0]!.verifications.list(account.id, { offset: 0, limit: 10_000 });
      const months = new Map<number, number>();
      for (const { keyId, createdAt, credits } of items) {
        if (keyId !== key.id) continue;
        const { start } = monthOf(createdAt);
        months.set(start, (months.get(start) ?? 0) + credits);
      }
      for (const spent of months.values()) expect(spent).toBeLessThanOrEqual(key.budget.credits);
    }
  }

  /** When all is over: exactly what was acknowledged was charged. */
  async checkEnd(): Promise<void> {
    for (const which of [0, 1]) await this.crash(which);
    const store = this.stores[0]!;
    // Shared holds are no node's: they outlive it until they are released, or expire.
    for (const hold of this.shared.holds.slice(1)) await store.sharedHolds.release(hold.account, hold.id);
    this.clock.advance(1_000);
    await store.upkeep.releaseDead();
    await this.check();
    for (const { account } of this.members) {
      const mine = [...this.charged.entries()].filter(([, charge]) => charge.account === account.id);
      const spent = mine.reduce((sum, [, charge]) => sum + charge.credits, 0);
      const balance = this.granted.get(account.id)! - spent;
      expect(await store.accounts.get(account.id)).toMatchObject({ balance, locked: 0 });
      const { items } = await store.verifications.list(account.id, { offset: 0, limit: 10_000 });
      expect(items.map((item) => item.id).sort()).toEqual(mine.map(([id]) => id).sort());
    }
    await this.checkRollUp();
  }

  /** Both stores delete everything at once: what is left of it has the same sums. */
  async checkRollUp(): Promise<void> {
    const [store, other] = [this.stores[0]!, this.stores[1]!];
    const sums = async () => {
      const ledgers = this.members.map(({ account }) => store.accounts.ledger(account.id, 10_000));
      return (await Promise.all(ledgers)).map(({ rows }) => ({
        amount: rows.reduce((sum, row) => sum + row.amount, 0),
        charged: rows.reduce((sum, row) => sum + row.charged, 0),
      }));
    };
    const before = await sums();
    const erased = eraseAddress(store, this.members[0]!.account.id, 'jane@example.com', COMMAND);
    await Promise.all([store.upkeep.purge(-1), other.upkeep.purge(-1), erased]);
    expect(await sums()).toEqual(before);
    await this.check();
    for (const { account } of this.members)
      expect(await store.verifications.list(account.id, { offset: 0, limit: 1 })).toMatchObject({ total: 0 });
  }
}

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
/** Nothing but speed may depend on what the nodes of PostgreSQL remember. */
const remembering = fc.constantFrom([true, true], [true, false], [false, false]);

async function live(steps: readonly Step[], remembers: readonly boolean[]): Promise<void> {
  const database = await freshDatabase();
  const world = new World(database.url, remembers);
  try {
    await world.begin();
    for (const { at, after } of steps) {
      await Promise.all(at.map((operation) => world.run(operation)));
      if (after !== null && 'crash' in after) await world.crash(after.crash);
      if (after !== null && 'ms' in after) world.clock.advance(after.ms);
      await world.check();
    }
    await world.checkEnd();
  } finally {
    await Promise.all(world.stores.map((store) => store.close()));
    await database.drop();
  }
}

describeStores('charging, whatever happens', (lab: StoreLab) => {
  it('keeps its sums and charges nothing twice', { timeout: 300_000 }, async () => {
    const numRuns = lab.engine === 'sqlite' ? 40 : 15;
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), remembering, live), {
      numRuns,
      endOnFailure: true,
      verbose: 0,
    });
  });
});
