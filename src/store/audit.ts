import { sql } from 'kysely';
import type { Engine } from './engine.ts';

interface Sums {
  id: string;
  status: string;
  balance: number;
  locked: number;
  amounts: number;
  held: number;
  charged: number;
  recorded: number;
  purged: number;
  used: number;
}

/**
 * Sums that must agree, per account, in one reading: balance = Σ ledger amounts; locked = Σ holds; Σ charged =
 * Σ verification credits (+ those purged) = Σ usage credits. Answers a sentence for each that does not. Of an account
 * that was deleted the rows go one after the other, but what it has locked stays true to the end.
 */
export async function audit(engine: Engine): Promise<string[]> {
  const { rows } = await sql<Sums>`
    SELECT a.id, a.status, a.balance, a.locked, a.purged_credits AS purged,
      CAST(coalesce((SELECT sum(amount) FROM ledger WHERE account_id = a.id), 0) AS BIGINT) AS amounts,
      CAST(coalesce((SELECT sum(charged) FROM ledger WHERE account_id = a.id), 0) AS BIGINT) AS charged,
      CAST(coalesce((SELECT sum(amount) FROM holds WHERE account_id = a.id), 0) AS BIGINT) AS held,
      CAST(coalesce((SELECT sum(credits) FROM verifications WHERE account_id = a.id), 0) AS BIGINT) AS recorded,
      CAST(coalesce((SELECT sum(credits) FROM usage_hours WHERE account_id = a.id), 0) AS BIGINT) AS used
    FROM accounts a ORDER BY a.id`.execute(engine.db);
  return rows.flatMap(faults);
}

function faults(sums: Sums): string[] {
  const { id, status, balance, locked, amounts, held, charged, recorded, purged, used } = sums;
  const always = [['what is locked', locked, 'its holds', held]] as const;
  const whole = [
    ['the balance', balance, 'its ledger', amounts],
    ['what was charged', charged, 'its verifications', recorded + purged],
    ['what was charged', charged, 'its usage counters', used],
  ] as const;
  const pairs = status === 'deleted' ? always : [...always, ...whole];
  const unequal = pairs.filter(([, left, , right]) => left !== right);
  return [
    ...unequal.map(([what, left, other, right]) => `Account ${id}: ${what} is ${left}, but ${other} sum to ${right}.`),
    ...(balance < 0 ? [`Account ${id}: the balance is ${balance}.`] : []),
  ];
}
