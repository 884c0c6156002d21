/** The door of this room. */
import type { Clock } from '../kernel/clock.ts';
import { accounts } from './accounts.ts';
import { audit } from './audit.ts';
import { Batcher } from './charge/batcher.ts';
import type { Engine, EngineOptions } from './engine.ts';
import { filters } from './filters.ts';
import { idempotency } from './idempotency.ts';
import { keys } from './keys.ts';
import { verifications } from './log/verifications.ts';
import { migrationsFolder } from './migrations.ts';
import { attempts } from './people/attempts.ts';
import { members } from './people/members.ts';
import { secret } from './people/secret.ts';
import { trail } from './people/trail.ts';
import { users } from './people/users.ts';
import type { Store } from './store.ts';
import { traffic } from './traffic.ts';
import { upkeep } from './upkeep.ts';
import { usage } from './usage.ts';

export { StoreVersionError } from './migrations.ts';

export interface StoreOptions {
  /** `sqlite:PATH`, `sqlite::memory:`, `postgres://…` or `postgresql://…`. */
  readonly url: string;
  readonly clock: Clock;
  /** Folder of the migrations; the package's own by default. */
  readonly dir?: string;
  /** Requests that may wait for a transaction before `admit` answers `overloaded`; 5,000 by default. */
  readonly queue?: number;
  /** Requests in one transaction; 256 by default. */
  readonly batch?: number;
  /**
   * By whose clock a PostgreSQL store goes: the server's (`store`, the default), which all nodes share, or `clock`
   * (`process`), so that a test can set the time. SQLite always goes by `clock`.
   */
  readonly time?: 'store' | 'process';
}

/**
 * Opens the store without touching its schema: call `migrate()` before anything else. Throws an Error with a plain
 * sentence when the URL is unusable or the store cannot be opened. An engine's code is loaded only when it is used.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { url, clock, dir, queue = 5_000, batch = 256, time = 'store' } = options;
  const engine = await openEngine({ url, clock, migrations: dir ?? migrationsFolder(), time });
  const charging = new Batcher(engine.charge, { queue, batch });
  let closing: Promise<void> | null = null;
  return {
    engine: engine.name,
    charging,
    accounts: { ...accounts(engine), audit: () => audit(engine) },
    keys: keys(engine),
    filters: filters(engine),
    verifications: verifications(engine),
    usage: usage(engine),
    upkeep: upkeep(engine),
    idempotency: idempotency(engine),
    users: users(engine),
    members: members(engine),
    trail: trail(engine),
    attempts: attempts(engine),
    traffic: traffic(engine),
    authDatabase: { db: engine.db, type: engine.name },
    secret: secret(engine),
    migrate: () => engine.migrate(),
    ping: () => engine.ping(),
    close() {
      closing ??= charging.close().then(() => engine.close());
      return closing;
    },
  };
}

async function openEngine(options: EngineOptions): Promise<Engine> {
  if (options.url.startsWith('sqlite:')) return (await import('./sqlite/engine.ts')).openSqlite(options);
  if (/^postgres(ql)?:\/\//.test(options.url)) return (await import('./postgres/engine.ts')).openPostgres(options);
  // The URL may hold a password: name only its scheme.
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(options.url)?.[0] ?? 'no scheme';
  throw new Error(`The store's URL must begin with "sqlite:" or "postgres://", not with ${scheme}`);
}
