import type { SwaggerOptions } from '@fastify/swagger';

import { VERSION } from '../kernel/version.ts';

/** The frame of the OpenAPI 3.1 document; the routes' own schemas fill it in. */
export const openApiDocument = (publicUrl: string): SwaggerOptions => ({
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Mailvet',
      version: VERSION,
      summary: 'Is this address good or bad, why, and what did it cost?',
      description:
        'Verifies email addresses: one POST, one verdict. Every request to `/v1` carries an API key. ' +
        'Errors are JSON with `error`, `code` and `request_id`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    tags: [
      { name: 'Verification', description: 'Verify addresses.' },
      { name: 'Usage', description: 'What the account has and has spent.' },
      { name: 'Filters', description: "The account's own blacklist." },
    ],
    components: {
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'An API key: `mv_live_` and 32 characters.' },
      },
    },
  },
});
