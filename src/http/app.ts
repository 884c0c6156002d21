import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { Refusal } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import type { Caller } from '../service/gate.ts';
import { readBodies, setAsideContentType } from './body.ts';
import { refuseBroken } from './broken.ts';
import type { HttpContext } from './context.ts';
import { describeRoutes, NO_COMPILERS } from './openapi.ts';
import { commonHeaders, sendError } from './reply.ts';
import { ROUTES, type RouteRow } from './routes.ts';

/** The HTTP face of the service, not yet listening. */
export async function buildApp(context: HttpContext): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: context.logger,
    // One line per request is written below, when its outcome is known.
    // One logger for all requests: a child of it for each would cost more than the line that it writes.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (raw) => requestId(raw.headers['x-request-id'], context),
    return503OnClosing: false,
    connectionTimeout: 0,
    keepAliveTimeout: 65_000,
    http: {
      // Ten seconds for the headers, fifteen for the whole request, looked at every two.
      headersTimeout: 10_000,
      requestTimeout: 15_000,
      connectionsCheckingInterval: 2000,
    },
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: false },
    // A path such as /%ff is no resource; the router would answer with a reply of its own shape.
    frameworkErrors: (_error, request, reply) => {
      reply.headers(commonHeaders(request.id, request.url));
      void sendError(request as FastifyRequest, reply, new Refusal('not_found', 'The path is not well-formed.'));
    },
    schemaController: NO_COMPILERS,
    clientErrorHandler: (error, socket) => refuseBroken(error, socket, context.clock.now()),
  });
  readBodies(app);
  addHooks(app, context);
  // A worker answers its operator only.
  const table = context.answersRequests ? ROUTES : ROUTES.filter((row) => row.guard !== 'key');
  await describeRoutes(app, context.publicUrl, (row) => row.handler(context), table);
  app.setNotFoundHandler((request, reply) => {
    const allowed = methodsFor(table, request.url.split('?', 1)[0]!);
    if (allowed.length === 0) return sendError(request, reply, new Refusal('not_found'));
    return sendError(request, reply.header('allow', allowed.join(', ')), new Refusal('method_not_allowed'));
  });
  app.setErrorHandler((error, request, reply) => sendError(request, reply, error));
  return app;
}

function addHooks(app: FastifyInstance, context: HttpContext): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(commonHeaders(request.id, request.url));
    setAsideContentType(request);
    if (context.draining()) reply.header('connection', 'close');
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const caller = (request as FastifyRequest & { caller?: Caller }).caller;
    const { method } = request;
    const route = request.routeOptions.url ?? 'none';
    const status = reply.statusCode;
    context.answered({ method, route, status, seconds: reply.elapsedTime / 1000 });
    request.log.info({
      request_id: request.id,
      method,
      route,
      status,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      account: caller?.accountId,
      key: caller?.keyId,
    });
    done();
  });
}

/** A well-formed id from the caller is kept, so that both sides' logs tell of one request under one name. */
function requestId(sent: string | string[] | undefined, context: HttpContext): string {
  return typeof sent === 'string' && /^[A-Za-z0-9._~-]{1,128}$/.test(sent) ? sent : newId('req', context.clock.now());
}

/** The methods that a path takes, if it is one of ours at all (RFC 9110 §15.5.6). */
function methodsFor(table: readonly RouteRow[], path: string): string[] {
  const matches = (row: { path: string }) => new RegExp(`^${row.path.replaceAll(/:[a-z]+/g, '[^/]+')}$`).test(path);
  const methods: string[] = table.filter(matches).map((row) => row.method);
  if (methods.includes('GET')) methods.push('HEAD');
  return methods;
}
