/**
 * Text as both engines can keep it: PostgreSQL has no NUL in text, and UTF-8 has no lone surrogates. Both become
 * U+FFFD, on SQLite too, so that a store can move from one engine to the other.
 */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

export const storableOrNull = (text: string | null): string | null => (text === null ? null : storable(text));
