/** Shared holds in the property test: what may be done with them, and what the store answered. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { ApiError } from '../../src/kernel/errors.ts';
import type { AccountId, Store } from '../../src/store/store.ts';
import { type Member, newVerificationId, verdict } from './cast.ts';

const nth = fc.nat({ max: 50 });
const side = fc.nat({ max: 1 });
export const sharedOperation = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ shared: fc.constant('open' as const), side, who: side, amount: fc.nat({ max: 40 }) }),
  },
  { weight: 1, arbitrary: fc.record({ shared: fc.constant('open again' as const), side, nth }) },
  {
    weight: 4,
    arbitrary: fc.record({
      shared: fc.constant('settle' as const),
      side,
      nth,
      /** Credits of new results, of 5 held for each. */
      fresh: fc.array(fc.nat({ max: 5 }), { maxLength: 5 }),
      /** Results of earlier parts, once more. */
      again: fc.array(nth, { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ shared: fc.constant('renew' as const), side, nth }) },
  { weight: 1, arbitrary: fc.record({ shared: fc.constant('release' as const), side, nth }) },
);
type SharedOperation = typeof sharedOperation extends fc.Arbitrary<infer T> ? T : never;

const HELD = 5;

export class SharedModel {
  readonly holds: {
    readonly id: string;
    readonly account: AccountId;
    readonly keyId: string;
    readonly amount: number;
  }[] = [];
  /** Results that were acknowledged, with their hold. */
  readonly settled: { readonly id: string; readonly holdId: string; readonly credits: number }[] = [];
  readonly #acknowledge: (id: string, credits: number, account: AccountId) => void;

  constructor(acknowledge: (id: string, credits: number, account: AccountId) => void) {
    this.#acknowledge = acknowledge;
  }

  async run(store: Store, members: readonly Member[], operation: SharedOperation): Promise<void> {
    if (operation.shared === 'open') return this.#open(store, members[operation.who]!, operation.amount);
    const hold = this.holds[operation.nth % this.holds.length];
    if (hold === undefined) return;
    if (operation.shared === 'settle') await this.#settle(store, hold, operation);
    else if (operation.shared === 'renew') await store.sharedHolds.renew(hold.account, hold.id);
    else if (operation.shared === 'release') await store.sharedHolds.release(hold.account, hold.id);
    else expect((await store.sharedHolds.open({ ...hold, lifeMs: 1_000 })).outcome).toMatch(/^(held|closed)$/);
  }

  async #open(store: Store, { account, key }: Member, amount: number): Promise<void> {
    const hold = { id: `hold_${newVerificationId()}`, account: account.id, keyId: key.id, amount };
    const { outcome } = await store.sharedHolds.open({ ...hold, lifeMs: 1_000 });
    if (outcome === 'held') this.holds.push(hold);
    else expect(outcome).toMatch(/^(insufficient_credits|key_budget_spent)$/);
  }

  async #settle(
    store: Store,
    hold: SharedModel['holds'][number],
    { fresh, again }: Extract<SharedOperation, { shared: 'settle' }>,
  ): Promise<void> {
    const now = fresh.map((credits) => ({ id: newVerificationId(), holdId: hold.id, credits }));
    const before = this.settled.filter(({ holdId }) => holdId === hold.id);
    const repeated = before.length === 0 ? [] : again.map((at) => before[at % before.length]!);
    const results = [...repeated, ...now, ...now.slice(0, 1)].map(({ id, credits }) => ({
      record: verdict(id, { credits }),
      held: HELD,
    }));
    const part = { account: hold.account, holdId: hold.id, results };
    // The same part twice at once, as by a worker that was thought dead.
    const answers = await Promise.allSettled([store.sharedHolds.settle(part), store.sharedHolds.settle(part)]);
    let recorded = 0;
    for (const answer of answers) {
      if (answer.status === 'fulfilled') {
        recorded += answer.value.recorded;
        continue;
      }
      expect(answer.reason).toBeInstanceOf(ApiError);
      expect(answer.reason.code).toMatch(/^(insufficient_credits|key_budget_spent)$/);
    }
    if (answers.every(({ status }) => status === 'rejected')) return;
    expect(recorded).toBe(now.length);
    for (const result of now) {
      this.settled.push(result);
      this.#acknowledge(result.id, result.credits, hold.account);
    }
  }
}
