/** Transactions of lists in the thread of the writer. */
import type { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { ListTransactions, TransactionDriver } from '../driver.ts';
import { listTransactions } from '../lists/transactions.ts';
import type { AccountId, ListRecorded } from '../store.ts';
import type { Tables } from '../tables.ts';
import { addJob } from './jobs/add.ts';
import { oneOf } from './one-of.ts';
import { readOutcomes } from './outcomes-message.ts';
import { addResults } from './results.ts';
import { syncDialect } from './sync-dialect.ts';
import type { ListScope } from './thread-messages.ts';
import { readTogether, writeTogether } from './together.ts';

const opened = new WeakMap<DatabaseSync, Kysely<Tables>>();

function kyselyOn(connection: DatabaseSync): Kysely<Tables> {
  const known = opened.get(connection) ?? new Kysely<Tables>({ dialect: syncDialect(connection) });
  opened.set(connection, known);
  return known;
}

/** As `ListTransactions`, with outcomes as a message. */
export type ThreadLists = Omit<ListTransactions, 'record'> & {
  record(account: AccountId, list: string, outcomes: readonly unknown[]): Promise<ListRecorded>;
};

export function listTransactionsOn(connection: DatabaseSync, { now, retentionDays, policies }: ListScope): ThreadLists {
  const db = kyselyOn(connection);
  const driver: TransactionDriver = {
    retentionDays,
    now: async () => now,
    transaction: (work) => db.transaction().execute(work),
    lockAccounts: async () => {},
    oneOf,
    addResults,
    readTogether,
    writeTogether,
    jobs: { add: (trx, job) => addJob({ now: async () => now, policies }, trx, job) },
  };
  const { record, ...others } = listTransactions(driver);
  return {
    ...others,
    record: (account, list, outcomes) => record(account, list, readOutcomes(account, list, outcomes)),
  };
}
