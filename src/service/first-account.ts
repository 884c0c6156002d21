import type { Account, Store } from '../store/store.ts';
import { createKey } from './keys.ts';

export const FIRST_ACCOUNT = {
  name: 'Default',
  plan: 'premium',
  rateLimit: null,
  credits: 10_000,
  note: 'First account',
} as const;

/** On an empty store: the first account and a key for it, whose value is shown this once. Else null. */
export async function firstAccount(
  store: Pick<Store, 'accounts' | 'keys'>,
): Promise<{ account: Account; key: string } | null> {
  if ((await store.accounts.count()) > 0) return null;
  const account = await store.accounts.create(FIRST_ACCOUNT);
  const { value } = await createKey(store.keys, account.id, { name: 'First key', allowIps: [] });
  return { account, key: value };
}
