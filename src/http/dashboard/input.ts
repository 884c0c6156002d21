import type { TSchema } from 'typebox';
import { objectReader, type Parsed, refused } from '../../contract/schema.ts';
import { Refusal } from '../../kernel/errors.ts';
import { one } from '../query.ts';

interface Field {
  readonly type?: string;
}

/** Below the largest exact integer even as a page times its size. */
const WHOLE = /^-?\d{1,13}$/;

/** A reader for the query of a row: each parameter at most once, numbers made of their digits, then judged by the schema. */
export function queryReader(schema: TSchema): (query: unknown) => Parsed<unknown> {
  const fields = Object.entries((schema as unknown as { properties: Record<string, Field> }).properties);
  const read = objectReader(schema);
  return (query) => {
    const values: Record<string, unknown> = {};
    for (const [field, { type }] of fields) {
      const text = one(query as Record<string, unknown>, field);
      if (!text.ok) return text;
      if (text.value === null) continue;
      if (hasControls(text.value))
        return refused('invalid_parameter', `${field} must not have control characters.`, { field });
      values[field] = type === 'integer' && WHOLE.test(text.value) ? Number(text.value) : text.value;
    }
    return read(values);
  };
}

/** What no id and no name has, and what a store could not keep as it is: control characters, half a surrogate pair. */
export const hasControls = (text: string): boolean => /[\p{Cc}\p{Cs}]/u.test(text);

export const nothingToChange = (fields: string): Refusal =>
  new Refusal('missing_parameter', `Nothing to change was sent: send ${fields}.`);
