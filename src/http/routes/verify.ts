import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Parsed } from '../../contract/schema.ts';
import { refused } from '../../contract/schema.ts';
import { readVerifyRequest } from '../../contract/verify.ts';
import type { Level } from '../../kernel/plans.ts';
import { canonicalIp, type IdempotencyRef } from '../../service/gate.ts';
import { jsonBody } from '../body.ts';
import type { HttpContext } from '../context.ts';
import { goneSignal } from '../gone.ts';
import { credentials, enter, firstProblem, idempotencyRef, keyed, replay } from '../guard.ts';
import { JSON_TYPE, sendError } from '../reply.ts';

const ROUTE = 'POST /v1/verify';
export const DEFAULT_TIMEOUT_MS = 10_000;

interface VerifyInput {
  email: string;
  level: Level;
  clientIp: string | null;
  timeoutMs: number;
  withEvidence: boolean;
}

function readInput(request: FastifyRequest): Parsed<VerifyInput> {
  const evidence = evidenceFlag(request.query as Record<string, unknown>);
  if (!evidence.ok) return evidence;
  const body = jsonBody(request);
  if (!body.ok) return body;
  const fields = readVerifyRequest(body.value);
  // A wrong validation_type (422) must not hide a client_ip that is no address (400).
  const clientIp = readClientIp(body.value);
  if (!clientIp.ok && (fields.ok || fields.refusal.status === 422)) return clientIp;
  if (!fields.ok) return fields;
  const { email, validation_type, timeout_ms } = fields.value;
  return {
    ok: true,
    value: {
      email,
      level: validation_type ?? 'mx',
      clientIp: clientIp.ok ? clientIp.value : null,
      timeoutMs: timeout_ms ?? DEFAULT_TIMEOUT_MS,
      withEvidence: evidence.value,
    },
  };
}

function readClientIp(body: unknown): Parsed<string | null> {
  const text = (body as { client_ip?: unknown } | null)?.client_ip;
  if (text === undefined || typeof text !== 'string') return { ok: true, value: null };
  const ip = canonicalIp(text);
  if (ip !== null) return { ok: true, value: ip };
  return refused('invalid_parameter', 'client_ip must be an IPv4 or IPv6 address.', { field: 'client_ip' });
}

function evidenceFlag(query: Record<string, unknown>): Parsed<boolean> {
  const value = query.evidence;
  if (value === undefined || value === '0') return { ok: true, value: false };
  if (value === '1') return { ok: true, value: true };
  return refused('invalid_parameter', 'evidence must be 0 or 1.', { field: 'evidence' });
}

/** `POST /v1/verify`: read, check, verify, reply. */
export function verifyHandler(context: HttpContext) {
  // An unusable request goes the way of every keyed route: judged up to the rate window, then answered with its error.
  const unusable = keyed<VerifyInput>(context, {
    idempotentAs: ROUTE,
    read: readInput,
    serve: () => Promise.reject(new TypeError('a usable request does not come this way')),
  });
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const input = readInput(request);
    const ref = idempotencyRef(request, ROUTE);
    if (!input.ok || !ref.ok || firstProblem(input, ref)) return unusable(request, reply);
    try {
      return await answer(context, request, reply, input.value, ref.value);
    } catch (error) {
      return sendError(request, reply, error);
    }
  };
}

async function answer(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  input: VerifyInput,
  idempotency: IdempotencyRef | null,
): Promise<FastifyReply> {
  const who = credentials(context, request);
  const outcome = await context.verify.verify({
    ...who,
    idempotency,
    email: input.email,
    level: input.level,
    clientIp: input.clientIp ?? who.ip,
    timeoutMs: input.timeoutMs,
    withEvidence: input.withEvidence,
    // Asked for only by a check that has to wait. With an Idempotency-Key the client means to ask again: it is to find
    // the whole outcome then.
    get signal() {
      return idempotency === null ? goneSignal(reply) : new AbortController().signal;
    },
  });
  const admission = enter(context, reply, 'admission' in outcome ? outcome.admission : outcome, who.ip);
  if (admission.outcome === 'replay') {
    reply.header('x-credits-remaining', String(admission.balance));
    return replay(reply, admission.reply);
  }
  if (outcome.outcome !== 'answered') throw (outcome as { error: unknown }).error;
  reply.headers({ 'content-type': JSON_TYPE, 'x-credits-remaining': String(outcome.balance) });
  return reply.send(outcome.record.body);
}
