/** Holds that many results draw on, inside a transaction of the caller: whatever belongs to the results commits with them. */
import type { Kysely, Transaction } from 'kysely';
import { ApiError } from '../../kernel/errors.ts';
import { whole } from '../account-rows.ts';
import { BATCH_ROWS } from '../batches.ts';
import type { TransactionDriver } from '../driver.ts';
import { findBudget, writeBudget } from '../key-budget.ts';
import { lockAccount, lockExistingAccount } from '../lock.ts';
import type { NewSharedHold, SettledPart, SettlementPart, SharedHoldOutcome } from '../store.ts';
import type { Row, Tables } from '../tables.ts';
import { fitsBudget } from './budget.ts';
import type { UsageEntry } from './state.ts';
import { countUsage } from './usage.ts';

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
  const amount = whole(hold.amount);
  if (amount < 0) throw new RangeError(`A hold cannot be of ${amount} credits.`);
  const owner = await lockAccount(driver, trx, account);
  if (owner?.status !== 'active') return { outcome: 'account_inactive' };
  const { balance } = owner;
  const earlier = await findSharedHold(trx, account, id);
  if (earlier !== undefined) return earlier.closed_at === null ? { outcome: 'held', balance } : { outcome: 'closed' };
  if (balance < amount) return { outcome: 'insufficient_credits', balance };
  const key = await findBudget(trx, account, keyId);
  if (!fitsBudget(key, amount, now)) return { outcome: 'key_budget_spent', balance };
  const times = { life_ms: lifeMs, created_at: now, expires_at: now + lifeMs };
  await trx
    .insertInto('shared_holds')
    .values({ id, account_id: account, key_id: keyId, amount, ...times })
    .execute();
  await moveCredits(scope, account, { balance: -amount, locked: amount });
  await writeBudget(trx, key, { held: amount, charged: 0 }, now);
  await addLedger(scope, account, { kind: 'hold', hold_id: id, amount: -amount });
  return { outcome: 'held', balance: balance - amount };
}

/** See `SharedHolds.settle`. `owner`: the account, if the caller has locked it and not changed it since. */
export async function settlePart(
  scope: Scope,
  part: SettlementPart,
  owner: Pick<Row<'accounts'>, 'balance'> | null = null,
): Promise<SettledPart> {
  const { driver, trx, now } = scope;
  const { account, holdId } = part;
  const { balance } = owner ?? (await lockExistingAccount(driver, trx, account));
  const hold = await findSharedHold(trx, account, holdId);
  if (hold === undefined) throw new Error(`There is no shared hold ${holdId} of the account ${account}.`);
  const results = await notRecorded(scope, part.results);
  const { held, charged } = sums(results);
  const drawn = Math.min(held, hold.amount);
  if (balance + drawn < charged) {
    const sentence = 'The hold no longer covers these results, nor does the balance; nothing was charged.';
    throw new ApiError('insufficient_credits', sentence);
  }
  const key = await findBudget(trx, account, hold.key_id);
  if (!fitsBudget(key, charged - drawn, now)) throw new ApiError('key_budget_spent');
  const amount = hold.amount - drawn;
  if (hold.closed_at === null) {
    const renewed = { amount, expires_at: now + hold.life_ms };
    await trx.updateTable('shared_holds').set(renewed).where('id', '=', holdId).execute();
  }
  if (drawn > 0 || charged > 0) {
    await moveCredits(scope, account, { balance: drawn - charged, locked: -drawn });
    await writeBudget(trx, key, { held: -drawn, charged }, now);
    await addLedger(scope, account, { kind: 'settlement', hold_id: holdId, amount: drawn - charged, charged });
  }
  await record(scope, hold, results);
  return { recorded: results.length, charged, balance: balance + drawn - charged, amount };
}

/** Gives back what is left; returns how much. The account is locked. */
export async function releaseSharedHold(scope: Scope, hold: Row<'shared_holds'>): Promise<number> {
  const { trx, now } = scope;
  const { id, account_id: account, amount } = hold;
  if (hold.closed_at !== null) return 0;
  await trx.updateTable('shared_holds').set({ amount: 0, closed_at: now }).where('id', '=', id).execute();
  if (amount === 0) return 0;
  await moveCredits(scope, account, { balance: amount, locked: -amount });
  await writeBudget(trx, await findBudget(trx, account, hold.key_id), { held: -amount, charged: 0 }, now);
  await addLedger(scope, account, { kind: 'release', hold_id: id, amount });
  return amount;
}

/** Of an account that is deleted: nobody is left to be charged. */
export async function releaseSharedHoldsOf(scope: Scope, account: string): Promise<void> {
  const open = scope.trx.selectFrom('shared_holds').selectAll().where('account_id', '=', account);
  for (const hold of await open.where('closed_at', 'is', null).execute()) await releaseSharedHold(scope, hold);
}

type Results = SettlementPart['results'];

/** Each once, without those that are in the log. */
async function notRecorded({ driver, trx }: Scope, results: Results): Promise<Results> {
  const byId = new Map(results.map((result) => [result.record.id, result]));
  for (const ids of batches([...byId.keys()])) {
    const known = trx.selectFrom('verifications').select('id');
    for (const { id } of await known.where(({ ref }) => driver.oneOf(ref('id'), ids)).execute()) byId.delete(id);
  }
  return [...byId.values()];
}

function sums(results: Results): { held: number; charged: number } {
  const sum = { held: 0, charged: 0 };
  for (const { record: found, held } of results) {
    const credits = whole(found.credits);
    if (credits < 0 || credits > whole(held))
      throw new RangeError(`A result of ${credits} credits does not fit the ${held} held for it.`);
    sum.held += held;
    sum.charged += credits;
  }
  return sum;
}

/** The results in the log and in the counters, under the key of the hold. */
async function record({ driver, trx, now }: Scope, hold: Row<'shared_holds'>, results: Results): Promise<void> {
  const usage = new Map<string, UsageEntry>();
  for (const batch of batches(results)) {
    await driver.addResults(trx, { hold, now, records: batch.map((result) => result.record) });
  }
  for (const { record: r } of results)
    countUsage(usage, now, { accountId: hold.account_id, keyId: hold.key_id, record: r });
  if (usage.size === 0) return;
  const counters = Array.from(usage.values(), ({ accountId: account_id, keyId: key_id, validationType, ...rest }) => ({
    ...{ account_id, key_id, validation_type: validationType },
    ...rest,
  }));
  await trx
    .insertInto('usage_hours')
    .values(counters)
    .onConflict((oc) =>
      oc.columns(['account_id', 'hour', 'key_id', 'validation_type', 'status', 'reason']).doUpdateSet((eb) => ({
        requests: eb('usage_hours.requests', '+', eb.ref('excluded.requests')),
        credits: eb('usage_hours.credits', '+', eb.ref('excluded.credits')),
      })),
    )
    .execute();
}

function* batches<T>(items: readonly T[]): Generator<T[]> {
  for (let from = 0; from < items.length; from += BATCH_ROWS) yield items.slice(from, from + BATCH_ROWS);
}

async function moveCredits({ trx }: Scope, account: string, by: { balance: number; locked: number }): Promise<void> {
  await trx
    .updateTable('accounts')
    .set((eb) => ({ balance: eb('balance', '+', by.balance), locked: eb('locked', '+', by.locked) }))
    .where('id', '=', account)
    .execute();
}

async function addLedger(
  { trx, now }: Scope,
  account: string,
  row: Pick<Row<'ledger'>, 'kind' | 'hold_id' | 'amount'> & { charged?: number },
): Promise<void> {
  await trx
    .insertInto('ledger')
    .values({ account_id: account, created_at: now, ...row })
    .execute();
}
