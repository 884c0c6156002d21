/**
 * Stores for suites: SQLite files, or databases of a private PostgreSQL when MAILVET_TEST_STORE=postgres. The same
 * suites run on both.
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, afterEach, beforeEach, describe } from 'vitest';
import type { Clock } from '../../src/kernel/clock.ts';
import { openStore, type StoreOptions } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import { freshPostgres, stopSharedPostgres, whyNoPostgres } from './postgres.ts';

export const ENGINE: 'sqlite' | 'postgres' = process.env.MAILVET_TEST_STORE === 'postgres' ? 'postgres' : 'sqlite';

/** MAILVET_TEST_CHARGE_MEMORY=off runs the suites without what nodes of PostgreSQL remember, as only speed needs it. */
const REMEMBERS = process.env.MAILVET_TEST_CHARGE_MEMORY !== 'off';

export interface Database {
  /** For `openStore` and MAILVET_DATABASE_URL. */
  readonly url: string;
  drop(): Promise<void>;
}

/** Of stores-setup.ts: the SQLite file, or the database on the PostgreSQL server, with the schema of this version. */
const TEMPLATE = process.env.MAILVET_TEST_TEMPLATE ?? null;

/**
 * A database of the engine under test without any rows. It has the schema of this version already, which saves applying
 * the migrations each time, unless it is to be `empty`.
 */
export async function freshDatabase({ empty = false }: { empty?: boolean } = {}): Promise<Database> {
  const template = empty ? null : TEMPLATE;
  if (ENGINE === 'postgres') return freshPostgres(template);
  const folder = mkdtempSync(join(tmpdir(), 'mailvet-store-'));
  const file = join(folder, 'mailvet.db');
  if (template !== null) copyFileSync(template, file);
  const drop = async () => rmSync(folder, { recursive: true, force: true });
  return { url: `sqlite:${file}`, drop };
}

/** A clock that only moves when told to. */
export class TestClock implements Clock {
  time = Date.UTC(2026, 10, 20, 10, 0, 0);
  #passed = 0;
  now(): number {
    return this.time;
  }
  elapsed(): number {
    return performance.now() + this.#passed;
  }
  /** Time passes. */
  advance(ms: number): void {
    this.time += ms;
    this.#passed += ms;
  }
  /** The clock is set. */
  step(ms: number): void {
    this.time += ms;
  }
}

export interface StoreLab {
  readonly engine: typeof ENGINE;
  /** The clock of all stores of this test. */
  readonly clock: TestClock;
  /** The database of this test's stores. */
  readonly url: string;
  /** Runs statements directly on the database, to corrupt or inspect it. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  /** Opens another migrated store on this test's database; closed at the end of the test. */
  open(options?: Partial<StoreOptions>): Promise<Store>;
}

/**
 * A suite; each test has its own database (as of freshDatabase). Skipped with a message if the database server is not
 * installed.
 */
export function describeStores(name: string, suite: (lab: StoreLab) => void, how: { empty?: boolean } = {}): void {
  const reason = ENGINE === 'postgres' ? whyNoPostgres() : null;
  if (reason !== null) {
    console.warn(`LEFT OUT: "${name}" on PostgreSQL, as ${reason}.`);
    describe.skip(`${name} (${ENGINE}: ${reason})`, () => suite(idle));
    return;
  }
  describe(`${name} (${ENGINE})`, () => {
    let database: Database;
    let clock: TestClock;
    let stores: Store[] = [];
    beforeEach(async () => {
      clock = new TestClock();
      database = await freshDatabase(how);
    });
    afterEach(async () => {
      await Promise.all(stores.map((store) => store.close()));
      stores = [];
      await database.drop();
    });
    afterAll(stopSharedPostgres);
    suite({
      engine: ENGINE,
      get clock() {
        return clock;
      },
      get url() {
        return database.url;
      },
      sql: (text) => runSql(database.url, text),
      async open(options = {}) {
        const store = await openStore({ url: database.url, clock, time: 'process', remembers: REMEMBERS, ...options });
        stores.push(store);
        await store.migrate();
        return store;
      },
    });
  });
}

/** A statement on a database, past the store. */
export async function runSql(url: string, text: string): Promise<Record<string, unknown>[]> {
  if (url.startsWith('sqlite:')) return runOnSqlite(url.slice('sqlite:'.length), text);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/**
 * SQLite's own timeout would block this process, in which the service may hold the lock in a transaction that waits for
 * the event loop.
 */
async function runOnSqlite(path: string, text: string, tries = 200): Promise<Record<string, unknown>[]> {
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    return db.prepare(text).all();
  } catch (error) {
    if (tries === 0 || !/database is locked/.test(String(error))) throw error;
  } finally {
    db.close();
  }
  await new Promise((resolve) => setTimeout(resolve, 25));
  return runOnSqlite(path, text, tries - 1);
}

const unavailable = (): never => {
  throw new Error('This engine is not installed here.');
};
const idle: StoreLab = {
  engine: ENGINE,
  clock: new TestClock(),
  url: '',
  sql: async () => unavailable(),
  open: async () => unavailable(),
};

/** Makes every INSERT into the table fail; returns a function that ends this. */
export async function failInserts(databaseUrl: string, table: string): Promise<() => Promise<void>> {
  const run = async (...texts: string[]) => {
    for (const text of texts) await runSql(databaseUrl, text);
  };
  if (ENGINE === 'sqlite') {
    await run(`CREATE TRIGGER fail_insert BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'injected'); END`);
    return () => run('DROP TRIGGER fail_insert');
  }
  await run(
    `CREATE FUNCTION fail_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'injected'; END $$`,
    `CREATE TRIGGER fail_insert BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION fail_insert()`,
  );
  return () => run(`DROP TRIGGER fail_insert ON ${table}`, 'DROP FUNCTION fail_insert');
}
