/** Transactions of lists, imports and purges run in the thread of the writer. */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type CompiledQuery, Kysely, type QueryResult } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Plans } from '../../kernel/facts/plans.ts';
import type { JobPolicies } from '../../kernel/jobs.ts';
import { bulkTransactions } from '../bulk.ts';
import type { BulkTransactions, TransactionDriver } from '../driver.ts';
import { addJob } from '../jobs/jobs.ts';
import type { Tables } from '../tables.ts';
import { SqliteConnection, sqliteDialect } from './dialect.ts';
import { query, resultOf, runForRows } from './messages.ts';
import {
  addHits,
  bindable,
  changeRows,
  filtersWith,
  insertRows,
  oneOf,
  RowsQuery,
  readAndChange,
  readTogether,
  tableOf,
  writeTogether,
} from './statements.ts';

// Kysely on a connection of this thread. A transaction that waits for nothing but its statements is one piece of work.

/** Kept prepared: preparing those of a small transaction takes longer than running them. */
const PREPARED_MAX = 64;

class OwnConnection extends SqliteConnection {
  readonly #db: DatabaseSync;
  readonly #prepared = new LRUCache<string, StatementSync>({ max: PREPARED_MAX });
  constructor(db: DatabaseSync) {
    super();
    this.#db = db;
  }

  async executeQuery<R>(compiled: CompiledQuery): Promise<QueryResult<R>> {
    const statement = this.#statement(compiled.sql);
    if (compiled instanceof RowsQuery) {
      runForRows(statement, compiled);
      return { rows: [] };
    }
    return resultOf(query(statement, bindable(compiled.parameters)));
  }

  #statement(sql: string): StatementSync {
    const statement = this.#prepared.get(sql) ?? this.#db.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }

  async begin(): Promise<void> {
    this.#db.exec('BEGIN IMMEDIATE');
  }
  async commit(): Promise<void> {
    this.#db.exec('COMMIT');
  }
  async rollback(): Promise<void> {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
  }
}

const opened = new WeakMap<DatabaseSync, Kysely<Tables>>();

function kyselyOn(connection: DatabaseSync): Kysely<Tables> {
  const known = opened.get(connection);
  if (known !== undefined) return known;
  const own = new OwnConnection(connection);
  const db = new Kysely<Tables>({ dialect: sqliteDialect(() => own) });
  opened.set(connection, db);
  return db;
}

/** Transactions in bulk go by it. */
export interface BulkScope {
  readonly now: number;
  readonly retentionDays: number;
  readonly plans: Plans;
  readonly sendsMail: boolean;
  readonly policies: JobPolicies;
}

export function bulkTransactionsOn(
  connection: DatabaseSync,
  { now, retentionDays, plans, sendsMail, policies }: BulkScope,
): BulkTransactions {
  const db = kyselyOn(connection);
  const driver: TransactionDriver = {
    retentionDays,
    plans,
    sendsMail,
    now: async () => now,
    transaction: (work) => db.transaction().execute(work),
    lockAccounts: async () => {},
    oneOf,
    insertRows,
    changeRows,
    tableOf,
    addHits,
    filtersWith,
    readTogether,
    writeTogether,
    readAndChange: (work) => readAndChange(db, work),
    jobs: { add: (trx, job) => addJob({ now: async () => now, policies }, trx, job) },
  };
  return bulkTransactions(driver);
}
