/**
 * A whole store as lines of JSON, which a store on another database takes: how a service moves from SQLite to
 * PostgreSQL and back. The first line says which tables and columns there are, the last one what all lines have to add
 * up to; each line between has rows of one table, and is one transaction of the import.
 */
import { createHash } from 'node:crypto';
import { type Kysely, type SqlBool, sql, type Transaction } from 'kysely';
import { toIso } from '../kernel/clock.ts';
import { keysOf } from '../kernel/facts/keys-of.ts';
import type { ColumnValue } from './columns.ts';
import { type AnyTable, CONTENTS, type Content } from './contents.ts';
import type { StorageDriver, TableSchema } from './driver.ts';
import { IMPORTING, StoreVersionError } from './migrations.ts';
import { onlyRow, storable } from './rows.ts';
import type { Moved, Store } from './store.ts';
import type { Tables } from './tables.ts';

/** What the user asked for cannot be. */
export class MoveRefused extends Error {}

/** Lines have this format. A file of another version is refused. */
const FORMAT = 1;
const PAGE_ROWS = 1_000;
/** The texts in one line have so many octets, unless one row has more. */
const PAGE_BYTES = 4_000_000;

const TABLES = keysOf(CONTENTS);

/** An empty store may have these, of migrations and of processes that have ended. The exported store has its own. */
const REPLACED_TABLES: readonly AnyTable[] = ['heartbeat', 'store_clock', 'nodes'];

/** Texts of any length. The others are short. */
const LONG: ReadonlySet<Content> = new Set<Content>(['address', 'json', 'text', 'file', 'secret']);

interface TableColumns {
  readonly table: AnyTable;
  readonly columns: readonly string[];
}
interface Header {
  readonly mailvet_store: number;
  /** The rows have this schema version; the store that takes them has the same. */
  readonly schema: number;
  readonly exported_at: string;
  /** A table follows those that its rows refer to. */
  readonly tables: readonly TableColumns[];
}
interface TableLine {
  readonly table: AnyTable;
  readonly rows: readonly (readonly ColumnValue[])[];
}
interface Trailer {
  readonly totals: Readonly<Record<string, Total>>;
  /** The last number that the database has counted for each table that counts its rows. */
  readonly counters: Readonly<Record<string, number>>;
  /** The hash covers the lines before. */
  readonly sha256: string;
}

/** Sums the rows of a table, in whatever order they come. */
interface Total {
  readonly rows: number;
  /** It combines all SHA-256 of rows by XOR. */
  readonly digest: string;
}

class Totals {
  readonly #tables = new Map<AnyTable, { rows: number; readonly digest: Buffer }>();

  add(table: AnyTable, row: readonly ColumnValue[]): void {
    const total = this.#tables.get(table) ?? { rows: 0, digest: Buffer.alloc(32) };
    const hash = createHash('sha256').update(JSON.stringify(row)).digest();
    for (const [i, byte] of hash.entries()) total.digest[i] = (total.digest[i] ?? 0) ^ byte;
    total.rows += 1;
    this.#tables.set(table, total);
  }

  get all(): Readonly<Record<string, Total>> {
    const all = TABLES.map((table) => {
      const { rows, digest } = this.#tables.get(table) ?? { rows: 0, digest: Buffer.alloc(32) };
      return [table, { rows, digest: digest.toString('hex') }] as const;
    });
    return Object.fromEntries(all);
  }

  get moved(): Moved {
    const counts = Object.entries(this.all).map(([table, { rows }]) => [table, rows] as const);
    return { rows: counts.reduce((sum, [, rows]) => sum + rows, 0), tables: Object.fromEntries(counts) };
  }
}

/** As both databases can store it, whichever it comes from. */
function storableValue(value: unknown): ColumnValue {
  if (value === null || typeof value === 'number') return value;
  if (typeof value === 'string') return storable(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Date) return toIso(value.getTime());
  throw new TypeError(`A store has no values of the type ${typeof value}.`);
}

const refs = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)));

/** Yields all rows of a table, in lines of bounded size. */
async function* tableLines(db: Kysely<Tables>, { table, columns }: TableColumns, key: readonly string[]) {
  type AnyRow = Readonly<Record<string, unknown>>;
  const long = columns.filter((column) => LONG.has(CONTENTS[table].get(column) ?? 'text'));
  const sizes = long.map((column) => sql`coalesce(octet_length(${sql.ref(column)}), 0)`);
  const size = sizes.length === 0 ? sql`0` : sql.join(sizes, sql` + `);
  let after = sql<SqlBool>`true`;
  for (;;) {
    const from = sql`FROM ${sql.table(table)} WHERE ${after} ORDER BY ${refs(key)}`;
    const next = await sql<{ size: number }>`SELECT ${size} AS size ${from} LIMIT ${PAGE_ROWS}`.execute(db);
    let [count, bytes] = [0, 0];
    for (const row of next.rows) {
      bytes += row.size;
      if (bytes > PAGE_BYTES && count > 0) break;
      count += 1;
    }
    if (count === 0) return;
    const { rows } = await sql<AnyRow>`SELECT ${refs(columns)} ${from} LIMIT ${count}`.execute(db);
    yield rows.map((row) => columns.map((column) => storableValue(row[column])));
    if (rows.length === next.rows.length && rows.length < PAGE_ROWS) return;
    const last = rows.at(-1) ?? {};
    after = sql<SqlBool>`(${refs(key)}) > (${sql.join(key.map((column) => last[column]))})`;
  }
}

/** Returns the tables, each after those that it refers to. */
function byReference(schema: readonly TableSchema[]): TableSchema[] {
  const ordered = new Set<TableSchema>();
  const add = (one: TableSchema): void => {
    for (const name of one.references) {
      const other = schema.find(({ table }) => table === name);
      if (other !== undefined && other !== one && !ordered.has(other)) add(other);
    }
    ordered.add(one);
  };
  for (const one of schema) add(one);
  return [...ordered];
}

interface OrderedTable extends TableColumns {
  readonly key: readonly string[];
}

async function tablesOf(driver: StorageDriver): Promise<OrderedTable[]> {
  return byReference(await driver.schema()).flatMap(({ table: name, key }) => {
    const table = TABLES.find((one) => one === name);
    return table === undefined ? [] : [{ table, key, columns: [...CONTENTS[table].keys()] }];
  });
}

/** Throws MoveRefused while a service, or anything else, writes to the store. Afterwards nothing else does. */
async function claimStore(driver: StorageDriver, trx: Transaction<Tables>): Promise<void> {
  if (!(await driver.lockStore(trx, TABLES)))
    throw new MoveRefused('Something is writing to the store: stop the service on every host first.');
  for (const { id, label } of await trx.selectFrom('nodes').select(['id', 'label']).execute())
    if ((await driver.node.ifDead(id, async () => true)) === null)
      throw new MoveRefused(`The service is running as ${label}: stop it on every host first.`);
}

const schemaVersion = async (db: Kysely<Tables>): Promise<number> =>
  onlyRow(
    (
      await sql<{ version: number }>`SELECT max(version) AS version FROM migrations
        WHERE version < ${sql.lit(IMPORTING)}`.execute(db)
    ).rows,
  ).version;

/** See `Moving.export`. */
async function exportLines(driver: StorageDriver, write: (line: string) => Promise<void>): Promise<Moved> {
  const { version, pending } = await driver.checkSchema();
  if (pending.length > 0)
    throw new MoveRefused(`The store is at schema version ${version}: run mailvet migrate first, then export it.`);
  const tables = await tablesOf(driver);
  const totals = new Totals();
  const all = createHash('sha256');
  const put = (line: Header | TableLine) => {
    const text = JSON.stringify(line);
    all.update(text).update('\n');
    return write(text);
  };
  await driver.transaction(async (trx) => {
    await claimStore(driver, trx);
    await put({
      mailvet_store: FORMAT,
      schema: await schemaVersion(trx),
      exported_at: toIso(await driver.now(trx)),
      tables: tables.map(({ table, columns }) => ({ table, columns })),
    });
    for (const one of tables)
      for await (const rows of tableLines(trx, one, one.key)) {
        for (const row of rows) totals.add(one.table, row);
        await put({ table: one.table, rows });
      }
    const counters = await driver.counters(trx);
    const trailer: Trailer = { totals: totals.all, counters, sha256: all.digest('hex') };
    await write(JSON.stringify(trailer));
  });
  return totals.moved;
}

export const DAMAGED = 'The file is damaged or was cut off: copy it again, or export the store again.';

function parsedLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new MoveRefused(DAMAGED, { cause: error });
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
const isExportHeader = (line: unknown): line is Header =>
  isObject(line) &&
  typeof line.mailvet_store === 'number' &&
  Array.isArray(line.tables) &&
  line.tables.every((one) => isObject(one) && typeof one.table === 'string' && Array.isArray(one.columns));
const isTrailer = (line: unknown): line is Trailer =>
  isObject(line) && typeof line.sha256 === 'string' && isObject(line.totals) && isObject(line.counters);
const isRows = (line: unknown): line is TableLine =>
  isObject(line) && Array.isArray(line.rows) && line.rows.every((row) => Array.isArray(row));

interface CheckedFile {
  readonly header: Header;
  readonly trailer: Trailer;
  /** Counts lines with rows. */
  readonly lines: number;
}

/** Reads the whole file before anything is written. Throws MoveRefused unless it is complete. */
async function checked(lines: AsyncIterable<string>): Promise<CheckedFile> {
  const all = createHash('sha256');
  let header: Header | null = null;
  let [count, last] = [0, ''];
  for await (const line of lines) {
    if (header === null) {
      const first = parsedLine(line);
      if (!isExportHeader(first)) throw new MoveRefused('The file is not an export of a store.');
      if (first.mailvet_store !== FORMAT)
        throw new MoveRefused(`The file has the format ${first.mailvet_store}, and this Mailvet reads ${FORMAT}.`);
      header = first;
    } else all.update(last).update('\n');
    last = line;
    count += 1;
  }
  if (header === null) throw new MoveRefused(DAMAGED);
  const trailer = parsedLine(last);
  if (!isTrailer(trailer) || trailer.sha256 !== all.digest('hex')) throw new MoveRefused(DAMAGED);
  return { header, trailer, lines: count - 2 };
}

const sameTexts = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && [...some].sort().join() === [...others].sort().join();

/** Names of tables and columns become parts of statements: they are those of this program. */
function assertSameTables({ schema, tables }: Header, known: number): void {
  const same =
    schema === known &&
    sameTexts(
      tables.map(({ table }) => table),
      TABLES,
    ) &&
    tables.every(({ table, columns }) => sameTexts(columns, [...CONTENTS[table].keys()]));
  if (!same)
    throw new MoveRefused(
      `The file has schema version ${schema}, and this Mailvet has ${known}: export and import with the same version.`,
    );
}

/** A row of `migrations` says how far an import is, and keeps every service away from the store until its end. */
const importProgress = (sha256: string, lines: number): string => `import ${sha256} ${lines}`;

async function progress(db: Kysely<Tables>): Promise<string | null> {
  const { rows } = await sql<{ name: string }>`SELECT name FROM migrations
    WHERE version = ${sql.lit(IMPORTING)}`.execute(db);
  return rows[0]?.name ?? null;
}

/** How many lines the store has taken already. Throws MoveRefused where it is not empty, or takes another file. */
async function begin(driver: StorageDriver, sha256: string): Promise<number> {
  return driver.transaction(async (trx) => {
    await driver.advisoryLock(trx, 'import');
    const found = await progress(trx);
    if (found !== null) {
      const done = Number(found.split(' ').at(-1));
      if (found === importProgress(sha256, done)) return done;
      throw new MoveRefused('The store is taking another file: import that one, or begin with a new database.');
    }
    await claimStore(driver, trx);
    const filled: string[] = [];
    for (const table of TABLES) {
      const { rows } = await sql`SELECT 1 FROM ${sql.table(table)} LIMIT 1`.execute(trx);
      if (rows.length > 0 && !REPLACED_TABLES.includes(table)) filled.push(table);
    }
    if (filled.length > 0)
      throw new MoveRefused(`The store is not empty (${filled.join(', ')}): import into a new database.`);
    for (const table of REPLACED_TABLES) await sql`DELETE FROM ${sql.table(table)}`.execute(trx);
    await sql`INSERT INTO migrations (version, name, applied_at, compatible_from) VALUES (${sql.lit(IMPORTING)},
      ${importProgress(sha256, 0)}, ${await driver.now(trx)}, ${sql.lit(IMPORTING)})`.execute(trx);
    return 0;
  });
}

/** One line in one transaction. Throws MoveRefused where another process has taken it. */
async function importLine(
  driver: StorageDriver,
  header: Header,
  sha256: string,
  done: number,
  line: TableLine,
): Promise<void> {
  const { table, columns } = header.tables.find((one) => one.table === line.table) ?? { table: null, columns: [] };
  if (table === null || line.rows.some((row) => row.length !== columns.length)) throw new MoveRefused(DAMAGED);
  await driver.transaction(async (trx) => {
    const { numAffectedRows } = await sql`UPDATE migrations SET name = ${importProgress(sha256, done + 1)}
      WHERE version = ${sql.lit(IMPORTING)} AND name = ${importProgress(sha256, done)}`.execute(trx);
    if (numAffectedRows !== 1n) throw new MoveRefused('Another process is importing into this store.');
    await trx.executeQuery(driver.restoreRows(table, columns, line.rows));
  });
}

/** Returns the totals of the store as it is now. */
async function totalsOf(driver: StorageDriver, columns: Header['tables']): Promise<Totals> {
  const totals = new Totals();
  for (const { table, key } of await tablesOf(driver)) {
    const same = columns.find((one) => one.table === table);
    if (same === undefined) continue;
    for await (const rows of tableLines(driver.scans, same, key)) for (const row of rows) totals.add(table, row);
  }
  return totals;
}

/** Migrates a new store; one that is importing has the schema already. */
async function prepare(driver: StorageDriver): Promise<void> {
  try {
    await driver.migrate();
  } catch (error) {
    if (!(error instanceof StoreVersionError) || error.found !== IMPORTING) throw error;
  }
}

/** See `Moving.import`. */
async function importLines(
  driver: StorageDriver,
  open: () => AsyncIterable<string>,
  onProgress: (share: number) => void,
): Promise<Moved> {
  const { header, trailer, lines } = await checked(open());
  await prepare(driver);
  assertSameTables(header, await schemaVersion(driver.db));
  const { sha256, totals, counters } = trailer;
  const done = await begin(driver, sha256);
  // The rows begin behind the first line, which is the header.
  let at = -1;
  for await (const text of open()) {
    if (at >= done && at < lines) {
      const line = parsedLine(text);
      if (!isRows(line)) throw new MoveRefused(DAMAGED);
      await importLine(driver, header, sha256, at, line);
    }
    at += 1;
    onProgress(Math.max(0, at) / (lines + 1));
  }
  const found = await totalsOf(driver, header.tables);
  const unequal = TABLES.filter((table) => JSON.stringify(found.all[table]) !== JSON.stringify(totals[table]));
  if (unequal.length > 0) throw new Error(`the rows of ${unequal.join(', ')} are not those of the file`);
  await driver.transaction(async (trx) => {
    await driver.endRestore(trx, TABLES, counters);
    await sql`DELETE FROM migrations WHERE version = ${sql.lit(IMPORTING)}`.execute(trx);
  });
  return found.moved;
}

export const moving = (driver: StorageDriver): Store['moving'] => ({
  export: (write) => exportLines(driver, write),
  import: (open, onProgress) => importLines(driver, open, onProgress),
});
