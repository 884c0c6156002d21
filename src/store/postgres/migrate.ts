import { type Migration, pending } from '../migrations.ts';
import { onlyRow } from '../rows.ts';
import { connectClient, discard } from './connect.ts';

/** "mailvet" in ASCII, so that it does not collide with another program's advisory lock. */
const LOCK = '0x6d61696c766574';

/** Applies missing migrations, each in a transaction. When two processes start, the second waits and finds none. */
export async function migrate(
  url: string,
  migrations: readonly Migration[],
  now: number,
): Promise<{ from: number; to: number }> {
  // A migration may take long: no timeout.
  const client = await connectClient(url, { query_timeout: 0, idle_in_transaction_session_timeout: 0 });
  try {
    await client.query(`SELECT pg_advisory_lock(${BigInt(LOCK)})`);
    await client.query(
      'CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)',
    );
    const found = await client.query<{ version: number }>(
      'SELECT coalesce(max(version), 0) AS version FROM migrations',
    );
    const from = onlyRow(found.rows).version;
    for (const { version, name, sql } of pending(migrations, from)) {
      await client.query('BEGIN');
      await client.query(sql);
      await client.query('INSERT INTO migrations (version, name, applied_at) VALUES ($1, $2, $3)', [
        version,
        name,
        now,
      ]);
      await client.query('COMMIT');
    }
    const { migrateBoss } = await import('./boss-schema.ts');
    await migrateBoss(client);
    return { from, to: migrations.length };
  } finally {
    // Ends the session, which releases the lock and rolls back.
    discard(client);
  }
}
