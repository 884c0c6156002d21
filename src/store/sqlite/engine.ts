import { mkdirSync, realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type ExpressionWrapper, Kysely, type SqlBool, sql, type Transaction } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Engine, EngineOptions } from '../engine.ts';
import { readMigrations } from '../migrations.ts';
import type { Tables } from '../tables.ts';
import { SqliteCharge } from './charge.ts';
import { sqliteDialect } from './dialect.ts';
import { migrate } from './migrate.ts';
import { SqliteNode } from './node.ts';
import { Turn } from './turn.ts';

/** How long to wait for the lock of another process, ms. */
const BUSY_TIMEOUT = 5_000;
const MEMORY = ':memory:';

/** `sqlite:PATH` → PATH. Throws when there is none. */
export function pathOf(url: string): string {
  const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
  if (path === '') throw new Error('The store\'s URL names no file: write "sqlite:./data/mailvet.db".');
  return path;
}

function connect(path: string): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT, enableForeignKeyConstraints: true });
    db.exec('PRAGMA journal_mode = WAL');
    // A commit is on the disk before it is acknowledged.
    db.exec('PRAGMA synchronous = FULL');
    // 16 MB of log between checkpoints: few enough of them not to be felt.
    db.exec('PRAGMA wal_autocheckpoint = 4000');
    db.exec('PRAGMA cache_size = -32768');
    return db;
  } catch (error) {
    db?.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The store ${path} cannot be opened: ${reason}.`, { cause: error });
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The folder of the store ${path} cannot be made: ${reason}.`, { cause: error });
  }
}

class SqliteEngine implements Engine {
  readonly name = 'sqlite';
  readonly db: Kysely<Tables>;
  readonly charge: SqliteCharge;
  readonly node: SqliteNode;
  readonly #clock: Clock;
  readonly #migrations: string;
  readonly #turn = new Turn();
  readonly #main: DatabaseSync;
  readonly #second: DatabaseSync;

  constructor({ url, clock, migrations }: EngineOptions) {
    const path = pathOf(url);
    const inMemory = path === MEMORY;
    if (!inMemory) makeFolder(path);
    this.#clock = clock;
    this.#migrations = join(migrations, 'sqlite');
    this.#main = connect(path);
    // A database in memory is its connection's own; the turn keeps the two uses apart all the same.
    this.#second = inMemory ? this.#main : connect(path);
    this.db = new Kysely<Tables>({ dialect: sqliteDialect(this.#second) });
    this.node = new SqliteNode(inMemory ? null : realpathSync(path), () => newId('node', clock.now()));
    this.charge = new SqliteCharge({
      db: this.#main,
      turn: this.#turn,
      now: () => clock.now(),
      node: () => this.node.acquire((id) => this.#announce(id)),
    });
  }

  async now(): Promise<number> {
    return this.#clock.now();
  }

  transaction<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.#turn.take(() => this.db.transaction().execute(work));
  }

  /** Nothing to do: a write transaction has the whole database. */
  async lockAccounts(): Promise<void> {}

  contains(column: ExpressionWrapper<Tables, 'filters', string>, text: string) {
    return sql<SqlBool>`instr(${column}, ${text}) > 0`;
  }

  migrate(): Promise<{ from: number; to: number }> {
    return this.#turn.take(() => migrate(this.#main, readMigrations(this.#migrations), this.#clock.now()));
  }

  /** Reads and commits a write: a full disk and a folder that became read-only both show. */
  ping(): Promise<void> {
    return this.#turn.take(() => {
      const { changes } = this.#main.prepare('UPDATE heartbeat SET at = ? WHERE id = 1').run(this.#clock.now());
      if (Number(changes) !== 1) throw new Error('The store has lost its heartbeat row.');
    });
  }

  async close(): Promise<void> {
    await this.#turn.take(() => undefined);
    await this.db.destroy();
    this.node.close();
    if (this.#second !== this.#main) this.#second.close();
    this.#main.close();
  }

  #announce(id: string): void {
    this.#main
      .prepare('INSERT INTO nodes (id, label, started_at) VALUES (?, ?, ?)')
      .run(id, `${hostname()}/${process.pid}`, this.#clock.now());
  }
}

/** Opens (and makes) the database file of `sqlite:PATH`, or a private one for `sqlite::memory:`. */
export const openSqlite = (options: EngineOptions): Engine => new SqliteEngine(options);
