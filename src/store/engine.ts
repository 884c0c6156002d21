/** What the nouns of this room need from an engine: sqlite/ and postgres/ each give one of these. */
import type { Expression, Kysely, SqlBool, Transaction } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import type { ChargeEngine } from './charge/batcher.ts';
import type { Tables } from './tables.ts';

/** Proof that a process lives, which others can test. A node that took no hold has none. */
export interface NodeLife {
  /** This process's node once it has charged, else null. */
  readonly current: string | null;
  /**
   * Runs `sweep` while no process can be the node `id`, and answers what it gave; null when the node lives, or another
   * process is sweeping it.
   */
  ifDead<T>(id: string, sweep: () => Promise<T>): Promise<T | null>;
}

export interface Engine {
  readonly name: 'sqlite' | 'postgres';
  readonly db: Kysely<Tables>;
  readonly charge: ChargeEngine;
  readonly node: NodeLife;
  /** The store's clock, ms. */
  now(): Promise<number>;
  /** A write transaction. `work` must use only `trx`. */
  transaction<T>(work: (trx: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Locks accounts in the one order that all writers keep, until the transaction ends. */
  lockAccounts(trx: Transaction<Tables>, ids: readonly string[]): Promise<void>;
  /** Locks users likewise; after the accounts. */
  lockUsers(trx: Transaction<Tables>, ids: readonly string[]): Promise<void>;
  /** Of the transactions that name the same thing, one goes on at a time. */
  inTurn(trx: Transaction<Tables>, what: string): Promise<void>;
  /** Verifications of an account from one seq to before another; to be ordered by account and seq. */
  stretch(account: string, from: number, to: number): Expression<SqlBool>;
  /** Whether `text` occurs in the value, literally. */
  contains(value: Expression<string>, text: string): Expression<SqlBool>;
  /** In lower case, letters beyond ASCII too. Not for what an index answers. */
  folded(value: Expression<string>): Expression<string>;
  /** Whether the value, which is lower() of something, begins with lower() of `text`; an index on it can answer. */
  begins(value: Expression<string>, text: string): Expression<SqlBool>;
  migrate(): Promise<{ from: number; to: number }>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface EngineOptions {
  readonly url: string;
  readonly clock: Clock;
  /** Folder with sqlite/ and postgres/. */
  readonly migrations: string;
  /** PostgreSQL: whose clock the store goes by. */
  readonly time: 'store' | 'process';
}
