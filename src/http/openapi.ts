import swagger, { type SwaggerOptions } from '@fastify/swagger';
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { VERSION } from '../kernel/version.ts';
import { type Handler, ROUTES, type RouteRow, schemaOf } from './routes.ts';

/** The frame of the OpenAPI 3.1 document; the routes' own schemas fill it in. */
const openApiDocument = (publicUrl: string): SwaggerOptions => ({
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

const neverAsked = (): never => {
  throw new TypeError('describeRoutes sets the compilers');
};

/** For whoever makes the app: with these Fastify does not load compilers of its own, which takes part of every start. */
export const NO_COMPILERS: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: neverAsked, buildSerializer: neverAsked },
};

/** Registers the generator and the table of routes: the service and the generated pages get their document so. */
export async function describeRoutes(
  app: FastifyInstance,
  publicUrl: string,
  handlerOf: (row: RouteRow) => Handler,
  table: readonly RouteRow[] = ROUTES,
): Promise<void> {
  // Bodies and queries are read by the contract's own readers, after the key was judged; the schemas are documentation.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  await app.register(swagger, openApiDocument(publicUrl));
  for (const row of table) {
    app.route({ method: row.method, url: row.path, schema: schemaOf(row), handler: handlerOf(row) });
  }
}

/** The document as a service at its default address serves it. */
export async function buildOpenApi(): Promise<object> {
  const app = Fastify({ schemaController: NO_COMPILERS });
  await describeRoutes(app, 'http://127.0.0.1:8025', () => async (_request, reply) => reply.send());
  await app.ready();
  const document = app.swagger();
  await app.close();
  return document;
}
