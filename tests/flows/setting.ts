/** What the flows with processes of their own share: DNS, a store, and an account with a key. */
import { systemClock } from '../../src/kernel/clock.ts';
import { createKey } from '../../src/service/keys.ts';
import { openStore } from '../../src/store/open.ts';
import type { Account, Store } from '../../src/store/store.ts';
import { type DnsLab, zone } from '../lab/dns.ts';
import { NET } from '../lab/service.ts';
import { freshDatabase } from '../lab/stores.ts';

export interface Setting {
  readonly dns: DnsLab;
  readonly databaseUrl: string;
  readonly store: Store;
  /** Premium would run out of requests. */
  readonly account: Account;
  readonly key: { readonly id: string; readonly value: string };
  /** For processes of the service. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Domains whose names take 20 ms to resolve: `slow0.com` to `slow49.com`. */
const SLOW = Object.fromEntries(
  Array.from({ length: 50 }, (_, i) => [`slow${i}.com`, { MX: [[10, 'mx.good.com']], fault: { slow: 20 } } as const]),
);

export async function openSetting({
  credits,
  net = {},
  databaseUrl,
}: {
  readonly credits: number;
  readonly net?: typeof NET;
  /** Default: a fresh database. */
  readonly databaseUrl?: string;
}): Promise<Setting> {
  const dns = await zone({ ...NET, ...(SLOW as unknown as typeof NET), ...net });
  const database = databaseUrl === undefined ? await freshDatabase() : { url: databaseUrl, drop: async () => {} };
  const store = await openStore({ url: database.url, clock: systemClock });
  await store.migrate();
  const account = await store.accounts.create({ name: 'a', plan: 'enterprise', rateLimit: 10_000_000, credits });
  const { key, value } = await createKey(store, account.id, { name: 'load', allowIps: [] });
  return {
    dns,
    databaseUrl: database.url,
    store,
    account,
    key: { id: key.id, value },
    environment: {
      MAILVET_DATABASE_URL: database.url,
      MAILVET_DNS_SERVERS: `${dns.address}:${dns.port}`,
      MAILVET_DNS_CONTROL_NAMES: 'none',
      MAILVET_ALLOW_PRIVATE_NETWORKS: 'true',
    },
    async close() {
      await store.close();
      await database.drop();
      await dns.close();
    },
  };
}
