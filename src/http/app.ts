import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { COSTS } from '../kernel/costs.ts';
import { ApiError } from '../kernel/errors.ts';
import { HSTS_SECONDS } from '../kernel/facts/lifetimes.ts';
import { KEY_PREFIXES, newId } from '../kernel/ids.ts';
import type { Via } from '../kernel/log-origins.ts';
import { MODE, sentKeyOf } from './access/api-key.ts';
import { rootRoutes } from './compat/table.ts';
import type { HttpContext } from './context.ts';
import { NOT_FOUND_PAGE } from './dashboard/pages.ts';
import { ambiguityOf, type HeaderList, HttpReply, HttpRequest, putHeader, putHeaders } from './exchange.ts';
import { expectAtPace } from './input/arrival.ts';
import { errorBody, errorHeaders, sendError } from './reply.ts';
import { JSON_TYPE, type Route } from './route.ts';
import { handlerOf, Router } from './router.ts';
import { ROUTES, WORKER_ROUTES } from './routes.ts';
import { createHttpServer, isLast } from './server.ts';

const REFUSAL_REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

function requestRefusal(code: string | undefined): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') return new ApiError('headers_too_large');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('request_timeout');
  return new ApiError('malformed_request');
}

/**
 * What cannot be read as HTTP at all has no route and no key; it gets the same shape of error and a closed connection.
 */
function refuseBroken(error: NodeJS.ErrnoException, socket: Socket, nowMs: number, commonHeaders: CommonHeaders): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const apiError = requestRefusal(error.code);
  const requestId = newId('req', nowMs);
  const body = JSON.stringify(errorBody(apiError, requestId));
  const headers = commonHeaders(requestId, '/v1');
  putHeaders(headers, errorHeaders(apiError));
  putHeaders(headers, { 'content-length': String(Buffer.byteLength(body)), connection: 'close' });
  const head = headers.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  socket.end(`HTTP/1.1 ${apiError.status} ${REFUSAL_REASONS[apiError.status]}\r\n${head}\r\n${body}`);
}

/** Makes the HTTP face of the service, which does not listen yet. */
export function buildApp(context: HttpContext): Server {
  const { clock, logger } = context;
  const commonHeaders = commonHeadersOf(context.publicUrl);
  // A worker answers its operator only.
  const routes = context.answersRequests ? [...ROUTES, ...rootRoutes(context.compat, ROUTES)] : WORKER_ROUTES;
  const router = new Router(routes.map((row) => ({ ...row, handle: handlerOf(context, row) })));
  const notFoundPage = handlerOf(context, NOT_FOUND_PAGE);
  const server = createHttpServer(serve, context.connections);
  server.on('clientError', (error, socket: Socket) => refuseBroken(error, socket, clock.now(), commonHeaders));
  return server;

  function serve(raw: IncomingMessage, response: ServerResponse): void {
    const began = clock.elapsed();
    const { method = 'GET', url = '/' } = raw;
    const path = pathOf(url);
    const found = router.find(method, path);
    const request = new HttpRequest(raw, { id: requestId(raw, context), params: found?.params ?? {}, log: logger });
    const reply = new HttpReply(response, commonHeaders(request.id, found?.row.path ?? path));
    response.on('finish', () => {
      const ms = clock.elapsed() - began;
      reportFault(context, request, {
        method,
        route: found?.row.path ?? 'none',
        via: found?.row.via ?? null,
        status: response.statusCode,
        ms,
        level: found?.row.probe && response.statusCode < 400 ? 'debug' : 'info',
      });
    });
    if (context.closing() || isLast(raw)) reply.set(LAST_REPLY);
    const problem = ambiguityOf(raw);
    if (problem !== null) {
      reply.set(LAST_REPLY);
      sendError(request, reply, new ApiError('malformed_request', problem));
    } else if (found === null) {
      serveUnknown(request, reply, path);
    } else {
      const { body } = found.row.input ?? {};
      if (body !== undefined && 'stream' in body) expectAtPace(raw, COSTS[body.cost]);
      found.row.handle(request, reply).catch((error: unknown) => {
        logger.error({ err: error, request_id: request.id }, 'a reply could not be sent');
        response.destroy();
      });
    }
  }

  /** No row has this path and method. A browser gets a page, everyone else an error. */
  function serveUnknown(request: HttpRequest, reply: HttpReply, path: string): void {
    if (context.answersRequests && wantsPage(request.raw, path)) {
      const location = withoutSlash(router, path, request.url);
      if (location === null) void notFoundPage(request, reply);
      else reply.send(308, '', { location, 'cache-control': 'no-store' });
      return;
    }
    // No guard has looked at the key; whether it exists makes no difference here.
    const key = sentKeyOf(request.raw);
    if (key.ok && key.value.mode === 'test') reply.set({ [MODE]: key.value.mode });
    const methods = router.methodsOf(path);
    if (methods !== null && methods.length > 0) reply.set({ allow: methods.join(', ') });
    sendError(request, reply, unknown(methods));
  }
}

const LAST_REPLY = { connection: 'close' };

/** Returns the path of a request target, in origin or absolute form (RFC 9112 §3.2). */
function pathOf(target: string): string {
  const end = target.indexOf('?');
  const path = end < 0 ? target : target.slice(0, end);
  return path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/]*/i, '');
}

/** `methods`: those that the path takes; null where it is malformed. */
function unknown(methods: readonly string[] | null): ApiError {
  if (methods === null) return new ApiError('not_found', 'The path is not well-formed.');
  return new ApiError(methods.length === 0 ? 'not_found' : 'method_not_allowed');
}

interface AnsweredCall {
  readonly method: string;
  readonly route: string;
  readonly via: Via | null;
  readonly status: number;
  readonly ms: number;
  /** Sets the level of its line in the log. */
  readonly level: 'info' | 'debug';
}

/** Sets the counters, and writes one line into the log. */
function reportFault(
  context: HttpContext,
  { raw, id, caller, user, account, error, answer }: HttpRequest,
  { method, route, via, status, ms, level }: AnsweredCall,
): void {
  const ip = context.callerIp(raw);
  context.answered({ method, route, via, status, seconds: ms / 1000, caller, requestId: id, ip, error, answer });
  const whose =
    field('ip', context.logsClientIp ? ip : undefined) +
    field('account', caller?.accountId ?? account) +
    field('key', caller?.keyId) +
    field('user', user);
  // Of the first ones, none has a character that JSON escapes.
  context.logger.fields(
    level,
    `"request_id":"${id}","method":"${method}","route":"${route}","status":${status},"ms":${Math.round(ms * 10) / 10}${whose}`,
  );
}

const field = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`;

/** No key: those are in no log. */
const isRequestId = (text: string): boolean =>
  /^[A-Za-z0-9._~-]{1,128}$/.test(text) && !text.includes(KEY_PREFIXES.live) && !text.includes(KEY_PREFIXES.test);

/** A well-formed id from the caller is kept, so that both sides' logs tell of one request under one name. */
function requestId({ headers }: IncomingMessage, { clock }: HttpContext): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && isRequestId(sent) ? sent : newId('req', clock.now());
}

/** Every reply has these; pages set their own content policy. */
const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
} as const;

/** What every reply has, whatever becomes of the request. */
type CommonHeaders = (requestId: string, path: string) => HeaderList;

function commonHeadersOf(publicUrl: string): CommonHeaders {
  const fixed: HeaderList = [];
  putHeaders(fixed, { 'content-type': JSON_TYPE, ...SECURITY_HEADERS });
  if (publicUrl.startsWith('https:')) putHeader(fixed, 'strict-transport-security', `max-age=${HSTS_SECONDS}`);
  return (requestId, path) => {
    const headers = fixed.slice();
    headers.push('x-request-id', requestId);
    if (path.startsWith('/v1') || path.startsWith('/hooks') || path.startsWith('/dashboard'))
      headers.push('cache-control', 'no-store');
    return headers;
  };
}

/** Paths of programs: their unknown ones are errors in JSON, whoever asks. */
const NOT_PAGES = /^\/(v1|hooks|dashboard|assets)(\/|$)/;

/** Whether a person looks at the reply: browsers accept HTML by name, when they load a page. */
const wantsPage = ({ method, headers }: IncomingMessage, path: string): boolean =>
  (method === 'GET' || method === 'HEAD') && !NOT_PAGES.test(path) && (headers.accept ?? '').includes('text/html');

/** The URL without the slash at its end, if that is a page; else null. */
export function withoutSlash(router: Router<Route>, path: string, url: string): string | null {
  let end = path.length;
  // Not by a pattern: those for an end begin again at each slash, of which a path may have thousands.
  while (path[end - 1] === '/') end -= 1;
  const trimmed = path.slice(0, end);
  if (trimmed === path || trimmed === '') return null;
  if (router.find('GET', trimmed)?.row.access !== 'page') return null;
  const query = url.indexOf('?');
  return query < 0 ? trimmed : trimmed + url.slice(query);
}
