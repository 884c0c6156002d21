/** A PostgreSQL server in the state that one in service is in. */
import pg from 'pg';
import { type PostgresServer, startPostgres } from '../../tests/lab/postgres.ts';

/** More than a benchmark writes between two checkpoints, of 16 MB each. */
const LOG_FILES = 48;

/** For the text of a section. */
export const SERVED_POSTGRES = 'PostgreSQL flushes its commits, and has files of its log to use again.';

/**
 * Flushes its commits, and has files to write its log into: a new server fills each with zeros and flushes it first,
 * while all commits wait. After its checkpoints a server uses its files again.
 */
export async function startServedPostgres(): Promise<PostgresServer> {
  const server = await startPostgres({ flush: true });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  // As docs/operating.md recommends.
  await client.query(`ALTER SYSTEM SET min_wal_size = '1GB'`);
  await client.query(`ALTER SYSTEM SET max_wal_size = '4GB'`);
  await client.query('SELECT pg_reload_conf()');
  for (let i = 0; i < LOG_FILES; i += 1) {
    // A file with nothing in it is not left.
    await client.query(`SELECT pg_logical_emit_message(false, 'bench', '')`);
    await client.query('SELECT pg_switch_wal()');
  }
  await client.query('CHECKPOINT');
  await client.end();
  return server;
}
