import { type Expression, type SqlBool, sql } from 'kysely';

/** Like SQLite's lower(): ASCII letters only. */
const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const LAST = 0x10ffff;

/** The first text, by code point order, after all texts that begin with `text`; null when there is none. */
export function afterPrefix(text: string): string | null {
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === LAST) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  // Skips the surrogates, which are not characters.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}

/** A range, for which SQLite uses an index on the expression; for LIKE it would not. */
export function prefixRange(value: Expression<string>, text: string): Expression<SqlBool> {
  const from = lowerAscii(text);
  const to = afterPrefix(from);
  const above = sql<SqlBool>`${value} >= ${from}`;
  return to === null ? above : sql<SqlBool>`(${above} AND ${value} < ${to})`;
}
