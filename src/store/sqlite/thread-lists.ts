/**
 * Results of lists, recorded in the thread of the writer: charges wait for one message, where a transaction of the main
 * thread has one for each statement.
 */
import type { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { TransactionDriver } from '../driver.ts';
import { recordOutcomes } from '../lists/record.ts';
import type { ListRecorded } from '../store.ts';
import type { Tables } from '../tables.ts';
import { addJob } from './jobs/add.ts';
import { oneOf } from './one-of.ts';
import { readOutcomes } from './outcomes-message.ts';
import { addResults } from './results.ts';
import { syncDialect } from './sync-dialect.ts';
import type { ListRecordHead } from './thread-messages.ts';

const opened = new WeakMap<DatabaseSync, Kysely<Tables>>();

function kyselyOn(connection: DatabaseSync): Kysely<Tables> {
  const known = opened.get(connection) ?? new Kysely<Tables>({ dialect: syncDialect(connection) });
  opened.set(connection, known);
  return known;
}

export async function recordList(
  connection: DatabaseSync,
  { account, list, now, retentionDays, policies }: ListRecordHead,
  outcomes: readonly unknown[],
): Promise<ListRecorded> {
  const db = kyselyOn(connection);
  const driver: TransactionDriver = {
    retentionDays,
    now: async () => now,
    transaction: (work) => db.transaction().execute(work),
    lockAccounts: async () => {},
    oneOf,
    addResults,
    jobs: { add: (trx, job) => addJob({ now: async () => now, policies }, trx, job) },
  };
  return recordOutcomes(driver, account, list, readOutcomes(outcomes));
}
