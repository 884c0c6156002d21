/** Results of a list: with their charge, progress and what is left to do, in one transaction. */

import type { CompiledQuery } from 'kysely';
import { MINUTE_MS, monthName } from '../../kernel/clock.ts';
import { highestPrice } from '../../kernel/facts/plans.ts';
import { listResultId } from '../../kernel/ids.ts';
import { partReads, planPart, type Scope } from '../charge/shared-hold.ts';
import type { Planned, RowsRead, TransactionDriver } from '../driver.ts';
import { storable } from '../rows.ts';
import type { AccountId, ListBreakdown, ListOutcome, ListRecorded, VerificationRecord } from '../store.ts';
import type { Row, Trx } from '../tables.ts';
import { parsePending } from './blocks.ts';
import { ofList } from './claim.ts';
import { endList } from './end.ts';
import { type ListPace, startPace } from './pace.ts';
import { breakdownOf, type ListRecord, paceOf } from './row.ts';

type WaitingRow = Row<'list_waiting'>;

/** No block and no address has it. */
const NO_NUMBER = 0;

/** See `BulkTransactions.record`. Charges of the account wait for as long as its lock is held: for few round trips. */
export async function recordOutcomes(
  driver: TransactionDriver,
  account: AccountId,
  id: string,
  outcomes: readonly ListOutcome[],
): Promise<ListRecorded> {
  const now = await driver.now();
  const ids = outcomes.flatMap(({ record }) => record?.id ?? []);
  const most = outcomes.length * highestPrice(driver.plans.values());
  return driver.readAndChange({
    accounts: [account],
    queries: (trx) => ({
      ...listReads(trx, account, id, outcomes),
      owners: ownerRead({ driver, trx, now }, account, most),
      ...partReads({ driver, trx, now }, account, id, ids),
    }),
    plan: (trx, read) => planOf({ driver, trx, now }, account, id, outcomes, read),
  });
}

type ListRecordRead = RowsRead<
  ReturnType<typeof listReads> & ReturnType<typeof partReads> & { readonly owners: ReturnType<typeof ownerRead> }
>;

function planOf(
  scope: Scope,
  account: AccountId,
  id: string,
  outcomes: readonly ListOutcome[],
  read: ListRecordRead,
): Planned<ListRecorded> {
  const { trx, now } = scope;
  const [list, owner] = [read.lists[0], read.owners[0]];
  if (list === undefined || owner === undefined)
    return { result: { outcome: 'ended', recorded: 0, results: [], charged: 0 }, changes: [] };
  const left = leftOf(read);
  const changes = decideRecord(list, left, outcomes, now);
  const results = changes.results.map((record) => ({ record, held: list.unit_price }));
  const part =
    results.length > 0 ? planPart(scope, { account, holdId: id, results }, { ...owner, id: account }, read) : null;
  const charged = part?.settled.charged ?? 0;
  const sums = { recorded: results.length, results: changes.addresses, charged };
  const all = [
    ...chunkChanges(trx, list, left),
    ...waitingChanges(trx, changes),
    ...(part?.changes ?? []),
    ...progressChanges(scope, list, changes, charged),
  ];
  if (list.done + results.length < list.addresses) return { result: { outcome: 'recorded', ...sums }, changes: all };
  const finish = () => endList(scope, account, id, 'completed');
  return { result: { outcome: 'completed', ...sums }, changes: all, finish };
}

/**
 * What the account has, as far as it matters, as all charges change it: of the balance, `most`, which is what the
 * outcomes can cost; and all of it only where an allowance may be due.
 */
function ownerRead({ driver, trx, now }: Scope, account: AccountId, most: number) {
  const giving = [...driver.plans.values()].flatMap(({ name, monthlyCredits }) => (monthlyCredits > 0 ? [name] : []));
  const owner = trx.selectFrom('accounts').where('id', '=', account).where('status', '<>', 'deleted');
  return owner.select((eb) => {
    const isDue = eb.and([
      eb('allowance_months', 'not like', `%${monthName(now)}%`),
      eb.or([eb('allowance', '>', 0), eb('plan', 'in', ['', ...giving])]),
    ]);
    const ifDue = (column: 'locked' | 'allowance') => eb.case().when(isDue).then(eb.ref(column)).else(0).end();
    const covers = eb.and([eb.not(isDue), eb('balance', '>', most)]);
    return [
      'plan',
      'test_of as testOf',
      'allowance_months as allowanceMonths',
      'allowance_given as allowanceGiven',
      eb.case().when(covers).then(most).else(eb.ref('balance')).end().as('balance'),
      ifDue('locked').as('locked'),
      ifDue('allowance').as('allowance'),
    ];
  });
}

/** The list while it is worked on, and what is left of it, of what the outcomes are about. */
function listReads(trx: Trx, account: AccountId, id: string, outcomes: readonly ListOutcome[]) {
  const blocks = [...new Set(outcomes.flatMap(({ work }) => work.block ?? []))];
  const addresses = [...new Set(outcomes.flatMap(({ work }) => (work.block === null ? work.address : [])))];
  const open = ofList(trx.selectFrom('list_waiting').selectAll(), { account, list: id });
  return {
    lists: trx
      .selectFrom('lists')
      .selectAll()
      .where('id', '=', id)
      .where('account_id', '=', account)
      .where('status', 'in', ['running', 'paused']),
    chunks: ofList(trx.selectFrom('list_chunks').select(['first_row', 'pending']), { account, list: id }).where(
      ...among('first_row', blocks),
    ),
    waiting: open.where('due_at', 'is not', null).where(...among('address', addresses)),
  };
}

const among = <C extends string>(column: C, numbers: readonly number[]) =>
  [column, 'in', numbers.length === 0 ? [NO_NUMBER] : numbers] as const;

/** What is to be done, of what the outcomes are about. */
interface Left {
  /** The key is the first row of a block. */
  readonly chunks: ReadonlyMap<number, { readonly before: string; readonly pending: Set<number> }>;
  readonly waiting: Map<number, WaitingRow>;
}

const leftOf = ({ chunks, waiting }: RowsRead<Pick<ReturnType<typeof listReads>, 'chunks' | 'waiting'>>): Left => ({
  chunks: new Map(
    chunks.map((row) => [row.first_row, { before: row.pending, pending: new Set(parsePending(row.pending)) }]),
  ),
  waiting: new Map(waiting.map((row) => [row.address, row])),
});

interface RecordChanges {
  readonly results: VerificationRecord[];
  /** Each address is given by its number, in the order of `results`. */
  readonly addresses: number[];
  /** Rows as they are to be; of done ones, `due_at` is null. */
  readonly waiting: WaitingRow[];
  /** The number of addresses that are to be asked about again changes by this. */
  waits: number;
}

/** Takes from `left` what gets done. */
function decideRecord(list: ListRecord, left: Left, outcomes: readonly ListOutcome[], now: number): RecordChanges {
  const changes: RecordChanges = { results: [], addresses: [], waiting: [], waits: 0 };
  for (const outcome of outcomes) {
    const { work } = outcome;
    const before = work.block === null ? left.waiting.get(work.address) : undefined;
    if (work.block === null) {
      if (before === undefined) continue;
      left.waiting.delete(work.address);
    } else if (!left.chunks.get(work.block)?.pending.delete(work.address)) continue;
    const row: WaitingRow = before ?? newWaiting(list, work.address, work.email);
    if (outcome.record === null) {
      changes.waiting.push({
        ...row,
        operator: outcome.operator,
        due_at: now + outcome.againMs,
        claims: 0,
        lease: null,
      });
      continue;
    }
    if (outcome.record.id !== listResultId(list.id, work.address))
      throw new TypeError(`The result ${outcome.record.id} is not that of address ${work.address} of ${list.id}.`);
    const attempts = row.attempts + 1;
    const egress = outcome.egress ?? null;
    const asked = { ...row, attempts, first_at: row.first_at ?? now, claims: 0, operator: null, egress, lease: null };
    const due = outcome.retryMs == null ? null : now + outcome.retryMs;
    const again = due !== null && due <= asked.first_at + list.patience_minutes * MINUTE_MS;
    changes.waits += Number(again) - Number(row.attempts > 0);
    if (again) {
      changes.waiting.push({ ...asked, due_at: due });
      continue;
    }
    changes.results.push(outcome.record);
    changes.addresses.push(work.address);
    // Stays for the number of attempts.
    if (before !== undefined) changes.waiting.push({ ...asked, email: '', due_at: null });
  }
  return changes;
}

const newWaiting = (list: ListRecord, address: number, email: string): WaitingRow => ({
  account_id: list.account_id,
  list_id: list.id,
  address,
  email: storable(email),
  attempts: 0,
  first_at: null,
  due_at: null,
  claims: 0,
  operator: null,
  egress: null,
  lease: null,
});

function chunkChanges(trx: Trx, { id, account_id: account }: ListRecord, { chunks }: Left): CompiledQuery[] {
  const changes: CompiledQuery[] = [];
  const done: number[] = [];
  for (const [firstRow, { before, pending }] of chunks) {
    const text = JSON.stringify([...pending]);
    if (text === before) continue;
    if (pending.size === 0) {
      done.push(firstRow);
      continue;
    }
    const mine = ofList(trx.updateTable('list_chunks').set({ pending: text, attempts: 1 }), { account, list: id });
    changes.push(mine.where('first_row', '=', firstRow).compile());
  }
  if (done.length === 0) return changes;
  const mine = ofList(trx.deleteFrom('list_chunks'), { account, list: id });
  return [...changes, mine.where('first_row', 'in', done).compile()];
}

function waitingChanges(trx: Trx, { waiting }: RecordChanges): CompiledQuery[] {
  if (waiting.length === 0) return [];
  const changed = trx
    .insertInto('list_waiting')
    .values(waiting)
    .onConflict((oc) =>
      oc.columns(['account_id', 'list_id', 'address']).doUpdateSet(({ ref }) => ({
        email: ref('excluded.email'),
        attempts: ref('excluded.attempts'),
        first_at: ref('excluded.first_at'),
        due_at: ref('excluded.due_at'),
        claims: ref('excluded.claims'),
        operator: ref('excluded.operator'),
        egress: ref('excluded.egress'),
        lease: ref('excluded.lease'),
      })),
    );
  return [changed.compile()];
}

function progressChanges(
  { trx, now }: Scope,
  list: ListRecord,
  { results, waits }: RecordChanges,
  charged: number,
): CompiledQuery[] {
  if (results.length === 0 && waits === 0) return [];
  const done = list.done + results.length;
  const progress = {
    done,
    waiting: list.waiting + waits,
    used: list.used + charged,
    breakdown: JSON.stringify(addResults(breakdownOf(list), results)),
    ...(list.status === 'running' ? { pace: JSON.stringify(keepPace(paceOf(list), now, done)) } : {}),
  };
  return [trx.updateTable('lists').set(progress).where('id', '=', list.id).compile()];
}

function addResults(to: ListBreakdown, records: readonly VerificationRecord[]): ListBreakdown {
  const [status, deliverability, reasons] = [{ ...to.status }, { ...to.deliverability }, { ...to.reason }];
  for (const record of records) {
    status[record.status] += 1;
    deliverability[record.deliverability] += 1;
    if (record.reason !== null) reasons[record.reason] = (reasons[record.reason] ?? 0) + 1;
  }
  return { status, deliverability, reason: reasons };
}

/** The rate is that of the last one to two of these, ms. */
const SAMPLE_MS = 10_000;

/** To be called with each result. */
function keepPace(pace: ListPace | null, now: number, done: number): ListPace {
  if (pace === null || now < pace.later.at) return startPace(now, done);
  return now - pace.later.at < SAMPLE_MS ? pace : { earlier: pace.later, later: { at: now, done } };
}
