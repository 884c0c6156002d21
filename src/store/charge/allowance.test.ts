/** Months, charges, holds, grants and changes of plans, in any order: credits neither appear nor vanish. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { monthName, monthOf } from '../../kernel/clock.ts';
import { DEFAULT_PLANS, type PlanTerms, plansOf, termsOf } from '../../kernel/facts/plans.ts';
import type { AccountId } from '../store.ts';
import { type CreditState, renewalOf, spendable, withdrawalOf } from './allowance.ts';
import { authorize, capturePart, giveBack } from './apply-batch.ts';
import { noChanges } from './state.ts';

const BASE = termsOf(DEFAULT_PLANS, 'premium');
const plan = (name: string, monthlyCredits: number, carryOver: number): PlanTerms => ({
  ...BASE,
  name,
  monthlyCredits,
  carryOver,
});
const PLANS = plansOf([
  plan('none', 0, 0),
  plan('lost', 100, 0),
  plan('some', 80, 30),
  plan('kept', 50, Number.POSITIVE_INFINITY),
]);
const NAMES = [...PLANS.keys()];

const amount = fc.nat({ max: 120 });
const step = fc.oneof(
  fc.record({ do: fc.constantFrom('hold', 'grant', 'take back'), amount }),
  fc.record({ do: fc.constant('charge'), nth: fc.nat({ max: 5 }), amount }),
  fc.record({ do: fc.constant('release'), nth: fc.nat({ max: 5 }) }),
  fc.record({ do: fc.constant('plan'), name: fc.constantFrom(...NAMES) }),
  // The clock may be set to any month, back and forth.
  fc.record({ do: fc.constant('month'), months: fc.integer({ min: -2, max: 3 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One account, and what is known of it apart from its row. */
class Model {
  account: CreditState = {
    id: 'acc_1' as AccountId,
    plan: 'lost',
    testOf: null,
    balance: 0,
    locked: 0,
    allowance: 0,
    allowanceMonths: '',
    allowanceGiven: 0,
  };
  now = Date.UTC(2026, 10, 20);
  readonly holds: { id: string; keyId: string; amount: number }[] = [];
  /** By month, how often its allowance was given. */
  readonly given = new Map<string, number>();
  granted = 0;
  charged = 0;
  allowances = 0;
  /** What was charged while there was an allowance that did not cover it, or none. */
  purchasedSpent = 0;
  #ids = 0;

  get terms(): PlanTerms {
    return termsOf(PLANS, this.account.plan);
  }

  run(what: Step): void {
    const before = { ...this.account };
    const changes = noChanges<CreditState>();
    const moving = { now: this.now, plans: PLANS, changes };
    const payer = { account: this.account, key: null };
    const left = spendable(this.account, this.terms, this.now);
    if (what.do === 'month') this.now = monthOf(this.now + what.months * 31 * 86_400_000).start + 1_000;
    else if (what.do === 'plan' && 'name' in what) this.#change(what.name);
    else if (what.do === 'grant' && 'amount' in what) this.#grant(what.amount);
    else if (what.do === 'take back' && 'amount' in what) this.#grant(-Math.min(what.amount, this.account.balance));
    else if (what.do === 'hold' && 'amount' in what) {
      if (what.amount > left) return;
      const hold = { id: `hold_${this.#ids++}`, keyId: 'key_1', amount: what.amount };
      authorize(moving, payer, hold.amount, { verificationId: null, holdId: hold.id });
      this.holds.push(hold);
    } else if ('nth' in what && this.holds.length > 0) {
      const hold = this.holds[what.nth % this.holds.length]!;
      if ('amount' in what) {
        const credits = Math.min(what.amount, hold.amount);
        const record = { id: `ver_${this.#ids++}`, credits, body: '{}' } as never;
        capturePart(moving, payer, hold, [{ record, held: hold.amount }]);
        this.charged += credits;
      } else giveBack(moving, payer, hold.amount, { verificationId: null, holdId: hold.id });
      this.holds.splice(this.holds.indexOf(hold), 1);
    }
    for (const { amount: by, month, note } of changes.allowances) {
      this.allowances += by;
      if (note === null) this.given.set(month, (this.given.get(month) ?? 0) + 1);
      expect(renewalOf(before, this.terms, this.now)).toMatchObject({ amount: by, month, note });
    }
  }

  #change(name: string): void {
    const withdrawal = withdrawalOf(this.account, termsOf(PLANS, name), this.now);
    this.account = { ...this.account, plan: name };
    if (withdrawal === null) return;
    const { amount: by, month: _, note: __, ...after } = withdrawal;
    Object.assign(this.account, after, { balance: this.account.balance + by });
    this.allowances += by;
  }

  /** As `accounts.grant` does. */
  #grant(credits: number): void {
    const { balance, locked, allowance } = this.account;
    const allowanceAfter = Math.min(allowance, balance + locked + credits);
    Object.assign(this.account, { balance: balance + credits, allowance: allowanceAfter });
    this.granted += credits;
  }

  check(): void {
    const { balance, locked, allowance } = this.account;
    expect(balance).toBeGreaterThanOrEqual(0);
    expect(locked).toBe(this.holds.reduce((sum, hold) => sum + hold.amount, 0));
    expect(balance + locked).toBe(this.granted + this.allowances - this.charged);
    expect(allowance).toBeGreaterThanOrEqual(0);
    expect(allowance).toBeLessThanOrEqual(balance + locked);
    for (const times of this.given.values()) expect(times).toBe(1);
    const left = spendable(this.account, this.terms, this.now);
    expect(left).toBeGreaterThanOrEqual(0);
  }
}

describe('the monthly allowance', () => {
  it('keeps all credits and gives each month once, whatever happens and however the clock is set', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const model = new Model();
        for (const one of steps) {
          model.run(one);
          model.check();
        }
      }),
      { numRuns: 500 },
    );
  });

  const account = (over: Partial<CreditState> = {}): CreditState => ({ ...new Model().account, ...over });
  const november = Date.UTC(2026, 10, 20);
  const december = Date.UTC(2026, 11, 1);

  it('ends with its month, but for what is carried over and what is held', () => {
    const before = { balance: 70, locked: 20, allowance: 60, allowanceMonths: '2026-11', allowanceGiven: 100 };
    const renewal = (name: string, over: Partial<CreditState> = {}) =>
      renewalOf(account({ ...before, plan: name, ...over }), termsOf(PLANS, name), december);
    // 20 are held and may be charged, 40 end.
    expect(renewal('lost')).toMatchObject({ amount: 60, allowance: 120, allowanceMonths: '2026-11 2026-12' });
    expect(renewal('some')).toMatchObject({ amount: 50, allowance: 110 });
    expect(renewal('kept')).toMatchObject({ amount: 50, allowance: 110 });
    expect(renewal('lost', { balance: 90, locked: 0 })).toMatchObject({ amount: 40, allowance: 100 });
    expect(renewal('none', { balance: 90, locked: 0 })).toMatchObject({ amount: -60, allowance: 0 });
  });

  it('is not due twice in a month, nor for a test account or a plan without one', () => {
    const given = account({ balance: 100, allowance: 100, allowanceMonths: '2026-11', allowanceGiven: 100 });
    expect(renewalOf(given, termsOf(PLANS, 'lost'), november)).toBeNull();
    expect(renewalOf(account({ testOf: 'acc_0' }), termsOf(PLANS, 'lost'), november)).toBeNull();
    expect(renewalOf(account(), termsOf(PLANS, 'none'), november)).toBeNull();
  });

  it('gives the months in between after the clock was years ahead, and the month that it was ahead in only once', () => {
    let state = account({ balance: 100, allowance: 100, allowanceMonths: '2026-11', allowanceGiven: 100 });
    const terms = termsOf(PLANS, 'lost');
    const given: string[] = [];
    const at = (now: number) => {
      const renewal = renewalOf(state, terms, now);
      if (renewal === null) return;
      const { amount: by, month, note: _, ...after } = renewal;
      given.push(month);
      state = { ...state, ...after, balance: state.balance + by };
    };
    for (const time of [Date.UTC(2028, 0, 5), november, december, Date.UTC(2027, 0, 1), Date.UTC(2020, 0, 1)]) at(time);
    for (let month = 1; month <= 14; month++) at(Date.UTC(2027, month, 1));
    expect(given).toEqual([
      '2028-01',
      '2026-12',
      '2027-01',
      ...Array.from({ length: 14 }, (_, i) => monthName(Date.UTC(2027, i + 1, 1))).filter((name) => name !== '2028-01'),
    ]);
  });

  it('follows a change of plan: more is added, less is taken back, and what was used stays used', () => {
    const used = account({ balance: 70, allowance: 70, allowanceMonths: '2026-11', allowanceGiven: 100 });
    const less = withdrawalOf(used, termsOf(PLANS, 'kept'), november);
    expect(less).toMatchObject({ amount: -50, allowance: 20, allowanceGiven: 50 });
    const down = { ...used, plan: 'kept', balance: 20, allowance: 20, allowanceGiven: 50 };
    expect(renewalOf({ ...down, plan: 'lost' }, termsOf(PLANS, 'lost'), november)).toMatchObject({
      amount: 50,
      allowance: 70,
      allowanceGiven: 100,
    });
    // Nothing of what is held or was purchased is taken.
    const spent = account({ balance: 40, locked: 10, allowance: 5, allowanceMonths: '2026-11', allowanceGiven: 100 });
    expect(withdrawalOf(spent, termsOf(PLANS, 'none'), november)).toBeNull();
  });
});
