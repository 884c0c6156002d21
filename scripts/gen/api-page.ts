import { table } from './markdown.ts';

/** The part of an OpenAPI 3.1 document that the page uses. */
export interface OpenApiDocument {
  info: { title: string; version: string; description?: string };
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
}
interface Operation {
  summary?: string;
  description?: string;
  parameters?: Parameter[];
  security?: Record<string, string[]>[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
}
interface Schema {
  $ref?: string;
  type?: string | string[];
  title?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
}
type Field = readonly [name: string, type: string, meaning: string];

/** docs/api.md: every operation with its parameters, body, reply and errors. */
export function apiPage(document: OpenApiDocument): string {
  const schemas = document.components?.schemas ?? {};
  const resolve = (schema: Schema): Schema => (schema.$ref ? (schemas[schema.$ref.split('/').at(-1)!] ?? {}) : schema);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => section(method, path, operation, resolve)),
  );
  return `<!-- Generated from the OpenAPI document by \`npm run gen\`; edit the schemas in src/contract/ and the route table. -->
# API reference

${document.info.description ?? ''}

The service itself serves this as an OpenAPI 3.1 document at \`/openapi.json\` and as a page at \`/docs\`.
The codes of refusals are on the [page of errors](errors.md).

${operations.join('\n')}`;
}

type Resolve = (schema: Schema) => Schema;

function section(method: string, path: string, operation: Operation, resolve: Resolve): string {
  const parts = [`## ${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}\n`];
  for (const text of [operation.summary && `${operation.summary}.`, operation.description])
    if (text) parts.push(`${text}\n`);
  const scopes = (operation.security ?? []).flatMap((needed) => Object.values(needed).flat());
  if (scopes.length > 0) parts.push(`The key needs the scope ${scopes.map((scope) => `\`${scope}\``).join(', ')}.\n`);
  if (operation.parameters?.length) {
    const rows = operation.parameters.map((parameter) => {
      const where = parameter.in + (parameter.required ? ', required' : '');
      return [
        `\`${parameter.name}\``,
        where,
        ...typeAndMeaning(parameter.schema ?? {}, resolve, parameter.description),
      ];
    });
    parts.push(table(['parameter', 'in', 'type', 'meaning'], rows));
  }
  const body = operation.requestBody?.content['application/json']?.schema;
  if (body) parts.push(`**Request body**\n\n${shape(body, resolve)}`);
  const errors: string[][] = [];
  for (const [status, response] of Object.entries(operation.responses)) {
    const schema = response.content?.['application/json']?.schema;
    if (Number(status) >= 400) errors.push([status, response.description]);
    else parts.push(`**Reply ${status}.** ${response.description}\n\n${schema ? shape(schema, resolve) : ''}`);
  }
  if (errors.length > 0) parts.push(`**Refusals**\n\n${table(['status', 'codes'], errors)}`);
  return parts.join('\n');
}

function shape(schema: Schema, resolve: Resolve): string {
  const whole = resolve(schema);
  const choices = (whole.anyOf ?? whole.oneOf)?.map(resolve);
  if (choices && !whole.properties) return choices.map((choice) => shape(choice, resolve)).join('\nor\n\n');
  const note = whole.description ? `${whole.description}\n\n` : '';
  const rows = fields(whole, resolve, '', 0);
  return note + (rows.length > 0 ? table(['field', 'type', 'meaning'], rows) : `\`${typeName(whole, resolve)}\`\n`);
}

/** The fields of an object, including nested ones, by path: `checks.mx.records[].host`. */
function fields(schema: Schema, resolve: Resolve, prefix: string, depth: number): Field[] {
  if (depth > 5) return [];
  return Object.entries(schema.properties ?? {}).flatMap(([name, value]) => {
    const path = `${prefix}${name}`;
    const [type, meaning] = typeAndMeaning(value, resolve);
    const optional = schema.required?.includes(name) ? '' : ' (optional)';
    const inner = [resolve(value), ...(resolve(value).anyOf ?? []).map(resolve)];
    const nested = inner.flatMap((part) => [
      ...fields(part, resolve, `${path}.`, depth + 1),
      ...(part.items ? fields(resolve(part.items), resolve, `${path}[].`, depth + 1) : []),
    ]);
    return [[`\`${path}\``, `${type}${optional}`, meaning] as const, ...nested];
  });
}

function typeAndMeaning(schema: Schema, resolve: Resolve, description?: string): [string, string] {
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

function typeName(schema: Schema, resolve: Resolve): string {
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' or ');
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map((choice) => typeName(resolve(choice), resolve)))].join(' or ');
  if (schema.type === 'array') return `array of ${typeName(resolve(schema.items ?? {}), resolve)}`;
  const name = Array.isArray(schema.type) ? schema.type.join(' or ') : (schema.type ?? 'any value');
  return schema.format ? `${name} (${schema.format})` : name;
}
