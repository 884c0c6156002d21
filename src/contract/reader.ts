import Type, { type TArrayOptions, type TObject, type TProperties, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { ApiError, type ErrorCode, type ErrorDetails } from '../kernel/errors.ts';
import { UNKNOWN_NAME_SHOWN, WARNINGS_MAX } from '../kernel/facts/limits.ts';
import { grouped } from '../kernel/format.ts';
import { nearest } from '../kernel/nearest.ts';
import type { Decoded, Decoding, Read } from './schema.ts';

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

/** What a request is checked against as a whole: of items with an error of their own, only how many there are. */
const wholeSchema = <T extends TSchema>(schema: T): T => {
  const properties = Object.entries(propertiesOf(schema));
  if (!properties.some(([, property]) => '~rows' in property)) return schema;
  const checked = properties.map(([name, property]) => [
    name,
    '~rows' in property ? { ...property, items: {} } : property,
  ]);
  return { ...schema, properties: Object.fromEntries(checked) };
};

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

export const NO_WARNINGS: readonly string[] = [];

/** The property that each other name of one stands for. */
const alsoCalled = (properties: Readonly<Record<string, object>>): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(properties).flatMap(([name, property]) =>
      '~also' in property && Array.isArray(property['~also'])
        ? property['~also'].map((also) => [String(also), name] as const)
        : [],
    ),
  );

/**
 * Tells of the properties of an object that a schema does not have, at most WARNINGS_MAX of them. `noun`: what they are
 * called. `but`: names that do not count.
 */
export function unknownFields(
  schema: TSchema,
  noun: 'field' | 'parameter',
  but: readonly string[] = [],
): (sent: object) => readonly string[] {
  const properties: Readonly<Record<string, object>> = Object('properties' in schema ? schema.properties : {});
  const names = Object.keys(properties);
  const known: ReadonlySet<string> = new Set([...names, ...but]);
  const meant = alsoCalled(properties);
  const spellings = [...names, ...meant.keys()];

  const warningOf = (name: string): string => {
    const close = nearest(name, spellings);
    const suggestion = close === null ? '.' : `; did you mean "${meant.get(close) ?? close}"?`;
    return `Unknown ${noun} ${JSON.stringify(name.slice(0, UNKNOWN_NAME_SHOWN))}${suggestion}`;
  };

  return (sent) => {
    let unknown: string[] | null = null;
    for (const name in sent) {
      if (known.has(name)) continue;
      unknown ??= [];
      unknown.push(name);
    }
    if (unknown === null) return NO_WARNINGS;
    const warnings = unknown.slice(0, WARNINGS_MAX).map(warningOf);
    const rest = unknown.length - warnings.length;
    if (rest > 0) warnings.push(`${grouped(rest)} more unknown ${noun}s are not listed.`);
    return warnings;
  };
}

/** `warnings`: of properties that the schema does not have; absent where there are none. */
export type Parsed<T> = { ok: true; value: T; warnings?: readonly string[] } | { ok: false; error: ApiError };

export const invalid = (code: ErrorCode, message?: string, details?: ErrorDetails): { ok: false; error: ApiError } => ({
  ok: false,
  error: new ApiError(code, message, details),
});

/** Null for a text that cannot be decoded. */
export type Decoders = { readonly [D in Decoding]: (text: string) => Decoded[D] | null };

/** What a property's schema says of itself, for its reader. */
export interface PropertyNotes {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly default?: unknown;
  /** Holds the message of its error. */
  readonly 'x-error'?: string;
  /** Holds the code of its error; `invalid_parameter` by default. */
  readonly 'x-code'?: ErrorCode;
  readonly '~decode'?: Decoding;
  /** Of what may be one of several. */
  readonly anyOf?: readonly PropertyNotes[];
}

export const propertiesOf = (schema: object): Readonly<Record<string, PropertyNotes>> =>
  'properties' in schema ? (schema.properties as Record<string, PropertyNotes>) : {};

type JsonObject = Record<string, unknown>;
const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * A reader for JSON objects of one schema. Nothing is coerced, nothing is stripped: `{"email": false}` is refused, not
 * read as "false". Where several properties are wrong, a missing one comes first, then a 400 before a 422. Defaults are
 * filled in and texts decoded in the object itself. A schema with `~wrapper` also takes `{"<wrapper>": {…}}`, all or
 * some of it. What the schema does not know changes nothing.
 */
export function objectReader<T extends TSchema>(schema: T, decoders: Decoders): (value: unknown) => Parsed<Read<T>> {
  // Compiling takes milliseconds that the start of the process need not wait for.
  let validator: ReturnType<typeof Compile> | undefined;
  const properties = propertiesOf(schema);
  const wrapper = '~wrapper' in schema ? String(schema['~wrapper']) : null;
  const strict = '~strict' in schema && Array.isArray(schema['~strict']) ? schema['~strict'].map(String) : null;
  const unknown = unknownFields(schema, 'field', strict ?? []);
  const refused = refusedFields(schema);
  const defaults = Object.entries(properties).filter(([, { default: value }]) => value !== undefined);
  const decodings = Object.entries(properties).flatMap(([name, { '~decode': decoding }]) =>
    decoding === undefined ? [] : [{ name, decode: decoders[decoding] }],
  );

  /** Decodes in place; the names of what could not be. */
  const decode = (object: JsonObject): string[] => {
    const failed: string[] = [];
    for (const { name, decode: decoder } of decodings) {
      const text = object[name];
      if (typeof text !== 'string') continue;
      const value = decoder(text);
      if (value === null) failed.push(name);
      else object[name] = value;
    }
    return failed;
  };

  return (value) => {
    const sent = wrapper === null ? value : unwrappedObject(value, wrapper);
    if (!isJsonObject(sent)) return invalid('invalid_json', 'The request body must be a JSON object.');
    validator ??= Compile(wholeSchema(schema));
    const errors = validator.Check(sent) ? [] : validator.Errors(sent);
    const missing = errors.find((e) => e.keyword === 'required' && e.instancePath === '');
    // What is missing further in makes the property around it a wrong one.
    if (missing?.keyword === 'required') return missingParameter(missing.params.requiredProperties[0] ?? '');
    const undecoded = decode(sent);
    if (errors.length + undecoded.length > 0) {
      const wrong = errors.map(({ instancePath }) => propertyAt(instancePath, properties));
      return wrongParameter([...wrong, ...undecoded.map((field) => ({ field, notes: properties[field] }))]);
    }
    const refusal = refused(sent);
    if (refusal !== null) return refusal;
    for (const [name, notes] of defaults) sent[name] ??= notes.default;
    const warnings = unknown(sent);
    if (strict !== null && warnings.length > 0) {
      const field = Object.keys(sent).find((name) => !Object.hasOwn(properties, name) && !strict.includes(name));
      return invalid('invalid_parameter', warnings.join(' '), { field: (field ?? '').slice(0, UNKNOWN_NAME_SHOWN) });
    }
    const read = sent as Read<T>;
    return warnings.length === 0 ? { ok: true, value: read } : { ok: true, value: read, warnings };
  };
}

/** Says which field of an object is refused; null: none is. */
function refusedFields(schema: TSchema): (sent: JsonObject) => ReturnType<typeof invalid> | null {
  const fields = '~refused' in schema ? schema['~refused'] : null;
  if (!(fields instanceof Map)) return () => null;
  const table: ReadonlyMap<string, RefusedFields[string]> = fields;
  const decisive = '~decisive' in schema && Array.isArray(schema['~decisive']) ? schema['~decisive'].map(String) : [];
  const properties = propertiesOf(schema);
  const spellings = [...Object.keys(properties), ...alsoCalled(properties).keys()];
  return (sent) => {
    for (const field in sent) {
      if (Object.hasOwn(properties, field)) continue;
      const close = nearest(field, spellings);
      const misspelled =
        close !== null && decisive.includes(close) ? { harmless: [], instead: `write "${close}"` } : undefined;
      const row = table.get(field) ?? table.get(field.toLowerCase()) ?? misspelled;
      const value = sent[field];
      const changesNothing = (harmless: unknown) =>
        harmless === value || (Array.isArray(harmless) && Array.isArray(value) && value.length === 0);
      if (row === undefined || row.harmless.some(changesNothing)) continue;
      return invalid('invalid_filter', `${field} cannot be set here, and is not ignored: ${row.instead}.`, { field });
    }
    return null;
  };
}

/** The object in the wrapper, with what is beside it. */
function unwrappedObject(value: unknown, wrapper: string): unknown {
  if (!isJsonObject(value) || !Object.hasOwn(value, wrapper)) return value;
  const { [wrapper]: inner, ...beside } = value;
  return isJsonObject(inner) ? { ...beside, ...inner } : inner;
}

const missingParameter = (field: string) =>
  invalid('missing_parameter', `The parameter "${field}" is missing.`, { field });

/** A property, `read.delimiter` where it is one of an object, with what its schema says. */
interface NotedProperty {
  readonly field: string;
  readonly notes: PropertyNotes | undefined;
}

/** The deepest property on the path (RFC 6901) that has a message of its own. */
function propertyAt(path: string, properties: Readonly<Record<string, PropertyNotes>>): NotedProperty {
  const [field = '', ...below] = path.split('/').slice(1);
  let found: NotedProperty = { field, notes: properties[field] };
  for (const name of below) {
    const notes = found.notes && ownNotes(propertiesOf(found.notes)[name]);
    if (notes?.['x-error'] === undefined) break;
    found = { field: `${found.field}.${name}`, notes };
  }
  return found;
}

/** Of a property that may be null, those of what else it may be. */
const ownNotes = (notes: PropertyNotes | undefined): PropertyNotes | undefined =>
  notes?.['x-error'] === undefined ? (notes?.anyOf?.find((one) => one['x-error'] !== undefined) ?? notes) : notes;

function wrongParameter(wrong: readonly NotedProperty[]) {
  const found = wrong.map(
    ({ field, notes }) => ({ field, notes, code: notes?.['x-code'] ?? 'invalid_parameter' }) as const,
  );
  const first = found.find(({ code }) => code === 'invalid_parameter') ?? found[0];
  const field = first?.field ?? '';
  return invalid(first?.code ?? 'invalid_parameter', fieldMessage(field, first?.notes), { field });
}

/** The property's own message, or one made of its values. */
export const fieldMessage = (field: string, notes: PropertyNotes = {}): string =>
  notes['x-error'] ??
  (notes.enum ? `${field} must be one of ${notes.enum.join(', ')}.` : `The parameter "${field}" has an invalid value.`);
