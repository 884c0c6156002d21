import { sql } from 'kysely';
import { counted } from '../kernel/format.ts';
import type { StorageDriver } from './driver.ts';

interface AccountSums {
  id: string;
  /** Null, as the next ones, where the account itself is missing. */
  status: string | null;
  balance: number;
  locked: number;
  amounts: number;
  held: number;
  charged: number;
  recorded: number;
  purged: number;
  used: number;
  results: number;
  requests: number;
}

/**
 * Sums that must agree, per account: balance = Σ amounts of the ledger; locked = Σ holds; Σ charged = Σ verification
 * credits (+ those purged) = Σ usage credits; Σ usage requests ≥ verifications, of which some are purged. The ledger is
 * its rows, the verifications that are their own entries, and the sums of past days. One statement, so that it sees one
 * state, which reads every table once. Returns a sentence for each sum that does not agree, and for an account that has
 * entries but is not there. Of a deleted account, rows disappear one after the other, but what it has locked stays true
 * to the end.
 */
export async function auditAccounts(driver: StorageDriver): Promise<string[]> {
  const { rows } = await sql<AccountSums>`
    WITH entries AS (
      SELECT account_id, sum(amount) AS amount, sum(charged) AS charged, 0 AS recorded, 0 AS results
      FROM ledger GROUP BY account_id
      UNION ALL
      SELECT account_id, sum(amount), sum(charged), 0, 0 FROM ledger_days GROUP BY account_id
      UNION ALL
      SELECT account_id, sum(held - credits), sum(CASE WHEN held IS NULL THEN 0 ELSE credits END), sum(credits), count(*)
      FROM verifications GROUP BY account_id
    ), sums AS (
      SELECT account_id, sum(amount) AS amounts, sum(charged) AS charged, sum(recorded) AS recorded, sum(results) AS results
      FROM entries GROUP BY account_id
    ), open_holds AS (
      SELECT account_id, sum(amount) AS held FROM (
        SELECT account_id, amount FROM holds UNION ALL SELECT account_id, amount FROM shared_holds
      ) h GROUP BY account_id
    ), counters AS (
      SELECT account_id, sum(credits) AS used, sum(requests) AS requests FROM usage_hours GROUP BY account_id
    ), ids AS (
      SELECT id FROM accounts UNION SELECT account_id FROM sums UNION SELECT account_id FROM open_holds
      UNION SELECT account_id FROM counters
    )
    SELECT i.id, a.status, a.balance, a.locked, a.purged_credits AS purged,
      CAST(coalesce(s.amounts, 0) AS BIGINT) AS amounts, CAST(coalesce(s.charged, 0) AS BIGINT) AS charged,
      CAST(coalesce(h.held, 0) AS BIGINT) AS held, CAST(coalesce(s.recorded, 0) AS BIGINT) AS recorded,
      CAST(coalesce(u.used, 0) AS BIGINT) AS used, CAST(coalesce(s.results, 0) AS BIGINT) AS results,
      CAST(coalesce(u.requests, 0) AS BIGINT) AS requests
    FROM ids i LEFT JOIN accounts a ON a.id = i.id LEFT JOIN sums s ON s.account_id = i.id
      LEFT JOIN open_holds h ON h.account_id = i.id LEFT JOIN counters u ON u.account_id = i.id
    ORDER BY i.id`.execute(driver.db);
  const parts = [auditAllowances, auditSharedHolds, auditBudgets];
  return [...rows.flatMap(faults), ...(await Promise.all(parts.map((audit) => audit(driver)))).flat()];
}

interface AllowanceRow {
  id: string;
  allowance: number;
  months: string;
  month: string | null;
  times: number;
}

/**
 * The allowance of a month is given once: its row says so, and the account knows of the latest. What is left of
 * allowances may be more than the account has, as programs of the version before charge without taking from it.
 */
async function auditAllowances(driver: StorageDriver): Promise<string[]> {
  const { rows } = await sql<AllowanceRow>`
    SELECT a.id, a.allowance, a.allowance_months AS months, l.month,
      CAST(coalesce(l.times, 0) AS BIGINT) AS times
    FROM accounts a
      LEFT JOIN (
        SELECT account_id, month, count(*) AS times FROM ledger
        WHERE kind = 'grant' AND month IS NOT NULL AND note IS NULL GROUP BY account_id, month
      ) l ON l.account_id = a.id
    WHERE a.status <> 'deleted' AND (l.month IS NOT NULL OR a.allowance <> 0) ORDER BY a.id, l.month`.execute(
    driver.db,
  );
  return rows.flatMap(({ id, allowance, months, month, times }) => [
    ...(times > 1 ? [`Account ${id}: the allowance of ${month} was given ${times} times.`] : []),
    ...(month !== null && month >= months.slice(0, month.length) && !months.includes(month)
      ? [`Account ${id}: the allowance of ${month} is in the ledger, but the account does not know of it.`]
      : []),
    ...(allowance < 0 ? [`Account ${id}: what is left of its allowance is ${allowance}.`] : []),
  ]);
}

/** What counts against a key's budget as held is what is held with it. */
async function auditBudgets(driver: StorageDriver): Promise<string[]> {
  const { rows } = await sql<{ id: string; counted: number; held: number }>`
    SELECT k.id, k.budget_held AS counted,
      CAST(coalesce((SELECT sum(amount) FROM holds WHERE key_id = k.id), 0)
        + coalesce((SELECT sum(amount) FROM shared_holds WHERE account_id = k.account_id AND key_id = k.id), 0) AS BIGINT)
        AS held
    FROM keys k JOIN accounts a ON a.id = k.account_id AND a.status <> 'deleted'
    WHERE k.budget IS NOT NULL ORDER BY k.id`.execute(driver.db);
  return rows
    .filter(({ counted, held }) => counted !== held)
    .map(({ id, counted, held }) => `Key ${id}: ${counted} counts as held, but its holds sum to ${held}.`);
}

interface SharedSums {
  id: string;
  amount: number;
  purged: number;
  amounts: number;
  charged: number;
  recorded: number;
}

/**
 * What was held for many results is what was charged, given back or is left: by its ledger rows, one for each part that
 * was settled; and each part charged the sum of its results.
 */
async function auditSharedHolds(driver: StorageDriver): Promise<string[]> {
  const { rows } = await sql<SharedSums>`
    SELECT h.id, h.amount, h.purged_credits AS purged,
      CAST(coalesce(l.amounts, 0) AS BIGINT) AS amounts, CAST(coalesce(l.charged, 0) AS BIGINT) AS charged,
      CAST(coalesce(v.recorded, 0) AS BIGINT) AS recorded
    FROM shared_holds h
      JOIN accounts a ON a.id = h.account_id AND a.status <> 'deleted'
      LEFT JOIN (
        SELECT hold_id, sum(amount) AS amounts, sum(charged) AS charged
        FROM ledger WHERE hold_id IS NOT NULL GROUP BY hold_id
      ) l ON l.hold_id = h.id
      LEFT JOIN (
        SELECT hold_id, sum(credits) AS recorded FROM verifications WHERE hold_id IS NOT NULL GROUP BY hold_id
      ) v ON v.hold_id = h.id
    ORDER BY h.id`.execute(driver.db);
  return rows.flatMap(({ id, amount, purged, amounts, charged, recorded }) => [
    ...(amount + amounts + charged === 0
      ? []
      : [`Hold ${id}: ${amount} is left and ${charged} was charged, but its ledger rows sum to ${amounts}.`]),
    ...(charged === recorded + purged
      ? []
      : [`Hold ${id}: ${charged} was charged, but its verifications sum to ${recorded + purged}.`]),
  ]);
}

function faults(sums: AccountSums): string[] {
  const { id, status, balance, locked, amounts, held, charged, recorded, purged, used, results, requests } = sums;
  if (status === null) return [`Account ${id}: it has entries, but there is no such account.`];
  const always = [['what is locked', locked, 'its holds', held]] as const;
  const whole = [
    ['the balance', balance, 'its ledger entries', amounts],
    ['what was charged', charged, 'its verifications', recorded + purged],
    ['what was charged', charged, 'its usage counters', used],
  ] as const;
  const pairs = status === 'deleted' ? always : [...always, ...whole];
  const unequal = pairs.filter(([, left, , right]) => left !== right);
  return [
    ...unequal.map(([what, left, other, right]) => `Account ${id}: ${what} is ${left}, but ${other} sum to ${right}.`),
    ...(status !== 'deleted' && requests < results
      ? [
          `Account ${id}: the log has ${counted(results, 'verification')}, but its usage counters sum to ${counted(requests, 'request')}.`,
        ]
      : []),
    ...(balance < 0 ? [`Account ${id}: the balance is ${balance}.`] : []),
  ];
}
