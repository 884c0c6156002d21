import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorDetails, isOfDashboard, Refusal } from '../kernel/errors.ts';
import { type Plan, WINDOW_SECONDS } from '../kernel/plans.ts';
import type { RateWindow } from '../service/gate.ts';

/** The body of an error, as the contract words it. */
export function errorBody(refusal: Refusal, requestId: string) {
  const details: ErrorDetails = refusal.details;
  return { error: refusal.message, code: refusal.code, request_id: requestId, ...details };
}

/** Headers that go with an error whatever route it comes from. */
export function errorHeaders(refusal: Refusal): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': JSON_TYPE };
  // The rest of an oversized body is not worth reading.
  if (refusal.status === 413) headers.connection = 'close';
  // A page asks people to sign in; Bearer is for programs.
  if (refusal.status === 401 && !isOfDashboard(refusal.code)) headers['www-authenticate'] = 'Bearer';
  if (refusal.details.retry_after !== undefined) headers['retry-after'] = String(refusal.details.retry_after);
  return headers;
}

/** Fixed on every reply; pages set their own content policy. */
const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
} as const;

/** What every reply has, whatever becomes of the request. */
export function commonHeaders(requestId: string, url: string): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': JSON_TYPE,
    'x-request-id': requestId,
    ...SECURITY_HEADERS,
  };
  if (url.startsWith('/v1') || url.startsWith('/dashboard')) headers['cache-control'] = 'no-store';
  return headers;
}

export const JSON_TYPE = 'application/json; charset=utf-8';

/** A fault of ours is logged whole; that we cannot serve now, in one line; what the caller did wrong is in its reply. */
export function logRefusal(request: FastifyRequest, refusal: Refusal): void {
  const { cause, code, message, status } = refusal;
  if (status === 500) request.log.error({ err: cause ?? refusal, request_id: request.id }, message);
  else if (status > 500) request.log.warn({ code, cause: reasonOf(cause), request_id: request.id }, message);
}

const reasonOf = (cause: unknown): string | undefined => (cause instanceof Error ? cause.message : undefined);

/** Sends an error; anything that is no Refusal is ours, is logged whole and told as `internal_error` only. */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  const refusal = error instanceof Refusal ? error : new Refusal('internal_error', undefined, {}, error);
  logRefusal(request, refusal);
  return reply
    .code(refusal.status)
    .headers(errorHeaders(refusal))
    .send(JSON.stringify(errorBody(refusal, request.id)));
}

/**
 * Of the account's rate limit, the draft's headers (draft-ietf-httpapi-ratelimit-headers) and the older ones.
 * `t` and `Retry-After` are seconds until the window ends, `X-RateLimit-Reset` is a Unix time in seconds.
 */
export function rateHeaders(plan: Plan, window: RateWindow, nowMs: number): Record<string, string> {
  const t = secondsLeft(window, nowMs);
  return {
    'ratelimit-policy': `"${plan}";q=${window.limit};w=${WINDOW_SECONDS}`,
    ratelimit: `"${plan}";r=${window.remaining};t=${t}`,
    'x-ratelimit-limit': String(window.limit),
    'x-ratelimit-remaining': String(window.remaining),
    'x-ratelimit-reset': String(Math.ceil(window.resetAt / 1000)),
  };
}

export const secondsLeft = (window: RateWindow, nowMs: number): number =>
  Math.max(1, Math.ceil((window.resetAt - nowMs) / 1000));
