import { expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/kernel/clock.ts';
import { LOG_SEARCH_ROWS } from '../../src/kernel/facts/limits.ts';
import type { AccountId, LedgerRow, Store } from '../../src/store/store.ts';
import { describeStores, type StoreLab } from '../lab/stores.ts';
import { eraseAddress, hold, type Member, member, oldVerifications, purge, verdict, verifyNow } from './cast.ts';
import { BY } from './people.ts';

/** The whole ledger, page by page. */
async function ledgerOf(store: Store, account: AccountId, limit = 3): Promise<LedgerRow[]> {
  const rows: LedgerRow[] = [];
  for (let next: string | null = null, first = true; first || next !== null; first = false) {
    const page: Awaited<ReturnType<Store['accounts']['ledger']>> = await store.accounts.ledger(account, limit, next);
    rows.push(...page.rows);
    next = page.next;
  }
  return rows;
}
const sumOf = (rows: readonly LedgerRow[]) => rows.reduce((sum, row) => sum + row.amount, 0);
const shapeOf = ({ kind, amount, charged, verifications }: LedgerRow) => [kind, amount, charged, verifications];

/** An entry of each kind on one day, and a charge in the form of an earlier version. */
async function oneDay(lab: StoreLab, store: Store, who: Member): Promise<void> {
  await verifyNow(store, who, { email: 'a@example.com' });
  const settled = await hold(store, who, { level: 'smtp' });
  const record = verdict(settled.id, { requested: 'smtp', credits: 10 });
  await store.charging.settle({ caller: settled.caller, holdId: settled.id, record, idempotency: null });
  const released = await hold(store, who, { level: 'smtp' });
  await store.charging.settle({ caller: released.caller, holdId: released.id, record: null, idempotency: null });
  const earlier = newId();
  await verifyNow(store, who, {}, { id: earlier });
  await lab.sql(`UPDATE verifications SET held = NULL WHERE id = '${earlier}'`);
  await lab.sql(`INSERT INTO ledger (account_id, kind, amount, charged, verification_id, created_at)
    VALUES ('${who.account.id}', 'settlement', -1, 1, '${earlier}', ${lab.clock.now()})`);
}
let made = 0;
const newId = () => `ver_earlier_${made++}`;

describeStores('the ledger', (lab) => {
  it('has one row for a charge: the verification itself', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 10 });
    await verifyNow(store, who);
    await verifyNow(store, who, { credits: 0, status: 'bad', reason: 'blocked_by_filter' });
    expect(await lab.sql('SELECT kind FROM ledger')).toEqual([{ kind: 'grant' }]);
    expect((await ledgerOf(store, who.account.id)).map(shapeOf)).toEqual([
      ['settlement', -1, 1, null],
      ['grant', 10, 0, null],
    ]);
  });

  it('becomes the sums of its days after its time, and says the same', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 100 });
    const { id } = who.account;
    await oneDay(lab, store, who);
    const first = lab.clock.now();
    lab.clock.advance(DAY_MS);
    await oneDay(lab, store, who);
    const before = await ledgerOf(store, id);
    expect(before.map(({ kind }) => kind).toSorted()).toEqual([
      'grant',
      ...Array(4).fill('hold'),
      ...Array(2).fill('release'),
      ...Array(6).fill('settlement'),
    ]);
    expect(sumOf(before)).toBe(76);
    const day = Math.floor(first / DAY_MS) * DAY_MS;
    await purge(lab, store, first + HOUR_MS);
    expect(await store.accounts.audit()).toEqual([]);
    const after = await ledgerOf(store, id);
    expect(after.slice(-2).map(shapeOf)).toEqual([
      ['grant', 100, 0, null],
      ['day', -12, 12, 3],
    ]);
    expect(after.at(-1)).toMatchObject({ createdAt: day, verificationId: null });
    expect(after.slice(0, 6)).toEqual(before.slice(0, 6));
    await purge(lab, store, lab.clock.now() + 1);
    await purge(lab, store, lab.clock.now() + 1);
    expect((await ledgerOf(store, id)).map(shapeOf)).toEqual([
      ['day', -12, 12, 3],
      ['grant', 100, 0, null],
      ['day', -12, 12, 3],
    ]);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('keeps the sum of what is erased', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 100 });
    await oneDay(lab, store, who);
    expect(await eraseAddress(store, who.account.id, 'a@example.com', BY)).toBe(1);
    const rows = await ledgerOf(store, who.account.id);
    expect(rows.filter(({ kind }) => kind === 'day').map(shapeOf)).toEqual([['day', -1, 1, 1]]);
    expect(sumOf(rows)).toBe(88);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('is audited: no damage goes unnoticed', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 100 });
    await oneDay(lab, store, who);
    const old = lab.clock.now();
    lab.clock.advance(DAY_MS);
    await oneDay(lab, store, who);
    await purge(lab, store, old + 1);
    const entry = 'INSERT INTO ledger (account_id, kind, amount, charged, note, created_at) SELECT';
    const noEntry = "DELETE FROM ledger WHERE note = 'damage'";
    for (const [damage, repair] of [
      // A roll-up that is missing, that was done twice, that lost what was charged.
      [
        "UPDATE ledger_days SET account_id = 'x_' || account_id",
        'UPDATE ledger_days SET account_id = substr(account_id, 3)',
      ],
      [
        'UPDATE ledger_days SET amount = 2 * amount, charged = 2 * charged',
        'UPDATE ledger_days SET amount = amount / 2, charged = charged / 2',
      ],
      ['UPDATE ledger_days SET charged = charged - 1', 'UPDATE ledger_days SET charged = charged + 1'],
      // A row that was summed up and is still there; a verification that is in the ledger as well.
      [`${entry} id, 'hold', -1, 0, 'damage', 1 FROM accounts`, noEntry],
      [
        `${entry} account_id, 'settlement', -credits, credits, 'damage', created_at FROM verifications WHERE held = 0`,
        noEntry,
      ],
      // A verification that is no entry any more, had another hold, costs something else.
      [
        'UPDATE verifications SET held = NULL WHERE held = 0',
        "UPDATE verifications SET held = 0 WHERE held IS NULL AND id NOT LIKE 'ver_earlier%'",
      ],
      ['UPDATE verifications SET held = held + 1', 'UPDATE verifications SET held = held - 1'],
      ['UPDATE verifications SET credits = credits + 1', 'UPDATE verifications SET credits = credits - 1'],
    ] as const) {
      expect(await store.accounts.audit()).toEqual([]);
      await lab.sql(damage);
      expect(await store.accounts.audit(), damage).not.toEqual([]);
      await lab.sql(repair);
    }
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('is read in bounded steps where most verifications moved nothing', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 10 });
    await verifyNow(store, who);
    await lab.sql(oldVerifications(who, LOG_SEARCH_ROWS + 10));
    const page = await store.accounts.ledger(who.account.id, 5);
    expect(page.rows).toEqual([]);
    expect(page.next).not.toBeNull();
    expect((await ledgerOf(store, who.account.id)).map(({ kind }) => kind)).toEqual(['settlement', 'grant']);
  });

  it('of a shared hold stays while the audit compares it with its results', async () => {
    const store = await lab.open();
    const who = await member(store, { credits: 100 });
    const { id: account } = who.account;
    await store.sharedHolds.open({ id: 'list', account, keyId: who.key.id, amount: 10, lifeMs: HOUR_MS });
    const results = [{ record: verdict(newId(), { credits: 5 }), held: 5 }];
    await store.sharedHolds.settle({ account, holdId: 'list', results });
    await store.sharedHolds.release(account, 'list');
    lab.clock.advance(DAY_MS);
    await purge(lab, store, lab.clock.now());
    expect((await ledgerOf(store, account)).map(({ kind }) => kind)).toEqual([
      'release',
      'settlement',
      'hold',
      'grant',
    ]);
    for (let days = 0; days < 100; days += 10) {
      lab.clock.advance(10 * DAY_MS);
      await purge(lab, store, lab.clock.now());
    }
    const rows = await ledgerOf(store, account);
    expect(rows.map(shapeOf)).toEqual([
      ['grant', 100, 0, null],
      ['day', -5, 5, 1],
    ]);
    expect(await store.accounts.audit()).toEqual([]);
  });

  it('is summed up once, whoever else charges, purges, erases or aborts meanwhile', async () => {
    const store = await lab.open();
    const other = await lab.open();
    const members = [await member(store, { credits: 3_000 }), await member(store, { credits: 3_000 })];
    for (const who of members) await lab.sql(charged(lab, who, 1_200));
    for (const who of members)
      await lab.sql(`UPDATE accounts SET balance = balance - 1200 WHERE id = '${who.account.id}'`);
    for (const who of members)
      await lab.sql(`INSERT INTO usage_hours (account_id, hour, key_id, validation_type, status, reason, requests, credits)
        VALUES ('${who.account.id}', 0, 'k', 'mx', 'good', '', 1200, 1200)`);
    expect(await store.accounts.audit()).toEqual([]);
    const stopping = new AbortController();
    const work = [
      purge(lab, store, lab.clock.now() - DAY_MS, stopping.signal),
      purge(lab, other, lab.clock.now() - DAY_MS),
      eraseAddress(store, members[0]!.account.id, 'jane@example.com', BY),
      ...Array.from({ length: 60 }, (_, i) =>
        verifyNow(i % 2 ? store : other, members[i % 2]!, { email: 'x@y.example' }),
      ),
      other.accounts.audit().then((faults) => expect(faults).toEqual([])),
    ];
    setTimeout(() => stopping.abort(), 20);
    await Promise.all(work);
    await purge(lab, store, lab.clock.now() - DAY_MS);
    for (const { account } of members) {
      const rows = await ledgerOf(store, account.id, 100);
      expect(rows.filter(({ kind }) => kind === 'day').map(shapeOf)).toEqual([['day', -1_200, 1_200, 1_200]]);
      expect(await store.accounts.get(account.id)).toMatchObject({ balance: sumOf(rows) });
    }
    expect(await store.accounts.audit()).toEqual([]);
  });
});

/** SQL that adds verifications of a past day. */
const charged = (lab: StoreLab, { account, key }: Member, count: number): string => {
  const at = Math.floor(lab.clock.now() / DAY_MS) * DAY_MS - 5 * DAY_MS;
  return `INSERT INTO verifications (id, account_id, key_id, email, requested, validation_type, status, deliverability,
      credits, duration_ms, body, created_at, held)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    SELECT 'ver_${account.id}_' || i, '${account.id}', '${key.id}', 'jane@example.com', 'mx', 'mx', 'good', 'unknown',
      1, 1, '{}', ${at}, 0 FROM n`;
};
