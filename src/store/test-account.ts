/** Test accounts: what test keys do and see, apart from the data of their live account. */
import { TEST_CREDITS } from '../kernel/facts/plans.ts';
import { addGrant, lockExistingAccount, toAccount } from './account-rows.ts';
import type { StorageDriver } from './driver.ts';

import { accountId } from './rows.ts';
import type { Account, AccountId } from './store.ts';

/** Sorts after that of the live account, so that whoever changes that may lock both: all lock accounts by id. */
export const testIdOf = (live: AccountId): AccountId => accountId(`${live}${SUFFIX}`);
/** Returns the live account of such an id; null for an id of another form. */
export const liveIdOf = (id: string): string | null => (id.endsWith(SUFFIX) ? id.slice(0, -SUFFIX.length) : null);
/** Live and test data of an account count together, wherever what it costs is bounded. */
export const ownerOf = (account: string): string => liveIdOf(account) ?? account;
const SUFFIX = '_test';

/** See `Accounts.testAccount`. */
export async function testAccount(driver: StorageDriver, live: AccountId): Promise<Account> {
  const { db } = driver;
  const find = (from: Pick<typeof db, 'selectFrom'>) =>
    from.selectFrom('accounts').selectAll().where('test_of', '=', live).where('status', '<>', 'deleted');
  const known = await find(db).executeTakeFirst();
  if (known !== undefined) return toAccount(driver, known);
  const now = await driver.now();
  return driver.transaction(async (trx) => {
    const { name, plan, rate_limit, status, test_of, ...more } = await lockExistingAccount(driver, trx, live);
    const { retention_days, second_factor_required, trust_bounces_days } = more;
    if (test_of !== null) throw new TypeError(`${live} is a test account itself.`);
    const row = { id: testIdOf(live), test_of: live, balance: TEST_CREDITS, created_at: now };
    const terms = { name, plan, rate_limit, status };
    const followed = { ...terms, retention_days, second_factor_required, trust_bounces_days };
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('accounts')
      .values({ ...row, ...followed })
      .onConflict((oc) => oc.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows === 1n) await addGrant(trx, row.id, TEST_CREDITS, 'Test credits, never spent', now);
    return toAccount(driver, await find(trx).executeTakeFirstOrThrow());
  });
}
