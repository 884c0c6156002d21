import type { AccountId } from './store.ts';

/** The row of a query that always returns one. */
export function onlyRow<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('The database returned no row.');
  return row;
}

/** Mints the id of an account from its row; nothing outside the store does. */
export const accountId = (id: string): AccountId => id as AccountId;
