/** What belongs to an account: every table with an `account_id`, and how its rows end. */
import { DAY_MS } from '../kernel/clock.ts';
import { CHART_BUCKETS_MAX } from '../kernel/facts/limits.ts';
import type { StorageDriver, TableSchema } from './driver.ts';
import type { Tables } from './tables.ts';

export type OwnedTable = { [T in keyof Tables]: 'account_id' extends keyof Tables[T] ? T : never }[keyof Tables];

type ErasureRule =
  /** Means that code of its own takes it out. */
  | 'its own'
  /** Rows about the mailbox are deleted, which they name by a hash. */
  | 'hashes'
  /** Rows that mention it are deleted. */
  | 'rows'
  /** Its hash is put in its place. */
  | 'mentions'
  /** Rows are deleted where that is asked for, else kept. */
  | 'on request';

interface Fate {
  /** Where the removal of the account leaves its rows: why, and how they end. */
  readonly removal?: { readonly kept: string };
  /** What erasing an address does to rows that hold it; `kept` says why nothing. */
  readonly erasure: ErasureRule | { readonly kept: string };
  /** How rows end while the account lives: by time, when the column is older than `afterMs`, or as `other` says. */
  readonly purge: { readonly column: string; readonly afterMs: number } | { readonly other: string };
}

const NO_ADDRESS = { kept: 'holds no address' } as const;
const SETTING = { kept: 'a setting of the account, not a record' } as const;
const BY_THE_ACCOUNT = { other: 'ends when a member of the account deletes it' } as const;

/**
 * Tables are in the order of removal, as far as references allow: the log comes first, as it is the largest and most
 * private.
 */
export const OWNED_TABLES = {
  verifications: { erasure: 'its own', purge: { other: 'retention of the account or the server (upkeep.ts)' } },
  list_waiting: { erasure: 'its own', purge: { other: 'with their list' } },
  list_chunks: { erasure: NO_ADDRESS, purge: { other: 'with their list' } },
  list_blocks: { erasure: 'its own', purge: { other: 'with their list' } },
  list_files: { erasure: 'its own', purge: { other: 'when their list starts, ends or is deleted (lists/files.ts)' } },
  lists: { erasure: 'mentions', purge: { other: 'retention, as verifications (lists/remove.ts)' } },
  idempotency: { erasure: 'rows', purge: { column: 'expires_at', afterMs: 0 } },
  trail: {
    erasure: 'mentions',
    purge: { other: 'kept as long as the account, as evidence; without one, as long as the service' },
  },
  filters: {
    erasure: 'on request',
    purge: { other: 'ends when a member of the account deletes it, or FILTER_KEPT_DAYS after it expired (filters.ts)' },
  },
  policies: { erasure: SETTING, purge: BY_THE_ACCOUNT },
  seen: {
    erasure: 'hashes',
    purge: { other: 'MAILVET_SEEN_DAYS after a mailbox was last seen (seen.ts)' },
  },
  outcomes: { erasure: 'hashes', purge: { other: 'MAILVET_OUTCOMES_DAYS after the event (outcomes.ts)' } },
  outcome_verdicts: {
    erasure: 'hashes',
    purge: { other: 'MAILVET_OUTCOMES_DAYS after their last outcome (outcomes.ts)' },
  },
  outcome_sums: {
    erasure: NO_ADDRESS,
    purge: {
      other: 'with the last outcome that they count; those of origins are kept as long as the account (outcomes.ts)',
    },
  },
  seen_secrets: { erasure: NO_ADDRESS, purge: { other: 'kept as long as the account' } },
  alert_settings: { erasure: SETTING, purge: { other: 'kept as long as the account' } },
  alert_causes: { erasure: NO_ADDRESS, purge: { other: 'when the cause is over (alerts.ts)' } },
  // They are removed before the webhooks, so that none is attempted without its endpoint.
  webhook_deliveries: { erasure: 'rows', purge: { other: 'retention of the log, once finished (upkeep.ts)' } },
  webhooks: { erasure: SETTING, purge: BY_THE_ACCOUNT },
  hooks: { erasure: SETTING, purge: BY_THE_ACCOUNT },
  outcome_sources: { erasure: SETTING, purge: BY_THE_ACCOUNT },
  rejected_requests: {
    erasure: 'mentions',
    purge: { other: 'retention, as verifications (upkeep.ts)' },
  },
  // As far back as the widest chart goes.
  traffic_hours: { erasure: NO_ADDRESS, purge: { column: 'hour', afterMs: CHART_BUCKETS_MAX * DAY_MS } },
  usage_hours: {
    erasure: NO_ADDRESS,
    purge: { other: 'become sums of their day (usage.ts), which are kept as long as the account' },
  },
  ledger: {
    erasure: 'mentions',
    purge: { other: 'grants are kept as long as the account; other rows become sums of their day (ledger.ts)' },
  },
  ledger_days: { erasure: NO_ADDRESS, purge: { other: 'kept as long as the account: the balance is their sum' } },
  holds: { erasure: NO_ADDRESS, purge: { other: 'settled, or released (upkeep.ts)' } },
  // Closed ones as long as the audit may look at them.
  shared_holds: { erasure: NO_ADDRESS, purge: { column: 'closed_at', afterMs: 90 * DAY_MS } },
  keys: { erasure: SETTING, purge: { other: 'kept as long as the account, revoked ones for the log' } },
  invitations: {
    erasure: { kept: 'names people invited to the account' },
    purge: { column: 'expires_at', afterMs: 0 },
  },
  shared_views: { erasure: 'rows', purge: BY_THE_ACCOUNT },
  // Both come before the members, with whom they end.
  saved_views: { erasure: 'rows', purge: BY_THE_ACCOUNT },
  dismissals: { erasure: NO_ADDRESS, purge: { other: 'kept as long as the membership' } },
  members: { erasure: { kept: 'a user of the dashboard' }, purge: BY_THE_ACCOUNT },
  jobs: {
    removal: { kept: 'dropped when the account is deleted, except for the job that removes it' },
    erasure: { kept: 'names recipients of mail, and ends within days' },
    purge: { other: 'done, or deleted after its kind’s keepFailedDays' },
  },
} as const satisfies Record<OwnedTable, Fate>;

const FATES: ReadonlyMap<string, Fate> = new Map(Object.entries(OWNED_TABLES));
const RANK = new Map(Object.keys(OWNED_TABLES).map((table, rank) => [table, rank]));

/**
 * The tables whose rows go with their account, according to the database itself, so that none is forgotten: also one
 * that a newer version has added meanwhile. A table comes before those it refers to.
 */
export async function removableTables(driver: StorageDriver): Promise<TableSchema[]> {
  const left = (await driver.schema())
    .filter(({ table, columns }) => columns.includes('account_id') && FATES.get(table)?.removal === undefined)
    .sort((a, b) => (RANK.get(a.table) ?? RANK.size) - (RANK.get(b.table) ?? RANK.size));
  const ordered: TableSchema[] = [];
  while (left.length > 0) {
    const free = left.findIndex(({ table }) =>
      left.every((other) => other.table === table || !other.references.includes(table)),
    );
    // Tables that refer to each other in a circle: any of them.
    ordered.push(...left.splice(Math.max(free, 0), 1));
  }
  return ordered;
}
