/** SQLite charges in the thread of the writer: one transaction per batch, with look-ups by index. */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Plans } from '../../kernel/facts/plans.ts';
import { applyBatch } from '../charge/apply-batch.ts';
import type { AccountState, Changes, ChargeState, KeyState } from '../charge/state.ts';
import {
  ACCOUNT_ALLOWANCE,
  ACCOUNT_COUNTERS,
  ADD_USAGE_SUMS,
  ALLOWANCES,
  accountState,
  FILTER_HITS,
  filterState,
  HOLDS,
  holdState,
  IDEMPOTENCY,
  idempotencyState,
  KEY_BUDGET,
  KEY_USE,
  keyState,
  LEDGER,
  SEEN,
  SEEN_SECRETS,
  seenOwner,
  seenState,
  type TableRows,
  USAGE_HOURS,
  VERIFICATIONS,
} from '../columns.ts';
import type { FilterRule } from '../filter-kinds.ts';
import { assertCompatible, SCHEMA } from '../migrations.ts';
import { type AnswersMessage, type ChargeMessage, readRequest, sentAnswer } from './messages.ts';
import { ADD_HITS, insertSql, updateSql } from './statements.ts';

const SELECT_KEY = `SELECT ${keyState('keys')} FROM keys`;
const OF_REPLY = 'WHERE account_id = ? AND route = ? AND key = ?';
const SQL = {
  key: `${SELECT_KEY} WHERE hash = ?`,
  keyById: `${SELECT_KEY} WHERE id = ?`,
  account: `SELECT ${accountState('accounts')} FROM accounts WHERE id = ?`,
  hold: `SELECT ${holdState('holds')} FROM holds WHERE id = ?`,
  recorded: 'SELECT body, decision FROM verifications WHERE id = ?',
  idempotency: `SELECT ${idempotencyState('idempotency')} FROM idempotency ${OF_REPLY}`,
  filter: `SELECT ${filterState('filters')} FROM filters WHERE account_id = ? AND filter_type = ? AND value = ?`,
  // Each value is looked up: the order is that of the join. For several kinds at once SQLite would read all filters.
  filters: `SELECT ${filterState('f')} FROM json_each(?) AS wanted CROSS JOIN filters AS f
    WHERE f.account_id = ? AND f.filter_type = ? AND f.value = wanted.value`,
  seenOwner: `SELECT ${seenOwner('seen_secrets')} FROM seen_secrets WHERE account_id = ?`,
  seen: `SELECT ${seenState('seen')} FROM seen WHERE account_id = ? AND mailbox = ? AND scope = ?`,
  setAccount: updateSql(ACCOUNT_COUNTERS),
  setAllowance: updateSql(ACCOUNT_ALLOWANCE),
  addAllowance: insertSql(ALLOWANCES),
  setKeyUse: updateSql(KEY_USE),
  setBudget: updateSql(KEY_BUDGET),
  addLedger: insertSql(LEDGER),
  addHold: insertSql(HOLDS),
  endHold: 'DELETE FROM holds WHERE id = ?',
  addVerification: insertSql(VERIFICATIONS),
  addUsage: `${insertSql(USAGE_HOURS)} ${ADD_USAGE_SUMS}`,
  addHits: ADD_HITS,
  putIdempotency: insertSql(IDEMPOTENCY).replace('INSERT', 'INSERT OR REPLACE'),
  dropIdempotency: `DELETE FROM idempotency ${OF_REPLY}`,
  putSeenOwner: insertSql(SEEN_SECRETS).replace('INSERT', 'INSERT OR REPLACE'),
  putSeen: insertSql(SEEN).replace('INSERT', 'INSERT OR REPLACE'),
  schema: SCHEMA,
  begin: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
} as const;
type Statements = Record<keyof typeof SQL, StatementSync>;

export class ChargeTransactions {
  readonly #db: DatabaseSync;
  readonly #plans: Plans;
  #prepared: Statements | null = null;

  constructor(db: DatabaseSync, plans: Plans) {
    this.#db = db;
    this.#plans = plans;
  }

  /**
   * Returns after the commit; in the open transaction, if there is one. Throws when nothing was recorded.
   */
  run(batch: ChargeMessage): AnswersMessage {
    const { node, now, known, requests } = batch;
    const statements = this.#statements();
    if (!this.#db.isTransaction) statements.begin.run();
    try {
      const schema = statements.schema.get();
      assertCompatible({ version: Number(schema?.version), compatibleFrom: Number(schema?.compatibleFrom) }, known);
      const state = loadState(statements, { now, node, plans: this.#plans });
      const { answers, changes } = applyBatch(state, requests.map(readRequest));
      writeChanges(statements, changes, state);
      statements.commit.run();
      return { events: changes.events, answers: answers.map(sentAnswer) };
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

function loadState(statements: Statements, scope: Pick<ChargeState, 'now' | 'node' | 'plans'>): ChargeState {
  const memo = new Map<string, unknown>();
  /** A batch has one object per row, as accounts change in memory. */
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
  /** The key is made of the account, kinds, and what the values follow from. */
  const looked = new Map<string, readonly FilterRule[]>();
  const filters: ChargeState['filters'] = (accountId, { kinds, of, values }) => {
    const id = `${accountId}\n${kinds.join(' ')}\n${of}`;
    const known = looked.get(id);
    if (known !== undefined) return known;
    const wanted = values();
    const [one = '', ...more] = wanted;
    const all = more.length === 0 ? null : JSON.stringify(wanted);
    const rows: unknown[] = kinds.flatMap((kind) =>
      all === null ? statements.filter.all(accountId, kind, one) : statements.filters.all(all, accountId, kind),
    );
    const found = rows as readonly FilterRule[];
    looked.set(id, found);
    return found;
  };
  return {
    ...scope,
    key: (hash) => oneKey(find('key', hash)),
    keyById: (id) => oneKey(find('keyById', id)),
    account: (id) => find<AccountState>('account', id),
    hold: (id) => find('hold', id),
    recorded: (id) => find('recorded', id),
    idempotency: (accountId, route, key) => find('idempotency', accountId, route, key),
    filters,
    seenOwner: (accountId) => find('seenOwner', accountId),
    seen: (accountId, mailbox, scope) => find('seen', accountId, mailbox, scope),
  };
}

function writeChanges(statements: Statements, changes: Changes, { now, node }: ChargeState): void {
  const each = <From>(statement: StatementSync, rows: TableRows<From>, from: Iterable<From>) => {
    for (const one of from) statement.run(...rows.values(one));
  };
  each(statements.setAccount, ACCOUNT_COUNTERS, changes.accounts);
  each(statements.setAllowance, ACCOUNT_ALLOWANCE, changes.allowances);
  for (const entry of changes.allowances) statements.addAllowance.run(...ALLOWANCES.values({ ...entry, now }));
  for (const [id, ip] of changes.keyUses) statements.setKeyUse.run(...KEY_USE.values({ id, ip, now }));
  each(statements.setBudget, KEY_BUDGET, changes.budgets);
  for (const entry of changes.ledger) statements.addLedger.run(...LEDGER.values({ ...entry, now }));
  for (const hold of changes.holds) statements.addHold.run(...HOLDS.values({ ...hold, now, node }));
  for (const id of changes.ended) statements.endHold.run(id);
  for (const entry of changes.verifications) statements.addVerification.run(...VERIFICATIONS.values({ ...entry, now }));
  each(statements.putSeenOwner, SEEN_SECRETS, changes.seenOwners.values());
  each(statements.putSeen, SEEN, changes.seen.values());
  each(statements.addUsage, USAGE_HOURS, changes.usage.values());
  for (const hits of changes.hits.values()) statements.addHits.run(...FILTER_HITS.values({ ...hits, now }));
  for (const { ref, keep } of changes.idempotency.values())
    if (keep) statements.putIdempotency.run(...IDEMPOTENCY.values(ref));
    else statements.dropIdempotency.run(ref.accountId, ref.route, ref.key);
}
