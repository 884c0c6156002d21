/**
 * Stores for suites: SQLite files, or databases of a private PostgreSQL when MAILVET_TEST_STORE=postgres. The same
 * suites run on both.
 */
import { mkdtempSync, rmSync } from 'node:fs';
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

export interface Database {
  /** For `openStore` or MAILVET_DATABASE_URL. */
  readonly url: string;
  drop(): Promise<void>;
}

/** An empty database of the engine under test. */
export async function freshDatabase(): Promise<Database> {
  if (ENGINE === 'postgres') return freshPostgres();
  const folder = mkdtempSync(join(tmpdir(), 'mailvet-store-'));
  const drop = async () => rmSync(folder, { recursive: true, force: true });
  return { url: `sqlite:${join(folder, 'mailvet.db')}`, drop };
}

/** A clock that stands still until it is told otherwise. */
export class TestClock implements Clock {
  time = Date.UTC(2026, 10, 20, 10, 0, 0);
  now(): number {
    return this.time;
  }
  elapsed(): number {
    return performance.now();
  }
  advance(ms: number): void {
    this.time += ms;
  }
}

export interface StoreLab {
  readonly engine: typeof ENGINE;
  /** The time of all stores of this test. */
  readonly clock: TestClock;
  /** Where this test's stores live. */
  readonly url: string;
  /** Statements on the database itself, past the store: to damage it or to look. */
  sql(text: string): Promise<Record<string, unknown>[]>;
  /** Opens one more store on this test's database, migrated; closed at the end unless the test did so. */
  open(options?: Partial<StoreOptions>): Promise<Store>;
}

/** A suite of one noun; each test has a database of its own. Left out, loudly, where the engine is not installed. */
export function describeStores(name: string, suite: (lab: StoreLab) => void): void {
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
      database = await freshDatabase();
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
        const store = await openStore({ url: database.url, clock, time: 'process', ...options });
        stores.push(store);
        await store.migrate();
        return store;
      },
    });
  });
}

async function runSql(url: string, text: string): Promise<Record<string, unknown>[]> {
  if (url.startsWith('sqlite:')) {
    const db = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 5_000 });
    try {
      return db.prepare(text).all();
    } finally {
      db.close();
    }
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
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
