/** The charge on SQLite: one synchronous transaction per batch, point look-ups in, rows out. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { ChargeEngine } from '../charge/batcher.ts';
import { judge } from '../charge/decide.ts';
import type { AccountState, Answer, Changes, ChargeRequest, ChargeState } from '../charge/state.ts';
import { storable, storableOrNull } from '../text.ts';
import { isOutage } from './failure.ts';
import type { Turn } from './turn.ts';

const SQL = {
  key: `SELECT id, account_id AS "accountId", allow_ips AS "allowIps", revoked_at AS "revokedAt",
    last_used_at AS "lastUsedAt" FROM keys WHERE hash = ?`,
  account: `SELECT id, plan, rate_limit AS "rateLimit", status, balance, locked, window_start AS "windowStart",
    window_count AS "windowCount", filter_emails AS "filterEmails", filter_domains AS "filterDomains",
    filter_ips AS "filterIps" FROM accounts WHERE id = ?`,
  hold: 'SELECT id, account_id AS "accountId", amount FROM holds WHERE id = ?',
  recorded: 'SELECT 1 FROM verifications WHERE id = ?',
  idempotency: `SELECT account_id AS "accountId", route, key, fingerprint, state, status, headers, body, node,
    created_at AS "createdAt", expires_at AS "expiresAt" FROM idempotency WHERE account_id = ? AND route = ? AND key = ?`,
  filter: `SELECT id, filter_type AS "filterType", value, reason, created_at AS "createdAt" FROM filters
    WHERE account_id = ? AND filter_type = ? AND value = ?`,
  setAccount: 'UPDATE accounts SET balance = ?, locked = ?, window_start = ?, window_count = ? WHERE id = ?',
  setKeyUse: 'UPDATE keys SET last_used_at = ?, last_used_ip = ? WHERE id = ?',
  addLedger: `INSERT INTO ledger (account_id, kind, amount, charged, verification_id, created_at)
    VALUES (?, ?, ?, ?, ?, ?)`,
  addHold: `INSERT INTO holds (id, account_id, key_id, amount, node, route, idempotency_key, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  endHold: 'DELETE FROM holds WHERE id = ?',
  addVerification: `INSERT INTO verifications (id, account_id, key_id, email, requested, validation_type, status,
    deliverability, reason, credits, client_ip, duration_ms, body, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  addUsage: `INSERT INTO usage_hours (account_id, hour, key_id, validation_type, status, reason, requests, credits)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, credits = credits + excluded.credits`,
  putIdempotency: `INSERT OR REPLACE INTO idempotency (account_id, route, key, fingerprint, state, status, headers, body,
    node, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  dropIdempotency: 'DELETE FROM idempotency WHERE account_id = ? AND route = ? AND key = ?',
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
} as const;
type Statements = Record<keyof typeof SQL, StatementSync>;

export interface SqliteChargeParts {
  readonly db: DatabaseSync;
  readonly turn: Turn;
  readonly now: () => number;
  readonly node: () => string;
}

export class SqliteCharge implements ChargeEngine {
  readonly #parts: SqliteChargeParts;
  #prepared: Statements | null = null;

  constructor(parts: SqliteChargeParts) {
    this.#parts = parts;
  }

  readonly isOutage = isOutage;

  transact(requests: readonly ChargeRequest[]): Promise<Answer[]> {
    return this.#parts.turn.take(() => this.#run(requests));
  }

  #run(requests: readonly ChargeRequest[]): Answer[] {
    const { db, now, node } = this.#parts;
    const owner = node();
    const statements = this.#statements();
    statements.begin.run();
    try {
      const state = load(statements, now(), owner);
      const { answers, changes } = judge(state, requests);
      write(statements, changes, state);
      statements.commit.run();
      return answers;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }

  /** Prepared at the first batch, when the schema is there. */
  #statements(): Statements {
    const { db } = this.#parts;
    this.#prepared ??= Object.fromEntries(
      Object.entries(SQL).map(([name, sql]) => [name, db.prepare(sql)]),
    ) as unknown as Statements;
    return this.#prepared;
  }
}

function load(statements: Statements, now: number, node: string): ChargeState {
  const memo = new Map<string, unknown>();
  /** One object per row and batch, as judging changes accounts in memory. */
  const find = <T>(name: keyof Statements, ...values: SQLInputValue[]): T | null => {
    const id = `${name}\n${values.join('\n')}`;
    let row = memo.get(id);
    if (row === undefined) {
      row = statements[name].get(...values) ?? null;
      memo.set(id, row);
    }
    return row as T | null;
  };
  return {
    now,
    node,
    key: (hash) => find('key', hash),
    account: (id) => find<AccountState>('account', id),
    hold: (id) => find('hold', id),
    recorded: (id) => statements.recorded.get(id) !== undefined,
    idempotency: (accountId, route, key) => find('idempotency', accountId, route, key),
    filter: (accountId, type, value) => find('filter', accountId, type, value),
  };
}

function write(statements: Statements, changes: Changes, { now, node }: ChargeState): void {
  for (const a of changes.accounts) {
    statements.setAccount.run(a.balance, a.locked, a.windowStart, a.windowCount, a.id);
  }
  for (const [keyId, ip] of changes.keyUses) statements.setKeyUse.run(now, ip, keyId);
  for (const l of changes.ledger) {
    statements.addLedger.run(l.accountId, l.kind, l.amount, l.charged, l.verificationId, now);
  }
  for (const h of changes.holds) {
    statements.addHold.run(h.id, h.accountId, h.keyId, h.amount, node, h.route, h.idempotencyKey, now, h.expiresAt);
  }
  for (const id of changes.ended) statements.endHold.run(id);
  for (const { accountId, keyId, record: r } of changes.verifications) {
    const { id, requested, validationType, status, deliverability, reason, credits, durationMs, body } = r;
    const [email, clientIp] = [storable(r.email), storableOrNull(r.clientIp)];
    const judged = [validationType, status, deliverability, reason, credits] as const;
    statements.addVerification.run(id, accountId, keyId, email, requested, ...judged, clientIp, durationMs, body, now);
  }
  for (const u of changes.usage.values()) {
    const { accountId, hour, keyId, validationType, status, reason, requests, credits } = u;
    statements.addUsage.run(accountId, hour, keyId, validationType, status, reason, requests, credits);
  }
  for (const { ref: i, keep } of changes.idempotency.values()) {
    const key = [i.accountId, i.route, i.key] as const;
    const reply = [i.status, i.headers, i.body] as const;
    if (keep) statements.putIdempotency.run(...key, i.fingerprint, i.state, ...reply, i.node, i.createdAt, i.expiresAt);
    else statements.dropIdempotency.run(...key);
  }
}
