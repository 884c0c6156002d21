/** The two documents of this service. */
import { STATUS_CODES } from 'node:http';
import type { TSchema } from 'typebox';
import { DashboardErrorReply, ErrorReply } from '../contract/errors.ts';
import { WEBHOOK_EVENTS } from '../contract/webhook-events.ts';
import { ERRORS, PUBLIC_CODES } from '../kernel/errors.ts';
import { VERSION } from '../kernel/version.ts';
import { errorsOf } from './errors-of.ts';
import { describe, type Json, type Style } from './openapi.ts';
import { replyHeaders, SHARED_HEADERS } from './reply-headers.ts';
import { type Route, scopeOf } from './route.ts';
import { errorExamples, exampleOf } from './v1/examples.ts';

const LICENSE = { name: 'Apache-2.0', identifier: 'Apache-2.0' };

const codesOf = (status: number): string =>
  PUBLIC_CODES.filter((code) => ERRORS[code].status === status)
    .map((code) => `\`${code}\``)
    .join(', ');

const withExamples = (content: Json, examples: Json): Json =>
  Object.fromEntries(Object.entries(content).map(([type, media]) => [type, { ...Object(media), examples }]));

const responseOf = (name: string): Json => ({ $ref: `#/components/responses/${name}` });
/** `404` → `NotFound`. */
const errorName = (status: number): string => (STATUS_CODES[status] ?? `Error ${status}`).replaceAll(' ', '');

const PUBLIC: Style = {
  security: ({ access }) => [{ key: [scopeOf(access)].filter((scope) => scope !== null) }],
  schemas: 'components',
  isPrivate: (keyword) => keyword.startsWith('~'),
  errors: (statuses) => Object.fromEntries(statuses.map((status) => [status, responseOf(errorName(status))])),
  exampleOf,
  replyHeaders: (status, own) => ({ headers: replyHeaders(status, own) }),
};

/** OpenAPI 3.1 of `/v1`. */
export function publicDocument(routes: readonly Route[], url: string): Json {
  const { paths, schemas, contentOf } = describe(routes, PUBLIC);
  const webhooks = webhooksOf(contentOf);
  const error = contentOf(ErrorReply);
  const statuses = [...new Set(routes.filter(({ doc }) => doc).flatMap(errorsOf))].sort((a, b) => a - b);
  const responses = Object.fromEntries(
    statuses.map((status) => [
      errorName(status),
      {
        description: codesOf(status),
        headers: replyHeaders(status, {}),
        content: withExamples(error, errorExamples(status)),
      },
    ]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mailvet',
      version: VERSION,
      summary: 'Is this address good or bad, why, and what did it cost?',
      description:
        'Verifies email addresses: one POST, one verdict. Every request to `/v1` carries an API key. ' +
        'Errors are JSON with `error`, `code` and `request_id`.',
      license: LICENSE,
    },
    components: {
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key: `mv_live_`, or `mv_test_` for test mode, and 32 characters. The names beside it are the scopes that a request needs.',
        },
      },
      headers: SHARED_HEADERS,
      responses,
      schemas,
    },
    paths,
    webhooks,
    servers: [{ url }],
    tags: TAGS.map(([name, description]) => ({ name, description })),
  };
}

/** Requests that webhooks get, by event (OpenAPI 3.1, "webhooks"). */
const webhooksOf = (contentOf: (schema: TSchema) => Json): Json =>
  Object.fromEntries(
    Object.entries(WEBHOOK_EVENTS).map(([type, { summary, body }]) => [
      type,
      {
        post: {
          operationId: `receive_${type}`.replace(/[._](\w)/g, (_, letter: string) => letter.toUpperCase()),
          summary,
          tags: ['Webhooks'],
          // Signed in headers instead.
          security: [],
          requestBody: { required: true, content: contentOf(body) },
          responses: {
            '2XX': { description: 'Received.' },
            '410': { description: 'Nothing more is sent: the webhook is disabled.' },
          },
        },
      },
    ]),
  );

const TAGS = [
  ['Verification', 'Verify addresses.'],
  ['Lists', 'Verify many addresses as one job.'],
  ['Usage', 'What the account has and has spent.'],
  ['Filters', "The account's own blacklist."],
  ['Webhooks', 'Be told of events.'],
] as const;

const PRIVATE: Style = {
  security: ({ access }) => (access === 'anybody' ? [] : [{ session: [] }]),
  schemas: 'components',
  isPrivate: (keyword) => keyword.startsWith('~') || keyword.startsWith('x-'),
  exampleOf: () => undefined,
  errors: () => ({ '4XX': responseOf('Error'), '5XX': responseOf('Error') }),
  replyHeaders: () => ({}),
};

/** OpenAPI 3.1 of `/dashboard`: for the page's own client and its tests, not a promise to others. */
export function dashboardDocument(routes: readonly Route[], url: string): Json {
  const { paths, schemas, contentOf } = describe(routes, PRIVATE);
  const error = { description: 'An error.', content: contentOf(DashboardErrorReply) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Mailvet dashboard',
      version: VERSION,
      summary: 'The private API of the dashboard. It may change with every release.',
      license: LICENSE,
    },
    servers: [{ url }],
    tags: [{ name: 'Dashboard', description: 'Requests of the dashboard.' }],
    paths,
    components: {
      schemas,
      responses: { Error: error },
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'mailvet.session_token' } },
    },
  };
}
