/** A store that has been in use for a month: what its store answers, and the service on it. */

import { systemClock } from '../src/kernel/clock.ts';
import { openStore } from '../src/store/open.ts';
import type { AccountId, Store } from '../src/store/store.ts';
import { whyNoPostgres } from '../tests/lab/postgres.ts';
import { BIG, type BigStore } from './apparatus/big-store.ts';
import { startPartner } from './apparatus/children.ts';
import { CONNECTIONS, measureService, STARTS } from './apparatus/growth-service.ts';
import { median } from './apparatus/measure.ts';
import { SERVED_POSTGRES, startServedPostgres } from './apparatus/postgres-server.ts';
import { type Bench, type Figure, number, ratio } from './apparatus/results.ts';
import { ensureBuilt, prepareGround } from './apparatus/service.ts';

const ROUNDS = 5;
const SEARCH_AIM_MS = 60;

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
        figure('audit, once', await milliseconds(() => audit(store), 1), await milliseconds(() => audit(floor))),
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

async function fill(url: string): Promise<BigStore> {
  const partner = await startPartner('big-store-process.ts');
  const filled = await partner.ask<BigStore>(url);
  await partner.end();
  return filled;
}

export const growth: Bench = {
  name: 'growth',
  title: 'A big store',
  async run() {
    ensureBuilt();
    const [big, small] = [await prepareGround(), await prepareGround()];
    await small.account();
    const measure = async (engine: string, { url, account, key }: BigStore): Promise<Figure[]> => {
      const waited = await measureStore(engine, url, account, small.store);
      return [...waited, ...(await measureService({ engine, url, account, key }))];
    };
    const why = whyNoPostgres();
    const postgres = why === null ? await startServedPostgres() : null;
    // Both at once, because each of them keeps one core busy.
    const [onSqlite, onPostgres] = await Promise.all([fill(big.store), postgres && fill(postgres.url)]);
    const figures = await measure('SQLite', onSqlite);
    await big.clear();
    if (onPostgres !== null) figures.push(...(await measure('PostgreSQL', onPostgres)));
    await postgres?.stop();
    await small.clear();
    const count = (n: number) => n.toLocaleString('en-US');
    return {
      how:
        `${count(BIG.verifications)} verifications of ${BIG.days} days, ${count(BIG.accounts)} accounts, ${count(BIG.filters)} filters in the ` +
        `first of them. The floor is the same on an SQLite store with one account and nothing else; of percentiles, the same ` +
        `${CONNECTIONS} connections that verify, with nothing else going on. Medians of ${ROUNDS}, starts of ${STARTS}. ` +
        SERVED_POSTGRES,
      figures,
      leftOut: why === null ? [] : [`PostgreSQL, because ${why}.`],
    };
  },
};
