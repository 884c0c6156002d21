import { type Expression, type SqlBool, sql } from 'kysely';

/** SQLite's own lower(): letters of ASCII only. */
const fold = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const LAST = 0x10ffff;

/** The first text, in the order of code points, behind all that begin with `text`; null when there is none. */
export function behind(text: string): string | null {
  const points = Array.from(text, (character) => character.codePointAt(0)!);
  while (points.at(-1) === LAST) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  // Surrogates are no characters.
  return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1);
}

/** As a range, which an index on the value answers; LIKE would not use one that is made of an expression. */
export function begins(value: Expression<string>, text: string): Expression<SqlBool> {
  const from = fold(text);
  const to = behind(from);
  const above = sql<SqlBool>`${value} >= ${from}`;
  return to === null ? above : sql<SqlBool>`(${above} AND ${value} < ${to})`;
}
