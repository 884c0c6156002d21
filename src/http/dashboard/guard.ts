import type { FastifyReply, FastifyRequest } from 'fastify';
import { objectReader, type Parsed } from '../../contract/schema.ts';
import { Refusal } from '../../kernel/errors.ts';
import { type Role, requireRole } from '../../service/members.ts';
import type { SignedIn } from '../../service/sign-in/who.ts';
import { jsonBody } from '../body.ts';
import { goneSignal } from '../gone.ts';
import { noted } from '../noted.ts';
import { sendError } from '../reply.ts';
import type { DashboardContext } from './context.ts';
import { hasControls, queryReader } from './input.ts';
import { refuseCrossOrigin } from './origin.ts';
import type { AccountVisit, DashboardAnswer, DashboardRow, SignedVisit, Visit, Who } from './row.ts';

type Serve = (visit: Visit, input: { body: unknown; query: unknown; params: unknown }) => Promise<DashboardAnswer>;

/** The handler of a row: other sites, session, role, query and body are judged in this order; then the row serves. */
export function guarded(context: DashboardContext, row: DashboardRow) {
  const serve = row.serve(context) as Serve;
  const readQuery = row.doc.query ? queryReader(row.doc.query) : () => NOTHING;
  const readBody = row.doc.body ? bodyReader(row.doc.body) : () => NOTHING;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    try {
      refuseCrossOrigin(request, context.url());
      const params = paramsOf(request);
      const visitor: Visit = { ip: context.callerIp(request.raw), request, signal: () => goneSignal(reply) };
      const { visit, setCookie } = await visitOf(context, row.who, visitor, params);
      if (setCookie.length > 0) reply.header('set-cookie', setCookie);
      const query = usable(readQuery(request.query));
      const answer = await serve(visit, { params, query, body: usable(readBody(request)) });
      return send(reply, { status: row.doc.reply.status ?? 200, ...answer });
    } catch (error) {
      return sendError(request, reply, error);
    }
  };
}

const NOTHING: Parsed<undefined> = { ok: true, value: undefined };

function bodyReader(schema: Parameters<typeof objectReader>[0]) {
  const read = objectReader(schema);
  return (request: FastifyRequest): Parsed<unknown> => {
    const body = jsonBody(request);
    return body.ok ? read(body.value) : body;
  };
}

function usable<T>(parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw parsed.refusal;
}

function paramsOf(request: FastifyRequest): Readonly<Record<string, string>> {
  const params = request.params as Record<string, string>;
  // What cannot be an id is as little there as an id that is not.
  if (Object.values(params).some(hasControls)) throw new Refusal('not_found');
  return params;
}

/** Whether a Cookie header could hold a session: without one the sign-in library need not be loaded, nor asked. */
const mayHoldSession = (cookie: string | undefined): boolean => cookie?.includes('mailvet.') ?? false;

async function visitOf(
  context: DashboardContext,
  who: Who,
  visit: Visit,
  params: Readonly<Record<string, string>>,
): Promise<{ visit: Visit | SignedVisit | AccountVisit; setCookie: readonly string[] }> {
  if (who === 'anybody') return { visit, setCookie: [] };
  const { cookie } = visit.request.headers;
  const session = mayHoldSession(cookie) ? await context.sessions.who(cookie) : null;
  if (session === null) throw new Refusal('not_signed_in');
  const { user, setCookie } = session;
  noted(visit.request).user = user.id;
  const actor = {
    kind: who === 'operator' ? 'operator' : 'user',
    id: user.id,
    name: user.email,
    ip: visit.ip,
  } as const;
  const signed: SignedVisit = { ...visit, user, actor };
  switch (who) {
    case 'signed-in':
      return { visit: signed, setCookie };
    case 'operator':
      // Who may not see a thing is not told that it is there.
      if (!user.operator) throw new Refusal('not_found');
      return { visit: signed, setCookie };
    default:
      return { visit: await memberVisit(context, who, signed, user, params.account ?? ''), setCookie };
  }
}

async function memberVisit(
  context: DashboardContext,
  needed: Role,
  visit: SignedVisit,
  user: SignedIn,
  id: string,
): Promise<AccountVisit> {
  const membership = await context.members.role(id, user.id);
  if (membership === null) throw new Refusal('not_found');
  noted(visit.request).account = membership.account;
  requireRole(membership.role, needed);
  return { ...visit, ...membership };
}

function send(reply: FastifyReply, answer: DashboardAnswer & { status: number }): FastifyReply {
  const { status, body, type, headers = {} } = answer;
  reply.code(status).headers(headers);
  if (type === undefined) return reply.send(JSON.stringify(body));
  return reply.type(type).send(body);
}
