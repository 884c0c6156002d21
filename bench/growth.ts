/** A store that has been in use for a month: the audit, searches, pages, exports, the start and verifications during a purge. */

import { systemClock } from '../src/kernel/clock.ts';
import { openStore } from '../src/store/open.ts';
import type { AccountId, Store } from '../src/store/store.ts';
import { startPostgres, whyNoPostgres } from '../tests/lab/postgres.ts';
import { BIG, fillBigStore } from './apparatus/big-store.ts';
import { type LoadSample, posts, startLoader } from './apparatus/load.ts';
import { median } from './apparatus/measure.ts';
import { emails } from './apparatus/names.ts';
import { type Bench, type Figure, number, ratio } from './apparatus/results.ts';
import { ensureBuilt, prepareGround, startService, verifyOnce } from './apparatus/service.ts';

const ROUNDS = 5;
const SEARCH_AIM_MS = 60;
const START_AIM_MS = 1_000;
const P99_AIM = 1.5;
const CONNECTIONS = 32;
const SECONDS = 5;
/** Within which the purge has begun. */
const PURGE_SECONDS = 40;

async function milliseconds(work: () => Promise<unknown>, rounds = ROUNDS): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return median(times);
}

async function withStore<T>(url: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({ url, clock: systemClock });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

const SEARCH = { id: null, reason: null, keyId: null, status: null, before: null, limit: 50 };

/** What people wait for, next to the same on a store with one account and nothing else. */
const waits = (store: Store, account: AccountId): Readonly<Record<string, () => Promise<unknown>>> => ({
  'search of filters that finds none': () =>
    store.filters.list(account, { filterType: null, query: 'nothing-like-it', offset: 0, limit: 25 }),
  'search of filters that finds half': () =>
    store.filters.list(account, { filterType: null, query: 'spam', offset: 0, limit: 25 }),
  'search of the log by address': () => store.verifications.search(account, { ...SEARCH, email: 'person1234' }),
  'page of the ledger': () => store.accounts.ledger(account, 50),
});

async function read(store: Store, account: AccountId): Promise<void> {
  for (let after = 0, full = true; full; ) {
    const some = await store.filters.from(account, after, 1_000);
    full = some.length === 1_000;
    after = some.at(-1)?.id ?? after;
  }
}

async function measureStore(engine: string, big: string, account: AccountId, small: string): Promise<Figure[]> {
  const own = await withStore(small, async (store) => (await store.accounts.list())[0]!.id);
  const figure = (what: string, value: number, floor: number, aim?: number): Figure => ({
    what: `${engine}: ${what}`,
    value: `${number(value)} ms`,
    floor: `${number(floor)} ms`,
    ratio: ratio(value / floor),
    ...(aim === undefined ? {} : { aim: { text: `≤ ${aim} ms`, met: value <= aim } }),
  });
  return withStore(big, (store) =>
    withStore(small, async (floor) => {
      const audit = async (one: Store) => {
        const faults = await one.accounts.audit();
        if (faults.length > 0) throw new Error(faults.join('\n'));
      };
      const figures = [
        figure('audit', await milliseconds(() => audit(store), 3), await milliseconds(() => audit(floor))),
      ];
      const [ours, theirs] = [waits(store, account), waits(floor, own)];
      for (const [what, wait] of Object.entries(ours))
        figures.push(figure(what, await milliseconds(wait), await milliseconds(theirs[what]!), SEARCH_AIM_MS));
      figures.push(
        figure(
          'reading all filters',
          await milliseconds(() => read(store, account)),
          await milliseconds(() => read(floor, own)),
        ),
      );
      return figures;
    }),
  );
}

/** The service on the big store: its start, and verifications before and during a purge. */
async function measureService(url: string, key: string): Promise<Figure[]> {
  const ground = await prepareGround(url);
  const empty = await prepareGround();
  await empty.withStore((store) => store.migrate().then(() => store));
  const start = async (of: typeof ground) => {
    const began = performance.now();
    const service = await startService(of);
    const took = performance.now() - began;
    await service.stop();
    return took;
  };
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await start(ground));
    theirs.push(await start(empty));
  }
  const loader = await startLoader();
  const requests = posts(
    '/v1/verify',
    key,
    emails(2048).map((email) => ({ email })),
  );
  const during = async (retentionDays: number, seconds: number): Promise<LoadSample> => {
    const environment = (port: number) => ({
      ...ground.environment(port),
      MAILVET_RETENTION_DAYS: `${retentionDays}`,
    });
    const service = await startService({ ...ground, environment });
    const load = (seconds: number) =>
      loader.run(service.pid, { port: service.port, connections: CONNECTIONS, requests, seconds });
    await verifyOnce(service.port, key, emails(1)[0]!);
    await load(SECONDS);
    const sample = await load(seconds);
    await service.stop();
    return sample;
  };
  const quiet = await during(BIG.days + 1, SECONDS);
  const purging = await during(1, PURGE_SECONDS);
  await loader.end();
  await ground.clear();
  await empty.clear();
  const took = median(ours);
  return [
    {
      what: 'SQLite: start until the port is open',
      value: `${number(took)} ms`,
      floor: `${number(median(theirs))} ms`,
      ratio: ratio(took / median(theirs)),
      aim: { text: `≤ ${START_AIM_MS} ms`, met: took <= START_AIM_MS },
    },
    {
      what: 'SQLite: latency of a verification during a purge, 99th percentile',
      value: `${number(purging.p99)} ms`,
      floor: `${number(quiet.p99)} ms`,
      ratio: ratio(purging.p99 / quiet.p99),
      aim: { text: `≤ ${P99_AIM}`, met: purging.p99 / quiet.p99 <= P99_AIM },
    },
  ];
}

export const growth: Bench = {
  name: 'growth',
  title: 'A big store',
  async run() {
    ensureBuilt();
    const [big, small] = [await prepareGround(), await prepareGround()];
    await small.account();
    const { account, key } = await fillBigStore(big.store);
    const figures = await measureStore('SQLite', big.store, account, small.store);
    figures.push(...(await measureService(big.store, key)));
    await big.clear();
    const why = whyNoPostgres();
    if (why === null) {
      const postgres = await startPostgres();
      const filled = await fillBigStore(postgres.url);
      figures.push(...(await measureStore('PostgreSQL', postgres.url, filled.account, small.store)));
      await postgres.stop();
    }
    await small.clear();
    const count = (n: number) => n.toLocaleString('en-US');
    return {
      how:
        `${count(BIG.verifications)} verifications of ${BIG.days} days, ${count(BIG.accounts)} accounts, ${count(BIG.filters)} filters in the ` +
        `first of them. The floor is the same call on an SQLite store with one account and nothing else. Medians of ${ROUNDS}; ` +
        `the purge deletes all but a day, with ${CONNECTIONS} connections that verify.`,
      figures,
      leftOut: why === null ? [] : [`PostgreSQL, because ${why}.`],
    };
  },
};
