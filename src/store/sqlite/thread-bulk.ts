/** Transactions of lists, imports and purges in the thread of the writer. */
import type { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import { bulkTransactions } from '../bulk.ts';
import type { BulkTransactions, TransactionDriver } from '../driver.ts';
import { addJob } from '../jobs/jobs.ts';
import type { AccountId, ListRecorded } from '../store.ts';
import type { Tables } from '../tables.ts';
import { filtersWith } from './filters-with.ts';
import { insertRows } from './insert-rows.ts';
import { oneOf } from './one-of.ts';
import { readOutcomes } from './outcomes-message.ts';
import { syncDialect } from './sync-dialect.ts';
import type { BulkScope } from './thread-messages.ts';
import { readAndChange, readTogether, writeTogether } from './together.ts';

const opened = new WeakMap<DatabaseSync, Kysely<Tables>>();

function kyselyOn(connection: DatabaseSync): Kysely<Tables> {
  const known = opened.get(connection) ?? new Kysely<Tables>({ dialect: syncDialect(connection) });
  opened.set(connection, known);
  return known;
}

/** As `BulkTransactions`, with outcomes as a message. */
export type ThreadBulk = Omit<BulkTransactions, 'record'> & {
  record(account: AccountId, list: string, outcomes: readonly unknown[]): Promise<ListRecorded>;
};

export function bulkTransactionsOn(connection: DatabaseSync, { now, retentionDays, policies }: BulkScope): ThreadBulk {
  const db = kyselyOn(connection);
  const driver: TransactionDriver = {
    retentionDays,
    now: async () => now,
    transaction: (work) => db.transaction().execute(work),
    lockAccounts: async () => {},
    oneOf,
    insertRows,
    filtersWith,
    readTogether,
    writeTogether,
    readAndChange: (work) => readAndChange(db, work),
    jobs: { add: (trx, job) => addJob({ now: async () => now, policies }, trx, job) },
  };
  const { record, ...others } = bulkTransactions(driver);
  return {
    ...others,
    record: (account, list, outcomes) => record(account, list, readOutcomes(account, list, outcomes)),
  };
}
