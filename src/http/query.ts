import { type Parsed, refused } from '../contract/schema.ts';

type Query = Readonly<Record<string, unknown>>;

/** A parameter that was sent at most once; twice is refused, since nobody can say which was meant. */
export function one(query: Query, field: string): Parsed<string | null> {
  const value = query[field];
  if (value === undefined) return { ok: true, value: null };
  if (typeof value === 'string') return { ok: true, value };
  return refused('invalid_parameter', `${field} was sent more than once.`, { field });
}

/** A whole number within bounds. */
export function whole(
  query: Query,
  field: string,
  bounds: { min: number; max: number; default: number },
): Parsed<number> {
  const text = one(query, field);
  if (!text.ok) return text;
  if (text.value === null) return { ok: true, value: bounds.default };
  const n = /^\d{1,9}$/.test(text.value) ? Number(text.value) : Number.NaN;
  if (n >= bounds.min && n <= bounds.max) return { ok: true, value: n };
  return refused('invalid_parameter', `${field} must be a whole number from ${bounds.min} to ${bounds.max}.`, {
    field,
  });
}

/** One of some words, or null where it was not sent. */
export function word<T extends string>(query: Query, field: string, words: readonly T[]): Parsed<T | null> {
  const text = one(query, field);
  if (!text.ok || text.value === null) return text as Parsed<null>;
  if ((words as readonly string[]).includes(text.value)) return { ok: true, value: text.value as T };
  return refused('invalid_parameter', `${field} must be one of ${words.join(', ')}.`, { field });
}
