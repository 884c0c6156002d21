/** An account with verifications of 60 days and their counters: single calls with three keys, and one list. */
import { DAY_MS, HOUR_MS } from '../../src/kernel/clock.ts';
import { createKey } from '../../src/service/keys.ts';
import type { Account } from '../../src/store/store.ts';
import type { Lab } from './service.ts';
import { runSql } from './stores.ts';

const DAYS = 60;

/** What is found, by number: requested, charged, status, deliverability, reason. */
const VERDICTS = `(VALUES
  (1, 'smtp', 'smtp', 'good', 'deliverable', NULL),
  (2, 'smtp', 'smtp', 'bad', 'undeliverable', 'mailbox_not_found'),
  (3, 'smtp', 'mx', 'good', 'risky', 'disposable_domain'),
  (4, 'mx', 'mx', 'good', 'unknown', NULL),
  (5, 'smtp', 'smtp', 'good', 'risky', 'catch_all'),
  (6, 'smtp', 'mx', 'good', 'unknown', 'greylisted'),
  (7, 'smtp', 'mx', 'good', 'unknown', 'dns_failure'))`;

/** A reply without what differs from row to row. */
const REPLY = JSON.stringify({
  did_you_mean: null,
  is_disposable: false,
  is_role: false,
  is_free: true,
  is_relay: false,
  is_catch_all: null,
  checks: {
    syntax: { result: 'pass' },
    filter: { result: 'pass' },
    disposable: { result: 'pass', list_version: '2026-11-20' },
    domain: { result: 'pass' },
    mx: {
      result: 'pass',
      records: [{ host: 'mx.example.net', priority: 10 }],
      provider: 'Google',
      provider_kind: null,
    },
    smtp: { result: 'skipped', host: null, stage: null, code: null, enhanced_code: null, tls: null, rule: null },
    catch_all: { result: 'skipped', checked_at: null },
  },
  is_mailbox_full: null,
  is_disabled: null,
  retry_after: null,
  warnings: [],
  confidence: null,
  relay_provider: null,
});

export interface Volume {
  readonly account: Account;
  /** When the list ran, ms: five minutes of an hour that has single calls as well. */
  readonly listAt: number;
}

/** On SQLite. All 60,000 take a second or two. `of`: an account without verifications; a new one by default. */
export async function volumeOf(
  lab: Lab,
  { calls = 55_000, rows = 5_000, of = null }: { calls?: number; rows?: number; of?: Account | null } = {},
): Promise<Volume> {
  const account =
    of ?? (await lab.store.accounts.create({ name: 'Kestrel', plan: 'premium', rateLimit: null, credits: 50_000 }));
  const key = async (name: string) => (await createKey(lab.store, account.id, { name, allowIps: [] })).key.id;
  const [form, crm, partner] = [await key('Sign-up form'), await key('CRM import'), await key('Partner API')];
  const now = Date.now();
  const listAt = Math.floor(now / HOUR_MS) * HOUR_MS - 2 * HOUR_MS;
  const run = (sql: string) => runSql(lab.databaseUrl, sql);
  const step = Math.floor((DAYS * DAY_MS) / calls);
  await run(`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${calls}),
    calls AS (
      SELECT n, CASE WHEN n % 10 < 6 THEN '${form}' WHEN n % 10 < 9 THEN '${crm}' ELSE '${partner}' END AS key FROM numbers
    ),
    verdicts (number, requested, charged, status, deliverability, reason) AS ${VERDICTS},
    rows AS (
      SELECT 'call' || n AS name, key, ${now} - n * ${step} AS at, NULL AS list,
        CASE WHEN n % 5000 = 4999 THEN 7 WHEN key = '${partner}' THEN 6 WHEN n % 20 < 10 THEN 1 WHEN n % 20 < 14 THEN 2
          WHEN n % 20 < 16 THEN 3 WHEN n % 20 < 19 THEN 4 ELSE 5 END AS number
      FROM calls
      UNION ALL
      SELECT 'row' || n, '${crm}', ${listAt} + n * 60, 'lst_volume', 1 FROM numbers WHERE n <= ${rows}
    )
    INSERT INTO verifications (id, account_id, key_id, email, requested, validation_type, status, deliverability,
      reason, credits, duration_ms, body, created_at, hold_id, client_ip)
    SELECT 'ver_' || substr('0000000000000000' || name, -16), '${account.id}', key,
      name || '@company' || (at % 500) || '.com', requested, charged, status, deliverability, reason,
      CASE charged WHEN 'smtp' THEN 10 ELSE 1 END, 40, 
      json_set('${REPLY}', '$.email', name, '$.status', status, '$.deliverability', deliverability, '$.reason', reason,
        '$.validation_type', charged), at, list, iif(list IS NULL, '198.51.100.7', '203.0.113.9')
    FROM rows JOIN verdicts USING (number) ORDER BY at`);
  await run(`INSERT INTO usage_hours (account_id, hour, key_id, validation_type, status, reason, requests, credits,
      api_requests, api_credits, list_requests, list_credits)
    SELECT account_id, created_at / ${HOUR_MS} * ${HOUR_MS}, key_id, validation_type, status, coalesce(reason, ''),
      count(*), sum(credits), sum(hold_id IS NULL), sum(iif(hold_id IS NULL, credits, 0)), sum(hold_id IS NOT NULL),
      sum(iif(hold_id IS NULL, 0, credits))
    FROM verifications WHERE account_id = '${account.id}' GROUP BY 1, 2, 3, 4, 5, 6`);
  return { account, listAt };
}
