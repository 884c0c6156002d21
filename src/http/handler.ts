import { GUARDS } from './access/guards.ts';
import type { HttpContext } from './context.ts';
import type { HttpReply, HttpRequest } from './exchange.ts';
import { inputReader } from './input/reader.ts';
import { PacedBody } from './paced-body.ts';
import { closeUnlessRead, sendError } from './reply.ts';
import { type Answer, hasWarnings, type Route } from './route.ts';

type Handler = (request: HttpRequest, reply: HttpReply) => Promise<void>;

/** The one way of every request: its row's guard, its row's handler, the reply. */
export function handlerOf(context: HttpContext, route: Route): Handler {
  const guard = GUARDS[route.access](context, route);
  const read = inputReader(route);
  const served = hasWarnings(route) ? withWarnings(route.serve(context)) : route.serve(context);
  const serve = route.cost === 'query' ? inTurn(context, served) : served;
  const status = route.output?.status ?? 200;
  return async (request, reply) => {
    // A row at the root has a path that says nothing of what it is.
    if (route.form !== undefined) reply.set({ 'cache-control': 'no-store' });
    try {
      const answer = await guard({ ip: context.callerIp(request.raw), request, reply }, () => read(request), serve);
      closeUnlessRead(request, reply);
      const sending = send(reply, status, answer);
      if (sending !== null) await sending;
    } catch (error) {
      sendError(request, reply, error, route.form);
    }
  };
}

/** An answer that is not JSON text yet gets the warnings of its request, unless it has its own. */
function withWarnings(serve: ReturnType<Route['serve']>): ReturnType<Route['serve']> {
  return async (granted, input) => {
    const answer = await serve(granted, input);
    if (answer.type !== undefined || typeof answer.body !== 'object') return answer;
    return { ...answer, body: { warnings: input.warnings, ...answer.body } };
  };
}

/** Accounts take turns; operators are one more, and so is a user who asks for no account. */
function inTurn({ costs }: HttpContext, serve: ReturnType<Route['serve']>): ReturnType<Route['serve']> {
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
