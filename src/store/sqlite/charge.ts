/** Charging on SQLite, in the thread of the writer: one transaction per batch, with look-ups by index. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { applyBatch } from '../charge/apply-batch.ts';
import type { AccountState, Changes, ChargeState, KeyState } from '../charge/state.ts';
import { assertCompatible, SCHEMA } from '../migrations.ts';
import { storable, storableOrNull } from '../text.ts';
import { readBatch, writeAnswers } from './charge-message.ts';

const KEYS = `SELECT id, account_id AS "accountId", allow_ips AS "allowIps", revoked_at AS "revokedAt",
    expires_at AS "expiresAt", scopes, budget, budget_month AS "budgetMonth", budget_spent AS "budgetSpent",
    budget_held AS "budgetHeld", last_used_at AS "lastUsedAt" FROM keys`;
const SQL = {
  key: `${KEYS} WHERE hash = ?`,
  keyById: `${KEYS} WHERE id = ?`,
  account: `SELECT id, plan, rate_limit AS "rateLimit", status, test_of AS "testOf", balance, locked, window_start AS "windowStart",
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
  setBudget: 'UPDATE keys SET budget_month = ?, budget_spent = ?, budget_held = ? WHERE id = ?',
  addLedger: `INSERT INTO ledger (account_id, kind, amount, verification_id, created_at)
    VALUES (?, ?, ?, ?, ?)`,
  addHold: `INSERT INTO holds (id, account_id, key_id, amount, node, route, idempotency_key, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  endHold: 'DELETE FROM holds WHERE id = ?',
  addVerification: `INSERT INTO verifications (id, account_id, key_id, email, requested, validation_type, status,
    deliverability, reason, credits, client_ip, duration_ms, body, created_at, held, via)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  addUsage: `INSERT INTO usage_hours (account_id, hour, key_id, validation_type, status, reason, requests, credits)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, credits = credits + excluded.credits`,
  putIdempotency: `INSERT OR REPLACE INTO idempotency (account_id, route, key, fingerprint, state, status, headers, body,
    node, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  dropIdempotency: 'DELETE FROM idempotency WHERE account_id = ? AND route = ? AND key = ?',
  schema: SCHEMA,
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
} as const;
type Statements = Record<keyof typeof SQL, StatementSync>;

export class ChargeTransactions {
  readonly #db: DatabaseSync;
  #prepared: Statements | null = null;

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /**
   * A batch of `batchWriter` → answers for `readAnswers`, after the commit; in the open transaction, if there is one.
   * Throws when nothing was recorded.
   */
  run(batch: readonly unknown[]): unknown[] {
    const { node, now, known, requests } = readBatch(batch);
    const statements = this.#statements();
    if (!this.#db.isTransaction) statements.begin.run();
    try {
      const schema = statements.schema.get();
      assertCompatible({ version: Number(schema?.version), compatibleFrom: Number(schema?.compatibleFrom) }, known);
      const state = load(statements, now, node);
      const { answers, changes } = applyBatch(state, requests);
      write(statements, changes, state);
      statements.commit.run();
      return writeAnswers(changes.events, answers);
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw error;
    }
  }

  /** Prepared for the first batch, when the schema exists. */
  #statements(): Statements {
    this.#prepared ??= Object.fromEntries(
      Object.entries(SQL).map(([name, sql]) => [name, this.#db.prepare(sql)]),
    ) as unknown as Statements;
    return this.#prepared;
  }
}

function load(statements: Statements, now: number, node: string): ChargeState {
  const memo = new Map<string, unknown>();
  /** One object per row and batch, as accounts change in memory. */
  const find = <T>(name: keyof Statements, ...values: SQLInputValue[]): T | null => {
    const id = `${name}\n${values.join('\n')}`;
    let row = memo.get(id);
    if (row === undefined) {
      row = statements[name].get(...values) ?? null;
      memo.set(id, row);
    }
    return row as T | null;
  };
  const keys = new Map<string, KeyState>();
  /** The same object, whether it was found by its hash or by its id. */
  const oneKey = (found: KeyState | null): KeyState | null => {
    if (found === null) return null;
    const known = keys.get(found.id);
    if (known === undefined) keys.set(found.id, found);
    return known ?? found;
  };
  return {
    now,
    node,
    key: (hash) => oneKey(find('key', hash)),
    keyById: (id) => oneKey(find('keyById', id)),
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
  for (const b of changes.budgets) statements.setBudget.run(b.budgetMonth, b.budgetSpent, b.budgetHeld, b.id);
  for (const l of changes.ledger) {
    statements.addLedger.run(l.accountId, l.kind, l.amount, l.verificationId, now);
  }
  for (const h of changes.holds) {
    statements.addHold.run(h.id, h.accountId, h.keyId, h.amount, node, h.route, h.idempotencyKey, now, h.expiresAt);
  }
  for (const id of changes.ended) statements.endHold.run(id);
  for (const { accountId, keyId, record: r, held } of changes.verifications) {
    const { id, requested, validationType, status, deliverability, reason, credits, durationMs, body, via = null } = r;
    const [email, clientIp] = [storable(r.email), storableOrNull(r.clientIp)];
    const judged = [validationType, status, deliverability, reason, credits] as const;
    const recorded = [clientIp, durationMs, body, now, held, via] as const;
    statements.addVerification.run(id, accountId, keyId, email, requested, ...judged, ...recorded);
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
