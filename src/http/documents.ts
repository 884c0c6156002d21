/** The two documents of this service. */
import { DashboardErrorReply, ErrorReply } from '../contract/errors.ts';
import { ERRORS, PUBLIC_CODES } from '../kernel/errors.ts';
import { VERSION } from '../kernel/version.ts';
import { describe, type Json, type Style } from './openapi.ts';
import { replyHeaders } from './reply-headers.ts';
import { type Route, scopeOf } from './route.ts';

const LICENSE = { name: 'Apache-2.0', identifier: 'Apache-2.0' };

const codesOf = (status: number): string =>
  PUBLIC_CODES.filter((code) => ERRORS[code].status === status)
    .map((code) => `\`${code}\``)
    .join(', ');

const PUBLIC: Style = {
  security: ({ access }) => [{ key: [scopeOf(access)].filter((scope) => scope !== null) }],
  schemas: 'inline',
  isPrivate: (keyword) => keyword.startsWith('~'),
  error: (status, contentOf) => ({
    description: codesOf(status),
    headers: replyHeaders(status, {}),
    content: contentOf(ErrorReply),
  }),
  replyHeaders: (status, own) => ({ headers: replyHeaders(status, own) }),
};

/** OpenAPI 3.1 of `/v1`. */
export const publicDocument = (routes: readonly Route[], url: string): Json => ({
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
    schemas: {},
  },
  paths: describe(routes, PUBLIC).paths,
  servers: [{ url }],
  tags: [
    { name: 'Verification', description: 'Verify addresses.' },
    { name: 'Usage', description: 'What the account has and has spent.' },
    { name: 'Filters', description: "The account's own blacklist." },
  ],
});

const PRIVATE: Style = {
  security: ({ access }) => (access === 'anybody' ? [] : [{ session: [] }]),
  schemas: 'components',
  isPrivate: (keyword) => keyword.startsWith('~') || keyword.startsWith('x-'),
  error: () => ({ $ref: '#/components/responses/Error' }),
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
