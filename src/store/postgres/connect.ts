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
function connectionConfig(url: string): pg.ClientConfig {
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

/**
 * A connection that may be lost at any time. Its queries say so, those under way and those to come; its `error` event
 * would say it again, and end the process where nobody listens, as a pool does not while a client is in use.
 */
class Client extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('error', () => undefined);
  }
}

/** A connection outside the pool. */
export async function connectClient(url: string, extra: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new Client({ ...connectionConfig(url), ...extra });
  await client.connect();
  return client;
}

/** At most `max` connections, for statements that may be sent ahead of the replies. */
export function openPool(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({ ...connectionConfig(url), max, pipeline: true, Client });
  // An idle connection was lost: it is replaced when one is needed.
  pool.on('error', () => undefined);
  return pool;
}

/** Closes without waiting for a peer that may have disappeared. */
export function discard(client: pg.Client): void {
  client.end().catch(() => undefined);
}
