/** Schemas of the OpenAPI document in words. Texts are Markdown, of which only code in backticks is used. */
import type { ApiDocument, Schema } from './document.ts';

export type Resolve = (schema: Schema) => Schema;

export const resolverOf = ({ components }: ApiDocument): Resolve => {
  const schemas = components?.schemas ?? {};
  return (schema) => (schema.$ref ? (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema);
};

/** A field of an object, with those of the objects in it. */
export interface Field {
  readonly name: string;
  /** From the outermost object: `checks.mx.records[].host`. */
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly meaning: string;
  readonly fields: readonly Field[];
}

/** A schema could contain itself. */
const MAX_DEPTH = 5;

/** Fields of an object; of an array, those of its items. */
export function fieldsOf(schema: Schema, resolve: Resolve, prefix = '', depth = 0): readonly Field[] {
  const whole = resolve(schema);
  if (depth > MAX_DEPTH) return [];
  if (whole.items) return fieldsOf(whole.items, resolve, prefix.replace(/\.$/, '[].'), depth);
  return Object.entries(whole.properties ?? {}).map(([name, value]) => {
    const path = `${prefix}${name}`;
    const [type, meaning] = typeAndMeaning(value, resolve);
    const inner = [resolve(value), ...(resolve(value).anyOf ?? [])];
    return {
      name,
      path,
      type,
      required: whole.required?.includes(name) ?? false,
      meaning,
      fields: inner.flatMap((part) => fieldsOf(part, resolve, `${path}.`, depth + 1)),
    };
  });
}

export function typeAndMeaning(schema: Schema, resolve: Resolve, description?: string): [string, string] {
  const whole = resolve(schema);
  const bounds: string[] = [];
  if (whole.minimum !== undefined || whole.maximum !== undefined) bounds.push(range(whole.minimum, whole.maximum, ''));
  if (whole.minLength !== undefined || whole.maxLength !== undefined)
    bounds.push(range(whole.minLength, whole.maxLength, ' characters'));
  if (whole.default !== undefined) bounds.push(`default \`${JSON.stringify(whole.default)}\``);
  // A nullable field has its description inside.
  const inner = (whole.anyOf ?? []).find((choice) => choice.description)?.description;
  const text = (description ?? schema.description ?? whole.description ?? inner ?? '').trim();
  const limits = bounds.length > 0 ? `${bounds.join('; ')}.` : '';
  return [typeName(whole, resolve), [text, limits.charAt(0).toUpperCase() + limits.slice(1)].filter(Boolean).join(' ')];
}

function range(min: number | undefined, max: number | undefined, unit: string): string {
  if (min === undefined) return `at most ${max}${unit}`;
  return max === undefined ? `at least ${min}${unit}` : `${min} to ${max}${unit}`;
}

export function typeName(schema: Schema, resolve: Resolve): string {
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' or ');
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map((choice) => typeName(resolve(choice), resolve)))].join(' or ');
  if (schema.type === 'array') return `array of ${typeName(resolve(schema.items ?? {}), resolve)}`;
  const name = typeof schema.type === 'object' ? schema.type.join(' or ') : (schema.type ?? 'any value');
  return schema.format ? `${name} (${schema.format})` : name;
}
