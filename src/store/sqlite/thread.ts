/**
 * A thread with a connection to a SQLite database: whatever waits for the disk or computes long waits here. Its end,
 * for any reason, closes the connection and rolls an open transaction back.
 */
import type { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { assertCompatible, StoreVersionError } from '../migrations.ts';
import type { ChargeTransactions } from './charge.ts';
import { openConnection } from './connection.ts';
import { migrate, readState } from './migrate.ts';
import { query, writeRows } from './query.ts';
import type { ThreadBulk } from './thread-bulk.ts';
import type { BulkScope, Call, Calls, Failure, Operation, Reply, ThreadOptions } from './thread-messages.ts';

const send = (reply: Reply): void => parentPort?.postMessage(reply);

function failureOf(error: unknown): Failure {
  if (error instanceof StoreVersionError) return { newer: error.state, known: error.known };
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, code, errcode }: Error & { code?: unknown; errcode?: unknown } = error;
  return { message, code, errcode };
}

/** Loaded with the first of them. */
const bulk = async (db: DatabaseSync, scope: BulkScope): Promise<ThreadBulk> =>
  (await import('./thread-bulk.ts')).bulkTransactionsOn(db, scope);

function heartbeat(db: DatabaseSync, known: number, now: number): void {
  assertCompatible(readState(db), known);
  const { changes } = db.prepare('UPDATE heartbeat SET at = ? WHERE id = 1').run(now);
  if (Number(changes) !== 1) throw new Error('The store has lost its heartbeat row.');
}

function serve(db: DatabaseSync, transactions: ChargeTransactions | null): void {
  function run(call: Call): Calls[Operation]['output'] | Promise<Calls[Operation]['output']> {
    switch (call[1]) {
      case 'query':
        return query(db.prepare(call[2]), call[3]);
      case 'rows':
        writeRows(db.prepare(call[2]), { width: call[3], parameters: call[4] });
        return null;
      case 'script':
        db.exec(call[2]);
        return null;
      case 'begin':
        if (!db.isTransaction) db.exec('BEGIN IMMEDIATE');
        return null;
      case 'rollback':
        if (db.isTransaction) db.exec('ROLLBACK');
        return null;
      case 'charge':
        if (transactions === null) throw new TypeError('This thread does not charge.');
        return transactions.run(call[2]);
      case 'listAppend':
        return bulk(db, call[2]).then(({ append }) => append(call[3], call[4], call[5]));
      case 'listClaim':
        return bulk(db, call[2]).then(({ claim }) => claim(call[3]));
      case 'listClaimWaiting':
        return bulk(db, call[2]).then(({ claimWaiting }) => claimWaiting(call[3]));
      case 'listRecord':
        return bulk(db, call[2]).then(({ record }) => record(call[3], call[4], call[5]));
      case 'filtersAdd':
        return bulk(db, call[2]).then(({ addFilters }) => addFilters(call[3], call[4], call[5]));
      case 'verificationsDelete':
        return bulk(db, call[2]).then(({ deleteVerifications }) => deleteVerifications(call[3]));
      case 'migrate':
        return migrate(db, call[2], call[3]);
      case 'schema':
        return readState(db);
      case 'heartbeat':
        heartbeat(db, call[2], call[3]);
        return null;
      case 'close':
        db.close();
        parentPort?.close();
        return null;
    }
  }

  parentPort?.on('message', (call: Call) => {
    const fail = (error: unknown) => send([call[0], failureOf(error)]);
    try {
      const output = run(call);
      // Nothing else is sent before its reply (write-mutex.ts).
      if (output instanceof Promise) output.then((late) => send([call[0], null, late]), fail);
      else send([call[0], null, output]);
    } catch (error) {
      fail(error);
    }
  });
}

async function start({ path, role }: ThreadOptions): Promise<void> {
  try {
    const db = openConnection(path, role);
    serve(db, role === 'reader' ? null : new (await import('./charge.ts')).ChargeTransactions(db));
    send([0, null]);
  } catch (error) {
    send([0, failureOf(error)]);
  }
}

const options: ThreadOptions = workerData;
await start(options);
