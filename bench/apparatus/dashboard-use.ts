/** What people do with the dashboard of a big account, one request after the other, while others verify. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AccountId, Store } from '../../src/store/store.ts';
import { person } from '../../tests/lab/person.ts';

/** Runs until `signal` aborts; returns how much of it was done. */
export type Activity = (signal: AbortSignal) => Promise<number>;

/** Lines of one request, as the dashboard sends them. */
const IMPORT_LINES = 200;
/** Between two requests of somebody who looks at pages, each of which makes several, ms. */
const LOOK_MS = 200;

interface DashboardUse {
  /** Pages of overview, log, ledger and filters with searches; returns how many. */
  readonly pages: Activity;
  /** Downloads of all filters and of the ledger in turn; returns the octets. */
  readonly exports: Activity;
  /** New filters; returns how many. */
  readonly imports: Activity;
  /** All filters as CSV; returns the octets. */
  download(): Promise<number>;
  /** Imports that many new filters. */
  importFilters(count: number): Promise<void>;
}

/** Signs in an owner of the account. */
export async function useDashboard(url: string, store: Store, account: AccountId): Promise<DashboardUse> {
  const { jar } = await person({ url, store }, { account });
  const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const headers = { cookie, origin: url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  const at = `${url}/dashboard/accounts/${account}`;
  let made = 0;

  async function call(path: string, options: RequestInit = {}): Promise<Response> {
    const response = await fetch(`${at}${path}`, { headers, ...options });
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response;
  }

  /** Reads the body to its end, or until aborted; returns its octets. */
  async function read(path: string, signal: AbortSignal | null = null): Promise<number> {
    const { body } = await call(path);
    let octets = 0;
    for await (const chunk of body ?? []) {
      octets += chunk.byteLength;
      if (signal?.aborted) break;
    }
    return octets;
  }

  async function importSome(count: number): Promise<void> {
    const lines = Array.from({ length: count }, () => ({ value: `imported${made++}.example.net`, reason: 'Imported' }));
    const response = await call('/filters/import', { method: 'POST', body: JSON.stringify({ lines }) });
    const { added } = (await response.json()) as { added: number };
    if (added !== count) throw new Error(`${added} of ${count} filters were added`);
  }

  const pages = [
    '/overview',
    '/log?limit=50',
    '/log?limit=50&query=person1234',
    '/ledger?limit=50',
    '/filters',
    '/filters?query=spam4',
    '/usage',
  ];

  return {
    async pages(signal) {
      let seen = 0;
      while (!signal.aborted) {
        await read(pages[seen++ % pages.length] ?? '');
        await sleep(LOOK_MS);
      }
      return seen;
    },
    async exports(signal) {
      let octets = 0;
      for (let turn = 0; !signal.aborted; turn += 1)
        octets += await read(turn % 2 === 0 ? '/filters.csv' : '/ledger.csv', signal);
      return octets;
    },
    async imports(signal) {
      const before = made;
      while (!signal.aborted) await importSome(IMPORT_LINES);
      return made - before;
    },
    download: () => read('/filters.csv'),
    async importFilters(count) {
      for (let left = count; left > 0; left -= IMPORT_LINES) await importSome(Math.min(left, IMPORT_LINES));
    },
  };
}
