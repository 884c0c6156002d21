import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import Type from 'typebox';
import { ErrorReply } from '../contract/errors.ts';
import { FilterRemoved, FilterReply, FilterRequest, FiltersQuery, FiltersReply } from '../contract/filters.ts';
import { UsageQuery, UsageReply } from '../contract/usage.ts';
import { VerifyReply, VerifyRequest } from '../contract/verify.ts';
import { ERRORS, PUBLIC_CODES } from '../kernel/errors.ts';
import type { HttpContext } from './context.ts';
import { PAGE_ROUTES } from './dashboard/pages.ts';
import { keyed } from './guard.ts';
import { replyHeaders } from './reply-headers.ts';
import { addFilter, listFilters, removeFilter } from './routes/filters.ts';
import { healthz, metrics, openApi, readyz, reference, referenceScript } from './routes/operators.ts';
import { showUsage } from './routes/usage.ts';
import { verifyHandler } from './routes/verify.ts';

export type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

export interface RouteRow {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** `key`: an API key; `open`: anybody; `page`: anybody, where there is a dashboard; `operator`: the metrics token. */
  readonly guard: 'key' | 'open' | 'page' | 'operator';
  /** Left out of the OpenAPI document where absent. */
  readonly doc?: RouteDoc;
  readonly handler: (context: HttpContext) => Handler;
}
export interface RouteDoc {
  readonly operationId: string;
  readonly tag: 'Verification' | 'Usage' | 'Filters';
  readonly summary: string;
  readonly description?: string;
  readonly body?: TSchema;
  readonly query?: TSchema;
  readonly params?: TSchema;
  readonly headers?: TSchema;
  readonly reply: {
    status: number;
    schema: TSchema;
    description: string;
    /** Headers of this reply alone, each with its description. */
    headers?: Readonly<Record<string, string>>;
  };
  /** Statuses of errors that this route can answer, beside those that every keyed route can. */
  readonly errors: readonly number[];
}

const IdempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'For 24 hours the same key gives the stored reply again.',
    }),
  ),
});

const CREDITS = { 'X-Credits-Remaining': 'What can still be spent.' };
const REPLAYED = { 'Idempotency-Replayed': '`true` where this is the stored reply of an earlier request.' };

/** THE table of routes: method, path, who may, what it takes and gives, who handles it. */
export const ROUTES: readonly RouteRow[] = [
  {
    method: 'POST',
    path: '/v1/verify',
    guard: 'key',
    handler: verifyHandler,
    doc: {
      operationId: 'verify',
      tag: 'Verification',
      summary: 'Verify one address',
      description: 'A malformed or dead address is a verdict (200), not an error.',
      body: VerifyRequest,
      query: Type.Object({
        evidence: Type.Optional(Type.String({ enum: ['0', '1'], description: '`1` adds what was seen and said.' })),
      }),
      headers: IdempotencyHeader,
      reply: { status: 200, schema: VerifyReply, description: 'The verdict.', headers: { ...CREDITS, ...REPLAYED } },
      errors: [400, 402, 409, 413, 415, 422],
    },
  },
  {
    method: 'GET',
    path: '/v1/usage',
    guard: 'key',
    handler: (c) => keyed(c, showUsage(c)),
    doc: {
      operationId: 'usage',
      tag: 'Usage',
      summary: 'Plan, credit balance, rate limits',
      query: UsageQuery,
      reply: { status: 200, schema: UsageReply, description: 'The account as it stands.' },
      errors: [400],
    },
  },
  {
    method: 'POST',
    path: '/v1/filters',
    guard: 'key',
    handler: (c) => keyed(c, addFilter(c)),
    doc: {
      operationId: 'addFilter',
      tag: 'Filters',
      summary: 'Add a filter',
      body: FilterRequest,
      headers: IdempotencyHeader,
      reply: {
        status: 201,
        schema: FilterReply,
        description: 'The filter, in force for the next request.',
        headers: { Location: 'Path of the filter.', ...REPLAYED },
      },
      errors: [400, 409, 413, 415, 422],
    },
  },
  {
    method: 'GET',
    path: '/v1/filters',
    guard: 'key',
    handler: (c) => keyed(c, listFilters(c)),
    doc: {
      operationId: 'listFilters',
      tag: 'Filters',
      summary: 'List filters, newest first',
      query: FiltersQuery,
      reply: {
        status: 200,
        schema: FiltersReply,
        description: 'One page of filters.',
        headers: { Link: 'first, prev, next and last page (RFC 8288).' },
      },
      errors: [400],
    },
  },
  {
    method: 'DELETE',
    path: '/v1/filters/:id',
    guard: 'key',
    handler: (c) => keyed(c, removeFilter(c)),
    doc: {
      operationId: 'removeFilter',
      tag: 'Filters',
      summary: 'Remove a filter',
      params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
      reply: { status: 200, schema: FilterRemoved, description: 'Removed.' },
      errors: [404],
    },
  },
  ...PAGE_ROUTES,
  { method: 'GET', path: '/healthz', guard: 'open', handler: healthz },
  { method: 'GET', path: '/readyz', guard: 'open', handler: readyz },
  { method: 'GET', path: '/metrics', guard: 'operator', handler: metrics },
  { method: 'GET', path: '/openapi.json', guard: 'open', handler: openApi },
  { method: 'GET', path: '/docs', guard: 'open', handler: reference },
  { method: 'GET', path: '/docs/reference.js', guard: 'open', handler: referenceScript },
];

const EVERY_KEYED = [401, 403, 429, 500, 503];

/** The row as Fastify and the OpenAPI generator take it. */
export function schemaOf(row: RouteRow): Record<string, unknown> {
  const { doc } = row;
  if (!doc) return { hide: true };
  const statuses = [...new Set([...doc.errors, ...EVERY_KEYED])].sort((a, b) => a - b);
  const response: Record<string, unknown> = {
    [doc.reply.status]: {
      description: doc.reply.description,
      headers: replyHeaders(doc.reply.status, doc.reply.headers ?? {}),
      content: { 'application/json': { schema: doc.reply.schema } },
    },
  };
  for (const status of statuses) {
    response[status] = {
      description: codesOf(status),
      headers: replyHeaders(status, {}),
      content: { 'application/json': { schema: ErrorReply } },
    };
  }
  return {
    operationId: doc.operationId,
    tags: [doc.tag],
    summary: doc.summary,
    ...(doc.description ? { description: doc.description } : {}),
    ...(doc.body ? { body: doc.body } : {}),
    ...(doc.query ? { querystring: doc.query } : {}),
    ...(doc.params ? { params: doc.params } : {}),
    ...(doc.headers ? { headers: doc.headers } : {}),
    response,
    security: [{ key: [] }],
  };
}

const codesOf = (status: number): string =>
  PUBLIC_CODES.filter((code) => ERRORS[code].status === status)
    .map((code) => `\`${code}\``)
    .join(', ');
