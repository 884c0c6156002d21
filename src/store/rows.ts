import type { SelectQueryBuilder } from 'kysely';
import type { AccountId } from './store.ts';

/**
 * Text that both databases can store: PostgreSQL text has no NUL, and UTF-8 no lone surrogates. Both become U+FFFD,
 * also on SQLite, so that a store can move from one database to the other.
 */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

export const storableOrNull = (text: string | null): string | null => (text === null ? null : storable(text));

/** Returns the row of a query that always returns one. */
export function onlyRow<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('The database returned no row.');
  return row;
}

/** How many rows the query finds, whatever it selects of them. */
export async function countOf<DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>): Promise<number> {
  const counted = query.clearSelect().select((eb) => eb.fn.countAll<number>().as('n'));
  return (await counted.$castTo<{ n: number }>().executeTakeFirstOrThrow()).n;
}

/** Until when an earlier secret is accepted beside the present one; null: it is not, or there is none. */
export const earlierSecretUntil = ({ previous_until }: { readonly previous_until: number | null }, now: number) =>
  previous_until !== null && previous_until > now ? previous_until : null;

/** Mints the id of an account from its row; nothing outside the store does. */
export const accountId = (id: string): AccountId => id as AccountId;
