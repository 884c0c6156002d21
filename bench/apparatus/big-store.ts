/** A store that has been in use for a month: written by the database itself, within a minute or two. */
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { DAY_MS, HOUR_MS, systemClock } from '../../src/kernel/clock.ts';
import { createKey } from '../../src/service/keys.ts';
import { openStore } from '../../src/store/open.ts';
import type { AccountId, Store } from '../../src/store/store.ts';

export const BIG = {
  verifications: 2_000_000,
  accounts: 1_000,
  /** All of the first account, which has a fifth of the verifications as well. */
  filters: 100_000,
  /** Up to now. */
  days: 29,
};

const CREDITS = 1_000_000_000;
/** Added to numbers, so that ids have the usual length. */
const DIGITS = 100_000_000_000_000_000n;
const FIRST = `acc_00000${DIGITS}`;
/** As long as the reply of an mx verification. */
const CHECKS = '"check":{"result":"skipped"},'.repeat(24);

/** In SQL that both databases know. */
function statements({ verifications, accounts, filters, days }: typeof BIG, now: number): string[] {
  const numbers = (count: number) =>
    `WITH RECURSIVE n(i) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`;
  const start = now - days * DAY_MS;
  const step = Math.floor((days * DAY_MS) / verifications);
  const columns = `id, account_id, key_id, email, requested, validation_type, status, deliverability, credits, client_ip,
    duration_ms, body, created_at, held`;
  return [
    `INSERT INTO accounts (id, name, plan, rate_limit, balance, created_at, filter_emails, filter_domains, last_filter_id)
     ${numbers(accounts)} SELECT 'acc_00000' || (${DIGITS} + i), 'Account ' || i, 'enterprise', 1000000000, ${CREDITS},
       ${start}, CASE i WHEN 0 THEN ${filters / 2} ELSE 0 END, CASE i WHEN 0 THEN ${filters / 2} ELSE 0 END,
       CASE i WHEN 0 THEN ${filters} ELSE 0 END FROM n`,
    `INSERT INTO ledger (account_id, kind, amount, note, created_at)
     SELECT id, 'grant', ${CREDITS}, 'Opening balance', created_at FROM accounts`,
    `INSERT INTO verifications (${columns})
     ${numbers(verifications)}, v AS (
       SELECT i, 'ver_00000' || (${DIGITS} + i) AS id,
         'acc_00000' || (${DIGITS} + CASE i % 5 WHEN 0 THEN 0 ELSE i / 5 % ${accounts} END) AS account,
         'person' || i || '@company' || (i % 7919) || '.com' AS email FROM n
     )
     SELECT id, account, 'key_00000' || (${DIGITS} + i % 3), email, 'mx', 'mx', 'good', 'unknown', 1, '192.0.2.' || (i % 256),
       12, '{"email":"' || email || '",${CHECKS}"id":"' || id || '"}', ${start} + i * ${step}, 0 FROM v`,
    `INSERT INTO usage_hours (account_id, hour, key_id, validation_type, status, reason, requests, credits)
     SELECT account_id, created_at / ${HOUR_MS} * ${HOUR_MS}, key_id, 'mx', 'good', '', count(*), sum(credits)
     FROM verifications GROUP BY 1, 2, 3`,
    `UPDATE accounts SET balance = balance - coalesce(
       (SELECT sum(credits) FROM usage_hours WHERE account_id = accounts.id), 0)`,
    `INSERT INTO filters (id, account_id, filter_type, value, reason, reason_folded, created_at)
     ${numbers(filters)} SELECT i + 1, '${FIRST}', CASE i % 2 WHEN 0 THEN 'email' ELSE 'domain' END,
       CASE i % 2 WHEN 0 THEN 'blocked' || i || '@company' || (i % 7919) || '.com' ELSE 'spam' || i || '.example.com' END,
       'Reported ' || (i % 97), 'reported ' || (i % 97), ${start} + i FROM n`,
  ];
}

interface Index {
  readonly name: string;
  /** Creates it. */
  readonly text: string;
}

/** An index is made of all rows at once, which takes a fraction of the time that it takes to add them one by one. */
const withoutIndexes = (texts: readonly string[], indexes: readonly Index[]): string[] => [
  ...indexes.map(({ name }) => `DROP INDEX ${name}`),
  ...texts,
  ...indexes.map(({ text }) => text),
];

const SQLITE_INDEXES = `SELECT name, sql AS text FROM sqlite_master
  WHERE type = 'index' AND tbl_name = 'verifications' AND sql IS NOT NULL`;
/** But those of constraints. */
const POSTGRES_INDEXES = `SELECT indexname AS name, indexdef AS text FROM pg_indexes WHERE tablename = 'verifications'
  AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = indexname)`;

async function execute(url: string, texts: readonly string[]): Promise<void> {
  if (url.startsWith('sqlite:')) {
    const db = new DatabaseSync(url.slice('sqlite:'.length));
    // Written once instead of twice.
    db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144');
    const indexes = db.prepare(SQLITE_INDEXES).all() as unknown as Index[];
    for (const text of withoutIndexes(texts, indexes)) db.exec(text);
    db.exec('PRAGMA journal_mode = WAL');
    db.close();
    return;
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("SET synchronous_commit = off; SET maintenance_work_mem = '256MB'; SET jit = off");
  const { rows: indexes } = await client.query<Index>(POSTGRES_INDEXES);
  for (const text of withoutIndexes(texts, indexes)) await client.query(text);
  await client.query('VACUUM ANALYZE');
  // So that it does not write this to disk while something is measured.
  await client.query('CHECKPOINT');
  await client.end();
}

export interface BigStore {
  readonly url: string;
  /** The first one, and a key of it. */
  readonly account: AccountId;
  readonly key: string;
}

/** Fills an empty store. */
export async function fillBigStore(url: string, size = BIG): Promise<BigStore> {
  const open = async <T>(use: (store: Store) => Promise<T>): Promise<T> => {
    const store = await openStore({ url, clock: systemClock });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  };
  await open((store) => store.migrate());
  await execute(url, statements(size, systemClock.now()));
  return open(async (store) => {
    const account = await store.accounts.get(FIRST);
    if (account === null) throw new Error('The store was not empty.');
    const { value } = await createKey(store, account.id, { name: 'bench', allowIps: [] });
    return { url, account: account.id, key: value };
  });
}
