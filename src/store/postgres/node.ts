/**
 * A process proves that it lives by an advisory lock, which belongs to its connection: the server drops it when the
 * connection ends. It needs a session of its own, so a pooler between must not share sessions (PgBouncer:
 * `pool_mode = session`).
 */

import type pg from 'pg';
import { within } from '../../kernel/bounded-wait.ts';
import type { NodeLife } from '../driver.ts';
import { onlyRow } from '../rows.ts';
import { connectClient, discardClient, KEEPALIVES } from './connect.ts';

const TRY_LOCK = 'SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS locked';
const UNLOCK = 'SELECT pg_advisory_unlock(hashtextextended($1, 0))';
/** The row may have been swept while the connection was down. */
const ANNOUNCE = 'INSERT INTO nodes (id, label, started_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING';
/** Between attempts to get a lost connection back, ms. */
const RETRY_AFTER_MS = 250;

/** How long the end of a session is waited for, ms. */
const CLOSE_MS = 2_000;

interface PostgresNodeParts {
  readonly url: string;
  readonly pool: pg.Pool;
  readonly label: string;
  readonly newId: () => string;
  readonly now: () => Promise<number>;
}

export class PostgresNode implements NodeLife {
  readonly #parts: PostgresNodeParts;
  #client: pg.Client | null = null;
  #acquiring: Promise<string> | null = null;
  #retry: NodeJS.Timeout | null = null;
  #closed = false;
  current: string | null = null;

  constructor(parts: PostgresNodeParts) {
    this.#parts = parts;
  }

  /** This process's node; made, locked and announced at the first call. */
  acquire(): Promise<string> {
    if (this.current !== null) return Promise.resolve(this.current);
    this.#acquiring ??= this.#begin().finally(() => {
      this.#acquiring = null;
    });
    return this.#acquiring;
  }

  async ifDead<T>(id: string, sweep: () => Promise<T>): Promise<T | null> {
    if (id === this.current) return null;
    const client = await this.#parts.pool.connect();
    let usable = false;
    try {
      const { rows } = await client.query<{ locked: boolean }>(TRY_LOCK, [id]);
      const { locked } = onlyRow(rows);
      const result = locked ? await sweep() : null;
      if (locked) await client.query(UNLOCK, [id]);
      usable = true;
      return result;
    } finally {
      // Destroyed when something failed: the lock goes with the connection.
      client.release(!usable);
    }
  }

  /** Waits for the end of the session, as that is when others see it; but not for a server that does not answer. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    const client = this.#client;
    if (client !== null) await within({ ms: CLOSE_MS, late: () => undefined }, () => client.end());
    this.#client = null;
  }

  async #begin(): Promise<string> {
    const id = this.#parts.newId();
    if (!(await this.#lock(id))) throw new Error(`The lock of the new node ${id} is taken.`);
    this.current = id;
    return id;
  }

  /** Takes the lock on a new connection and watches it. False when another session has it. */
  async #lock(id: string): Promise<boolean> {
    const { url, label, now } = this.#parts;
    const client = await connectClient(url);
    try {
      await client.query(KEEPALIVES);
      const { rows } = await client.query<{ locked: boolean }>(TRY_LOCK, [id]);
      const { locked } = onlyRow(rows);
      if (locked) await client.query(ANNOUNCE, [id, label, await now()]);
      // Closed meanwhile: nobody else would end this connection.
      if (!locked || this.#closed) {
        discardClient(client);
        return false;
      }
    } catch (error) {
      discardClient(client);
      throw error;
    }
    this.#client = client;
    client.once('end', () => this.#lost(id));
    return true;
  }

  #lost(id: string): void {
    this.#client = null;
    if (this.#closed) return;
    this.#retry = setTimeout(() => {
      this.#lock(id).then(
        (locked) => locked || this.#lost(id),
        () => this.#lost(id),
      );
    }, RETRY_AFTER_MS);
    this.#retry.unref();
  }
}
