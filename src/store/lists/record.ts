/** Results of a list: with their charge, progress and what is left to do, in one transaction. */
import { MINUTE_MS } from '../../kernel/clock.ts';
import { listResultId } from '../../kernel/ids.ts';
import { type Scope, settlePart } from '../charge/shared-hold.ts';
import type { TransactionDriver } from '../driver.ts';
import { lockAccount } from '../lock.ts';
import { accountId } from '../rows.ts';
import type { AccountId, ListOutcome, ListRecorded, VerificationRecord } from '../store.ts';
import type { Row } from '../tables.ts';
import { storable } from '../text.ts';
import { parsePending } from './blocks.ts';
import { endList } from './end.ts';
import { keepPace } from './pace.ts';
import { addResults, breakdownOf, type ListRecord, paceOf } from './row.ts';

type Waiting = Row<'list_waiting'>;

/** See `ListTransactions.record`. */
export async function recordOutcomes(
  driver: TransactionDriver,
  account: AccountId,
  id: string,
  outcomes: readonly ListOutcome[],
): Promise<ListRecorded> {
  const now = await driver.now();
  return driver.transaction(async (trx) => {
    const owner = await lockAccount(driver, trx, account);
    const mine = trx.selectFrom('lists').selectAll().where('id', '=', id).where('account_id', '=', account);
    const list = owner && (await mine.where('status', 'in', ['running', 'paused']).executeTakeFirst());
    if (!list) return { outcome: 'ended', recorded: 0, results: [], charged: 0 };
    const scope: Scope = { driver, trx, now };
    const left = await loadLeft(scope, list, outcomes);
    const changes = decide(list, left, outcomes, now);
    await writeChunks(scope, list, left);
    await writeWaiting(scope, list, changes);
    return finish(scope, owner, list, changes);
  });
}

/** What is to be done, of what the outcomes are about. */
interface Left {
  /** By block. */
  readonly chunks: ReadonlyMap<number, { readonly before: string; readonly pending: Set<number> }>;
  readonly waiting: Map<number, Waiting>;
}

async function loadLeft(
  { trx }: Scope,
  { id, account_id }: ListRecord,
  outcomes: readonly ListOutcome[],
): Promise<Left> {
  const blocks = [...new Set(outcomes.flatMap(({ work }) => work.block ?? []))];
  const addresses = [...new Set(outcomes.flatMap(({ work }) => (work.block === null ? work.address : [])))];
  const chunks = trx.selectFrom('list_chunks').select(['first_row', 'pending']).where('account_id', '=', account_id);
  const waiting = trx.selectFrom('list_waiting').selectAll().where('account_id', '=', account_id);
  const open = waiting.where('list_id', '=', id).where('due_at', 'is not', null);
  const found = {
    chunks:
      blocks.length === 0 ? [] : await chunks.where('list_id', '=', id).where('first_row', 'in', blocks).execute(),
    waiting: addresses.length === 0 ? [] : await open.where('address', 'in', addresses).execute(),
  };
  return {
    chunks: new Map(
      found.chunks.map((row) => [row.first_row, { before: row.pending, pending: new Set(parsePending(row.pending)) }]),
    ),
    waiting: new Map(found.waiting.map((row) => [row.address, row])),
  };
}

interface Changes {
  readonly results: VerificationRecord[];
  /** Their numbers. */
  readonly addresses: number[];
  /** Rows as they are to be; of done ones, `due_at` is null. */
  readonly waiting: Waiting[];
  /** By how much the number of addresses that are to be asked about again changes. */
  waits: number;
}

/** Takes from `left` what gets done. */
function decide(list: ListRecord, left: Left, outcomes: readonly ListOutcome[], now: number): Changes {
  const changes: Changes = { results: [], addresses: [], waiting: [], waits: 0 };
  for (const outcome of outcomes) {
    const { work } = outcome;
    const before = work.block === null ? left.waiting.get(work.address) : undefined;
    if (work.block === null) {
      if (before === undefined) continue;
      left.waiting.delete(work.address);
    } else if (!left.chunks.get(work.block)?.pending.delete(work.address)) continue;
    const row: Waiting = before ?? newWaiting(list, work.address, work.email);
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
    const asked = { ...row, attempts, first_at: row.first_at ?? now, claims: 0, operator: null, lease: null };
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

const newWaiting = (list: ListRecord, address: number, email: string): Waiting => ({
  ...{ account_id: list.account_id, list_id: list.id, address, email: storable(email) },
  ...{ attempts: 0, first_at: null, due_at: null, claims: 0, operator: null, lease: null },
});

async function writeChunks({ trx }: Scope, { id, account_id }: ListRecord, { chunks }: Left): Promise<void> {
  const done: number[] = [];
  for (const [firstRow, { before, pending }] of chunks) {
    const text = JSON.stringify([...pending]);
    if (text === before) continue;
    if (pending.size === 0) {
      done.push(firstRow);
      continue;
    }
    const mine = trx
      .updateTable('list_chunks')
      .set({ pending: text, attempts: 1 })
      .where('account_id', '=', account_id);
    await mine.where('list_id', '=', id).where('first_row', '=', firstRow).execute();
  }
  if (done.length === 0) return;
  const mine = trx.deleteFrom('list_chunks').where('account_id', '=', account_id).where('list_id', '=', id);
  await mine.where('first_row', 'in', done).execute();
}

async function writeWaiting({ trx }: Scope, _list: ListRecord, { waiting }: Changes): Promise<void> {
  if (waiting.length === 0) return;
  await trx
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
        lease: ref('excluded.lease'),
      })),
    )
    .execute();
}

async function finish(
  scope: Scope,
  owner: Row<'accounts'>,
  list: ListRecord,
  { results, addresses, waits }: Changes,
): Promise<ListRecorded> {
  const { trx, now } = scope;
  const account = accountId(owner.id);
  const done = list.done + results.length;
  let charged = 0;
  if (results.length > 0) {
    const held = list.unit_price;
    const part = { account, holdId: list.id, results: results.map((result) => ({ record: result, held })) };
    ({ charged } = await settlePart(scope, part, owner));
  }
  if (results.length > 0 || waits !== 0) {
    const progress = {
      ...{ done, waiting: list.waiting + waits, used: list.used + charged },
      breakdown: JSON.stringify(addResults(breakdownOf(list), results)),
      ...(list.status === 'running' ? { pace: JSON.stringify(keepPace(paceOf(list), now, done)) } : {}),
    };
    await trx.updateTable('lists').set(progress).where('id', '=', list.id).execute();
  }
  const told = { recorded: results.length, results: addresses, charged };
  if (done < list.addresses) return { outcome: 'recorded', ...told };
  await endList(scope, account, list.id, 'completed');
  return { outcome: 'completed', ...told };
}
