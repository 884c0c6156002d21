import { queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { isAtLeast } from '../../../src/kernel/facts/roles.ts';
import { lastAccount, pinnedAccount } from './account-path.ts';
import { api, unwrap } from './client.ts';
import type { Session } from './schema.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => unwrap(api.GET('/dashboard/session')),
  staleTime: 60_000,
});

export type SignedInUser = NonNullable<Session['user']>;
/** `id`: of the account whose data is shown; `live`: of the one that the user is a member of. */
type AccountMembership = Session['accounts'][number] & { readonly live: string; readonly test: boolean };
export type Role = Session['accounts'][number]['role'];

/** Who is signed in, or null; loaded before the first page is shown. */
export const useSession = (): Session => useSuspenseQuery(sessionQuery).data;

/** Clears all cached data and reloads the session: after signing in or out, and on a 401. */
export function useRefreshSession(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    client.removeQueries({ predicate: (query) => query.queryKey[0] !== 'session' });
    await client.refetchQueries({ queryKey: sessionQuery.queryKey }, { throwOnError: true });
  };
}

/**
 * The account of the URL, else the one opened last, else the first; null if the user can see none, or not that one. In
 * test mode the URL names the account's test account.
 */
export function accountOf(accounts: Session['accounts']): AccountMembership | null {
  const [named, last] = [pinnedAccount(), lastAccount()];
  const withId = (id: string | null) =>
    accounts.find((account) => account.id === id || account.test_account === id) ?? null;
  const account = named === null ? (withId(last) ?? accounts[0] ?? null) : withId(named);
  if (account === null) return null;
  const test = account.test_account === named;
  return { ...account, id: test ? account.test_account : account.id, live: account.id, test };
}

/** The selected account; null if the user is not a member of it. */
export const useAccountOrNull = (): AccountMembership | null => accountOf(useSession().accounts);

/** The selected account, on pages that are shown only if there is one. */
export function useAccount(): AccountMembership {
  const account = useAccountOrNull();
  if (account === null) throw new Error('This page needs an account.');
  return account;
}

/** Whether the user has at least this role. For display only: the server checks every request. */
export const useHasRole = (role: Role): boolean => {
  const account = useAccountOrNull();
  return account !== null && isAtLeast(account.role, role);
};
