/**
 * This process's threads on a database file. Stores on the same file share them, and the mutex of its writers.
 */
import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { Kysely } from 'kysely';
import type { Plans } from '../../kernel/facts/plans.ts';
import { withOutages } from '../outages.ts';
import type { Tables } from '../tables.ts';
import { isSqliteOutage } from './failure.ts';
import { makePrivateFile, makePrivateFolder } from './private-files.ts';
import { MEMORY, type OnLost, StoreThread, type ThreadAccess, threadDialect, WriteMutex } from './threads.ts';

export interface SqliteFile extends ThreadAccess {
  /** Null means in memory. */
  readonly path: string | null;
  /** Everything but charging, migrations and the readiness check uses it. */
  readonly db: Kysely<Tables>;
  /** Has a thread of its own. */
  readonly scans: Kysely<Tables>;
  close(): Promise<void>;
}

const shared = new Map<string, { readonly file: SqliteFile; readonly plans: Plans; users: number }>();

/** Opens the file, and creates it and its folder if need be. Throws an Error with a plain sentence on failure. */
export async function openSqliteFile(path: string, plans: Plans, onLost: OnLost): Promise<SqliteFile> {
  try {
    const file = path === MEMORY ? connect({ path, real: null, plans }, onLost) : shareFile(path, plans, onLost);
    try {
      await file.writer.session();
      return file;
    } catch (error) {
      await file.close();
      throw error;
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The store ${path} cannot be opened: ${reason}.`, { cause: error });
  }
}

function shareFile(path: string, plans: Plans, onLost: OnLost): SqliteFile {
  makePrivateFolder(dirname(path));
  makePrivateFile(path);
  const real = realpathSync(path);
  const known = shared.get(real);
  // The thread that charges goes by the plans that it was opened with.
  if (known !== undefined && known.plans !== plans) return connect({ path, real, plans }, onLost);
  if (known !== undefined) {
    known.users += 1;
    return known.file;
  }
  const own = connect({ path, real, plans }, onLost);
  const close = async () => {
    const entry = shared.get(real);
    if (entry === undefined || --entry.users > 0) return;
    shared.delete(real);
    await own.close();
  };
  const file = { ...own, close };
  shared.set(real, { file, plans, users: 1 });
  return file;
}

function connect(
  { path, real, plans }: { readonly path: string; readonly real: string | null; readonly plans: Plans },
  onLost: OnLost,
): SqliteFile {
  const writer = new StoreThread({ path, role: 'writer', plans }, onLost);
  const reader = real === null ? writer : new StoreThread({ path, role: 'reader', plans }, onLost);
  const readsBeside = () => real !== null && reader.started;
  const mutex = new WriteMutex();
  const kyselyOn = (reads: StoreThread) =>
    new Kysely<Tables>({
      dialect: withOutages(threadDialect({ writer, reader: reads, readsBeside, mutex }), isSqliteOutage),
    });
  const scanner = real === null ? writer : new StoreThread({ path, role: 'reader', plans }, onLost);
  const [db, scans] = [kyselyOn(reader), kyselyOn(scanner)];
  const close = async () => {
    await mutex.run(() => undefined);
    await db.destroy();
    await scans.destroy();
    await scanner.close();
    await reader.close();
    await writer.close();
  };
  return { path: real, writer, reader, readsBeside, mutex, db, scans, close };
}
