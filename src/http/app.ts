import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { ApiError } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import { refuseBroken } from './broken.ts';
import type { HttpContext } from './context.ts';
import { handlerOf } from './handler.ts';
import { expectWithin } from './input/arrival.ts';
import { bodyConfig, receiveBodies, setAsideContentType } from './input/body.ts';
import { headerCount } from './input/headers.ts';
import { type CommonHeaders, commonHeadersOf, sendError } from './reply.ts';
import { requestState } from './request-state.ts';
import type { Route } from './route.ts';
import { ROUTES, WORKER_ROUTES } from './routes.ts';
import { createHttpServer } from './server.ts';

const neverCalled = (): never => {
  throw new TypeError('No route has a schema of the framework.');
};

/** The HTTP face of the service, not yet listening. */
export async function buildApp(context: HttpContext, routes = routesOf(context)): Promise<FastifyInstance> {
  const commonHeaders = commonHeadersOf(context.publicUrl);
  const app = Fastify({
    loggerInstance: context.logger,
    // One line per request is written below, when its outcome is known.
    // One logger for all requests: a child of it for each would cost more than the line that it writes.
    childLoggerFactory: (logger) => logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: (raw) => requestId(raw.headers['x-request-id'], context),
    return503OnClosing: false,
    // The framework would overwrite timeouts that are not among its own options.
    serverFactory: (handler) => createHttpServer(handler, context.connections),
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: false },
    // A path such as /%ff is no resource; the router would answer with a reply of its own shape.
    frameworkErrors: (_error, request, reply) => {
      reply.headers(commonHeaders(request.id, request.url));
      void sendError(request as FastifyRequest, reply, new ApiError('not_found', 'The path is not well-formed.'));
    },
    // Rows have readers of their own. With these Fastify does not load its compilers, which takes part of every start.
    schemaController: { compilersFactory: { buildValidator: neverCalled, buildSerializer: neverCalled } },
    clientErrorHandler: (error, socket) => refuseBroken(error, socket, context.clock.now(), commonHeaders),
  });
  receiveBodies(app);
  addHooks(app, context, commonHeaders);
  for (const route of routes) addRoute(app, context, route);
  const methodsOf = methodsIn(routes);
  app.setNotFoundHandler((request, reply) => {
    const allowed = methodsOf(request.url.split('?', 1)[0] ?? '');
    if (allowed.length === 0) return sendError(request, reply, new ApiError('not_found'));
    return sendError(request, reply.header('allow', allowed.join(', ')), new ApiError('method_not_allowed'));
  });
  app.setErrorHandler((error, request, reply) => sendError(request, reply, error));
  return app;
}

/** A worker answers its operator only. */
const routesOf = ({ answersRequests }: HttpContext): readonly Route[] => (answersRequests ? ROUTES : WORKER_ROUTES);

function addRoute(app: FastifyInstance, context: HttpContext, row: Route): void {
  const { method, path: url, input } = row;
  app.route({ method, url, config: bodyConfig(input), handler: handlerOf(context, row) });
}

function addHooks(app: FastifyInstance, context: HttpContext, commonHeaders: CommonHeaders): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(commonHeaders(request.id, request.url));
    setAsideContentType(request);
    const { bodySeconds } = request.routeOptions.config;
    if (bodySeconds !== undefined) expectWithin(request.raw, bodySeconds);
    if (context.draining()) reply.header('connection', 'close');
    // RFC 9112 §3.2. A proxy may have looked at the other one.
    const hosts = headerCount(request.raw, 'host');
    if (hosts > 1 || (hosts === 0 && request.raw.httpVersion !== '1.0')) {
      reply.header('connection', 'close');
      const problem = hosts === 0 ? 'is missing' : 'was sent more than once';
      sendError(request, reply, new ApiError('malformed_request', `The Host header ${problem}.`));
      return;
    }
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { caller, user, account } = requestState(request);
    const { method } = request;
    const route = request.routeOptions.url ?? 'none';
    const status = reply.statusCode;
    context.answered({ method, route, status, seconds: reply.elapsedTime / 1000, caller });
    request.log.info({
      request_id: request.id,
      method,
      route,
      status,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      ip: context.logsClientIp ? context.callerIp(request.raw) : undefined,
      account: caller?.accountId ?? account,
      key: caller?.keyId,
      user,
    });
    done();
  });
}

/** A well-formed id from the caller is kept, so that both sides' logs tell of one request under one name. */
function requestId(sent: string | string[] | undefined, context: HttpContext): string {
  return typeof sent === 'string' && /^[A-Za-z0-9._~-]{1,128}$/.test(sent) ? sent : newId('req', context.clock.now());
}

/** Which methods a path takes, if it is one of ours at all (RFC 9110 §15.5.6). */
function methodsIn(table: readonly { method: string; path: string }[]): (path: string) => string[] {
  const rows = table.map(({ method, path }) => {
    const pattern = path.replaceAll('.', '\\.').replaceAll(/:[a-z]+/g, '[^/]+');
    return { method, pattern: new RegExp(`^${pattern}$`) };
  });
  return (path) => {
    const methods = rows.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    if (methods.includes('GET')) methods.push('HEAD');
    return methods;
  };
}
