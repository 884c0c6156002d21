import pg from 'pg';
import { assertCompatible, SCHEMA, type SchemaState } from '../migrations.ts';
import { onlyRow } from '../rows.ts';
import { connectClient, discardClient } from './connect.ts';

/** Bounds the connection and the probe. */
const PROBE_TIMEOUT_MS = 1_000;
/** Pages of the table before it is emptied. */
const EMPTIED_AFTER_PAGES = 512;
/** A row that fills a page, so that every probe makes the file of its table longer. */
const PAGE_FILLER = 8_000;

const SETUP = `SET temp_tablespaces = ''; CREATE TEMP TABLE mailvet_probe (filler TEXT);
  ALTER TABLE mailvet_probe ALTER filler SET STORAGE PLAIN`;
const GROW = `INSERT INTO mailvet_probe SELECT repeat('x', ${PAGE_FILLER});`;
/** Reads a table of ours, and writes a record to the write-ahead log, which the commit flushes. */
const PROBE_STATEMENTS = `SELECT seen_at FROM store_clock; SELECT pg_logical_emit_message(true, 'mailvet.probe', '');`;
const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * Finds out whether the server can record now: makes a file longer and commits, on a connection and a temporary table
 * of its own, which no other session can lock. Without the right to create temporary tables it only commits.
 */
export class PostgresProbe {
  readonly #url: string;
  readonly #known: () => number;
  #client: pg.Client | null = null;
  #grows = true;
  #pages = 0;

  /** `known` returns the schema version of this program. */
  constructor(url: string, known: () => number) {
    this.#url = url;
    this.#known = known;
  }

  /** Throws when it cannot. */
  async run(): Promise<void> {
    try {
      this.#client ??= await this.#connect();
      const client = this.#client;
      const empty = this.#pages >= EMPTIED_AFTER_PAGES ? 'TRUNCATE mailvet_probe;' : '';
      await client.query(`BEGIN; ${this.#grows ? empty + GROW : ''} ${PROBE_STATEMENTS} COMMIT`);
      this.#pages = empty === '' ? this.#pages + 1 : 0;
      assertCompatible(onlyRow((await client.query<SchemaState>(SCHEMA)).rows), this.#known());
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    if (this.#client !== null) discardClient(this.#client);
    this.#client = null;
  }

  async #connect(): Promise<pg.Client> {
    const timeouts = { connectionTimeoutMillis: PROBE_TIMEOUT_MS, query_timeout: PROBE_TIMEOUT_MS };
    const client = await connectClient(this.#url, timeouts);
    this.#pages = 0;
    try {
      await client.query(SETUP);
      this.#grows = true;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== INSUFFICIENT_PRIVILEGE) {
        discardClient(client);
        throw error;
      }
      this.#grows = false;
    }
    return client;
  }
}
