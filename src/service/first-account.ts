import { FIRST_ACCOUNT } from '../kernel/plans.ts';
import type { Account, Store } from '../store/store.ts';
import { createKey } from './keys.ts';

/** If the store is empty, creates the first account with an API key, which is returned only here. Otherwise null. */
export async function firstAccount(
  store: Pick<Store, 'accounts' | 'keys'>,
): Promise<{ account: Account; key: string } | null> {
  if ((await store.accounts.count()) > 0) return null;
  const account = await store.accounts.create(FIRST_ACCOUNT);
  const { value } = await createKey(store.keys, account.id, { name: 'First key', allowIps: [] });
  return { account, key: value };
}
