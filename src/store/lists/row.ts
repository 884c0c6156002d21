import type { Kysely } from 'kysely';
import { DAY_MS } from '../../kernel/clock.ts';
import { LIST_STATUSES } from '../../kernel/facts/lists.ts';
import type { Policy } from '../../kernel/facts/policies.ts';
import type { StorageDriver } from '../driver.ts';
import { accountId } from '../rows.ts';
import type { AccountId, List, ListBreakdown, ListLayout } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { type ListPace, perSecond } from './pace.ts';

export type ListRecord = Row<'lists'>;

const isVisible = (status: ListRecord['status']): status is List['status'] =>
  LIST_STATUSES.some((visible) => visible === status);

/** Returns a list that can be seen, with what is held for it. */
export const findList = (db: Kysely<Tables>, account: AccountId, id: string) =>
  visibleLists(db, account).where('lists.id', '=', id).executeTakeFirst();

export const visibleLists = (db: Kysely<Tables>, account: AccountId) =>
  db
    .selectFrom('lists')
    .leftJoin('shared_holds as hold', 'hold.id', 'lists.id')
    .selectAll('lists')
    .innerJoin('accounts', 'accounts.id', 'lists.account_id')
    .select(['hold.amount as held', 'accounts.retention_days', 'accounts.test_of'])
    .where('lists.account_id', '=', account)
    .where('lists.status', 'in', LIST_STATUSES);

export type FoundList = ListRecord & {
  readonly held: number | null;
  readonly retention_days: number | null;
  /** A test account is of this account. */
  readonly test_of: string | null;
};

/** `now` is the store's. */
export function toList({ retentionDays }: Pick<StorageDriver, 'retentionDays'>, row: FoundList, now: number): List {
  const { status } = row;
  if (!isVisible(status)) throw new TypeError(`A list that is ${status} cannot be seen.`);
  const { total, addresses, duplicates, blank, unreadable, done } = row;
  const pace = status === 'running' ? paceOf(row) : null;
  return {
    id: row.id,
    account: accountId(row.account_id),
    keyId: row.key_id,
    name: row.name,
    status,
    level: row.validation_type,
    retryMinutes: row.patience_minutes,
    layout: listLayoutOf(row),
    policy: policyOf(row),
    summary: row.summary === null ? null : JSON.parse(row.summary),
    hasFile: row.file_bytes > 0,
    rows: { total, addresses, duplicates, blank, unreadable },
    done,
    waiting: row.waiting,
    breakdown: breakdownOf(row),
    perSecond: pace && perSecond(pace, now, done),
    credits: {
      price: row.started_at === null ? addresses * row.unit_price : row.price,
      held: row.held ?? 0,
      used: row.used,
    },
    error: row.error === null ? null : JSON.parse(row.error),
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    expiresAt:
      (row.started_at ?? row.created_at) + Math.min(row.retention_days ?? retentionDays, retentionDays) * DAY_MS,
  };
}

/** Returns the policy as it was when the list was made. */
export const policyOf = ({ policy }: Pick<ListRecord, 'policy'>): Policy | null =>
  policy === null ? null : JSON.parse(policy);
export const paceOf = ({ pace }: Pick<ListRecord, 'pace'>): ListPace | null =>
  pace === null ? null : JSON.parse(pace);
/** As it is stored: from which number the rows of the reading that counts are numbered. */
type StoredLayout = ListLayout & { readonly base?: number };
const storedLayout = ({ layout }: Pick<ListRecord, 'layout'>): StoredLayout => JSON.parse(layout);
export function listLayoutOf(list: Pick<ListRecord, 'layout'>): ListLayout {
  const { base: _base, ...layout } = storedLayout(list);
  return layout;
}
export const baseOf = (list: Pick<ListRecord, 'layout'>): number => storedLayout(list).base ?? 0;
export const layoutText = (layout: ListLayout, base = 0): string =>
  JSON.stringify(base === 0 ? layout : ({ ...layout, base } satisfies StoredLayout));
export const breakdownOf = ({ breakdown }: Pick<ListRecord, 'breakdown'>): ListBreakdown => JSON.parse(breakdown);
