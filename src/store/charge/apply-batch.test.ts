/** Whatever is held, charged and given back, alone or in parts: credits neither appear nor vanish. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ApiError } from '../../kernel/errors.ts';
import { DEFAULT_PLANS } from '../../kernel/facts/plans.ts';
import type { AccountId, Caller, VerificationRecord } from '../store.ts';
import { applyBatch, authorize, capturePart, giveBack } from './apply-batch.ts';
import type { AccountState, Changes, ChargeRequest, ChargeState, HoldState, KeyState } from './state.ts';
import { noChanges } from './state.ts';

const ID = 'acc_1' as AccountId;
const NOW = Date.UTC(2026, 10, 20);
const CALLER: Caller = { accountId: ID, keyId: 'key_1', plan: 'enterprise', test: false };
const GIVEN = 60;
/** Held for each result of a shared hold. */
const HELD = 5;

const nth = fc.nat({ max: 20 });
const single = fc.oneof(
  fc.record({ do: fc.constant('hold' as const) }),
  fc.record({ do: fc.constant('charge' as const), credits: fc.constantFrom(0, 1, 10) }),
  fc.record({ do: fc.constant('settle' as const), nth, credits: fc.constantFrom(0, 1, 10) }),
  fc.record({ do: fc.constant('give back' as const), nth }),
);
const step = fc.oneof(
  fc.array(single, { minLength: 1, maxLength: 8 }),
  fc.record({ shared: fc.constant('hold' as const), amount: fc.nat({ max: 30 }) }),
  fc.record({
    shared: fc.constant('part' as const),
    nth,
    credits: fc.array(fc.nat({ max: HELD }), { maxLength: 5 }),
  }),
  fc.record({ shared: fc.constant('release' as const), nth }),
);
type Single = typeof single extends fc.Arbitrary<infer T> ? T : never;
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class Model {
  readonly account: AccountState = {
    id: ID,
    plan: 'enterprise',
    rateLimit: null,
    status: 'active',
    testOf: null,
    filterEmails: 0,
    filterDomains: 0,
    filterIps: 0,
    filterMailboxes: 0,
    filterMxHosts: 0,
    filterEmailRules: 0,
    filterDomainRules: 0,
    filterIpRules: 0,
    windowStart: 0,
    windowCount: 0,
    balance: GIVEN,
    locked: 0,
    allowance: 0,
    allowanceMonths: '',
    allowanceGiven: 0,
  };
  readonly key: KeyState;
  readonly holds = new Map<string, HoldState>();
  readonly shared: { id: string; keyId: string; amount: number }[] = [];
  readonly recorded = new Map<string, number>();
  #ids = 0;
  #ledger = 0;

  constructor(budget: number | null) {
    const limits = { allowIps: '[]', revokedAt: null, expiresAt: null, scopes: null, lastUsedAt: null };
    this.key = { id: 'key_1', accountId: ID, ...limits, budget, budgetMonth: 0, budgetSpent: 0, budgetHeld: 0 };
  }

  get state(): ChargeState {
    return {
      now: NOW,
      node: 'node_1',
      plans: DEFAULT_PLANS,
      idempotency: () => null,
      filters: () => [],
      seenOwner: () => null,
      seen: () => null,
      key: () => this.key,
      keyById: () => this.key,
      account: () => this.account,
      hold: (id) => this.holds.get(id) ?? null,
      recorded: (id) => (this.recorded.has(id) ? { body: '{}' } : null),
    };
  }

  run(what: Step): void {
    if (Array.isArray(what))
      this.apply(
        applyBatch(
          this.state,
          what.map((one) => this.request(one)),
        ).changes,
      );
    else this.runShared(what);
  }

  request(one: Single): ChargeRequest {
    const id = this.#newId();
    const enter = () => true;
    if (one.do === 'hold' || one.do === 'charge') {
      const decide = () => (one.do === 'charge' ? recordOf(id, one.credits) : null);
      const filterKeys = { email: null, mailbox: null, domains: [], ip: null, mxHosts: [] };
      const verify = { id, level: 'smtp' as const, test: false, filterKeys, holdMs: 1_000, decide };
      const admit = { keyHash: 'hash', scope: 'verify' as const, ip: '192.0.2.1', invalid: false, idempotency: null };
      return { kind: 'admit', admit: { ...admit, verify }, enter };
    }
    const open = [...this.holds.keys()];
    const holdId = open[one.nth % open.length] ?? 'none';
    const record = one.do === 'settle' ? recordOf(`of ${holdId}`, one.credits) : null;
    return { kind: 'settle', settle: { caller: CALLER, record, holdId, idempotency: null }, enter };
  }

  runShared(what: Exclude<Step, Single[]>): void {
    const changes = noChanges();
    const moving = { now: NOW, plans: DEFAULT_PLANS, changes };
    const payer = { account: this.account, key: this.key };
    const { budget, budgetSpent, budgetHeld } = this.key;
    if (what.shared === 'hold') {
      if (what.amount > this.account.balance || budgetSpent + budgetHeld + what.amount > (budget ?? GIVEN)) return;
      const id = this.#newId();
      authorize(moving, payer, what.amount, { verificationId: null, holdId: id });
      this.shared.push({ id, keyId: this.key.id, amount: what.amount });
    } else {
      const hold = this.shared[what.nth % this.shared.length];
      if (hold === undefined) return;
      if (what.shared === 'release') {
        giveBack(moving, payer, hold.amount, { verificationId: null, holdId: hold.id });
        this.shared.splice(this.shared.indexOf(hold), 1);
      } else this.#part(moving, hold, what.credits);
    }
    this.apply(changes);
  }

  #part(
    moving: Parameters<typeof capturePart>[0] & { changes: Changes },
    hold: Model['shared'][number],
    credits: number[],
  ) {
    const results = credits.map((cost) => ({ record: recordOf(this.#newId(), cost), held: HELD }));
    const before = structuredClone([this.account, this.key, hold]);
    try {
      capturePart(moving, { account: this.account, key: this.key }, hold, results);
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError);
      expect([this.account, this.key, hold]).toEqual(before);
      expect(moving.changes).toEqual(noChanges());
    }
  }

  apply(changes: Changes): void {
    for (const hold of changes.holds) this.holds.set(hold.id, hold);
    for (const id of changes.ended) this.holds.delete(id);
    for (const { record, held } of changes.verifications) {
      expect(this.recorded.has(record.id)).toBe(false);
      this.recorded.set(record.id, record.credits);
      this.#ledger += held === null ? 0 : held - record.credits;
    }
    for (const { amount } of changes.ledger) this.#ledger += amount;
  }

  check(): void {
    const sum = (numbers: Iterable<number>) => [...numbers].reduce((a, b) => a + b, 0);
    const [charged, single] = [sum(this.recorded.values()), sum([...this.holds.values()].map(({ amount }) => amount))];
    const held = single + sum(this.shared.map(({ amount }) => amount));
    const { balance, locked } = this.account;
    expect({ locked, total: balance + locked + charged, moved: this.#ledger }).toEqual({
      locked: held,
      total: GIVEN,
      moved: balance - GIVEN,
    });
    expect(balance).toBeGreaterThanOrEqual(0);
    const { budget, budgetSpent, budgetHeld } = this.key;
    if (budget === null) return;
    expect([budgetSpent, budgetHeld]).toEqual([charged, held]);
    expect(charged + held).toBeLessThanOrEqual(budget);
  }

  #newId(): string {
    this.#ids += 1;
    return `id_${this.#ids}`;
  }
}

const recordOf = (id: string, credits: number): VerificationRecord => ({
  id,
  email: 'jane@example.com',
  requested: 'smtp',
  validationType: 'smtp',
  status: 'good',
  reason: null,
  deliverability: 'deliverable',
  credits,
  clientIp: null,
  durationMs: 1,
  body: '{}',
});

it('keeps all credits, whatever is held, charged, charged in parts and given back', () => {
  const budget = fc.constantFrom(null, 35);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), budget, (steps, credits) => {
      const model = new Model(credits);
      for (const one of steps) {
        model.run(one);
        model.check();
      }
    }),
    { numRuns: 500 },
  );
});
