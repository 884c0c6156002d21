/** Plans of one's own: their prices and their monthly allowance, exact over nodes, clocks, crashes and restores. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { monthOf } from '../../src/kernel/clock.ts';
import { DEFAULT_PLANS, isUnlimited, type PlanTerms, plansOf, termsOf } from '../../src/kernel/facts/plans.ts';
import type { Store } from '../../src/store/store.ts';
import { describeStores, type StoreLab } from '../lab/stores.ts';
import { asking, hold, type Member, member, newVerificationId, purge, verdict, verifyNow } from './cast.ts';
import { claimWith, found, startedList } from './list-cast.ts';
import { BY } from './people.ts';
import { startProcess } from './processes.ts';

const BASE = termsOf(DEFAULT_PLANS, 'premium');
const plan = (name: string, over: Partial<PlanTerms>): PlanTerms => ({ ...BASE, name, ...over });
const PLANS = plansOf([
  plan('lost', { monthlyCredits: 100 }),
  plan('some', { monthlyCredits: 100, carryOver: 30 }),
  plan('kept', { monthlyCredits: 100, carryOver: Number.POSITIVE_INFINITY }),
  plan('big', { monthlyCredits: 1000 }),
  plan('huge', { monthlyCredits: 1_000_000_000 }),
  plan('dear', { prices: { mx: 3, smtp: 25, unknown: 2 } }),
  ...DEFAULT_PLANS.values(),
]);
const ROUNDS = Number(process.env.MAILVET_TEST_ROUNDS ?? 3);
const KILLED_MS = 60_000 + ROUNDS * 15_000;

const charge = (store: Store, who: Member, credits: number) => verifyNow(store, who, { credits });
const creditsOf = async (store: Store, { account }: Member) => {
  const { balance, locked, allowance } = (await store.accounts.get(account.id))!;
  return [balance, locked, allowance];
};
/** Of the newest entries, as `what` and amount. */
const allowancesOf = async (store: Store, { account }: Member) => {
  const { rows } = await store.accounts.ledger(account.id, 100);
  return rows.flatMap(({ kind, amount, note }) => (kind === 'allowance' ? [[amount, note]] : []));
};
const toNextMonth = ({ clock }: StoreLab) => clock.advance(monthOf(clock.now()).end - clock.now() + 1_000);

describeStores('the monthly allowance', (lab) => {
  const open = () => lab.open({ plans: PLANS });

  it('is recorded once, by the first charge of the month, and is spent before what was purchased', async () => {
    const [one, two] = [await open(), await open()];
    const who = await member(one, { plan: 'lost', credits: 50 });
    // What the next charge will record is shown already.
    expect(await creditsOf(one, who)).toEqual([150, 0, 100]);
    expect(await allowancesOf(one, who)).toEqual([]);
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => charge(i % 2 ? one : two, who, 1)));
    expect(answers.map(({ outcome }) => outcome)).toEqual(answers.map(() => 'settled'));
    expect(await allowancesOf(one, who)).toEqual([[100, '2026-11']]);
    expect(await creditsOf(one, who)).toEqual([110, 0, 60]);
    for (let i = 0; i < 7; i++) await charge(one, who, 10);
    expect(await creditsOf(two, who)).toEqual([40, 0, 0]);
    toNextMonth(lab);
    expect(await creditsOf(one, who)).toEqual([140, 0, 100]);
    await Promise.all(Array.from({ length: 40 }, (_, i) => charge(i % 2 ? one : two, who, 1)));
    expect(await allowancesOf(one, who)).toEqual([
      [100, '2026-12'],
      [100, '2026-11'],
    ]);
    expect(await creditsOf(one, who)).toEqual([100, 0, 60]);
    expect(await one.accounts.audit()).toEqual([]);
  });

  it('pays for what the balance alone does not, and for no more than there is', async () => {
    const store = await open();
    const who = await member(store, { plan: 'lost', credits: 0 });
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => hold(store, who, { level: 'smtp' }).catch(() => null)),
    );
    expect(answers.filter((answer) => answer !== null)).toHaveLength(10);
    expect(await creditsOf(store, who)).toEqual([0, 100, 100]);
    expect(await charge(store, who, 1)).toMatchObject({ code: 'insufficient_credits', balance: 0 });
    toNextMonth(lab);
    // What is held may be charged, so it stays.
    expect(await charge(store, who, 1)).toMatchObject({ outcome: 'settled', balance: 99 });
    for (const held of answers)
      if (held !== null)
        await store.charging.settle({ caller: held.caller, holdId: held.id, record: null, idempotency: null });
    expect(await creditsOf(store, who)).toEqual([199, 0, 199]);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('ends with the month, but for what the plan carries over', async () => {
    const store = await open();
    const members = await Promise.all(['lost', 'some', 'kept'].map((of) => member(store, { plan: of, credits: 5 })));
    for (const who of members) await charge(store, who, 10);
    toNextMonth(lab);
    for (const who of members) await charge(store, who, 1);
    expect(await Promise.all(members.map((who) => creditsOf(store, who)))).toEqual([
      [104, 0, 99],
      [134, 0, 129],
      [194, 0, 189],
    ]);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('pays for lists: their hold, their results, and those of the next month', async () => {
    const store = await open();
    const who = await member(store, { plan: 'lost', credits: 0 });
    const list = { account: who.account.id, keyId: who.key.id, amount: 60, lifeMs: 3_600_000_000 };
    expect(await store.sharedHolds.open({ id: 'list_1', ...list })).toEqual({ outcome: 'held', balance: 40 });
    const part = (credits: number) => ({
      account: who.account.id,
      holdId: 'list_1',
      results: [{ record: verdict(newVerificationId(), { credits }), held: 10 }],
    });
    expect(await store.sharedHolds.settle(part(10))).toMatchObject({ charged: 10, balance: 40 });
    expect(await creditsOf(store, who)).toEqual([40, 50, 90]);
    toNextMonth(lab);
    // 50 stay, as they are held; 40 end.
    expect(await store.sharedHolds.settle(part(1))).toMatchObject({ charged: 1, balance: 109 });
    expect(await creditsOf(store, who)).toEqual([109, 40, 149]);
    await store.sharedHolds.release(who.account.id, 'list_1');
    expect(await allowancesOf(store, who)).toEqual([
      [60, '2026-12'],
      [100, '2026-11'],
    ]);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('is given once for each month, whatever clocks show', async () => {
    const store = await open();
    const who = await member(store, { plan: 'lost', credits: 0 });
    const start = lab.clock.now();
    const at = async (year: number, month: number) => {
      lab.clock.step(Date.UTC(year, month - 1, 15) - lab.clock.now());
      await charge(store, who, 1);
    };
    await charge(store, who, 1);
    for (const [year, month] of [
      [2028, 1],
      [2026, 11],
      [2026, 12],
      [2028, 1],
      [2026, 12],
      [2020, 5],
      [2026, 11],
    ] as const)
      await at(year, month);
    expect((await allowancesOf(store, who)).map(([, month]) => month)).toEqual(['2026-12', '2028-01', '2026-11']);
    lab.clock.step(start - lab.clock.now());
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('follows a change of plan within the month: more is added, less taken back, and what was used stays used', async () => {
    const store = await open();
    const who = await member(store, { plan: 'lost', credits: 7 });
    const { id } = who.account;
    for (let i = 0; i < 3; i++) await charge(store, who, 10);
    await store.accounts.set(id, { plan: 'big' });
    expect(await creditsOf(store, who)).toEqual([977, 0, 970]);
    await charge(store, who, 10);
    await store.accounts.set(id, { plan: 'premium' });
    expect(await creditsOf(store, who)).toEqual([7, 0, 0]);
    await store.accounts.set(id, { plan: 'lost' });
    expect(await creditsOf(store, who)).toEqual([67, 0, 60]);
    await charge(store, who, 10);
    expect(await creditsOf(store, who)).toEqual([57, 0, 50]);
    expect(await allowancesOf(store, who)).toEqual([
      [60, '2026-11: More, by its plan'],
      [-960, '2026-11: Less, by its plan'],
      [900, '2026-11: More, by its plan'],
      [100, '2026-11'],
    ]);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('grows with a plan that gives more while a list runs, and keeps what was left of it', async () => {
    const store = await open();
    const who = await member(store, { plan: 'lost', credits: 7 });
    const list = await startedList(store, who, ['a@example.com', 'b@example.com']);
    const { id } = who.account;
    const before = await creditsOf(store, who);
    await store.accounts.set(id, { plan: 'big' });
    const works = await claimWith(store, who, list, 'lease');
    expect(before).toEqual([105, 2, 100]);
    const outcomes = works.map((work) => found(work));
    expect(await store.lists.record(id, list, outcomes)).toMatchObject({ recorded: 2, charged: 2 });
    expect(await creditsOf(store, who)).toEqual([1005, 0, 998]);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('is unlimited where the plan says so, until the account has another plan', async () => {
    const store = await open();
    const who = await member(store, { plan: 'unlimited', credits: 3 });
    expect(isUnlimited((await store.accounts.get(who.account.id))!.terms)).toBe(true);
    for (let i = 0; i < 5; i++) expect(await charge(store, who, 10)).toMatchObject({ outcome: 'settled' });
    toNextMonth(lab);
    expect(await charge(store, who, 10)).toMatchObject({ outcome: 'settled' });
    await store.accounts.set(who.account.id, { plan: 'premium' });
    expect(await creditsOf(store, who)).toEqual([3, 0, 0]);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('is taken back after what was purchased, and not below zero', async () => {
    const store = await open();
    const who = await member(store, { plan: 'lost', credits: 50 });
    await charge(store, who, 10);
    expect(await store.accounts.grant(who.account.id, -141, 'test', BY)).toBeNull();
    expect(await store.accounts.grant(who.account.id, -60, 'test', BY)).toMatchObject({ balance: 80, allowance: 80 });
    toNextMonth(lab);
    // Of the next month, what there is to take.
    expect(await store.accounts.grant(who.account.id, -101, 'test', BY)).toBeNull();
    expect(await store.accounts.grant(who.account.id, -100, 'test', BY)).toMatchObject({ balance: 0, allowance: 0 });
    expect(await charge(store, who, 1)).toMatchObject({ code: 'insufficient_credits' });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('stays in the ledger when what was charged is purged, and the audit finds what is wrong with it', async () => {
    const store = await open();
    const who = await member(store, { plan: 'lost', credits: 0 });
    await charge(store, who, 10);
    toNextMonth(lab);
    await charge(store, who, 10);
    lab.clock.advance(400 * 86_400_000);
    await purge(lab, store, lab.clock.now());
    expect(await allowancesOf(store, who)).toEqual([
      [10, '2026-12'],
      [100, '2026-11'],
    ]);
    expect(await store.accounts.audit()).toEqual([]);
    await lab.sql(`INSERT INTO ledger (account_id, kind, amount, created_at, month)
      VALUES ('${who.account.id}', 'grant', 5, 1, '2026-12')`);
    await lab.sql(`UPDATE accounts SET balance = balance + 5 WHERE id = '${who.account.id}'`);
    expect(await store.accounts.audit()).toEqual([
      `Account ${who.account.id}: the allowance of 2026-12 was given 2 times.`,
    ]);
  });

  it('is recorded again after a backup of last month was restored, under a node that remembers the new month', async () => {
    const store = await open();
    const who = await member(store, { plan: 'lost', credits: 0 });
    await charge(store, who, 10);
    const back = await savedState(lab);
    toNextMonth(lab);
    for (let i = 0; i < 3; i++) await charge(store, who, 10);
    expect(await creditsOf(store, who)).toEqual([70, 0, 70]);
    const restored = await back(store);
    expect(await charge(restored, who, 1)).toMatchObject({ outcome: 'settled', balance: 99 });
    expect(await allowancesOf(restored, who)).toEqual([
      [10, '2026-12'],
      [100, '2026-11'],
    ]);
    expect(await restored.accounts.audit()).toEqual([]);
  });
});

/** Saves the state; what it returns restores it, on PostgreSQL as a restore does it beside a node, without triggers. */
async function savedState(lab: StoreLab): Promise<(store: Store) => Promise<Store>> {
  if (lab.engine === 'sqlite') {
    const file = `${lab.url.slice('sqlite:'.length)}.saved`;
    await lab.sql(`VACUUM INTO '${file}'`);
    return () => lab.open({ plans: PLANS, url: `sqlite:${file}` });
  }
  const tables = ['accounts', 'ledger', 'verifications', 'usage_hours'];
  for (const table of tables) await lab.sql(`CREATE TABLE saved_${table} AS SELECT * FROM ${table}`);
  const copies = tables.map(
    (table) => `DELETE FROM ${table}; INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM saved_${table}`,
  );
  return async (store) => {
    await lab.sql(`SET session_replication_role = replica; ${copies.join('; ')}`);
    return store;
  };
}

const node = fc.nat({ max: 1 });
/** What happens at once, on two nodes; then perhaps months pass. */
const step = fc.record({
  at: fc.array(
    fc.oneof(
      fc.record({ node, do: fc.constant('charge' as const), credits: fc.constantFrom(1, 3, 10) }),
      fc.record({ node, do: fc.constant('hold' as const) }),
      fc.record({ node, do: fc.constant('settle' as const), credits: fc.constantFrom(0, 1, 10) }),
      fc.record({ node, do: fc.constant('give back' as const) }),
      fc.record({ node, do: fc.constant('grant' as const), credits: fc.integer({ min: -60, max: 60 }) }),
      fc.record({ node, do: fc.constant('plan' as const), plan: fc.constantFrom('lost', 'some', 'kept', 'premium') }),
    ),
    { maxLength: 6 },
  ),
  months: fc.constantFrom(0, 0, 1, 2),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** An account, and what it was told: what it was granted and charged, and what it holds. */
class Model {
  readonly who: Member;
  readonly holds: Awaited<ReturnType<typeof hold>>[] = [];
  granted = 50;
  charged = 0;
  constructor(who: Member) {
    this.who = who;
  }

  async run(store: Store, what: Step['at'][number]): Promise<void> {
    const { account } = this.who;
    if (what.do === 'charge') {
      // No verdict costs more than the level that was asked for.
      const answer = await verifyNow(store, this.who, { credits: what.credits }, { level: 'smtp' });
      if (answer.outcome === 'settled') this.charged += answer.record.credits;
    } else if (what.do === 'hold') {
      const id = newVerificationId();
      const answer = await store.charging.admit(asking(this.who, { id, level: 'smtp' }));
      if (answer.outcome === 'admitted') this.holds.push({ id, caller: answer.caller, balance: answer.balance });
    } else if (what.do === 'grant') {
      if ((await store.accounts.grant(account.id, what.credits, 'test', BY)) !== null) this.granted += what.credits;
    } else if (what.do === 'plan') await store.accounts.set(account.id, { plan: what.plan });
    else {
      const held = this.holds.pop();
      if (held === undefined) return;
      const record = what.do === 'give back' ? null : verdict(held.id, { credits: what.credits });
      await store.charging.settle({ caller: held.caller, holdId: held.id, record, idempotency: null });
      this.charged += record?.credits ?? 0;
    }
  }
}

describeStores('plans, months, charges and grants, whatever happens on two nodes', (lab) => {
  async function check(store: Store, { who, granted, charged, holds }: Model): Promise<void> {
    expect(await store.accounts.audit()).toEqual([]);
    const allowances = await allowancesOf(store, who);
    const given = allowances.reduce((sum, [amount]) => sum + Number(amount), 0);
    const [row] = await lab.sql(`SELECT balance, locked, allowance FROM accounts WHERE id = '${who.account.id}'`);
    const [balance, locked, allowance] = [Number(row!.balance), Number(row!.locked), Number(row!.allowance)];
    expect([balance + locked, locked]).toEqual([granted + given - charged, 10 * holds.length]);
    expect(Math.min(balance, allowance)).toBeGreaterThanOrEqual(0);
    expect(allowance).toBeLessThanOrEqual(balance + locked);
    const months = allowances.map(([, note]) => String(note)).filter((note) => /^\d{4}-\d\d$/.test(note));
    expect(months).toEqual([...new Set(months)]);
  }

  it('credits neither appear nor vanish, and each month is given once', async () => {
    const nodes = [await lab.open({ plans: PLANS }), await lab.open({ plans: PLANS })];
    const outcomes = { charged: 0, allowances: 0 };
    const live = async (steps: readonly Step[]) => {
      const model = new Model(await member(nodes[0]!, { plan: 'lost', credits: 50 }));
      for (const { at, months } of steps) {
        await Promise.all(at.map((what) => model.run(nodes[what.node]!, what)));
        await check(nodes[0]!, model);
        for (let month = 0; month < months; month += 1) toNextMonth(lab);
      }
      outcomes.charged += model.charged;
      outcomes.allowances += (await allowancesOf(nodes[0]!, model.who)).length;
    };
    const numRuns = lab.engine === 'sqlite' ? 25 : 10;
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), live), {
      numRuns,
      endOnFailure: true,
    });
    expect(Math.min(outcomes.charged, outcomes.allowances)).toBeGreaterThanOrEqual(numRuns / 2);
  });
});

describeStores('prices of a plan', (lab) => {
  const open = () => lab.open({ plans: PLANS });
  const body = (credits: number) => JSON.stringify({ email: 'a"credits_used":7@example.com', credits_used: credits });
  const record = (id: string, price: 'mx' | 'smtp' | 'unknown', credits: number) =>
    verdict(id, { price, credits, body: body(credits) });

  it('are what is held, charged, recorded and replied', async () => {
    const store = await open();
    const who = await member(store, { plan: 'dear', credits: 100 });
    const id = newVerificationId();
    const decide = () => record(id, 'mx', 1);
    const settled = await store.charging.admit(asking(who, { id, decide }));
    expect(settled).toMatchObject({ outcome: 'settled', balance: 97, completed: { body: body(3) } });
    for (const [price, was, costs] of [
      ['smtp', 10, 25],
      ['unknown', 1, 2],
    ] as const) {
      const before = (await store.accounts.get(who.account.id))!.balance;
      const held = await hold(store, who, { level: 'smtp' });
      expect(held.balance).toBe(before - 25);
      const settlement = {
        caller: held.caller,
        holdId: held.id,
        record: record(held.id, price, was),
        idempotency: null,
      };
      expect(await store.charging.settle(settlement)).toMatchObject({
        balance: before - costs,
        completed: { body: body(costs) },
      });
    }
    expect(
      (await store.verifications.list(who.account.id, { offset: 0, limit: 10 })).items.map((one) => one.credits),
    ).toEqual([2, 25, 3]);
    await store.accounts.grant(who.account.id, -46, 'test', BY);
    expect(await store.charging.admit(asking(who, { level: 'smtp' }))).toMatchObject({ code: 'insufficient_credits' });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('of a list are at most what was held for each address', async () => {
    const store = await open();
    const who = await member(store, { plan: 'dear', credits: 100 });
    const { account, key } = who;
    await store.sharedHolds.open({ id: 'list_1', account: account.id, keyId: key.id, amount: 50, lifeMs: 3_600_000 });
    const results = (held: number) => [{ record: record(newVerificationId(), 'smtp', 10), held }];
    const settle = (held: number) =>
      store.sharedHolds.settle({ account: account.id, holdId: 'list_1', results: results(held) });
    expect(await settle(25)).toMatchObject({ charged: 25, amount: 25 });
    expect(await settle(10)).toMatchObject({ charged: 10, amount: 15 });
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('are not known of a plan that the file does not have: nothing is charged', async () => {
    const store = await open();
    const who = await member(store, { plan: 'dear', credits: 100 });
    const other = await lab.open({ plans: DEFAULT_PLANS });
    await expect(charge(other, who, 1)).rejects.toMatchObject({ code: 'verification_unavailable' });
    expect(await other.accounts.byPlan()).toEqual([{ plan: 'dear', accounts: 1 }]);
    expect(await charge(store, who, 1)).toMatchObject({ outcome: 'settled' });
    expect(await store.accounts.audit()).toEqual([]);
  });
});

describeStores('the end of a month under kill -9', (lab) => {
  it(`gives the allowance once in ${ROUNDS} rounds`, { timeout: KILLED_MS }, async () => {
    const store = await lab.open({ plans: PLANS });
    for (let round = 0; round < ROUNDS; round++) {
      const who = await member(store, { plan: 'huge', credits: 0, rateLimit: 1_000_000_000 });
      const end = monthOf(lab.clock.now()).end;
      // Two nodes whose clocks pass the end of the month while they charge.
      const nodes = [
        await startProcess(lab.url, 'month', who.hash, end),
        await startProcess(lab.url, 'month', who.hash, end),
      ];
      for (const node of nodes) node.tell('go');
      await Promise.all(nodes.map((node) => node.hasSaid(1)));
      for (const node of nodes) node.child.kill('SIGKILL');
      await Promise.all(nodes.map((node) => node.ended()));
      await store.upkeep.releaseDead();
      const rows = await lab.sql(
        `SELECT month FROM ledger WHERE account_id = '${who.account.id}' AND month IS NOT NULL`,
      );
      const months = rows.map(({ month }) => month);
      expect(new Set(months).size).toBe(months.length);
      expect(months).toContain('2026-12');
      expect(await store.accounts.audit()).toEqual([]);
    }
  });
});
