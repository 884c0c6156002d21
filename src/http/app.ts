import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { Refusal } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import { readBodies, setAsideContentType } from './body.ts';
import { refuseBroken } from './broken.ts';
import type { HttpContext } from './context.ts';
import type { DashboardContext } from './dashboard/context.ts';
import { guarded } from './dashboard/guard.ts';
import type { DashboardRow } from './dashboard/row.ts';
import { DASHBOARD_ROWS } from './dashboard/table.ts';
import { noted } from './noted.ts';
import { describeRoutes, NO_COMPILERS } from './openapi.ts';
import { commonHeaders, sendError } from './reply.ts';
import { ROUTES } from './routes.ts';

/** The HTTP face of the service, not yet listening. */
export async function buildApp(context: DashboardContext): Promise<FastifyInstance> {
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
  const answers = context.answersRequests;
  const routes = answers ? ROUTES : ROUTES.filter(({ guard }) => guard === 'open' || guard === 'operator');
  await describeRoutes(app, context.publicUrl, (row) => row.handler(context), routes);
  const dashboard = answers ? DASHBOARD_ROWS : [];
  for (const row of dashboard) addDashboardRow(app, context, row);
  const methodsOf = methodsIn([...routes, ...dashboard]);
  app.setNotFoundHandler((request, reply) => {
    const allowed = methodsOf(request.url.split('?', 1)[0]!);
    if (allowed.length === 0) return sendError(request, reply, new Refusal('not_found'));
    return sendError(request, reply.header('allow', allowed.join(', ')), new Refusal('method_not_allowed'));
  });
  app.setErrorHandler((error, request, reply) => sendError(request, reply, error));
  return app;
}

/** The public document does not tell of it: it has one of its own. */
function addDashboardRow(app: FastifyInstance, context: DashboardContext, row: DashboardRow): void {
  const { method, path: url, bodyLimit } = row;
  const config = bodyLimit === undefined ? {} : { bytes: bodyLimit };
  app.route({ method, url, config, schema: { hide: true }, handler: guarded(context, row) });
}

function addHooks(app: FastifyInstance, context: HttpContext): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(commonHeaders(request.id, request.url));
    setAsideContentType(request);
    if (context.draining()) reply.header('connection', 'close');
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { caller, user, account } = noted(request);
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
