import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { ErrorCode, ErrorDetails } from '../kernel/errors.ts';
import { Refusal } from '../kernel/errors.ts';

/** `T` or null, as JSON Schema 2020-12 says it. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** One of some strings, as a plain `enum`. */
export const OneOf = <const T extends readonly string[]>(values: T, options: object = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });

export type Parsed<T> = { ok: true; value: T } | { ok: false; refusal: Refusal };

export const refused = (
  code: ErrorCode,
  sentence?: string,
  details?: ErrorDetails,
): { ok: false; refusal: Refusal } => ({
  ok: false,
  refusal: new Refusal(code, sentence, details),
});

/**
 * A reader for JSON objects of one schema. Nothing is coerced, nothing is stripped: `{"email": false}` is refused, not
 * read as "false". The sentence of a refusal is the property's own `x-error`; its code `x-code`, else
 * `invalid_parameter`. Where several properties are wrong, a 400 comes before a 422.
 */
export function objectReader<T extends TSchema>(schema: T): (value: unknown) => Parsed<Static<T>> {
  // Compiling takes milliseconds that the start of the process need not wait for.
  let validator: ReturnType<typeof Compile> | undefined;
  const properties = (schema as unknown as { properties: Record<string, PropertyNotes> }).properties;
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return refused('invalid_json', 'The request body must be a JSON object.');
    }
    validator ??= Compile(schema);
    if (validator.Check(value)) return { ok: true, value: value as Static<T> };
    const errors = validator.Errors(value);
    // What is missing further in makes the property around it a wrong one.
    const missing = errors.find((e) => e.keyword === 'required' && e.instancePath === '');
    if (missing) {
      const field = (missing.params as { requiredProperties: string[] }).requiredProperties[0]!;
      return refused('missing_parameter', `The parameter "${field}" is missing.`, { field });
    }
    const wrong = [...new Set(errors.map((e) => e.instancePath.split('/')[1]!))].map((field) => ({
      field,
      code: properties[field]?.['x-code'] ?? ('invalid_parameter' as const),
      sentence: properties[field]?.['x-error'] ?? `The parameter "${field}" has an unusable value.`,
    }));
    const first = wrong.find((w) => w.code === 'invalid_parameter') ?? wrong[0]!;
    return refused(first.code, first.sentence, { field: first.field });
  };
}

interface PropertyNotes {
  'x-error'?: string;
  'x-code'?: ErrorCode;
}
