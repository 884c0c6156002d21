import { FIRST_ACCOUNT } from '../kernel/facts/plans.ts';
import type { Account, Store } from '../store/store.ts';
import { addKey, createKey } from './keys.ts';

/** By which whoever runs the host makes the first user. `command`: how commands are called there. */
export const firstUserCommand = (command: string): string =>
  `${command} user create --email you@example.com --operator`;

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

/** In a store that is empty: an account of which the test keys alone are known. */
export async function testOnlyAccount(store: Pick<Store, 'accounts' | 'keys'>, keys: readonly string[]): Promise<void> {
  const { id } = await store.accounts.create(FIRST_ACCOUNT);
  const test = await store.accounts.testAccount(id);
  for (const key of new Set(keys)) await addKey(store, test.id, 'Test', key);
}
