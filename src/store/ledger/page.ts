/** The ledger of an account: rows of the ledger, verifications that are their own entries, and sums of past days. */
import type { StorageDriver } from '../driver.ts';
import { AFTER_LAST_SEQ, FIRST_SEQ } from '../log/row.ts';
import { edgeOf } from '../log/search.ts';
import type { AccountId, LedgerPage, LedgerRow } from '../store.ts';

/** Where a page begins in each source: only what is before. */
interface Position {
  readonly seq: number;
  readonly id: number;
  readonly day: number;
}
type Source = keyof Position;
interface Entry {
  readonly source: Source;
  /** Its place in the source. */
  readonly at: number;
  readonly row: LedgerRow;
}

const NEWEST: Position = { seq: AFTER_LAST_SEQ, id: AFTER_LAST_SEQ, day: AFTER_LAST_SEQ };
/**
 * Of entries of the same time, in order of precedence: a hold comes before its settlement, and a day is over at its
 * end.
 */
const SOURCES: readonly Source[] = ['seq', 'id', 'day'];

const cursorOf = ({ seq, id, day }: Position): string => [seq, id, day].join('.');
function positionOf(cursor: string): Position {
  const [seq = 0, id = 0, day = 0] = cursor.split('.').map(Number);
  return { seq, id, day };
}

/**
 * Verifications. Those that moved nothing are no entries, and there may be very many between two that did: after
 * LOG_SEARCH_ROWS, `searchedTo` says how far it was read.
 */
async function verifications(driver: StorageDriver, account: AccountId, before: number, limit: number) {
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
  const entries = rows.map(({ seq, id, held, credits, created_at: createdAt }): Entry => {
    const moved = { amount: (held ?? 0) - credits, charged: credits, verificationId: id, verifications: null };
    return { source: 'seq', at: seq, row: { ...moved, id: `v${seq}`, kind: 'settlement', note: null, createdAt } };
  });
  return { entries, searchedTo: rows.length === limit ? null : (edge?.seq ?? null) };
}

async function ledgerRows(
  { scans }: StorageDriver,
  account: AccountId,
  before: number,
  limit: number,
): Promise<Entry[]> {
  const mine = scans.selectFrom('ledger').selectAll().where('account_id', '=', account).where('id', '<', before);
  const rows = await mine.orderBy('id', 'desc').limit(limit).execute();
  return rows.map(({ id, kind, amount, charged, verification_id, note, created_at: createdAt }) => ({
    source: 'id',
    at: id,
    row: {
      ...{ id: `l${id}`, kind, amount, charged, verificationId: verification_id, verifications: null, note },
      createdAt,
    },
  }));
}

async function days({ scans }: StorageDriver, account: AccountId, before: number, limit: number): Promise<Entry[]> {
  const mine = scans.selectFrom('ledger_days').selectAll().where('account_id', '=', account).where('day', '<', before);
  const rows = await mine.orderBy('day', 'desc').limit(limit).execute();
  return rows.map(({ day, verifications, amount, charged }) => ({
    source: 'day',
    at: day,
    row: {
      ...{ id: `d${day}`, kind: 'day', amount, charged, verificationId: null, verifications, note: null },
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
  const from = before === null ? NEWEST : positionOf(before);
  const { entries, searchedTo } = await verifications(driver, account, from.seq, limit + 1);
  const left: Record<Source, Entry[]> = {
    seq: entries,
    id: await ledgerRows(driver, account, from.id, limit + 1),
    day: await days(driver, account, from.day, limit + 1),
  };
  const rows: LedgerRow[] = [];
  let position = from;
  while (rows.length < limit) {
    // What comes next of the verifications is not known yet.
    if (left.seq.length === 0 && searchedTo !== null) return { rows, next: cursorOf({ ...position, seq: searchedTo }) };
    const heads = SOURCES.flatMap((source) => left[source].slice(0, 1));
    const [next] = heads.sort((a, b) => b.row.createdAt - a.row.createdAt);
    if (next === undefined) return { rows, next: null };
    left[next.source].shift();
    rows.push(next.row);
    position = { ...position, [next.source]: next.at };
  }
  const more = searchedTo !== null || SOURCES.some((source) => left[source].length > 0);
  return { rows, next: more ? cursorOf(position) : null };
}
