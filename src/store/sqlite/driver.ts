import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Expression, type Kysely, type SqlBool, sql, type Transaction } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { ThreadEndedError } from '../../kernel/thread.ts';
import { type CountingDriver, noRetries } from '../charge/batcher.ts';
import type { ChargeAnswer, ChargeRequest } from '../charge/state.ts';
import type { WantedAddress } from '../columns.ts';
import type { AnyTable } from '../contents.ts';
import type {
  BulkTransactions,
  JobQueue,
  ReadAndChange,
  ReadQueries,
  StorageDriver,
  StorageDriverOptions,
  TableSchema,
} from '../driver.ts';
import { jobQueue } from '../jobs/jobs.ts';
import { checkSchema, type Migration, readMigrations } from '../migrations.ts';
import { outageError } from '../outages.ts';
import type { FilterRule, LooseMode, SchemaCheck, StoreEvent } from '../store.ts';
import type { Tables } from '../tables.ts';
import { AddressBlocks } from './address-blocks.ts';
import { isBusy, isSqliteOutage, whenFree } from './failure.ts';
import { openSqliteFile, type SqliteFile } from './file.ts';
import {
  type ChargeMessage,
  type FilterDecision,
  readAnswer,
  type SentAnswer,
  type SentRequest,
  sentRequest,
} from './messages.ts';
import { SqliteNode } from './node.ts';
import { looseModesOf, sqlitePathOf } from './private-files.ts';
import {
  addHits,
  changeRows,
  filtersWith,
  insertRows,
  oneOf,
  prefixRange,
  readAndChange,
  readTogether,
  restoreRows,
  tableOf,
  writeTogether,
} from './statements.ts';
import type { BulkScope } from './thread-bulk.ts';
import type { StoreSession, StoreThread, WriteMutex } from './threads.ts';

/** https://www.sqlite.org/pragma.html#pragfunc: `pk` is the column's place in the primary key, or 0. */
async function readSchema(db: Kysely<Tables>): Promise<TableSchema[]> {
  const columns = await sql<{ table: string; column: string; pk: number }>`
    SELECT m.name AS "table", c.name AS "column", c.pk AS pk
    FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.pk`.execute(db);
  const references = await sql<{ table: string; target: string }>`
    SELECT DISTINCT m.name AS "table", f."table" AS target
    FROM sqlite_schema m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`.execute(db);
  return [...Map.groupBy(columns.rows, (row) => row.table)].map(([table, rows]) => {
    const key = rows.filter((row) => row.pk > 0).map((row) => row.column);
    return {
      table,
      columns: rows.map((row) => row.column),
      key: key.length > 0 ? key : ['rowid'],
      references: references.rows.filter((row) => row.table === table).map((row) => row.target),
    };
  });
}

interface SqliteDriverParts {
  readonly writer: StoreThread;
  readonly mutex: WriteMutex;
  readonly scope: () => BulkScope;
}

type BulkResults = { [N in keyof BulkTransactions]: Awaited<ReturnType<BulkTransactions[N]>> };

/** Transactions of lists, imports and purges, each one message to the thread of the writer (thread-bulk.ts). */
function threadedBulk({ writer, mutex, scope }: SqliteDriverParts): BulkTransactions {
  const transaction =
    <N extends keyof BulkTransactions>(name: N) =>
    async (...input: Parameters<BulkTransactions[N]>): Promise<BulkResults[N]> => {
      try {
        const result = await mutex.run(() => whenFree(() => writer.call('bulk', scope(), name, input)));
        return result as BulkResults[N];
      } catch (error) {
        throw outageError(error, isSqliteOutage);
      }
    };
  return {
    append: transaction('append'),
    claim: transaction('claim'),
    claimWaiting: transaction('claimWaiting'),
    record: transaction('record'),
    addFilters: transaction('addFilters'),
    deleteVerifications: transaction('deleteVerifications'),
  };
}

/** How often, and after which pauses, to try to truncate the log while other processes read: 5 s in all. */
const TRUNCATE_TRIES = 50;
const TRUNCATE_PAUSE_MS = 100;

class SqliteDriver implements StorageDriver {
  readonly name = 'sqlite';
  readonly db: Kysely<Tables>;
  readonly scans: Kysely<Tables>;
  readonly charge: SqliteCharge;
  readonly node: SqliteNode;
  readonly jobs: JobQueue;
  readonly bulk: BulkTransactions;
  readonly onEvent: StorageDriverOptions['onEvent'];
  readonly retentionDays: number;
  readonly plans: StorageDriverOptions['plans'];
  readonly sendsMail: boolean;
  readonly clock: Clock;
  readonly #migrations: string;
  #read: readonly Migration[] | null = null;
  readonly #file: SqliteFile;
  readonly #blocks = new AddressBlocks();

  constructor(
    file: SqliteFile,
    { clock, migrations, jobPolicies, onEvent, retentionDays, plans, sendsMail }: StorageDriverOptions,
  ) {
    this.onEvent = onEvent;
    this.retentionDays = retentionDays;
    this.plans = plans;
    this.sendsMail = sendsMail;
    this.clock = clock;
    this.#migrations = join(migrations, 'sqlite');
    this.#file = file;
    const { writer, db, scans, mutex, path } = file;
    this.db = db;
    this.scans = scans;
    this.jobs = jobQueue({ driver: this, policies: jobPolicies });
    const scope = () => ({ now: clock.now(), retentionDays, plans, sendsMail, policies: jobPolicies });
    this.bulk = threadedBulk({ writer, mutex, scope });
    this.node = new SqliteNode(path, () => newId('node', clock.now()));
    this.charge = new SqliteCharge({
      writer,
      mutex,
      now: () => clock.now(),
      onEvent,
      node: () => this.node.current ?? this.acquireNode(),
      known: () => this.#known().length,
    });
  }

  async now(): Promise<number> {
    return this.clock.now();
  }

  transaction<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.db.transaction().execute(work);
  }

  read<T>(_withinMs: number, work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    return work(this.db);
  }

  pool(): null {
    return null;
  }

  /** No-ops: a write transaction locks the whole database. */
  async lockAccounts(): Promise<void> {}
  async lockUsers(): Promise<void> {}
  async advisoryLock(): Promise<void> {}

  acquireNode(): Promise<string> {
    return this.#file.mutex.run(() => whenFree(() => this.node.acquire((id) => this.#announce(id))));
  }

  readonly insertRows = insertRows;
  readonly changeRows = changeRows;
  readonly tableOf = tableOf;
  readonly addHits = addHits;
  readonly filtersWith = filtersWith;
  readonly readTogether = readTogether;
  readonly writeTogether = writeTogether;

  readAndChange<Q extends ReadQueries, T>(work: ReadAndChange<Q, T>): Promise<T> {
    return readAndChange(this.db, work);
  }

  readonly oneOf = oneOf;

  seqRange(account: string, from: number | Expression<number>, to: number | Expression<number>) {
    return sql<SqlBool>`(account_id = ${account} AND seq >= ${from} AND seq < ${to})`;
  }

  /**
   * The index is by blocks of 4,096 rows (migration 0016): what is recorded goes to a few of its pages, instead of one
   * for each address. A search looks into every block, newest first.
   */
  readonly logByAddress = sql`(
      WITH RECURSIVE block (n) AS (
        SELECT max(seq) >> 12 FROM verifications
        UNION ALL SELECT n - 1 FROM block WHERE n > (SELECT min(seq) >> 12 FROM verifications)
      ) SELECT n FROM block
    ) AS b CROSS JOIN verifications ON seq >> 12 = b.n`;

  newestOfAddresses(account: string, addresses: readonly WantedAddress[]) {
    return this.#blocks.newest(this.scans, account, addresses);
  }

  substringMatch(value: Expression<string>, text: string) {
    return sql<SqlBool>`instr(${value}, ${text}) > 0`;
  }

  textFrom(value: Expression<string>, text: string, length: number) {
    return sql<string>`substr(${value}, instr(${value}, ${text}), ${sql.lit(length)})`;
  }

  jsonValues(json: Expression<string>, paths: readonly (readonly string[])[]) {
    return sql<string>`json_extract(${json}, ${sql.join(paths.map((path) => `$.${path.join('.')}`))})`;
  }

  lowerCase(value: Expression<string>) {
    return sql<string>`mailvet_fold(${value})`;
  }

  readonly prefixMatch = prefixRange;

  schema() {
    return readSchema(this.db);
  }

  /** A write transaction locks the whole database. */
  async lockStore(): Promise<boolean> {
    return true;
  }

  readonly restoreRows = restoreRows;

  /** SQLite keeps them in `sqlite_sequence` (https://www.sqlite.org/autoinc.html). */
  async counters(trx: Transaction<Tables>): Promise<Record<string, number>> {
    const { rows } = await sql<{ name: string; seq: number }>`SELECT name, seq FROM sqlite_sequence`.execute(trx);
    return Object.fromEntries(rows.map(({ name, seq }) => [name, seq]));
  }

  async endRestore(
    trx: Transaction<Tables>,
    tables: readonly AnyTable[],
    counters: Readonly<Record<string, number>>,
  ): Promise<void> {
    for (const table of tables) {
      const last = counters[table] ?? 0;
      if (last === 0) continue;
      await sql`DELETE FROM sqlite_sequence WHERE name = ${table}`.execute(trx);
      await sql`INSERT INTO sqlite_sequence (name, seq) VALUES (${table}, ${last})`.execute(trx);
    }
  }

  migrate(): Promise<{ from: number; to: number }> {
    const { mutex, writer } = this.#file;
    return mutex.run(() => whenFree(() => writer.call('migrate', this.#known(), this.clock.now())));
  }

  async checkSchema(): Promise<SchemaCheck> {
    const { mutex, writer } = this.#file;
    return checkSchema(this.#known(), await mutex.run(() => whenFree(() => writer.call('schema'))));
  }

  #known(): readonly Migration[] {
    this.#read ??= readMigrations(this.#migrations);
    return this.#read;
  }

  /** Commits a write, which detects a full disk and a read-only folder. */
  async ping(): Promise<void> {
    const { mutex, writer } = this.#file;
    await mutex.run(() => whenFree(() => writer.call('heartbeat', this.#known().length, this.clock.now())));
  }

  async truncateLog(): Promise<boolean> {
    const { mutex, writer, path } = this.#file;
    if (path === null) return true;
    for (let tries = TRUNCATE_TRIES; tries > 0; tries -= 1) {
      if (await mutex.run(() => truncateLog(writer))) return true;
      await setTimeout(TRUNCATE_PAUSE_MS);
    }
    return false;
  }

  looseModes(): LooseMode[] {
    return this.#file.path === null ? [] : looseModesOf(this.#file.path);
  }

  async close(): Promise<void> {
    this.node.close();
    await this.#file.close();
  }

  /** With the mutex held by whoever acquires the node. */
  async #announce(id: string): Promise<void> {
    this.#file.reader.start();
    const values = [id, `${hostname()}/${process.pid}`, this.clock.now()];
    await this.#file.writer.call('query', 'INSERT INTO nodes (id, label, started_at) VALUES (?, ?, ?)', values);
  }
}

/**
 * Writes the log into the database and cuts it to zero bytes; false while another process reads or writes. Never waits,
 * because charges would.
 */
async function truncateLog(writer: StoreThread): Promise<boolean> {
  try {
    const [, [busy]] = await writer.call('query', 'PRAGMA wal_checkpoint(TRUNCATE)', []);
    return busy === 0;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}

/** Opens, and creates if need be, the database file of `sqlite:PATH`, or a private one for `sqlite::memory:`. */
export async function openSqlite(options: StorageDriverOptions): Promise<StorageDriver> {
  const onLost = ({ message }: Error) => options.onEvent({ kind: 'thread_lost', cause: message });
  return new SqliteDriver(await openSqliteFile(sqlitePathOf(options.url), options.plans, onLost), options);
}

// Batches go to the thread of the writer as data.

interface SqliteChargeParts {
  readonly writer: StoreThread;
  readonly mutex: WriteMutex;
  readonly now: () => number;
  readonly onEvent: (event: StoreEvent) => void;
  readonly node: () => string | Promise<string>;
  /** Returns the schema version of this program. */
  readonly known: () => number;
}

class SqliteCharge implements CountingDriver {
  /** SQLite has one writer. */
  readonly lanes = 1;
  /** One is written while the next one waits in the thread. */
  readonly atOnce = 2;
  readonly retries = noRetries();
  readonly isOutage = isSqliteOutage;
  readonly #parts: SqliteChargeParts;
  /** Filters that were found to match since `decide` was called. */
  readonly #matched = new WeakMap<ChargeRequest, FilterRule | null>();

  constructor(parts: SqliteChargeParts) {
    this.#parts = parts;
  }

  /** The thread with the connection has been started by the migrations. */
  async open(): Promise<void> {}

  async transact(requests: readonly ChargeRequest[]): Promise<ChargeAnswer[]> {
    const { mutex, writer } = this.#parts;
    const node = await this.#parts.node();
    return mutex.runShared(async () => {
      const session = await writer.session();
      for (;;) {
        try {
          return await this.#send(session, requests, node);
        } catch (error) {
          if (!isBusy(error)) throw error;
          this.#onBusy();
        }
        // Another process has the lock. It is taken before the batch is sent again, because those who leave meanwhile
        // are not charged. Another batch of this process may use it up.
        await whenFree(() => session.call('begin'), this.#onBusy);
      }
    });
  }

  readonly #onBusy = () => {
    this.retries.busy += 1;
  };

  async #send(session: StoreSession, requests: readonly ChargeRequest[], node: string): Promise<ChargeAnswer[]> {
    const sent: SentRequest[] = [];
    /** Requests that are not sent are answered here. */
    const here: (ChargeAnswer | null)[] = requests.map((request) => {
      if (!request.enter()) return { dropped: true };
      try {
        sent.push(sentRequest(request, this.#decide(request)));
        return null;
      } catch (error) {
        return { error };
      }
    });
    const { now, known } = this.#parts;
    const answers = await this.#commit(session, { node, now: now(), known: known(), requests: sent });
    let next = 0;
    return requests.map((request, i) => here[i] ?? this.#answer(request, sent[next], answers[next++]));
  }

  /** Calls `decide` here, outside the transaction, for the filter that matched last. */
  #decide(request: ChargeRequest): FilterDecision | null {
    if (request.kind === 'settle' || request.admit.verify === null) return null;
    const filter = this.#matched.get(request) ?? null;
    return { filter, record: request.admit.verify.decide(filter) };
  }

  async #commit(session: StoreSession, batch: ChargeMessage): Promise<readonly SentAnswer[]> {
    if (batch.requests.length === 0) {
      await session.call('rollback');
      return [];
    }
    const { events, answers } = await session.call('charge', batch).catch((error: unknown) => {
      throw error instanceof ThreadEndedError ? unconfirmed(error) : error;
    });
    events.forEach(this.#parts.onEvent);
    return answers;
  }

  #answer(request: ChargeRequest, sent: SentRequest | undefined, answer: SentAnswer | undefined): ChargeAnswer {
    if (sent === undefined || answer === undefined)
      return { error: new Error('The thread left a request unanswered.') };
    if (!('undecided' in answer)) return readAnswer(answer, sent);
    this.#matched.set(request, answer.undecided);
    return { again: true };
  }
}

/** What a thread was doing when it ended is done or rolled back, as a whole. */
const unconfirmed = (cause: ThreadEndedError): ApiError => {
  const sentence = 'The store stopped before it confirmed. If this was charged, its result is in the log.';
  return new ApiError('verification_unavailable', sentence, { retry_after: 5 }, cause);
};
