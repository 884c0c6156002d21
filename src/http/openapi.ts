/** OpenAPI 3.1 of rows: one generator for the public and the private document. */
import type { TSchema } from 'typebox';
import { errorsOf } from './errors-of.ts';
import type { Route, RouteDoc, RouteOutput } from './route.ts';

export type Json = Record<string, unknown>;

/** In what two documents differ. */
export interface Style {
  readonly security: (route: Route) => readonly Json[];
  /** Titled schemas become components and are referred to, or stand where they are used. */
  readonly schemas: 'components' | 'inline';
  /** Of a request or reply of this schema. */
  readonly exampleOf: (schema: TSchema) => object | undefined;
  /** Schema keywords to omit. */
  readonly isPrivate: (keyword: string) => boolean;
  /** Responses of an operation that can fail with these statuses. */
  readonly errors: (statuses: readonly number[]) => Json;
  readonly replyHeaders: (status: number, own: Readonly<Record<string, string>>) => Json;
}

type Documented = Route & { readonly doc: RouteDoc; readonly output: RouteOutput };
const isDocumented = (route: Route): route is Documented => route.doc !== undefined && route.output !== undefined;

const exampled = (example: object | undefined): Json => (example === undefined ? {} : { example });

/** Names of the path: `:id` is `{id}` in the document. */
const NAMES = /:([a-z]+)/g;

interface Described {
  readonly paths: Json;
  /** For `components`; complete once everything was described. */
  readonly schemas: Json;
  readonly contentOf: (content: RouteOutput['content']) => Json;
}

/** The rows that have a doc. */
export function describe(routes: readonly Route[], style: Style): Described {
  const schemas: Json = {};
  const paths: Record<string, Json> = {};
  const schemaOf = (schema: unknown): unknown => plain(schema, style, style.schemas === 'inline' ? null : schemas);
  const contentOf = (content: RouteOutput['content']): Json =>
    typeof content === 'string'
      ? { [content]: { schema: { type: 'string' } } }
      : { 'application/json': { schema: schemaOf(content), ...exampled(style.exampleOf(content)) } };
  for (const route of routes.filter(isDocumented)) {
    const path = route.path.replaceAll(NAMES, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, style, contentOf) };
  }
  return { paths, schemas, contentOf };
}

function operationOf(route: Documented, style: Style, contentOf: (content: RouteOutput['content']) => Json): Json {
  const { doc, input = {}, output } = route;
  const { status = 200, description = doc.summary, headers = {} } = output;
  const parameters = [
    ...pathParameters(route.path, input.params),
    ...parametersIn('query', input.query),
    ...parametersIn('header', input.headers),
  ];
  return {
    operationId: doc.operationId,
    summary: doc.summary,
    tags: [doc.tag],
    ...(doc.description ? { description: doc.description } : {}),
    ...(input.body ? { requestBody: requestBody(input.body, contentOf) } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    security: style.security(route),
    responses: {
      [status]: { description, ...style.replyHeaders(status, headers), content: contentOf(output.content) },
      ...style.errors(errorsOf(route)),
    },
  };
}

function requestBody(
  body: NonNullable<NonNullable<Route['input']>['body']>,
  contentOf: (schema: TSchema) => Json,
): Json {
  if ('stream' in body) {
    const content = body.stream.map((type) => [type, { schema: { type: 'string', format: 'binary' } }]);
    return { required: true, content: Object.fromEntries(content) };
  }
  const described = 'description' in body ? { description: body.description } : {};
  return { required: true, content: contentOf(body), ...described };
}

const pathParameters = (path: string, params: TSchema | undefined): Json[] => {
  const described = new Map(parametersIn('path', params).map((parameter) => [parameter.name, parameter]));
  const names = [...path.matchAll(NAMES)].map(([, name]) => name);
  return names.map((name) => described.get(name) ?? { schema: { type: 'string' }, in: 'path', name, required: true });
};

/** One parameter for each property of the schema; keywords that only the reader needs are omitted. */
function parametersIn(place: 'path' | 'query' | 'header', schema: TSchema | undefined): Json[] {
  if (schema === undefined || !('properties' in schema)) return [];
  const required = 'required' in schema && Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties as Readonly<Record<string, object>>).map(([name, property]) => {
    const { description, ...rest } = publicPart(property);
    return {
      schema: rest,
      in: place,
      name,
      required: required.includes(name),
      ...(description === undefined ? {} : { description }),
    };
  });
}
const publicPart = (property: object): Json =>
  Object.fromEntries(Object.entries(property).filter(([keyword]) => !/^(x-|~)/.test(keyword)));

const BARE: Pick<Style, 'isPrivate'> = { isPrivate: (keyword) => /^(x-|~)/.test(keyword) };

/** The schema as JSON without private keywords; a titled one is put among `schemas` and referred to. */
function plain(schema: unknown, style: Pick<Style, 'isPrivate'>, schemas: Json | null): unknown {
  if (Array.isArray(schema)) return schema.map((item) => plain(item, style, schemas));
  if (typeof schema !== 'object' || schema === null) return schema;
  const own = Object.entries(defaultInWords(schema)).filter(([keyword]) => !style.isPrivate(keyword));
  const made = Object.fromEntries(own.map(([keyword, value]) => described(keyword, plain(value, style, schemas))));
  if (schemas === null || !('title' in schema) || typeof schema.title !== 'string' || !('type' in schema)) return made;
  schemas[schema.title] = made;
  return { $ref: `#/components/schemas/${schema.title}` };
}

/**
 * A property with a default may be left out of a request, but generators of clients (openapi-typescript) take the
 * keyword to mean that it is always there.
 */
function defaultInWords(schema: object): object {
  if (!('default' in schema)) return schema;
  const { default: value, ...rest } = schema;
  const description = 'description' in rest ? `${String(rest.description)} ` : '';
  return { ...rest, description: `${description}Default: \`${String(value)}\`.` };
}

/** A schema by itself, as plain JSON without private keywords. */
export const jsonSchemaOf = (schema: TSchema) => JSON.parse(JSON.stringify(plain(schema, BARE, null)));

/**
 * TypeBox describes a record by one pattern that matches every name; generators of clients know the plainer keyword.
 */
function described(keyword: string, value: unknown): [string, unknown] {
  if (keyword !== 'patternProperties' || typeof value !== 'object' || value === null) return [keyword, value];
  return '^.*$' in value ? ['additionalProperties', value['^.*$']] : [keyword, value];
}
