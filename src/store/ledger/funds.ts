/** What an account has, day by day: from what it has now, and what every day since took or added. */
import { sql } from 'kysely';
import { DAY_MS } from '../../kernel/clock.ts';
import type { StorageDriver } from '../driver.ts';
import type { AccountId, Funds } from '../store.ts';

interface Row {
  kind: 'now' | 'day' | 'grant';
  at: number;
  credits: number;
  requests: number;
  note: string | null;
}

/** See `Accounts.funds`. One statement, so that it sees one state. */
export async function fundsOf({ db }: StorageDriver, account: AccountId, since: number): Promise<Funds | null> {
  const from = Math.floor(since / DAY_MS) * DAY_MS;
  const { rows } = await sql<Row>`
    SELECT 'now' AS kind, created_at AS at, balance + locked AS credits, locked AS requests, NULL AS note
      FROM accounts WHERE id = ${account}
    UNION ALL
    SELECT 'day', hour / ${sql.lit(DAY_MS)} * ${sql.lit(DAY_MS)}, CAST(sum(credits) AS BIGINT),
      CAST(sum(requests) AS BIGINT), NULL
      FROM usage_hours WHERE account_id = ${account} AND hour >= ${from} GROUP BY 2
    UNION ALL
    SELECT 'grant', created_at, amount, 0, note
      FROM ledger WHERE account_id = ${account} AND kind = 'grant' AND created_at >= ${from}
    ORDER BY 2 DESC`.execute(db);
  const now = rows.find(({ kind }) => kind === 'now');
  if (now === undefined) return null;
  return {
    from,
    openedAt: now.at,
    total: now.credits,
    held: now.requests,
    days: rows
      .filter(({ kind }) => kind === 'day')
      .map(({ at, credits: charged, requests: verifications }) => ({ at, charged, verifications })),
    grants: rows
      .filter(({ kind }) => kind === 'grant')
      .map(({ at, credits, note }) => ({ at, credits, note: note ?? '' })),
  };
}
