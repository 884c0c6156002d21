import { sql, type Transaction } from 'kysely';
import { DAY_MS } from '../kernel/clock.ts';
import { andRest, BATCH_ROWS, yieldToEventLoop } from './batches.ts';
import type { StorageDriver } from './driver.ts';
import { AFTER_LAST_SEQ, edgeOf, FIRST_SEQ } from './log/search.ts';
import type { AccountId, Funds, LedgerPage, LedgerRow } from './store.ts';
import type { Row, Tables } from './tables.ts';

// What an account has, day by day: from what it has now, and what every day since took or added.

interface FundsRow {
  kind: 'now' | 'day' | 'grant';
  at: number;
  credits: number;
  requests: number;
  lists: number;
  note: string | null;
}

/** See `Accounts.funds`. One statement, so that it sees one state. */
export async function fundsOf({ db }: StorageDriver, account: AccountId, since: number): Promise<Funds | null> {
  const from = Math.floor(since / DAY_MS) * DAY_MS;
  const { rows } = await sql<FundsRow>`
    SELECT 'now' AS kind, created_at AS at, balance + locked AS credits, locked AS requests, 0 AS lists, NULL AS note
      FROM accounts WHERE id = ${account}
    UNION ALL
    SELECT 'day', hour / ${sql.lit(DAY_MS)} * ${sql.lit(DAY_MS)}, CAST(sum(credits) AS BIGINT),
      CAST(sum(requests) AS BIGINT), CAST(sum(list_credits) AS BIGINT), NULL
      FROM usage_hours WHERE account_id = ${account} AND hour >= ${from} GROUP BY 2
    UNION ALL
    SELECT 'grant', created_at, amount, 0, 0, coalesce(note, 'Allowance of ' || month)
      FROM ledger WHERE account_id = ${account} AND kind = 'grant' AND created_at >= ${from}
    ORDER BY 2 DESC`.execute(db);
  const now = rows.find(({ kind }) => kind === 'now');
  if (now === undefined) return null;
  return {
    from,
    openedAt: now.at,
    total: now.credits,
    held: now.requests,
    days: rows
      .filter(({ kind }) => kind === 'day')
      .map(({ at, credits: charged, requests: verifications, lists: chargedByLists }) => ({
        at,
        charged,
        chargedByLists,
        verifications,
      })),
    grants: rows
      .filter(({ kind }) => kind === 'grant')
      .map(({ at, credits, note }) => ({ at, credits, note: note ?? '' })),
  };
}

// The ledger of an account: rows of the ledger, verifications that are their own entries, and sums of past days.

/** Where a page begins in each source: only what is before. */
interface Position {
  readonly seq: number;
  readonly id: number;
  readonly day: number;
}
type LedgerSource = keyof Position;
interface LedgerPosition {
  readonly source: LedgerSource;
  /** The row has this place in the source. */
  readonly at: number;
  readonly row: LedgerRow;
}

const NEWEST: Position = { seq: AFTER_LAST_SEQ, id: AFTER_LAST_SEQ, day: AFTER_LAST_SEQ };
/** Entries of the same time are in this order: a hold comes before its settlement, and a day is over at its end. */
const LEDGER_SOURCES: readonly LedgerSource[] = ['seq', 'id', 'day'];

const ledgerCursor = ({ seq, id, day }: Position): string => [seq, id, day].join('.');
function ledgerPosition(cursor: string): Position {
  const [seq = 0, id = 0, day = 0] = cursor.split('.').map(Number);
  return { seq, id, day };
}

/**
 * Verifications. Those that moved nothing are no entries, and there may be very many between two that did: after
 * LOG_SEARCH_ROWS, `searchedTo` says how far it was read.
 */
async function chargedVerifications(driver: StorageDriver, account: AccountId, before: number, limit: number) {
  const edge = await edgeOf(driver, account, before);
  const rows = await driver.scans
    .selectFrom('verifications')
    .select(['seq', 'id', 'held', 'credits', 'created_at'])
    .where(driver.seqRange(account, edge?.seq ?? FIRST_SEQ, before))
    .where('held', 'is not', null)
    .orderBy('account_id', 'desc')
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  const entries = rows.map(({ seq, id, held, credits, created_at: createdAt }): LedgerPosition => {
    const moved = { amount: (held ?? 0) - credits, charged: credits, verificationId: id, verifications: null };
    return { source: 'seq', at: seq, row: { ...moved, id: `v${seq}`, kind: 'settlement', note: null, createdAt } };
  });
  return { entries, searchedTo: rows.length === limit ? null : (edge?.seq ?? null) };
}

/** `2026-11: More, by its plan` */
const allowanceNote = (month: string | null, note: string | null): string | null =>
  month === null || note === null ? (month ?? note) : `${month}: ${note}`;

async function ledgerRows(
  { scans }: StorageDriver,
  account: AccountId,
  before: number,
  limit: number,
): Promise<LedgerPosition[]> {
  const mine = scans.selectFrom('ledger').selectAll().where('account_id', '=', account).where('id', '<', before);
  const rows = await mine.orderBy('id', 'desc').limit(limit).execute();
  return rows.map(({ id, kind: stored, amount, charged, verification_id, note, month, created_at: createdAt }) => ({
    source: 'id',
    at: id,
    row: {
      id: `l${id}`,
      kind: month === null ? stored : 'allowance',
      amount,
      charged,
      createdAt,
      verificationId: verification_id,
      verifications: null,
      note: allowanceNote(month, note),
    },
  }));
}

async function days(
  { scans }: StorageDriver,
  account: AccountId,
  before: number,
  limit: number,
): Promise<LedgerPosition[]> {
  const mine = scans.selectFrom('ledger_days').selectAll().where('account_id', '=', account).where('day', '<', before);
  const rows = await mine.orderBy('day', 'desc').limit(limit).execute();
  return rows.map(({ day, verifications: chargedVerifications, amount, charged }) => ({
    source: 'day',
    at: day,
    row: {
      id: `d${day}`,
      kind: 'day',
      amount,
      charged,
      verificationId: null,
      verifications: chargedVerifications,
      note: null,
      createdAt: day,
    },
  }));
}

/** See `Accounts.ledger`. Each source is read in its own order, so that no entry is missed, whatever clocks did. */
export async function ledgerPage(
  driver: StorageDriver,
  account: AccountId,
  limit: number,
  before: string | null,
): Promise<LedgerPage> {
  const from = before === null ? NEWEST : ledgerPosition(before);
  const { entries, searchedTo } = await chargedVerifications(driver, account, from.seq, limit + 1);
  const left: Record<LedgerSource, LedgerPosition[]> = {
    seq: entries,
    id: await ledgerRows(driver, account, from.id, limit + 1),
    day: await days(driver, account, from.day, limit + 1),
  };
  const rows: LedgerRow[] = [];
  let position = from;
  while (rows.length < limit) {
    // What comes next of the verifications is not known yet.
    if (left.seq.length === 0 && searchedTo !== null)
      return { rows, next: ledgerCursor({ ...position, seq: searchedTo }) };
    const heads = LEDGER_SOURCES.flatMap((source) => left[source].slice(0, 1));
    const [next] = heads.sort((a, b) => b.row.createdAt - a.row.createdAt);
    if (next === undefined) return { rows, next: null };
    left[next.source].shift();
    rows.push(next.row);
    position = { ...position, [next.source]: next.at };
  }
  const more = searchedTo !== null || LEDGER_SOURCES.some((source) => left[source].length > 0);
  return { rows, next: more ? ledgerCursor(position) : null };
}

// Rows of the ledger past their time become sums of their day: holds, releases, and charges of earlier versions and of
// shared holds. Grants stay. What a verification is, its deletion sums up (migration 0014).

/** Sums up rows from before `before`, `most` at most; returns how many. */
export type LedgerRollUp = (before: number, most: number, signal?: AbortSignal) => Promise<number>;

type Day = Row<'ledger_days'>;

async function addDays(trx: Transaction<Tables>, days: readonly Day[]): Promise<void> {
  if (days.length === 0) return;
  await trx
    .insertInto('ledger_days')
    .values(days)
    .onConflict((oc) =>
      oc.columns(['account_id', 'day']).doUpdateSet((eb) => ({
        verifications: eb('ledger_days.verifications', '+', eb.ref('excluded.verifications')),
        amount: eb('ledger_days.amount', '+', eb.ref('excluded.amount')),
        charged: eb('ledger_days.charged', '+', eb.ref('excluded.charged')),
      })),
    )
    .execute();
}

function chargesByDay(
  rows: readonly Pick<Row<'ledger'>, 'account_id' | 'created_at' | 'kind' | 'amount' | 'charged'>[],
) {
  const days = new Map<string, { -readonly [K in keyof Day]: Day[K] }>();
  for (const { account_id, created_at, kind, amount, charged } of rows) {
    const day = Math.floor(created_at / DAY_MS) * DAY_MS;
    const id = `${account_id} ${day}`;
    const sum = days.get(id) ?? { account_id, day, verifications: 0, amount: 0, charged: 0 };
    days.set(id, sum);
    sum.verifications += kind === 'settlement' ? 1 : 0;
    sum.amount += amount;
    sum.charged += charged;
  }
  return [...days.values()];
}

const rollUp = (driver: StorageDriver, rows: readonly { id: number; account_id: string }[]): Promise<number> =>
  driver.transaction(async (trx) => {
    await driver.lockAccounts(trx, [...new Set(rows.map((row) => row.account_id))]);
    const ids = rows.map((row) => row.id);
    // Another node may have been here meanwhile.
    const deleted = await trx.deleteFrom('ledger').where('id', 'in', ids).returningAll().execute();
    await addDays(trx, chargesByDay(deleted));
    return deleted.length;
  });

/** Rows in order of recording. Of a shared hold, the audit needs them for as long as the hold has a row. */
const rowsAfter = ({ db }: StorageDriver, id: number) =>
  db
    .selectFrom('ledger as l')
    .leftJoin('shared_holds as h', 'h.id', 'l.hold_id')
    .select(['l.id', 'l.account_id', 'l.kind', 'l.created_at', 'h.id as hold'])
    .where('l.id', '>', id)
    .orderBy('l.id')
    .limit(BATCH_ROWS)
    .execute();

/** Remembers how far it has read, and begins again every day: what stays is read once a day. */
export function createLedgerRollUp(driver: StorageDriver): LedgerRollUp {
  let read = { day: -1, upTo: 0 };
  return async (before, most, signal) => {
    const day = Math.floor(before / DAY_MS);
    if (read.day !== day) read = { day, upTo: 0 };
    let total = 0;
    for (let rows = BATCH_ROWS; rows === BATCH_ROWS && total < most && !signal?.aborted; await yieldToEventLoop()) {
      const next = await rowsAfter(driver, read.upTo);
      const old = next.filter((row) => row.created_at < before);
      const passing = old.filter(({ kind, hold }) => kind !== 'grant' && hold === null);
      if (passing.length > 0) total += await andRest(() => rollUp(driver, passing));
      read.upTo = old.at(-1)?.id ?? read.upTo;
      rows = old.length;
    }
    return total;
  };
}
