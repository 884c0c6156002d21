/** How much disk a store takes for its verifications. */
import { statSync } from 'node:fs';
import pg from 'pg';
import { startPostgres, whyNoPostgres } from '../tests/lab/postgres.ts';
import { posts, startLoader } from './apparatus/load.ts';
import { emails } from './apparatus/names.ts';
import { type Bench, type Figure, number } from './apparatus/results.ts';
import { ensureBuilt, prepareGround, startService, verifyOnce } from './apparatus/service.ts';

const VERIFICATIONS = 100_000;
const MILLION = 1_000_000;
const CONNECTIONS = 64;
const SECONDS = 120;

/** Octets of the store, its indexes included. The service has stopped, so the write-ahead log is in the file. */
async function octets(url: string): Promise<number> {
  if (url.startsWith('sqlite:')) return statSync(url.slice('sqlite:'.length)).size;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ size: string }>('SELECT pg_database_size(current_database()) AS size');
    return Number(rows[0]?.size);
  } finally {
    await client.end();
  }
}

async function measure(engine: string, url?: string): Promise<Figure> {
  const ground = await prepareGround(url);
  const { key } = await ground.account();
  const addresses = emails(VERIFICATIONS);
  const grow = async (count: number) => {
    const service = await startService(ground);
    await verifyOnce(service.port, key, addresses[0] ?? '');
    const loader = await startLoader();
    const requests = posts(
      '/v1/verify',
      key,
      addresses.map((email) => ({ email })),
    );
    const load = { port: service.port, connections: CONNECTIONS, requests, seconds: SECONDS, count };
    const { requests: done } = await loader.run(service.pid, load);
    await loader.end();
    await service.stop();
    return { done, octets: await octets(ground.store) };
  };
  // What an empty store takes is not theirs.
  const before = await grow(1);
  const after = await grow(VERIFICATIONS);
  await ground.clear();
  const each = (after.octets - before.octets) / after.done;
  return { what: `${engine}: a million verifications`, value: `${number((each * MILLION) / 1e6)} MB` };
}

export const disk: Bench = {
  name: 'disk',
  title: 'Disk',
  async run() {
    ensureBuilt();
    const figures = [await measure('SQLite')];
    const why = whyNoPostgres();
    if (why !== null) return { how: HOW, figures, leftOut: [`PostgreSQL, because ${why}.`] };
    const postgres = await startPostgres();
    figures.push(await measure('PostgreSQL', postgres.url));
    await postgres.stop();
    return { how: HOW, figures };
  },
};

const HOW =
  `Growth of the store by ${VERIFICATIONS.toLocaleString('en-US')} verifications at the mx level, with the log, the ledger, usage ` +
  'counters and all indexes, per million; the service is stopped before. On PostgreSQL the database, without its write-ahead log.';
