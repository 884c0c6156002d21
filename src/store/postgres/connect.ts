/** How connections to PostgreSQL are made. */
import pg from 'pg';

/** int8 as a number: every bigint of ours is a time in ms, a count or credits, far below 2^53. */
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** A connection that does not answer for this long, ms, counts as lost. */
const ANSWER_WITHIN = 30_000;
/** A node that stops within a transaction keeps its locks no longer, ms. */
const IDLE_IN_TRANSACTION = 10_000;

/** The server drops the session of a host that has vanished after about 20 s, instead of two hours. */
export const KEEPALIVES = 'SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 3; SET tcp_keepalives_count = 3';

/** Settings of every connection; those of the URL take precedence. */
export function connectionConfig(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    types,
    fallback_application_name: 'mailvet',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    query_timeout: ANSWER_WITHIN,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION,
  };
}

/** A connection outside the pool. Its errors are reported by the next query on it. */
export async function connectClient(url: string, extra: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ ...connectionConfig(url), ...extra });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Closes without waiting for a peer that may have disappeared. */
export function discard(client: pg.Client): void {
  client.end().catch(() => undefined);
}
