import type { TSchema } from 'typebox';
import { DashboardErrorReply } from '../../contract/errors.ts';
import { VERSION } from '../../kernel/version.ts';
import type { DashboardRow, Who } from './row.ts';
import { DASHBOARD_ROWS } from './table.ts';

type Json = Record<string, unknown>;

/** Statuses that every row of a kind can answer, beside its own and those of what it reads. */
const ALWAYS: Readonly<Record<'anybody' | 'signed-in' | 'account' | 'operator', readonly number[]>> = {
  anybody: [500, 503],
  'signed-in': [401, 500, 503],
  account: [401, 403, 404, 500, 503],
  operator: [401, 404, 500, 503],
};

const kindOf = (who: Who) => (who === 'anybody' || who === 'signed-in' || who === 'operator' ? who : 'account');

/** The errors that a row can answer. */
export function errorsOf({ who, method, doc }: DashboardRow): number[] {
  const read = doc.body ? [400, 413, 415] : doc.query ? [400] : [];
  const unsafe = method === 'GET' ? [] : [403];
  return [...new Set([...(doc.errors ?? []), ...ALWAYS[kindOf(who)], ...read, ...unsafe])].sort((a, b) => a - b);
}

/** Names of the path: `:id` is `{id}` in the document. */
const NAMES = /:([a-z]+)/g;

/**
 * OpenAPI 3.1 of the dashboard's private API: for the page's own client and its tests, no promise to others. Schemas with
 * a title become components.
 */
export function buildDashboardApi(rows: readonly DashboardRow[] = DASHBOARD_ROWS): Json {
  const schemas: Json = {};
  const paths: Record<string, Json> = {};
  for (const row of rows) {
    const path = row.path.replaceAll(NAMES, '{$1}');
    paths[path] = { ...paths[path], [row.method.toLowerCase()]: operationOf(row, schemas) };
  }
  const error = { description: 'Refused.', content: jsonOf(DashboardErrorReply, schemas) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mailvet dashboard',
      version: VERSION,
      summary: 'The private API of the web page. It may change with every release.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8025' }],
    tags: [{ name: 'Dashboard', description: 'What the page asks for.' }],
    paths,
    components: {
      schemas,
      responses: { Error: error },
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'mailvet.session_token' } },
    },
  };
}

function operationOf(row: DashboardRow, schemas: Json): Json {
  const { doc } = row;
  const reply = doc.reply.schema;
  const content = reply === 'text/csv' ? { 'text/csv': { schema: { type: 'string' } } } : jsonOf(reply, schemas);
  const errors = errorsOf(row).map((status) => [status, { $ref: '#/components/responses/Error' }]);
  return {
    operationId: doc.operationId,
    tags: ['Dashboard'],
    summary: doc.summary,
    security: row.who === 'anybody' ? [] : [{ session: [] }],
    parameters: [...pathParameters(row.path), ...queryParameters(doc.query)],
    ...(doc.body ? { requestBody: { required: true, content: jsonOf(doc.body, schemas) } } : {}),
    responses: { [doc.reply.status ?? 200]: { description: doc.summary, content }, ...Object.fromEntries(errors) },
  };
}

const pathParameters = (path: string): Json[] =>
  [...path.matchAll(NAMES)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));

function queryParameters(query: TSchema | undefined): Json[] {
  const { properties = {}, required = [] } = (query ?? {}) as { properties?: Json; required?: string[] };
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = plain(schema, {}) as Json;
    return {
      name,
      in: 'query',
      required: required.includes(name),
      ...(description ? { description } : {}),
      schema: rest,
    };
  });
}

const jsonOf = (schema: TSchema, schemas: Json): Json => ({ 'application/json': { schema: plain(schema, schemas) } });

/** The schema as JSON, without our own notes (`x-…`); what has a title is put among `schemas` and referred to. */
function plain(schema: unknown, schemas: Json): unknown {
  if (Array.isArray(schema)) return schema.map((item) => plain(item, schemas));
  if (typeof schema !== 'object' || schema === null) return schema;
  const own = Object.entries(schema).filter(([name]) => !name.startsWith('x-'));
  const made = Object.fromEntries(own.map(([name, value]) => [name, plain(value, schemas)]));
  const { title } = schema as { title?: unknown };
  if (typeof title !== 'string' || !('type' in schema)) return made;
  schemas[title] = made;
  return { $ref: `#/components/schemas/${title}` };
}
