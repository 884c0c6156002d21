import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Expression, type Kysely, type SqlBool, sql, type Transaction } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Engine, EngineOptions } from '../engine.ts';
import { readMigrations } from '../migrations.ts';
import type { Tables } from '../tables.ts';
import { SqliteCharge } from './charge.ts';
import { openFile, type SqliteFile } from './file.ts';
import { migrate } from './migrate.ts';
import { SqliteNode } from './node.ts';
import { begins } from './prefix.ts';

/** `sqlite:PATH` → PATH. Throws when there is none. */
export function pathOf(url: string): string {
  const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
  if (path === '') throw new Error('The store\'s URL names no file: write "sqlite:./data/mailvet.db".');
  return path;
}

class SqliteEngine implements Engine {
  readonly name = 'sqlite';
  readonly db: Kysely<Tables>;
  readonly charge: SqliteCharge;
  readonly node: SqliteNode;
  readonly #clock: Clock;
  readonly #migrations: string;
  readonly #file: SqliteFile;

  constructor({ url, clock, migrations }: EngineOptions) {
    this.#clock = clock;
    this.#migrations = join(migrations, 'sqlite');
    this.#file = openFile(pathOf(url));
    const { main, db, turn, path } = this.#file;
    this.db = db;
    this.node = new SqliteNode(path, () => newId('node', clock.now()));
    this.charge = new SqliteCharge({
      db: main,
      turn,
      now: () => clock.now(),
      node: () => this.node.acquire((id) => this.#announce(id)),
    });
  }

  async now(): Promise<number> {
    return this.#clock.now();
  }

  transaction<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.db.transaction().execute(work);
  }

  /** Nothing to do in these: a write transaction has the whole database. */
  async lockAccounts(): Promise<void> {}
  async lockUsers(): Promise<void> {}
  async inTurn(): Promise<void> {}

  stretch(account: string, from: number, to: number) {
    return sql<SqlBool>`(account_id = ${account} AND seq >= ${from} AND seq < ${to})`;
  }

  contains(value: Expression<string>, text: string) {
    return sql<SqlBool>`instr(${value}, ${text}) > 0`;
  }

  folded(value: Expression<string>) {
    return sql<string>`mailvet_fold(${value})`;
  }

  readonly begins = begins;

  migrate(): Promise<{ from: number; to: number }> {
    const { turn, main } = this.#file;
    return turn.take(() => migrate(main, readMigrations(this.#migrations), this.#clock.now()));
  }

  /** Reads and commits a write: a full disk and a folder that became read-only both show. */
  ping(): Promise<void> {
    const { turn, main } = this.#file;
    return turn.take(() => {
      const { changes } = main.prepare('UPDATE heartbeat SET at = ? WHERE id = 1').run(this.#clock.now());
      if (Number(changes) !== 1) throw new Error('The store has lost its heartbeat row.');
    });
  }

  async close(): Promise<void> {
    this.node.close();
    await this.#file.close();
  }

  #announce(id: string): void {
    this.#file.main
      .prepare('INSERT INTO nodes (id, label, started_at) VALUES (?, ?, ?)')
      .run(id, `${hostname()}/${process.pid}`, this.#clock.now());
  }
}

/** Opens (and makes) the database file of `sqlite:PATH`, or a private one for `sqlite::memory:`. */
export const openSqlite = (options: EngineOptions): Engine => new SqliteEngine(options);
