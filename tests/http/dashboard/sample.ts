/** Inputs generated from the rows' schemas, so that new rows are covered too. */
import fc from 'fast-check';
import type { Route } from '../../../src/http/route.ts';

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly minimum?: number;
}

/** A minimal valid value for a schema. */
export function sampleOf(schema: unknown): unknown {
  const {
    type,
    enum: words,
    anyOf,
    properties = {},
    required = [],
    items,
    minItems = 0,
    minLength = 0,
    minimum,
  } = schema as Schema;
  if (words) return words[0];
  if (anyOf) return sampleOf(anyOf[0]);
  switch (type) {
    case 'object':
      return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name])]));
    case 'array':
      return Array.from({ length: minItems }, () => sampleOf(items));
    case 'string':
      return 'x'.repeat(Math.max(1, minLength));
    case 'integer':
    case 'number':
      return minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return null;
  }
}

/** The path of a row with its parameters. */
export const pathOf = (row: Route, params: Readonly<Record<string, string>>): string =>
  row.path.replaceAll(/:([a-z]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? 'nothing'));

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? 'null') as unknown;
const anything = fc
  .anything({ maxDepth: 3, withObjectString: true })
  .map(json)
  .filter((value) => JSON.stringify(value).length < 8000);

const textual = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ maxLength: 30 }),
  fc.emailAddress(),
  fc.domain(),
  fc.ipV4(),
  fc.constantFrom('', '\u0000', '\ud800', '%', "'", '../', '2026-01-01', 'mx', 'smtp', 'owner', 'hour', 'day'),
);
const numeric = fc.oneof(fc.integer(), fc.double(), fc.maxSafeInteger(), fc.constantFrom(0, -1, 1e308, 2 ** 53));

/** A nearly valid body: each field is minimal and valid, or a string, a number or any value. */
export function bodyFor(schema: unknown): fc.Arbitrary<unknown> {
  const { properties = {} } = schema as Schema;
  const fields = Object.entries(properties).map(([name, property]) => [
    name,
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(sampleOf(property)) },
      { weight: 2, arbitrary: textual },
      { weight: 1, arbitrary: numeric },
      { weight: 1, arbitrary: anything },
    ),
  ]);
  const near = fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, { requiredKeys: [] });
  return fc.oneof({ weight: 6, arbitrary: near }, { weight: 1, arbitrary: anything });
}

export function queryFor(schema: unknown): fc.Arbitrary<string> {
  const names = Object.keys((schema as Schema).properties ?? {});
  const value = fc.oneof(
    textual,
    numeric.map(String),
    fc.constantFrom('1', '50', 'hour', 'day', 'good', '2026-11-01', '2020-01-01T00:00:00Z'),
  );
  return fc
    .array(fc.tuple(fc.constantFrom(...names, 'unknown'), value), { maxLength: 4 })
    .map(
      (pairs) => `?${new URLSearchParams(pairs.map(([name, text]): [string, string] => [name, text.toWellFormed()]))}`,
    );
}
