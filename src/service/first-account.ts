import { FIRST_ACCOUNT } from '../kernel/facts/plans.ts';
import type { Account, Store } from '../store/store.ts';
import { createKey } from './keys.ts';

/**
 * If the store is empty, creates the first account with an API key for each mode, returned only here. Otherwise null.
 */
export async function firstAccount(
  store: Pick<Store, 'accounts' | 'keys'>,
): Promise<{ account: Account; key: string; testKey: string } | null> {
  if ((await store.accounts.count()) > 0) return null;
  const account = await store.accounts.create(FIRST_ACCOUNT);
  const test = await store.accounts.testAccount(account.id);
  const { value: key } = await createKey(store, account.id, { name: 'First key', allowIps: [] });
  const { value: testKey } = await createKey(store, test.id, { name: 'First test key', allowIps: [] });
  return { account, key, testKey };
}
