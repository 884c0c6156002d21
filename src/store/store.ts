/**
 * The store's interface, the same for SQLite and PostgreSQL. `openStore` (open.ts) chooses the driver by the URL; both
 * pass the same tests (tests/store).
 *
 * Times are milliseconds since the epoch. Credits are whole numbers. Whatever belongs to an account is addressed by the
 * account id first.
 */
import type { Accounts, Filters, Keys, Usage } from './api/accounts.ts';
import type { Charging, Idempotency, SeenMailboxes, SharedHolds } from './api/charging.ts';
import type { Hooks } from './api/hooks.ts';
import type { Lists } from './api/lists.ts';
import type { RejectedRequests, Traffic, UncertainReplies, Verifications } from './api/log.ts';
import type { Nodes, OperatorLeases, PaceSlices, SharedFiles, StoreClock, StoreStats, Upkeep } from './api/nodes.ts';
import type { Attempts, AuditLog, Members, SavedViews, SignIns, Users } from './api/people.ts';
import type { Policies } from './api/policies.ts';
import type { Webhooks } from './api/webhooks.ts';
import type { Jobs } from './jobs/queue.ts';

export type * from './api/accounts.ts';
export type * from './api/charging.ts';
export type * from './api/hooks.ts';
export type * from './api/lists.ts';
export type * from './api/log.ts';
export type * from './api/nodes.ts';
export type * from './api/people.ts';
export type * from './api/policies.ts';
export type * from './api/webhooks.ts';

/** A file or folder of the store that other users of the host can read or change. */
export interface LooseMode {
  readonly path: string;
  /** Octal. */
  readonly mode: string;
  /** The command that mends it. */
  readonly fix: string;
}

export interface PendingMigration {
  readonly version: number;
  readonly name: string;
  /** Programs that know this schema version keep working once it is applied. */
  readonly compatibleFrom: number;
}

/** What `migrate` would do to the schema. */
export interface SchemaCheck {
  /** Of the store; 0: it was never migrated. */
  readonly version: number;
  /** Programs that know this version can use the store. */
  readonly compatibleFrom: number;
  /** The latest version that this program knows. */
  readonly known: number;
  readonly pending: readonly PendingMigration[];
  /** Whether nodes that brought the store to its version keep working once the pending ones are applied. */
  readonly rolling: boolean;
}

export interface Store {
  readonly engine: 'sqlite' | 'postgres';
  readonly clock: StoreClock;
  readonly charging: Charging;
  readonly sharedHolds: SharedHolds;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly filters: Filters;
  readonly policies: Policies;
  readonly seen: SeenMailboxes;
  readonly lists: Lists;
  readonly webhooks: Webhooks;
  readonly hooks: Hooks;
  readonly verifications: Verifications;
  readonly rejectedRequests: RejectedRequests;
  readonly usage: Usage;
  readonly upkeep: Upkeep;
  readonly idempotency: Idempotency;
  readonly users: Users;
  readonly signIns: SignIns;
  readonly members: Members;
  readonly savedViews: SavedViews;
  readonly auditLog: AuditLog;
  readonly attempts: Attempts;
  readonly traffic: Traffic;
  readonly uncertainReplies: UncertainReplies;
  readonly sharedFiles: SharedFiles;
  readonly nodes: Nodes;
  readonly operatorLeases: OperatorLeases;
  readonly paceSlices: PaceSlices;
  readonly jobs: Jobs;
  readonly stats: StoreStats;
  /** For the sign-in library and its tables (`auth_…`): the Kysely instance, and its kind of database. */
  readonly authDatabase: { readonly db: unknown; readonly type: 'sqlite' | 'postgres' };
  /** The named secret of this store, created by `make` on first use and shared by all nodes. */
  secret(name: string, make: () => string): Promise<string>;
  /** Deletes the named secret if it has this value, because it is kept elsewhere. */
  forgetSecret(name: string, value: string): Promise<void>;
  /**
   * Migrates the schema to this version. Leaves a newer, compatible store as it is; throws StoreVersionError for one
   * that is not compatible. Safe when two processes start.
   */
  migrate(): Promise<{ from: number; to: number }>;
  /** Changes nothing. Throws StoreVersionError. */
  checkSchema(): Promise<SchemaCheck>;
  /** Throws when the store cannot record right now. For /readyz; one at a time. */
  ping(): Promise<void>;
  /** For a warning; none on PostgreSQL, and in memory. */
  looseModes(): readonly LooseMode[];
  /** Completes queued requests, then closes. */
  close(): Promise<void>;
}
