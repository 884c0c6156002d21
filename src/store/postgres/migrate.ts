import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type Migration, pending, type SchemaState } from '../migrations.ts';
import { onlyRow } from '../rows.ts';
import { connectClient, discardClient, isLocked } from './connect.ts';

/** "mailvet" in ASCII, so that it does not collide with another program's advisory lock. */
const MIGRATION_LOCK = '0x6d61696c766574';
/** How often to try to get the lock of another node that migrates, ms. */
const LOCK_POLL_MS = 250;
/**
 * A migration that waits for the lock on a table makes everyone else wait behind it. So it waits briefly, and tries
 * again later, for two minutes in all.
 */
const TABLE_LOCK_MS = 1_000;
const LOCK_TRIES = 40;
const RETRY_PAUSE_MS = 2_000;
/** The migration that brought what nodes remember accounts by. */
const RULES_SINCE = 15;
const FORGET = 'UPDATE accounts SET rules = floor(random() * 9007199254740991)';

/**
 * Applies missing migrations: each in a transaction, indexes one by one without. When two nodes start, the second waits
 * and finds none.
 */
export async function migrate(
  url: string,
  migrations: readonly Migration[],
  now: number,
): Promise<{ from: number; to: number }> {
  // A migration may take long: no timeout.
  const client = await connectClient(url, { query_timeout: 0, idle_in_transaction_session_timeout: 0 });
  try {
    await lockMigrations(client);
    await client.query(
      `CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL,
        compatible_from BIGINT)`,
    );
    // An earlier version made the table.
    if (!(await hasCompatibility(client)))
      await inTransaction(client, ['ALTER TABLE migrations ADD COLUMN compatible_from BIGINT']);
    const state = await readState(client);
    const missing = pending(migrations, state);
    let { compatibleFrom } = state;
    for (const migration of missing) {
      const cutsOff = migration.compatibleFrom > compatibleFrom && state.version > 0;
      await apply(client, migration, { now, cutsOff });
      compatibleFrom = Math.max(compatibleFrom, migration.compatibleFrom);
    }
    return { from: state.version, to: state.version + missing.length };
  } finally {
    // Ends the session, which releases the lock and rolls back.
    discardClient(client);
  }
}

/** Reads the state without changing anything. */
export async function schemaState(url: string): Promise<SchemaState> {
  const client = await connectClient(url);
  try {
    return await readState(client);
  } finally {
    discardClient(client);
  }
}

/**
 * Polled: a session that waits within a statement has a snapshot, for whose end a concurrent index build waits, and the
 * two would wait for each other.
 */
async function lockMigrations(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ locked: boolean }>(
      `SELECT pg_try_advisory_lock(${BigInt(MIGRATION_LOCK)}) AS locked`,
    );
    if (onlyRow(rows).locked) return;
    await sleep(LOCK_POLL_MS);
  }
}

/** `cutsOff`: nodes of an earlier version may be running, which must stop charging. */
async function apply(
  client: pg.Client,
  migration: Migration,
  { now, cutsOff }: { now: number; cutsOff: boolean },
): Promise<void> {
  const { version, name, compatibleFrom, sql, concurrently } = migration;
  const recorded = {
    text: 'INSERT INTO migrations (version, name, applied_at, compatible_from) VALUES ($1, $2, $3, $4)',
    values: [version, name, now, compatibleFrom],
  };
  if (concurrently) {
    await buildIndexes(client, sql);
    await client.query(recorded);
    return;
  }
  // A charge under lock has its accounts from before it asks whether it may go on until its end.
  const fence = cutsOff ? ['LOCK TABLE accounts IN EXCLUSIVE MODE'] : [];
  // A charge by what a node remembers does not ask; so what nodes remember no longer holds.
  const forget = cutsOff && version > RULES_SINCE ? [FORGET] : [];
  await inTransaction(client, [...fence, sql, recorded, ...forget]);
}

/** Tries again while others have the locks that it needs. */
async function inTransaction(client: pg.Client, statements: readonly (string | pg.QueryConfig)[]): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await client.query(`BEGIN; SET LOCAL lock_timeout = ${TABLE_LOCK_MS}`);
      for (const statement of statements) await client.query(statement);
      await client.query('COMMIT');
      return;
    } catch (error) {
      // A lost connection has rolled back, and the first error says why.
      await client.query('ROLLBACK').catch(() => undefined);
      if (!isLocked(error) || tries === LOCK_TRIES) throw error;
    }
    await sleep(RETRY_PAUSE_MS);
  }
}

const INDEX = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY (\w+) ON [^;]+$/;

/** Skips those that are there. One that is invalid was left by a build that did not end: it is built again. */
async function buildIndexes(client: pg.Client, sql: string): Promise<void> {
  const statements = sql.replaceAll(/^\s*--.*$/gm, '').split(';');
  for (const statement of statements.map((text) => text.trim()).filter((text) => text !== '')) {
    const name = INDEX.exec(statement)?.[1];
    if (name === undefined) throw new Error(`Not CREATE INDEX CONCURRENTLY name ON …: ${statement}`);
    const { rows } = await client.query<{ valid: boolean }>(
      'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
      [name],
    );
    if (rows[0]?.valid === true) continue;
    if (rows[0] !== undefined) await client.query(`DROP INDEX CONCURRENTLY ${name}`);
    await client.query(statement);
  }
}

async function readState(client: pg.Client): Promise<SchemaState> {
  const { rows: tables } = await client.query<{ made: boolean }>(
    `SELECT to_regclass('migrations') IS NOT NULL AS made`,
  );
  if (!onlyRow(tables).made) return { version: 0, compatibleFrom: 0 };
  const compatible = (await hasCompatibility(client)) ? 'coalesce(compatible_from, version)' : 'version';
  const { rows } = await client.query<{ version: number; compatibleFrom: number }>(
    `SELECT coalesce(max(version), 0) AS version, coalesce(max(${compatible}), 0) AS "compatibleFrom" FROM migrations`,
  );
  return onlyRow(rows);
}

async function hasCompatibility(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT 1 FROM pg_attribute WHERE attrelid = 'migrations'::regclass AND attname = 'compatible_from'`,
  );
  return rows.length > 0;
}
