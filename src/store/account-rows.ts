/** Maps accounts to rows, changes of accounts to columns and audit events, and locks accounts. */
import type { Transaction } from 'kysely';
import { ApiError } from '../kernel/errors.ts';
import { type PlanTerms, termsOf } from '../kernel/facts/plans.ts';
import { type CreditState, renewalOf } from './charge/allowance.ts';
import { rateLimitOf } from './charge/window.ts';
import type { StorageDriver, TransactionDriver } from './driver.ts';
import { accountId, storable } from './rows.ts';
import type { Account } from './store.ts';
import type { Row, Tables } from './tables.ts';

export const creditState = (row: Row<'accounts'>): CreditState => ({
  id: accountId(row.id),
  plan: row.plan,
  testOf: row.test_of,
  balance: row.balance,
  locked: row.locked,
  allowance: row.allowance,
  allowanceMonths: row.allowance_months,
  allowanceGiven: row.allowance_given,
});

/** The row is of an account that is not deleted. */
export const toAccount = ({ plans, clock }: Pick<StorageDriver, 'plans' | 'clock'>, row: Row<'accounts'>): Account => {
  const terms = termsOf(plans, row.plan);
  return {
    ...accountFromRow(row),
    terms,
    rateLimit: rateLimitOf({ rateLimit: row.rate_limit }, terms),
    ...creditsIn(row, terms, clock.now()),
  };
};

/** As they will be once the next charge has recorded the allowance of the month. */
function creditsIn(row: Row<'accounts'>, terms: PlanTerms, now: number): Pick<Account, 'balance' | 'allowance'> {
  const renewal = renewalOf(creditState(row), terms, now);
  const balance = row.balance + (renewal?.amount ?? 0);
  return { balance, allowance: Math.min(renewal?.allowance ?? row.allowance, balance + row.locked) };
}

const accountFromRow = (row: Row<'accounts'>): Omit<Account, 'terms' | 'rateLimit' | 'balance' | 'allowance'> => ({
  id: accountId(row.id),
  name: row.name,
  plan: row.plan,
  rateLimitSet: row.rate_limit !== null,
  status: row.status === 'suspended' ? 'suspended' : 'active',
  locked: row.locked,
  retentionDays: row.retention_days,
  trustBouncesDays: row.trust_bounces_days,
  lowBalance: row.low_balance,
  secondFactorRequired: row.second_factor_required === 1,
  createdAt: row.created_at,
  testOf: row.test_of === null ? null : accountId(row.test_of),
  externalId: row.external_id,
  operatorEvents: row.operator_events === 1,
});

export function wholeCredits(credits: number): number {
  if (!Number.isSafeInteger(credits)) throw new RangeError(`Credits are whole numbers, not ${credits}.`);
  return credits;
}

/** Adds the ledger's row of credits that the balance was given. */
export async function addGrant(trx: Transaction<Tables>, account: string, amount: number, note: string, now: number) {
  const grant = { account_id: account, kind: 'grant' as const, amount, note: storable(note), created_at: now };
  await trx.insertInto('ledger').values(grant).execute();
}

/** Locks the account until the transaction ends and returns it; null when it does not exist or was deleted. */
export async function lockAccount(
  driver: Pick<TransactionDriver, 'lockAccounts'>,
  trx: Transaction<Tables>,
  account: string,
): Promise<Row<'accounts'> | null> {
  await driver.lockAccounts(trx, [account]);
  const rows = trx.selectFrom('accounts').selectAll().where('id', '=', account).where('status', '<>', 'deleted');
  return (await rows.executeTakeFirst()) ?? null;
}

/** The same, but throws ApiError('not_found') when there is no such account. */
export async function lockExistingAccount(
  driver: Pick<TransactionDriver, 'lockAccounts'>,
  trx: Transaction<Tables>,
  account: string,
): Promise<Row<'accounts'>> {
  const row = await lockAccount(driver, trx, account);
  if (row === null) throw new ApiError('not_found', 'There is no such account.');
  return row;
}
