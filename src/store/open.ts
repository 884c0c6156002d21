import type { Clock } from '../kernel/clock.ts';
import { RETENTION_DAYS } from '../kernel/facts/limits.ts';
import { DEFAULT_PLANS, type Plans } from '../kernel/facts/plans.ts';
import { JOB_POLICIES, type JobPolicies } from '../kernel/jobs.ts';
import { accounts } from './accounts.ts';
import { alerts } from './alerts.ts';
import { auditAccounts } from './audit.ts';
import { Batcher, ObservedCharge } from './charge/batcher.ts';
import { sharedHolds } from './charge/shared-hold.ts';
import { nodes, storeClock } from './clock.ts';
import type { StorageDriver, StorageDriverOptions } from './driver.ts';
import { filters } from './filters.ts';
import { hooks } from './hooks.ts';
import { idempotency } from './idempotency.ts';
import { jobs } from './jobs/jobs.ts';
import { keys } from './keys.ts';
import { operatorLeases, paceSlices } from './leases.ts';
import { lists } from './lists/lists.ts';
import { rejectedRequests } from './log/rejected-requests.ts';
import { verifications } from './log/verifications.ts';
import { migrationsFolder } from './migrations.ts';
import { moving } from './moving.ts';
import { operatorKeys } from './operator-keys.ts';
import { outcomeSources } from './outcome-sources.ts';
import { outcomes } from './outcomes.ts';
import { auditLog } from './people/audit-log.ts';
import { dismissals } from './people/dismissals.ts';
import { members } from './people/members.ts';
import { savedViews } from './people/saved-views.ts';
import { attempts, authDatabase, forgetSecret, secret, signIns } from './people/sign-ins.ts';
import { users } from './people/users.ts';
import { addressHasher } from './person.ts';
import { policies } from './policies.ts';
import { privacy } from './privacy.ts';
import { seenMailboxes } from './seen.ts';
import { sharedFiles } from './shared-files.ts';
import { stats } from './stats.ts';
import type { Store, StoreEvent } from './store.ts';
import { traffic } from './traffic.ts';
import { uncertainReplies } from './uncertain-replies.ts';
import { upkeep } from './upkeep.ts';
import { usage } from './usage.ts';
import { webhooks } from './webhooks.ts';

export { StoreVersionError } from './migrations.ts';

export interface StoreOptions {
  /** The URL is `sqlite:PATH`, `sqlite::memory:`, `postgres://…` or `postgresql://…`. */
  readonly url: string;
  readonly clock: Clock;
  /** The folder of the migrations is the package's own by default. */
  readonly dir?: string;
  /** Requests that may wait for a transaction before `admit` answers `overloaded`; 5,000 by default. */
  readonly queue?: number;
  /** One transaction takes this many requests; 256 by default. */
  readonly batch?: number;
  /**
   * Which clock a PostgreSQL store uses: the server's (`store`, the default), shared by all nodes, or `clock`
   * (`process`), so that a test can set the time. SQLite always uses `clock`.
   */
  readonly time?: 'store' | 'process';
  /** PostgreSQL: whether charges are judged by what the node remembers; true by default. Only speed depends on it. */
  readonly remembers?: boolean;
  /** Retries, leases and bounds of jobs; those of the table by default. */
  readonly jobPolicies?: JobPolicies;
  /** Runs after the transaction. */
  readonly onEvent?: (event: StoreEvent) => void;
  /** How long the server keeps verifications; the default of the option. Purging takes its own. */
  readonly retentionDays?: number;
  /** Without a plans file, these apply by default. */
  readonly plans?: Plans;
  /** Whether mail can be sent: otherwise alerts add none. False by default. */
  readonly sendsMail?: boolean;
}

/**
 * Opens the store without touching its schema: call `migrate()` before anything else. Throws an Error with a plain
 * sentence when the URL is unusable or the store cannot be opened. A driver's code is loaded only when it is used.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { url, clock, dir, queue = 5_000, batch = 256, time = 'store', remembers = true } = options;
  const { jobPolicies = JOB_POLICIES, onEvent = () => undefined, retentionDays = RETENTION_DAYS.default } = options;
  const { plans = DEFAULT_PLANS, sendsMail = false } = options;
  const migrations = dir ?? migrationsFolder();
  const driver = await openDriver({
    url,
    clock,
    migrations,
    time,
    remembers,
    jobPolicies,
    onEvent,
    retentionDays,
    plans,
    sendsMail,
  });
  const charge = new ObservedCharge(driver.charge, clock);
  const charging = new Batcher(charge, { queue, batch }, clock);
  const ownClock = storeClock(driver, clock);
  const auth = authDatabase(driver);
  let closing: Promise<void> | null = null;
  return {
    engine: driver.name,
    plans,
    clock: ownClock,
    charging,
    sharedHolds: sharedHolds(driver),
    accounts: { ...accounts(driver), audit: () => auditAccounts(driver) },
    keys: keys(driver),
    operatorKeys: operatorKeys(driver),
    filters: filters(driver),
    policies: policies(driver),
    seen: seenMailboxes(driver),
    outcomes: outcomes(driver),
    lists: lists(driver),
    webhooks: webhooks(driver),
    alerts: alerts(driver),
    hooks: hooks(driver),
    outcomeSources: outcomeSources(driver),
    verifications: verifications(driver),
    privacy: privacy(driver),
    moving: moving(driver),
    rejectedRequests: rejectedRequests(driver),
    usage: usage(driver),
    upkeep: upkeep(driver, ownClock),
    idempotency: idempotency(driver),
    users: users(driver),
    signIns: signIns(driver, auth),
    members: members(driver),
    savedViews: savedViews(driver),
    dismissals: dismissals(driver),
    auditLog: auditLog(driver),
    attempts: attempts(driver),
    traffic: traffic(driver),
    uncertainReplies: uncertainReplies(driver),
    sharedFiles: sharedFiles(driver),
    nodes: nodes(driver),
    operatorLeases: operatorLeases(driver),
    paceSlices: paceSlices(driver),
    jobs: jobs(driver),
    stats: stats(driver, charge),
    authDatabase: { db: auth.db, type: driver.name },
    secret: secret(driver),
    addressHasher: addressHasher(secret(driver)),
    forgetSecret: forgetSecret(driver),
    migrate: () => driver.migrate(),
    checkSchema: () => driver.checkSchema(),
    ping: () => driver.ping(),
    looseModes: () => driver.looseModes(),
    close() {
      closing ??= drainAndClose(charging, driver);
      return closing;
    },
  };
}

async function drainAndClose(charging: Batcher, driver: StorageDriver): Promise<void> {
  try {
    await charging.close();
  } finally {
    await driver.close();
  }
}

async function openDriver(options: StorageDriverOptions): Promise<StorageDriver> {
  if (options.url.startsWith('sqlite:')) return (await import('./sqlite/driver.ts')).openSqlite(options);
  if (/^postgres(ql)?:\/\//.test(options.url)) return (await import('./postgres/driver.ts')).openPostgres(options);
  // The URL may hold a password: name only its scheme.
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(options.url)?.[0] ?? 'no scheme';
  throw new Error(`The store's URL must begin with "sqlite:" or "postgres://", not with ${scheme}`);
}
