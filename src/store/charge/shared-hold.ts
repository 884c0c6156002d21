/**
 * Holds that many results draw on, inside a transaction of the caller: whatever belongs to the results commits with
 * them.
 */

import { type CompiledQuery, type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { termsOf } from '../../kernel/facts/plans.ts';
import { creditState, lockAccount, lockExistingAccount, wholeCredits } from '../account-rows.ts';
import { BATCH_ROWS, yieldToEventLoop } from '../batches.ts';
import {
  ADD_USAGE_SUMS,
  ALLOWANCES,
  assigned,
  CREDITS_MOVE,
  KEY_BUDGET,
  LEDGER,
  MOVED_CREDITS,
  RENEWED_CREDITS,
  RENEWING_MOVE,
  USAGE_HOURS,
  VERIFICATIONS,
} from '../columns.ts';
import type { RowsRead, StorageDriver, TransactionDriver } from '../driver.ts';
import { accountId } from '../rows.ts';
import type { NewSharedHold, SettledPart, SettlementPart, SharedHoldOutcome, Store } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { type CreditState, type Renewal, spendable } from './allowance.ts';
import { authorize, capturePart, giveBack, renew } from './apply-batch.ts';
import { budgetResetsAt, budgetRow, findBudget, fitsBudget } from './budget.ts';
import { type Changes, noChanges } from './state.ts';

/** `now`: the store's clock, read before the transaction. */
export interface Scope {
  readonly driver: TransactionDriver;
  readonly trx: Transaction<Tables>;
  readonly now: number;
}

export const findSharedHold = (db: Kysely<Tables>, account: string, id: string) =>
  db.selectFrom('shared_holds').selectAll().where('id', '=', id).where('account_id', '=', account).executeTakeFirst();

/** See `SharedHolds.open`. */
export async function openSharedHold(scope: Scope, hold: NewSharedHold): Promise<SharedHoldOutcome> {
  const { driver, trx, now } = scope;
  const { id, account, keyId, lifeMs } = hold;
  const amount = wholeCredits(hold.amount);
  if (amount < 0) throw new RangeError(`A hold cannot be of ${amount} credits.`);
  const owner = await lockAccount(driver, trx, account);
  if (owner?.status !== 'active') return { outcome: 'account_inactive' };
  const credits = creditState(owner);
  const balance = spendable(credits, termsOf(driver.plans, owner.plan), now);
  const earlier = await findSharedHold(trx, account, id);
  if (earlier !== undefined) return earlier.closed_at === null ? { outcome: 'held', balance } : { outcome: 'closed' };
  if (balance < amount) return { outcome: 'insufficient_credits', balance };
  const key = await findBudget(trx, account, keyId);
  if (key !== null && key.budget !== null && !fitsBudget(key, amount, now)) {
    return { outcome: 'key_budget_spent', balance, budget: key.budget, resetsAt: budgetResetsAt(key, now) };
  }
  const times = { life_ms: lifeMs, created_at: now, expires_at: now + lifeMs };
  await trx
    .insertInto('shared_holds')
    .values({ id, account_id: account, key_id: keyId, amount, ...times })
    .execute();
  const moving = movingOfHold(scope);
  authorize(moving, { account: relativeTo(credits), key }, amount, { verificationId: null, holdId: id });
  await writeMoves(scope, moving.changes);
  return { outcome: 'held', balance: balance - amount };
}

/** See `SharedHolds.settle`. */
async function settlePart(scope: Scope, part: SettlementPart): Promise<SettledPart> {
  const { driver, trx } = scope;
  const credits = creditState(await lockExistingAccount(driver, trx, part.account));
  const ids = part.results.map(({ record }) => record.id);
  const read = await driver.readTogether(trx, partReads(scope, part.account, part.holdId, ids));
  const { settled, changes } = planPart(scope, part, credits, read);
  await driver.writeTogether(trx, changes);
  return settled;
}

/** What `planPart` goes by, under the lock of the account. `ids`: of the results. */
export function partReads({ driver, trx }: Scope, account: string, holdId: string, ids: readonly string[]) {
  const hold = trx.selectFrom('shared_holds').where('id', '=', holdId).where('account_id', '=', account);
  return {
    holds: hold.selectAll(),
    budgets: budgetRow(trx, account, hold.select('key_id').$asScalar()),
    recorded: trx
      .selectFrom('verifications')
      .select('id')
      .where(({ ref }) => driver.oneOf(ref('id'), ids)),
  };
}

/** How a part is settled, and the statements that do it. `credits`: the account's, as far as they matter. */
export function planPart(
  scope: Scope,
  { account, holdId, results: given }: SettlementPart,
  credits: CreditState,
  { holds: [hold], budgets: [budget], recorded }: RowsRead<ReturnType<typeof partReads>>,
): { settled: SettledPart; changes: CompiledQuery[] } {
  const { trx, now } = scope;
  if (hold === undefined) throw new Error(`There is no shared hold ${holdId} of the account ${account}.`);
  const moving = movingOfHold(scope);
  const left = { id: holdId, keyId: hold.key_id, amount: hold.amount };
  const results = notRecorded(given, recorded);
  const payer = { account: relativeTo(credits), key: budget ?? null };
  const settled = capturePart(moving, payer, left, results);
  const changes = moves(scope, moving.changes);
  if (hold.closed_at === null) {
    const renewed = { amount: left.amount, expires_at: now + hold.life_ms };
    changes.push(trx.updateTable('shared_holds').set(renewed).where('id', '=', holdId).compile());
  }
  return { settled, changes };
}

/** Gives back what is left; returns how much. The account is locked. */
export async function releaseSharedHold(scope: Scope, hold: Row<'shared_holds'>): Promise<number> {
  const { trx, now } = scope;
  const { id, account_id: account, amount } = hold;
  if (hold.closed_at !== null) return 0;
  await trx.updateTable('shared_holds').set({ amount: 0, closed_at: now }).where('id', '=', id).execute();
  if (amount === 0) return 0;
  await giveBackTo(scope, { account, keyId: hold.key_id }, amount, { verificationId: null, holdId: id });
  return amount;
}

/** Gives back what was held, in a transaction that has locked the account. */
export async function giveBackTo(
  scope: Scope,
  { account, keyId }: { readonly account: string; readonly keyId: string },
  held: number,
  subject: Parameters<typeof giveBack>[3],
): Promise<void> {
  const moving = movingOfHold(scope);
  const key = await findBudget(scope.trx, account, keyId);
  giveBack(moving, { account: relativeTo(onlyId(account)), key }, held, subject);
  await writeMoves(scope, moving.changes);
}

/** Records what the plan gives or takes back, in a transaction that has locked the account. */
export async function giveAllowance(scope: Scope, credits: CreditState, renewal: Renewal): Promise<void> {
  const { changes } = movingOfHold(scope);
  renew(changes, relativeTo(credits), renewal);
  await writeMoves(scope, changes);
}

/** Of an account that is deleted: nobody is left to be charged. */
export async function releaseSharedHoldsOf(scope: Scope, account: string): Promise<void> {
  const open = scope.trx.selectFrom('shared_holds').selectAll().where('account_id', '=', account);
  for (const hold of await open.where('closed_at', 'is', null).execute()) await releaseSharedHold(scope, hold);
}

type Results = SettlementPart['results'];

/** Returns each once, without those that are in the log. */
function notRecorded(results: Results, recorded: readonly { readonly id: string }[]): Results {
  const byId = new Map(results.map((result) => [result.record.id, result]));
  for (const { id } of recorded) byId.delete(id);
  return [...byId.values()];
}

/** An account whose balance suffices, as far as it was read. Only by how much it changes is written. */
interface RelativeCredits extends CreditState {
  readonly before: Readonly<Pick<CreditState, 'balance' | 'locked'>>;
}
const relativeTo = (credits: CreditState): RelativeCredits => ({ ...credits, before: credits });
/** Whoever gives back asks for nothing else. */
const onlyId = (id: string): CreditState => ({
  id: accountId(id),
  plan: '',
  testOf: null,
  balance: 0,
  locked: 0,
  allowance: 0,
  allowanceMonths: '',
  allowanceGiven: 0,
});

const movingOfHold = ({ driver: { plans }, now }: Scope) => ({ now, plans, changes: noChanges<RelativeCredits>() });

async function writeMoves(scope: Scope, changes: Changes<RelativeCredits>): Promise<void> {
  await scope.driver.writeTogether(scope.trx, moves(scope, changes));
}

/** The statements that record moves of credits beside the batches, whose drivers have statements of their own. */
function moves({ driver, trx, now }: Scope, changes: Changes<RelativeCredits>): CompiledQuery[] {
  const statements: CompiledQuery[] = [];
  const renewals = new Map(changes.allowances.map((entry) => [entry.accountId, entry]));
  const moved = (columns: Readonly<Record<string, string>>, move: RawBuilder<unknown>) =>
    sql`UPDATE accounts AS a SET ${sql.raw(assigned(columns))} FROM ${move} WHERE a.id = c.id`.compile(trx);
  for (const { id, balance, locked, before } of changes.accounts) {
    const renewal = renewals.get(id);
    const move = { id, balance: balance - before.balance, locked: locked - before.locked };
    if (renewal !== undefined)
      statements.push(moved(RENEWED_CREDITS, driver.tableOf(RENEWING_MOVE, [{ ...renewal, ...move }])));
    else if (move.balance !== 0 || move.locked !== 0)
      statements.push(moved(MOVED_CREDITS, driver.tableOf(CREDITS_MOVE, [move])));
  }
  if (changes.budgets.size > 0) statements.push(driver.changeRows(KEY_BUDGET, [...changes.budgets]));
  const inScope = <T extends object>(rows: readonly T[]) => rows.map((row) => ({ ...row, now }));
  if (changes.allowances.length > 0) statements.push(driver.insertRows(ALLOWANCES, inScope(changes.allowances)));
  if (changes.ledger.length > 0) statements.push(driver.insertRows(LEDGER, inScope(changes.ledger)));
  if (changes.verifications.length > 0)
    statements.push(driver.insertRows(VERIFICATIONS, inScope(changes.verifications)), countedUsage(trx, changes));
  if (changes.hits.size > 0) statements.push(driver.addHits([...changes.hits.values()], now));
  return statements;
}

function countedUsage(trx: Transaction<Tables>, { usage }: Changes<RelativeCredits>): CompiledQuery {
  const { columns } = USAGE_HOURS;
  const rows = Array.from(usage.values(), (entry) => sql`(${sql.join(USAGE_HOURS.values(entry))})`);
  return sql`INSERT INTO usage_hours (${sql.raw(columns.join(', '))}) VALUES ${sql.join(rows)}
    ${sql.raw(ADD_USAGE_SUMS)}`.compile(trx);
}

export function sharedHolds(driver: StorageDriver): Store['sharedHolds'] {
  const within = async <T>(work: (scope: Scope) => Promise<T>): Promise<T> => {
    const now = await driver.now();
    return driver.transaction((trx) => work({ driver, trx, now }));
  };
  return {
    open: (hold) => within((scope) => openSharedHold(scope, hold)),
    settle: (part) => within((scope) => settlePart(scope, part)),
    renew: (account, id) =>
      within(async ({ trx, now }) => {
        await driver.lockAccounts(trx, [account]);
        const mine = trx
          .updateTable('shared_holds')
          .set((eb) => ({ expires_at: eb('life_ms', '+', now) }))
          .where('id', '=', id)
          .where('account_id', '=', account)
          .where('closed_at', 'is', null);
        return (await mine.executeTakeFirst()).numUpdatedRows === 1n;
      }),
    release: (account, id) => within((scope) => releaseOne(scope, account, id, () => true)),
    async get(account, id) {
      const row = await findSharedHold(driver.db, account, id);
      if (row === undefined) return null;
      const { amount, expires_at: expiresAt, closed_at: closedAt } = row;
      return { id, account: accountId(row.account_id), amount, expiresAt: closedAt === null ? expiresAt : null };
    },
  };
}

async function releaseOne(
  scope: Scope,
  account: string,
  id: string,
  still: (hold: Row<'shared_holds'>) => boolean,
): Promise<number> {
  await scope.driver.lockAccounts(scope.trx, [account]);
  const hold = await findSharedHold(scope.trx, account, id);
  return hold !== undefined && still(hold) ? releaseSharedHold(scope, hold) : 0;
}

/** Releases shared holds that were not renewed in time. Returns how many. */
export async function releaseExpired(driver: StorageDriver, signal?: AbortSignal): Promise<number> {
  let released = 0;
  while (!signal?.aborted) {
    const now = await driver.now();
    const due = await driver.db
      .selectFrom('shared_holds')
      .select(['id', 'account_id'])
      .where('closed_at', 'is', null)
      .where('expires_at', '<=', now)
      .orderBy('expires_at')
      .limit(BATCH_ROWS)
      .execute();
    for (const { id, account_id: account } of due) {
      if (signal?.aborted) break;
      await driver.transaction((trx) =>
        releaseOne({ driver, trx, now }, account, id, (hold) => hold.expires_at <= now),
      );
      released += 1;
    }
    if (due.length < BATCH_ROWS) break;
    await yieldToEventLoop();
  }
  return released;
}
