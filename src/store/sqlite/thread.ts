/**
 * A thread with a connection to a SQLite database: whatever waits for the disk or computes long waits here. Its end, for
 * any reason, closes the connection and rolls an open transaction back.
 */
import type { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { assertCompatible, StoreVersionError } from '../migrations.ts';
import type { ChargeTransactions } from './charge.ts';
import { openConnection } from './connection.ts';
import { migrate, readState } from './migrate.ts';
import type { Call, Calls, Failure, Operation, QueryResult, Reply, ThreadOptions } from './thread-messages.ts';

const send = (reply: Reply): void => parentPort?.postMessage(reply);

function failureOf(error: unknown): Failure {
  if (error instanceof StoreVersionError) return { newer: error.state, known: error.known };
  if (!(error instanceof Error)) return { message: String(error) };
  const { message, code, errcode }: Error & { code?: unknown; errcode?: unknown } = error;
  return { message, code, errcode };
}

function query(db: DatabaseSync, sql: string, values: Calls['query']['input'][1]): QueryResult {
  const statement = db.prepare(sql);
  if (statement.columns().length === 0) {
    const { changes, lastInsertRowid } = statement.run(...values);
    return [null, [], changes, lastInsertRowid];
  }
  statement.setReturnArrays(true);
  // With setReturnArrays, each row is an array.
  const rows: unknown[] = statement.all(...values);
  // Not before: where another process has migrated the store, running it compiles it again.
  return [statement.columns().map(({ name }) => name), rows.flat(), 0, 0];
}

function heartbeat(db: DatabaseSync, known: number, now: number): void {
  assertCompatible(readState(db), known);
  const { changes } = db.prepare('UPDATE heartbeat SET at = ? WHERE id = 1').run(now);
  if (Number(changes) !== 1) throw new Error('The store has lost its heartbeat row.');
}

function serve(db: DatabaseSync, transactions: ChargeTransactions | null): void {
  function run(call: Call): Calls[Operation]['output'] {
    switch (call[1]) {
      case 'query':
        return query(db, call[2], call[3]);
      case 'script':
        db.exec(call[2]);
        return null;
      case 'rollback':
        if (db.isTransaction) db.exec('ROLLBACK');
        return null;
      case 'charge':
        if (transactions === null) throw new TypeError('This thread does not charge.');
        return transactions.run(call[2]);
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
    try {
      send([call[0], null, run(call)]);
    } catch (error) {
      send([call[0], failureOf(error)]);
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
