import { hostname } from 'node:os';
import { join } from 'node:path';
import {
  type Expression,
  Kysely,
  type KyselyPlugin,
  OperationNodeTransformer,
  PostgresDialect,
  type PrimitiveValueListNode,
  type SqlBool,
  sql,
  type Transaction,
  type ValueNode,
} from 'kysely';
import type pg from 'pg';
import { ApiError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { bulkTransactions } from '../bulk.ts';
import { WANTED_ADDRESSES, type WantedAddress } from '../columns.ts';
import type { AnyTable } from '../contents.ts';
import type {
  JobQueue,
  NewestOfAddress,
  ReadAndChange,
  ReadQueries,
  StorageDriver,
  StorageDriverOptions,
  TableSchema,
} from '../driver.ts';
import type { FilterKind } from '../filter-kinds.ts';
import { jobQueue } from '../jobs/jobs.ts';
import { INDEXED_ADDRESS } from '../log/search.ts';
import { checkSchema, type Migration, readMigrations } from '../migrations.ts';
import { withOutages } from '../outages.ts';
import { onlyRow, storable } from '../rows.ts';
import type { AccountId, PoolUse, SchemaCheck } from '../store.ts';
import type { Tables } from '../tables.ts';
import { PostgresCharge } from './charge.ts';
import { explained, isLocked, isPostgresOutage, openPool } from './connect.ts';
import { migrate, schemaState } from './migrate.ts';
import { PostgresNode } from './node.ts';
import { takeAllOver, withJobsOfPgBoss } from './pg-boss.ts';
import { PostgresProbe } from './probe.ts';
import { lockOf, ReadsAndChanges, readTogether, writeTogether } from './read-and-change.ts';
import { addHits, changeRows, insertRows, restoreRows, tableOf } from './write.ts';

async function readSchema(db: Kysely<Tables>): Promise<TableSchema[]> {
  const { rows } = await sql<TableSchema>`
    SELECT c.relname::text AS "table",
      ARRAY(
        SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      ) AS columns,
      coalesce((
        SELECT array_agg(a.attname::text ORDER BY k.place)
        FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
        WHERE i.indrelid = c.oid AND i.indisprimary
      ), ARRAY['ctid']) AS key,
      ARRAY(
        SELECT DISTINCT target.relname::text FROM pg_constraint f JOIN pg_class target ON target.oid = f.confrelid
        WHERE f.conrelid = c.oid AND f.contype = 'f'
      ) AS "references"
    FROM pg_class c
    WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace
    ORDER BY 1`.execute(db);
  return rows;
}

// Search values come from outside: an id in a path, an address typed into the sign-in form.
// Text that PostgreSQL cannot keep would be an error of the server there, instead of something that is not found.

const kept = (value: unknown): unknown => (typeof value === 'string' ? storable(value) : value);

class StorableText extends OperationNodeTransformer {
  protected override transformValue(node: ValueNode): ValueNode {
    return { ...node, value: kept(node.value) };
  }
  protected override transformPrimitiveValueList(node: PrimitiveValueListNode): PrimitiveValueListNode {
    return { ...node, values: node.values.map(kept) };
  }
}

const transformer = new StorableText();

const storableText: KyselyPlugin = {
  transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId),
  transformResult: async ({ result }) => result,
};

const POOL_SIZE = 10;
/** How long to wait until nobody writes to the store, ms. */
const LOCK_STORE_MS = 5_000;

/**
 * Finds sequences `s` of the identity columns of tables `t`
 * (https://www.postgresql.org/docs/current/catalog-pg-depend.html).
 */
const COUNTING = sql`pg_class s JOIN pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = s.oid
  AND d.refclassid = 'pg_class'::regclass AND d.deptype = 'i' JOIN pg_class t ON t.oid = d.refobjid
  WHERE s.relkind = 'S' AND t.relnamespace = current_schema()::regnamespace`;

class PostgresDriver implements StorageDriver {
  readonly name = 'postgres';
  readonly db: Kysely<Tables>;
  readonly scans: Kysely<Tables>;
  readonly charge: PostgresCharge;
  readonly node: PostgresNode;
  readonly jobs: JobQueue;
  readonly onEvent: StorageDriverOptions['onEvent'];
  readonly retentionDays: number;
  readonly plans: StorageDriverOptions['plans'];
  readonly sendsMail: boolean;
  readonly clock: StorageDriverOptions['clock'];
  readonly #options: StorageDriverOptions;
  readonly #pool: pg.Pool;
  readonly #probe: PostgresProbe;
  readonly #readsAndChanges: ReadsAndChanges;
  #known: readonly Migration[] | null = null;

  constructor(options: StorageDriverOptions) {
    const { url, clock, time, remembers, jobPolicies, onEvent, retentionDays, plans } = options;
    this.onEvent = onEvent;
    this.retentionDays = retentionDays;
    this.plans = plans;
    this.sendsMail = options.sendsMail;
    this.clock = clock;
    this.#options = options;
    this.#probe = new PostgresProbe(url, () => this.#migrations().length);
    this.#pool = openPool(url, POOL_SIZE);
    const dialect = withOutages(new PostgresDialect({ pool: this.#pool }), isPostgresOutage);
    this.db = new Kysely<Tables>({ dialect, plugins: [storableText] });
    // Connections are many; how many of them read at length at once is bounded by whose turn it is.
    this.scans = this.db;
    this.#readsAndChanges = new ReadsAndChanges(this.db);
    this.jobs = withJobsOfPgBoss(this, jobQueue({ driver: this, policies: jobPolicies }));
    this.node = new PostgresNode({
      url,
      pool: this.#pool,
      label: `${hostname()}/${process.pid}`,
      newId: () => newId('node', clock.now()),
      now: () => this.now(),
    });
    this.charge = new PostgresCharge({
      url,
      clock,
      time,
      remembers,
      plans,
      onEvent,
      node: () => this.node.acquire(),
      known: () => this.#migrations().length,
    });
  }

  async now(db: Kysely<Tables> = this.db): Promise<number> {
    if (this.#options.time === 'process') return this.#options.clock.now();
    const time = sql<{ now: number }>`SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`;
    return onlyRow((await time.execute(db)).rows).now;
  }

  transaction<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.db.transaction().setIsolationLevel('read committed').execute(work);
  }

  read<T>(withinMs: number, work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    const reading = this.db.transaction().setIsolationLevel('read committed').setAccessMode('read only');
    return reading.execute(async (trx) => {
      await sql`SET LOCAL statement_timeout = ${sql.lit(withinMs)}`.execute(trx);
      return work(trx);
    });
  }

  pool(): PoolUse {
    const { totalCount, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { inUse: totalCount - idle, idle, max: POOL_SIZE, waiting };
  }

  async lockAccounts(trx: Transaction<Tables>, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await lockOf(trx, ids).execute();
  }

  async lockUsers(trx: Transaction<Tables>, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await trx.selectFrom('auth_users').select('id').where('id', 'in', ids).orderBy('id').forUpdate().execute();
  }

  async advisoryLock(trx: Transaction<Tables>, what: string): Promise<void> {
    await sql`SELECT pg_advisory_xact_lock(hashtextextended(${what}, 0))`.execute(trx);
  }

  acquireNode(): Promise<string> {
    return this.node.acquire();
  }

  readonly insertRows = insertRows;
  readonly changeRows = changeRows;
  readonly tableOf = tableOf;
  readonly addHits = addHits;

  filtersWith(db: Kysely<Tables>, account: AccountId, kind: FilterKind, values: readonly string[]) {
    const mine = db.selectFrom('filters').selectAll().where('account_id', '=', account);
    return mine.where('filter_type', '=', kind).where((eb) => this.oneOf(eb.ref('value'), values));
  }

  readonly readTogether = readTogether;
  readonly writeTogether = writeTogether;

  readAndChange<Q extends ReadQueries, T>(work: ReadAndChange<Q, T>): Promise<T> {
    return this.#readsAndChanges.run(work);
  }

  readonly bulk = bulkTransactions(this);

  oneOf(value: Expression<string>, texts: readonly string[]) {
    return sql<SqlBool>`${value} = ANY(${texts}::text[])`;
  }

  /**
   * Not an equality on account_id, after which the order would be that of seq alone: the planner may then read the rows
   * of all accounts by seq and discard the others', millions for an account that has been inactive. Nor a comparison of
   * rows, (account_id, seq) >= ($1, $2): a scan that is past it goes on to the end of the account.
   */
  seqRange(account: string, from: number | Expression<number>, to: number | Expression<number>) {
    return sql<SqlBool>`(account_id = ANY (ARRAY[${account}]) AND seq >= ${from} AND seq < ${to})`;
  }

  readonly logByAddress = sql`verifications`;

  async newestOfAddresses(account: string, addresses: readonly WantedAddress[]): Promise<NewestOfAddress[]> {
    const wanted = addresses.map((one, i) => ({ ...one, wanted: i }));
    const { rows } = await sql<NewestOfAddress>`
      SELECT wanted, max(seq) AS seq FROM ${tableOf(WANTED_ADDRESSES, wanted)} CROSS JOIN verifications
      WHERE account_id = ${account} AND ${INDEXED_ADDRESS} = substr(lower(address), 1, 320) AND created_at <= until
      GROUP BY wanted`.execute(this.scans);
    return rows;
  }

  /** Compares octets, which is three times faster than by the rules of a language. */
  substringMatch(value: Expression<string>, text: string) {
    return sql<SqlBool>`${value} COLLATE "C" LIKE ${`%${literal(text)}%`}`;
  }

  textFrom(value: Expression<string>, text: string, length: number) {
    return sql<string>`substr(${value}, strpos(${value}, ${text}), ${sql.lit(length)})`;
  }

  /** As `json`: `jsonb` refuses a text in which an address has a NUL. */
  jsonValues(json: Expression<string>, paths: readonly (readonly string[])[]) {
    const values = paths.map((path) => sql`(${json})::json #> ${sql.val(path)}::text[]`);
    return sql<string>`json_build_array(${sql.join(values)})::text`;
  }

  lowerCase(value: Expression<string>) {
    return sql<string>`lower(${value})`;
  }

  prefixMatch(value: Expression<string>, text: string) {
    return sql<SqlBool>`${value} LIKE lower(${`${literal(text)}%`})`;
  }

  schema() {
    return readSchema(this.db);
  }

  async lockStore(trx: Transaction<Tables>, tables: readonly AnyTable[]): Promise<boolean> {
    const locks = sql`LOCK TABLE ${sql.join(tables.map((table) => sql.table(table)))} IN SHARE ROW EXCLUSIVE MODE`;
    try {
      await sql`SET LOCAL lock_timeout = ${sql.lit(LOCK_STORE_MS)}`.execute(trx);
      await locks.execute(trx);
    } catch (error) {
      if (isLocked(error instanceof ApiError ? error.cause : error)) return false;
      throw error;
    }
    return takeAllOver(trx, await this.now(trx));
  }

  readonly restoreRows = restoreRows;

  async counters(trx: Transaction<Tables>): Promise<Record<string, number>> {
    const { rows } = await sql<{ table: string; last: number | null }>`
      SELECT t.relname::text AS "table", pg_sequence_last_value(s.oid) AS last FROM ${COUNTING}`.execute(trx);
    return Object.fromEntries(rows.map(({ table, last }) => [table, last ?? 0]));
  }

  async endRestore(
    trx: Transaction<Tables>,
    tables: readonly AnyTable[],
    counters: Readonly<Record<string, number>>,
  ): Promise<void> {
    for (const table of tables)
      if ((counters[table] ?? 0) > 0)
        await sql`SELECT setval(s.oid::regclass, ${counters[table]}) FROM ${COUNTING} AND t.relname = ${table}`.execute(
          trx,
        );
    // Until autovacuum does so, the planner would take all tables to be empty.
    await sql`ANALYZE ${sql.join(tables.map((table) => sql.table(table)))}`.execute(trx);
  }

  async migrate(): Promise<{ from: number; to: number }> {
    const { url, clock } = this.#options;
    return migrate(url, this.#migrations(), clock.now()).catch((error: unknown) => {
      throw explained(error, url);
    });
  }

  async checkSchema(): Promise<SchemaCheck> {
    const { url } = this.#options;
    const state = await schemaState(url).catch((error: unknown) => {
      throw explained(error, url);
    });
    return checkSchema(this.#migrations(), state);
  }

  /** Makes a file longer and commits, which detects a standby and a full disk. */
  ping(): Promise<void> {
    return this.#probe.run();
  }

  /** Its log is the server's: archives and standbys need it. */
  async truncateLog(): Promise<boolean> {
    return true;
  }

  #migrations(): readonly Migration[] {
    this.#known ??= readMigrations(join(this.#options.migrations, 'postgres'));
    return this.#known;
  }

  looseModes(): [] {
    return [];
  }

  async close(): Promise<void> {
    await this.charge.close();
    this.#probe.close();
    await this.node.close();
    await this.db.destroy();
    // Kysely closes the pool only once it has used it.
    if (!this.#pool.ended) await this.#pool.end();
  }
}

/** As a part of a pattern. */
const literal = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** Connects to PostgreSQL 13 or newer (for `pg_xact_status` of xid8); throws when it cannot be reached. */
export async function openPostgres(options: StorageDriverOptions): Promise<StorageDriver> {
  const driver = new PostgresDriver(options);
  try {
    await sql`SELECT 1`.execute(driver.db);
    return driver;
  } catch (error) {
    await driver.close();
    const cause = explained(error instanceof ApiError ? error.cause : error, options.url);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The PostgreSQL store cannot be reached: ${reason}.`, { cause });
  }
}
