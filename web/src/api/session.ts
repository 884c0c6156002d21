import { queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { lastAccount, pinnedAccount } from './account-path.ts';
import { api, unwrap } from './client.ts';
import { ROLES } from './limits.ts';
import type { Session } from './schema.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => unwrap(api.GET('/dashboard/session')),
  staleTime: 60_000,
});

export type SignedInUser = NonNullable<Session['user']>;
type AccountMembership = Session['accounts'][number];
export type Role = AccountMembership['role'];

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

/** The account of the URL, else the one opened last, else the first; null if the user can see none, or not that one. */
export function accountOf(accounts: readonly AccountMembership[]): AccountMembership | null {
  const named = pinnedAccount();
  if (named !== null) return accounts.find(({ id }) => id === named) ?? null;
  return accounts.find(({ id }) => id === lastAccount()) ?? accounts[0] ?? null;
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
  return account !== null && ROLES.indexOf(account.role) >= ROLES.indexOf(role);
};
