import { queryOptions, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { api, unwrap } from './client.ts';
import type { Session } from './schema.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: () => unwrap(api.GET('/dashboard/session')),
  staleTime: 60_000,
});

export type SignedInUser = NonNullable<Session['user']>;
export type AccountOfUser = Session['accounts'][number];
export type Role = AccountOfUser['role'];

/** Who is signed in, or null; loaded before the first page is shown. */
export const useSession = (): Session => useSuspenseQuery(sessionQuery).data;

/** Forgets everything that was loaded and asks anew who is signed in: after signing in or out, and on a 401. */
export function useRefreshSession(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    client.removeQueries({ predicate: (query) => query.queryKey[0] !== 'session' });
    await client.refetchQueries({ queryKey: sessionQuery.queryKey }, { throwOnError: true });
  };
}

const CHOSEN = 'mailvet.account';
const listeners = new Set<() => void>();

/** Which of their accounts a person looks at is remembered in this browser: an id, no secret. */
export function chooseAccount(id: string): void {
  localStorage.setItem(CHOSEN, id);
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The account that is looked at; null where the person is in none. */
export function useAccountOrNull(): AccountOfUser | null {
  const { accounts } = useSession();
  const chosen = useSyncExternalStore(subscribe, () => localStorage.getItem(CHOSEN));
  return accounts.find((account) => account.id === chosen) ?? accounts[0] ?? null;
}

/** The same on pages of an account, which are shown only where there is one. */
export function useAccount(): AccountOfUser {
  const account = useAccountOrNull();
  if (account === null) throw new Error('This page needs an account.');
  return account;
}

const ORDER: readonly Role[] = ['member', 'admin', 'owner'];

/** Whether the person may do what needs at least `role`; the server judges again. */
export const useMay = (role: Role): boolean => {
  const account = useAccountOrNull();
  return account !== null && ORDER.indexOf(account.role) >= ORDER.indexOf(role);
};
