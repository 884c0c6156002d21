import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Parsed, refused } from '../contract/schema.ts';
import { Refusal } from '../kernel/errors.ts';
import { sha256Hex } from '../kernel/ids.ts';
import type { Admission, Caller, IdempotencyRef, RateWindow, StoredReply } from '../service/gate.ts';
import { PLAN_WITH_SMTP } from '../service/usage.ts';
import { rawBody } from './body.ts';
import type { HttpContext } from './context.ts';
import { headerCount, keyHashOf } from './credentials.ts';
import { noted } from './noted.ts';
import { errorBody, errorHeaders, JSON_TYPE, logRefusal, rateHeaders, secondsLeft, sendError } from './reply.ts';

/** What a handler of a keyed route gives back; `body` is sent as JSON. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Visit {
  readonly caller: Caller;
  readonly window: RateWindow;
  /** Canonical. */
  readonly ip: string;
  readonly request: FastifyRequest;
}

export interface KeyedRoute<T> {
  /** For the Idempotency-Key: method and path; null where the method is idempotent by itself. */
  readonly idempotentAs: string | null;
  read(request: FastifyRequest): Parsed<T>;
  serve(input: T, visit: Visit): Promise<Answer>;
}

/** Who asks, as far as the request itself tells; a 401 is counted against the caller's network. */
export function credentials(context: HttpContext, request: FastifyRequest): { keyHash: string; ip: string } {
  const ip = context.callerIp(request.raw);
  try {
    return { keyHash: keyHashOf(request.raw), ip };
  } catch (error) {
    throw error instanceof Refusal ? context.strangers.refuse(ip, error) : error;
  }
}

/** draft-ietf-httpapi-idempotency-key-header: 1 to 255 printable characters; the body's hash tells reuse from repeat. */
export function idempotencyRef(request: FastifyRequest, route: string): Parsed<IdempotencyRef | null> {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return { ok: true, value: null };
  const once = typeof key === 'string' && headerCount(request.raw, 'idempotency-key') === 1;
  if (!once || !/^[\x20-\x7e]{1,255}$/.test(key)) {
    return refused(
      'invalid_parameter',
      'The Idempotency-Key header must be sent once, with 1 to 255 printable ASCII characters.',
      {
        field: 'Idempotency-Key',
      },
    );
  }
  return { ok: true, value: { route, key, fingerprint: sha256Hex(rawBody(request) ?? '') } };
}

/**
 * Notes on the reply what the admission found, and throws where it refused. Answers the caller and the window.
 * `ip` is the caller's, for the count of strangers.
 */
export function enter(
  context: HttpContext,
  reply: FastifyReply,
  admission: Admission,
  ip: string,
): Admission & { outcome: Exclude<Admission['outcome'], 'refused'> } {
  const { caller, window } = admission;
  const now = context.clock.now();
  if (caller && window) {
    reply.headers(rateHeaders(caller.plan, window, now));
    noted(reply.request).caller = caller;
  }
  if (admission.outcome !== 'refused') return admission;
  const refusal = refusalOf(admission, now);
  throw refusal.status === 401 ? context.strangers.refuse(ip, refusal) : refusal;
}

/** The refusal that an admission was answered with, with what helps to fix it. */
export function refusalOf(admission: Extract<Admission, { outcome: 'refused' }>, now: number): Refusal {
  const { code, window, caller, balance } = admission;
  switch (code) {
    case 'rate_limit_exceeded': {
      const retry_after = window ? secondsLeft(window, now) : 1;
      const sentence = `The account's limit of ${window?.limit} requests per 5 minutes is used up; it resets in ${retry_after} seconds.`;
      return new Refusal(code, sentence, window ? { limit: window.limit, retry_after } : { retry_after });
    }
    case 'plan_upgrade_required':
      return new Refusal(code, undefined, {
        ...(caller ? { current_plan: caller.plan } : {}),
        upgrade_required: PLAN_WITH_SMTP,
      });
    case 'insufficient_credits':
      return new Refusal(code, `The account does not have enough credits for this request; ${balance ?? 0} are left.`);
    case 'idempotency_in_progress':
      return new Refusal(code, undefined, { retry_after: 1 });
    default:
      return new Refusal(code);
  }
}

/** Gives a stored reply again, as it was. */
export function replay(reply: FastifyReply, stored: StoredReply): FastifyReply {
  return reply
    .code(stored.status)
    .headers({ 'content-type': JSON_TYPE, ...stored.headers, 'idempotency-replayed': 'true' })
    .send(stored.body);
}

/** The handler of a route that needs a key: read, admit, serve, reply, in the contract's order of refusal. */
export function keyed<T>(context: HttpContext, route: KeyedRoute<T>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    try {
      const who = credentials(context, request);
      const input = route.read(request);
      const ref: Parsed<IdempotencyRef | null> =
        route.idempotentAs === null ? { ok: true, value: null } : idempotencyRef(request, route.idempotentAs);
      const problem = firstProblem(input, ref);
      const admission = enter(
        context,
        reply,
        await context.gate.admit({ ...who, invalid: problem !== null, idempotency: ref.ok ? ref.value : null }),
        who.ip,
      );
      if (admission.outcome === 'replay') return replay(reply, admission.reply);
      const visit = { caller: admission.caller, window: admission.window, ip: who.ip, request };
      const stored = await toReply(request, problem, () => route.serve((input as { value: T }).value, visit));
      if (ref.ok && ref.value) await context.gate.keep(admission.caller, ref.value, stored);
      return reply.code(stored.status).headers(stored.headers).send(stored.body);
    } catch (error) {
      return sendError(request, reply, error);
    }
  };
}

/** A problem of the key header (400) comes with those of the body, before what is 422 there. */
export function firstProblem(input: Parsed<unknown>, ref: Parsed<unknown>): Refusal | null {
  if (!input.ok && input.refusal.status !== 422) return input.refusal;
  if (!ref.ok) return ref.refusal;
  return input.ok ? null : input.refusal;
}

async function toReply(
  request: FastifyRequest,
  problem: Refusal | null,
  serve: () => Promise<Answer>,
): Promise<StoredReply> {
  try {
    if (problem) throw problem;
    const { status, body, headers } = await serve();
    return { status, body: JSON.stringify(body), headers: { 'content-type': JSON_TYPE, ...headers } };
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal('internal_error', undefined, {}, error);
    logRefusal(request, refusal);
    return {
      status: refusal.status,
      body: JSON.stringify(errorBody(refusal, request.id)),
      headers: errorHeaders(refusal),
    };
  }
}
