import { FIRST_ACCOUNT, firstAccountPlan, isUnlimited, type Plans } from '../kernel/facts/plans.ts';
import type { Account, AccountInput, Store } from '../store/store.ts';
import { addKey, createKey } from './keys.ts';

/** Whoever runs the host makes the first user by this command. `command` is how commands are called there. */
export const firstUserCommand = (command: string): string =>
  `${command} user create --email you@example.com --operator`;

/** The operator's own: with credits where its plan does not give as many as are needed. */
export function firstAccountInput(plans: Plans): AccountInput {
  const plan = firstAccountPlan(plans);
  return { ...FIRST_ACCOUNT, plan: plan.name, credits: isUnlimited(plan) ? 0 : FIRST_ACCOUNT.credits };
}

/**
 * If the store is empty, creates the first account with an API key for each mode, returned only here. Otherwise null.
 */
export async function firstAccount(
  store: Pick<Store, 'accounts' | 'keys' | 'plans'>,
): Promise<{ account: Account; key: string; testKey: string } | null> {
  if ((await store.accounts.count()) > 0) return null;
  const account = await store.accounts.create(firstAccountInput(store.plans));
  const test = await store.accounts.testAccount(account.id);
  const { value: key } = await createKey(store, account.id, { name: 'First key', allowIps: [] });
  const { value: testKey } = await createKey(store, test.id, { name: 'First test key', allowIps: [] });
  return { account, key, testKey };
}

/** Makes an account in an empty store, of which the test keys alone are known. */
export async function testOnlyAccount(
  store: Pick<Store, 'accounts' | 'keys' | 'plans'>,
  keys: readonly string[],
): Promise<void> {
  const { id } = await store.accounts.create(firstAccountInput(store.plans));
  const test = await store.accounts.testAccount(id);
  for (const key of new Set(keys)) await addKey(store, test.id, 'Test', key);
}
