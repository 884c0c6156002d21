/** vitest globalSetup: one PostgreSQL server for the whole run, if the run uses PostgreSQL. */
import { type PostgresServer, startPostgres, whyNoPostgres } from './postgres.ts';

let server: PostgresServer | null = null;

export async function setup(): Promise<void> {
  if (process.env.MAILVET_TEST_STORE !== 'postgres' || process.env.MAILVET_TEST_POSTGRES_URL) return;
  if (whyNoPostgres() !== null) return;
  server = await startPostgres();
  process.env.MAILVET_TEST_POSTGRES_URL = server.url;
}

export async function teardown(): Promise<void> {
  await server?.stop();
}
