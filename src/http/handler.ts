import type { FastifyReply, FastifyRequest } from 'fastify';
import { GUARDS } from './access/guards.ts';
import type { HttpContext } from './context.ts';
import { inputReader } from './input/reader.ts';
import { closeUnlessRead, sendError } from './reply.ts';
import type { Answer, Route } from './route.ts';

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** The one way of every request: its row's guard, its row's handler, the reply. */
export function handlerOf(context: HttpContext, route: Route): Handler {
  const guard = GUARDS[route.access](context, route);
  const read = inputReader(route);
  const serve = route.serve(context);
  const status = route.output?.status ?? 200;
  return async (request, reply) => {
    try {
      const answer = await guard({ ip: context.callerIp(request.raw), request, reply }, () => read(request), serve);
      closeUnlessRead(request, reply);
      return send(reply, status, answer);
    } catch (error) {
      return sendError(request, reply, error);
    }
  };
}

function send(reply: FastifyReply, status: number, answer: Answer): FastifyReply {
  const { body, type, headers } = answer;
  reply.code(answer.status ?? status);
  if (headers) reply.headers(headers);
  if (type === undefined) return reply.send(JSON.stringify(body));
  return reply.type(type).send(body);
}
