import type { Kysely } from 'kysely';
import { accountId } from '../rows.ts';
import type { AccountId, List, ListBreakdown, ListLayout, VerificationRecord } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { type Pace, perSecond } from './pace.ts';

export type ListRecord = Row<'lists'>;

/** Statuses in which a list can be seen. */
const VISIBLE = ['ready', 'running', 'paused', 'completed', 'cancelled', 'failed'] as const;

const isVisible = (status: ListRecord['status']): status is List['status'] =>
  status !== 'uploading' && status !== 'deleted';

/** A list that can be seen, with what is held for it. */
export const findList = (db: Kysely<Tables>, account: AccountId, id: string) =>
  visibleLists(db, account).where('lists.id', '=', id).executeTakeFirst();

export const visibleLists = (db: Kysely<Tables>, account: AccountId) =>
  db
    .selectFrom('lists')
    .leftJoin('shared_holds as hold', 'hold.id', 'lists.id')
    .selectAll('lists')
    .select('hold.amount as held')
    .where('lists.account_id', '=', account)
    .where('lists.status', 'in', VISIBLE);

/** `now`: the store's. */
export function toList(row: ListRecord & { readonly held: number | null }, now: number): List {
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
    patienceMinutes: row.patience_minutes,
    layout: layoutOf(row),
    rows: { total, addresses, duplicates, blank, unreadable },
    done,
    waiting: row.waiting,
    breakdown: breakdownOf(row),
    perSecond: pace && perSecond(pace, now, done),
    credits: {
      price: status === 'ready' ? addresses * row.unit_price : row.price,
      held: row.held ?? 0,
      used: row.used,
    },
    error: row.error === null ? null : JSON.parse(row.error),
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}

export const paceOf = ({ pace }: Pick<ListRecord, 'pace'>): Pace | null => (pace === null ? null : JSON.parse(pace));
export const layoutOf = ({ layout }: Pick<ListRecord, 'layout'>): ListLayout => JSON.parse(layout);
export const breakdownOf = ({ breakdown }: Pick<ListRecord, 'breakdown'>): ListBreakdown => JSON.parse(breakdown);

export const noResults = (): ListBreakdown => ({
  status: { good: 0, bad: 0 },
  deliverability: { deliverable: 0, undeliverable: 0, risky: 0, unknown: 0 },
  reason: {},
});

export function addResults(to: ListBreakdown, records: readonly VerificationRecord[]): ListBreakdown {
  const [status, deliverability, reasons] = [{ ...to.status }, { ...to.deliverability }, { ...to.reason }];
  for (const record of records) {
    status[record.status] += 1;
    deliverability[record.deliverability] += 1;
    if (record.reason !== null) reasons[record.reason] = (reasons[record.reason] ?? 0) + 1;
  }
  return { status, deliverability, reason: reasons };
}
