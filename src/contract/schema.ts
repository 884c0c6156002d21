import Type, { type Static, type TArrayOptions, type TObject, type TProperties, type TSchema } from 'typebox';
import { IDEMPOTENCY_HOURS } from '../kernel/facts/lifetimes.ts';
import { IDEMPOTENCY_KEY_LENGTH, type Range } from '../kernel/facts/limits.ts';
import type { Deliverability } from '../kernel/facts/reasons.ts';
import { counted, grouped, span } from '../kernel/format.ts';

// Schemas of bounded values. The error message (`x-error`) names the bounds, unless the options have their own.

export const Text = (field: string, length: Range, options: object = {}) =>
  Type.String({
    ...(length.min > 0 ? { minLength: length.min } : {}),
    maxLength: length.max,
    'x-error': `${field} must have ${length.min > 0 ? span(length) : `at most ${grouped(length.max)}`} characters.`,
    ...options,
  });

/** A `default` of the range stands in the schema: its reader fills it in. */
export const WholeNumber = <R extends Range>(field: string, range: R, options: object = {}) => {
  const { min, max, ...defaults } = range;
  const schema = Type.Integer({
    minimum: min,
    maximum: max,
    'x-error': `${field} must be a whole number from ${span(range)}.`,
    ...options,
  });
  return Object.assign(schema, defaults);
};

export const Count = Type.Integer({ minimum: 0 });
export const DescribedCount = (description: string) => Type.Integer({ minimum: 0, description });

export const Pagination = Type.Object(
  {
    current_page: Type.Integer(),
    per_page: Type.Integer(),
    total_pages: Type.Integer(),
    total_count: Type.Integer(),
  },
  { title: 'Pagination' },
);

/** `T` or null, as JSON Schema 2020-12 writes it. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** One of a closed set of strings, as a plain `enum`. */
export const OneOf = <const T extends readonly string[]>(values: T, options: object = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });

/** The property is optional, and its reader fills it in. */
export const Defaulted = <T extends TSchema, const V extends Static<T>>(schema: T, value: V) =>
  Type.Optional(Object.assign(schema, { default: value }));

/** What the text of a property becomes when it is read; the readers of src/http have one function for each. */
export interface Decoded {
  /** The text is RFC 3339, or a date, and becomes milliseconds since the epoch. */
  instant: number;
  /** The text becomes IPv4 or IPv6 in canonical form. */
  ip: string;
  /** As it is; anything but printable ASCII is refused. */
  printable: string;
  /** As it is; characters that no name needs (service/link-text.ts), such as marks of direction, are refused. */
  plain: string;
  /** `deliverable,risky`, `!undeliverable`. */
  deliverabilities: readonly Deliverability[];
  /** A name of the Encoding Standard, in its one form. */
  encoding: string;
}
export type Decoding = keyof Decoded;

/** A property whose text is decoded after the schema has accepted it. The note never leaves the server. */
export const DecodedAs = <T extends TSchema, const D extends Decoding>(decoding: D, schema: T) =>
  Object.assign(schema, { '~decode': decoding } as const);

type DecodedValue<P> = P extends { '~rows': true }
  ? readonly unknown[]
  : P extends { '~decode': infer D extends Decoding }
    ? Decoded[D] | Extract<Static<P & TSchema>, null>
    : P extends TSchema
      ? Static<P>
      : never;
type MayBeMissing<P> = P extends { default: unknown } ? false : P extends { '~optional': true } ? true : false;

/** A reader of the schema returns it: `Static` with defaults filled in and texts decoded. */
export type Read<S> = S extends { properties: infer P }
  ? { [K in keyof P as MayBeMissing<P[K]> extends true ? never : K]: DecodedValue<P[K]> } & {
      [K in keyof P as MayBeMissing<P[K]> extends true ? K : never]?: DecodedValue<P[K]>;
    }
  : S extends TSchema
    ? Static<S>
    : undefined;

/** It follows draft-ietf-httpapi-idempotency-key-header. */
export const IdempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    DecodedAs(
      'printable',
      Text('Idempotency-Key', IDEMPOTENCY_KEY_LENGTH, {
        description: `For ${counted(IDEMPOTENCY_HOURS, 'hour')} the same key returns the stored reply.`,
        'x-error': `The Idempotency-Key header must be sent once, with ${span(IDEMPOTENCY_KEY_LENGTH)} printable ASCII characters.`,
      }),
    ),
  ),
});

export const Time = Type.String({ format: 'date-time' });

/** In every reply to a request that can have fields or parameters that the contract does not know. */
export const Warnings = Type.Array(Type.String(), {
  description: 'What the request has that is unknown, or changes nothing.',
});

/** A reply of the public API with the warnings of its request, which its handler need not add (http/router.ts). */
export const WithWarnings = <P extends TProperties>(title: string, { properties }: TObject<P>) =>
  Type.Object({ ...properties, warnings: Warnings }, { title });

/** An array whose items are read one by one: a wrong one is an error of its own. The note never leaves the server. */
export const Rows = <T extends TSchema>(item: T, options: TArrayOptions) =>
  Object.assign(Type.Array(item, options), { '~rows': true } as const);

/** A property with the names that people give it elsewhere. The note never leaves the server. */
export const AlsoCalled = <T extends TSchema>(names: readonly string[], schema: T) =>
  Object.assign(schema, { '~also': names });

/**
 * A request in which an unknown field is refused, because neglecting it would reverse the wish. `but`: names that
 * change nothing. The note never leaves the server.
 */
export const Strict = <T extends TSchema>(schema: T, but: readonly string[] = []) =>
  Object.assign(schema, { '~strict': but });

/** Fields that a contract does not know, and that must not be left out of account. */
export type RefusedFields = Readonly<
  Record<string, { /** Values that change nothing. */ readonly harmless: readonly unknown[]; readonly instead: string }>
>;

/**
 * A schema of an object whose reader refuses these fields, and what is spelled nearly as the `decisive` ones of its
 * own, instead of warning of them. The note stays here.
 */
export const Refused = <T extends TSchema>(fields: RefusedFields, decisive: readonly string[], schema: T) =>
  Object.assign(schema, { '~refused': new Map(Object.entries(fields)), '~decisive': decisive });
