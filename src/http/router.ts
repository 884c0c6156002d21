import { PATH_PARAM_LENGTH } from '../kernel/facts/limits.ts';
import { GUARDS } from './access/guards.ts';
import type { HttpContext } from './context.ts';
import { closeUnlessRead, type HttpReply, type HttpRequest, type Params } from './exchange.ts';
import { inputReader } from './input/reader.ts';
import { PacedBody } from './paced-body.ts';
import { sendError } from './reply.ts';
import { type Answer, hasWarnings, type Route } from './route.ts';

interface RouterRow {
  readonly method: string;
  /** `/accounts/:account/keys`. */
  readonly path: string;
}
interface Compiled<R> {
  readonly row: R;
  readonly segments: readonly string[];
}

const NO_PARAMS: Params = {};

/** Finds the row of a request. Rows without parameters take precedence. */
export class Router<R extends RouterRow> {
  readonly #rows: readonly Compiled<R>[];
  /** Has rows without parameters, by method, then path. */
  readonly #exact = new Map<string, Map<string, R>>();

  constructor(rows: readonly R[]) {
    this.#rows = rows
      .map((row) => ({ row, segments: row.path.split('/') }))
      .sort((a, b) => Number(a.row.path.includes(':')) - Number(b.row.path.includes(':')));
    for (const row of rows) {
      if (row.path.includes(':')) continue;
      const paths = this.#exact.get(row.method) ?? new Map<string, R>();
      this.#exact.set(row.method, paths.set(row.path, row));
    }
  }

  /** `path`: as it was sent, without the query. HEAD is answered like GET. */
  find(method: string, path: string): { row: R; params: Params } | null {
    const asked = method === 'HEAD' ? 'GET' : method;
    const exact = this.#exact.get(asked)?.get(path);
    if (exact !== undefined) return { row: exact, params: NO_PARAMS };
    const sent = pathSegments(path);
    if (sent === null) return null;
    for (const { row, segments } of this.#rows) {
      const params = row.method === asked ? match(segments, sent) : null;
      if (params !== null) return { row, params };
    }
    return null;
  }

  /** Which methods a path takes (RFC 9110 §15.5.6); none if it is not one of ours, null if it is malformed. */
  methodsOf(path: string): string[] | null {
    const sent = pathSegments(path);
    if (sent === null) return null;
    const found = this.#rows.filter(({ segments }) => match(segments, sent) !== null);
    const methods = [...new Set(found.map(({ row }) => row.method))];
    if (methods.includes('GET')) methods.push('HEAD');
    return methods;
  }
}

/** The segments of a path; null where its percent-encoding is malformed. */
function pathSegments(path: string): string[] | null {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return null;
  }
}

function match(segments: readonly string[], sent: readonly string[]): Params | null {
  if (segments.length !== sent.length) return null;
  const params: Record<string, string> = {};
  for (const [i, segment] of segments.entries()) {
    const text = sent[i]!;
    if (!segment.startsWith(':')) {
      if (segment !== text) return null;
    } else {
      if (text.length < PATH_PARAM_LENGTH.min || text.length > PATH_PARAM_LENGTH.max) return null;
      params[segment.slice(1)] = text;
    }
  }
  return params;
}

/** Answers every request in one way: its row's guard, its row's handler. */
export function answererOf(context: HttpContext, route: Route) {
  const guard = GUARDS[route.access](context, route);
  const read = inputReader(route);
  const served = hasWarnings(route) ? addingWarnings(route.serve(context)) : route.serve(context);
  const serve = route.cost === 'query' ? servedInTurn(context, served) : served;
  return (request: HttpRequest, reply: HttpReply): Promise<Answer> =>
    guard({ ip: context.callerIp(request.raw), request, reply }, () => read(request), serve);
}

type RequestHandler = (request: HttpRequest, reply: HttpReply) => Promise<void>;

/** Sends what a request is answered. */
export function handlerOf(context: HttpContext, route: Route): RequestHandler {
  const answerTo = answererOf(context, route);
  const status = route.output?.status ?? 200;
  return async (request, reply) => {
    // A row at the root has a path that says nothing of what it is.
    if (route.form !== undefined) reply.set({ 'cache-control': 'no-store' });
    try {
      const answer = await answerTo(request, reply);
      closeUnlessRead(request, reply);
      const sending = send(reply, status, answer);
      if (sending !== null) await sending;
    } catch (error) {
      sendError(request, reply, error, route.form);
    }
  };
}

/** An answer that is not JSON text yet gets the warnings of its request, unless it has its own. */
function addingWarnings(serve: ReturnType<Route['serve']>): ReturnType<Route['serve']> {
  return async (granted, input) => {
    const answer = await serve(granted, input);
    if (answer.type !== undefined || typeof answer.body !== 'object') return answer;
    return { ...answer, body: { warnings: input.warnings, ...answer.body } };
  };
}

/** Accounts take turns; operators are one more, and so is a user who asks for no account. */
function servedInTurn({ costs }: HttpContext, serve: ReturnType<Route['serve']>): ReturnType<Route['serve']> {
  return (granted, input) => costs.query(payerOf(granted.request), () => serve(granted, input));
}

const payerOf = ({ caller, account, user }: HttpRequest): string => caller?.accountId ?? account ?? user ?? '';

/** Null where it is sent at once. */
function send(reply: HttpReply, usual: number, answer: Answer): Promise<void> | null {
  const { status = usual, headers } = answer;
  if (answer.type === undefined) {
    reply.send(status, JSON.stringify(answer.body), headers);
    return null;
  }
  const own = { 'content-type': answer.type, ...headers };
  if (answer.body instanceof PacedBody) return reply.stream(status, answer.body, own);
  reply.send(status, answer.body, own);
  return null;
}
