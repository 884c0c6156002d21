/**
 * Text that both databases can store: PostgreSQL text has no NUL, and UTF-8 no lone surrogates. Both become U+FFFD,
 * also on SQLite, so that a store can move from one database to the other.
 */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

export const storableOrNull = (text: string | null): string | null => (text === null ? null : storable(text));
