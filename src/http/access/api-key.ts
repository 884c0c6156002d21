import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { toIso } from '../../kernel/clock.ts';
import { ApiError, toApiError } from '../../kernel/errors.ts';
import { BODY_BYTES } from '../../kernel/facts/limits.ts';
import { WINDOW_SECONDS } from '../../kernel/facts/plans.ts';
import type { KeyScope } from '../../kernel/facts/scopes.ts';
import { counted, grouped } from '../../kernel/format.ts';
import { hashApiKey, isOperatorKey, type KeyMode, keyModeOf, sha256Hex } from '../../kernel/ids.ts';
import type { Admission, Caller, IdempotencyRef, RateWindow } from '../../service/admission.ts';
import type { HttpContext } from '../context.ts';
import { headerCount, isDisconnected } from '../exchange.ts';
import { type InputReading, invalid, objectBody, type Parsed, rawBody } from '../input/reader.ts';
import { errorReply, noteError, replayed } from '../reply.ts';
import {
  type Answer,
  type ApiKeyContext,
  type ChargedKeyContext,
  type RequestContext,
  type Route,
  StoredJson,
} from '../route.ts';
import { complete, type GuardFor } from './guard.ts';

/** Says `test` on every reply to a test key. */
export const MODE = 'x-mailvet-mode';

/** Puts the caller's rate window on the reply; throws ApiError where the admission was refused. */
export function requireAdmission(
  { clock, failedAuth }: Pick<HttpContext, 'clock' | 'failedAuth'>,
  { request, reply, ip }: RequestContext,
  admission: Admission,
): Exclude<Admission, { outcome: 'refused' }> {
  const { caller, window } = admission;
  const now = clock.now();
  if (caller && window) {
    reply.set(rateHeaders(caller.plan, window, now));
    request.caller = caller;
  }
  if (admission.outcome === 'replay' && admission.reply.status >= 400)
    request.error = { code: JSON.parse(admission.reply.body).code, status: admission.reply.status };
  if (admission.outcome !== 'refused') return admission;
  // Not a key of ours: whatever it looks like, it has no mode.
  if (admission.code === 'invalid_api_key') reply.unset(MODE);
  const apiError = refusalOf(admission, now);
  throw apiError.status === 401 ? failedAuth.refuse(ip, apiError) : apiError;
}

/** The error that a refused admission is reported as, with what helps to fix it. */
export function refusalOf(admission: Extract<Admission, { outcome: 'refused' }>, now: number): ApiError {
  const { code, window, caller, balance } = admission;
  switch (admission.code) {
    case 'rate_limit_exceeded': {
      const retry_after = window ? secondsLeft(window, now) : 1;
      const message = `The account's limit of ${window ? counted(window.limit, 'request') : 'requests'} per ${counted(WINDOW_SECONDS / 60, 'minute')} is used up; it resets in ${retry_after} seconds.`;
      return new ApiError(code, message, window ? { limit: window.limit, retry_after } : { retry_after });
    }
    case 'plan_upgrade_required':
      return new ApiError(code, undefined, {
        ...(caller ? { current_plan: caller.plan } : {}),
        ...(admission.upgrade === null ? {} : { upgrade_required: admission.upgrade }),
      });
    case 'insufficient_credits':
      return new ApiError(code, `The account does not have enough credits for this request; ${balance ?? 0} are left.`);
    case 'expired_api_key': {
      const expired_at = toIso(admission.expiredAt);
      return new ApiError(code, `The API key expired at ${expired_at}.`, { expired_at });
    }
    case 'scope_missing': {
      const { scope } = admission;
      return new ApiError(code, `The API key lacks the scope "${scope}", which this request needs.`, { scope });
    }
    case 'key_budget_spent': {
      const { budget, left } = admission;
      const resets_at = toIso(admission.resetsAt);
      const message = `The monthly budget of this API key, ${counted(budget, 'credit')}, does not cover this request; ${grouped(left)} are left. It resets at ${resets_at}.`;
      return new ApiError(code, message, { budget, resets_at });
    }
    case 'too_many_mailboxes': {
      const { limit } = admission;
      const message = `The account remembers ${grouped(limit)} mailboxes already, as many as its plan has room for. Nothing was charged.`;
      return new ApiError(code, message, { field: 'scope', limit });
    }
    case 'idempotency_in_progress':
      return new ApiError(code, undefined, { retry_after: 1 });
    case 'invalid_api_key':
    case 'revoked_api_key':
    case 'ip_not_allowed':
    case 'idempotency_key_reused':
      return new ApiError(code);
  }
}

/** The API key that a request sent is well-formed. */
interface SentKey {
  readonly hash: string;
  readonly mode: KeyMode;
}

/** The last key of each connection, with its header: most clients send the same one again, and its hash is not free. */
const lastKeys = new WeakMap<Socket, { readonly header: string; readonly key: SentKey }>();

/**
 * The key that a request carries (RFC 6750 §2.1): the word Bearer, exactly one space, the key. Each way to
 * get that wrong is refused with a message that names it.
 */
export function sentKeyOf(request: IncomingMessage): Parsed<SentKey> {
  const last = lastKeys.get(request.socket);
  const { authorization: header = '' } = request.headers;
  if (last?.header === header && headerCount(request, 'authorization') === 1) return { ok: true, value: last.key };
  const sent = bearerOf(request);
  if (!sent.ok) return sent;
  const key = apiKeyOf(sent.value);
  if (key.ok) lastKeys.set(request.socket, { header, key: key.value });
  return key;
}

function apiKeyOf(key: string): Parsed<SentKey> {
  if (isOperatorKey(key)) return invalid('api_key_required');
  const mode = keyModeOf(key);
  return mode === null ? invalid('invalid_api_key') : { ok: true, value: { hash: hashApiKey(key), mode } };
}

/** What stands for the key in the header, whatever it is. */
export function bearerOf(request: IncomingMessage): Parsed<string> {
  const value = request.headers.authorization;
  if (value === undefined || value === '') return invalid('missing_api_key');
  if (headerCount(request, 'authorization') > 1) {
    return malformedAuthorization('The Authorization header was sent more than once; send it once.');
  }
  const [, key] = /^bearer ([^\s]+)$/i.exec(value) ?? [];
  if (key === undefined) return malformedAuthorization(mistakeIn(value));
  if (/^bearer$/i.test(key))
    return malformedAuthorization('The Authorization header has the word "Bearer" twice and no key.');
  if (/^bearer/i.test(key))
    return malformedAuthorization('The Authorization header has the word "Bearer" twice; send it once.');
  return { ok: true, value: key };
}

/** The key that a request of another service's contract carries. */
function foreignKeyOf(key: string | null): Parsed<SentKey> {
  return key === null ? invalid('missing_api_key', 'No API key was sent.') : apiKeyOf(key);
}

const malformedAuthorization = (message: string) => invalid('malformed_authorization', message);

function mistakeIn(value: string): string {
  if (/^bearer[\s,]+bearer\b/i.test(value))
    return 'The Authorization header has the word "Bearer" twice; send it once.';
  if (/\t/.test(value))
    return 'The Authorization header has a tab; separate "Bearer" and the key by exactly one space.';
  if (/^bearer\s*$/i.test(value)) return 'The Authorization header has the word "Bearer" but no key after it.';
  if (/^bearer {2,}/i.test(value))
    return 'The Authorization header has more than one space between "Bearer" and the key.';
  if (/^bearer[^ ]/i.test(value)) return 'The Authorization header has no space between "Bearer" and the key.';
  if (/^mv_(live|test|op)_/.test(value)) return 'The Authorization header lacks the word "Bearer" before the key.';
  if (/^bearer /i.test(value)) return 'The Authorization header has white space or more words after the key.';
  return 'The Authorization header must use the Bearer scheme: "Bearer", exactly one space, and the key.';
}

/*
 * The public API's order of errors: key, allowlist, scope, rate window, stored reply, input; then the handler. Input is
 * read before the admission, which records whether it can be used, and is reported after it.
 */

/** The key that the request carries; a 401 counts against the caller's network. */
function sentKey(
  { failedAuth }: HttpContext,
  { request, reply, ip }: RequestContext,
  parsed = sentKeyOf(request.raw),
): { hash: string; test: boolean } {
  if (!parsed.ok) throw failedAuth.refuse(ip, parsed.error);
  const { hash, mode } = parsed.value;
  if (mode === 'test') reply.set({ [MODE]: mode });
  return { hash, test: mode === 'test' };
}

/** Key and input, in this order; where another service's contract has the key in the body, in the other one. */
async function keyAndInput(
  context: HttpContext,
  { form, input = {} }: Route,
  request: RequestContext,
  read: () => Promise<InputReading>,
): Promise<{ hash: string; test: boolean; reading: InputReading }> {
  if (form === undefined) {
    const key = sentKey(context, request);
    return { ...key, reading: await read() };
  }
  const keyGiven = (body: unknown) => sentKey(context, request, foreignKeyOf(form.keyOf(request.request, body)));
  if (!form.inBody) return { ...keyGiven(undefined), reading: await read() };
  const reading = await read();
  if (reading.problem === null) return { ...keyGiven(reading.input.body), reading };
  // Only the owner of the key learns what is wrong, so it is looked for in what was sent.
  const sent = objectBody(request.request, input);
  return { ...keyGiven(sent.ok ? sent.value : undefined), reading };
}

/** draft-ietf-httpapi-idempotency-key-header; the hash of body and query tells a repeated request from a reused key. */
export const idempotencyOf =
  ({ method, path, input: { body } = {} }: Route) =>
  ({ request }: RequestContext, { input, headers, problem }: InputReading): IdempotencyRef | null => {
    // Without its body nobody can tell whether a request is the same; one that is a stream is hashed by its service.
    if (body !== undefined && 'stream' in body) return null;
    if (problem?.code === 'request_timeout') return null;
    if (!headers.ok || typeof headers.value !== 'object' || headers.value === null) return null;
    const key = 'idempotency-key' in headers.value ? headers.value['idempotency-key'] : undefined;
    if (typeof key !== 'string') return null;
    const query = JSON.stringify(input.query ?? {});
    const hash = sha256Hex(rawBody(request) ?? '');
    const fingerprint = query === '{}' ? hash : sha256Hex(`${hash} ${query}`);
    return { route: `${method} ${path}`, key, fingerprint };
  };

/**
 * The headers describe the account's rate limit: those of the draft (draft-ietf-httpapi-ratelimit-headers) and the
 * older ones. `t` and `Retry-After` are seconds until the window ends, `X-RateLimit-Reset` is a Unix time in seconds.
 */
function rateHeaders(plan: string, window: RateWindow, nowMs: number): Record<string, string> {
  const t = secondsLeft(window, nowMs);
  return {
    'ratelimit-policy': `"${plan}";q=${window.limit};w=${WINDOW_SECONDS}`,
    ratelimit: `"${plan}";r=${window.remaining};t=${t}`,
    'x-ratelimit-limit': String(window.limit),
    'x-ratelimit-remaining': String(window.remaining),
    'x-ratelimit-reset': String(Math.ceil(window.resetAt / 1000)),
  };
}

const secondsLeft = (window: RateWindow, nowMs: number): number =>
  Math.max(1, Math.ceil((window.resetAt - nowMs) / 1000));

/**
 * Admits the request of a key with the scope, then serves it; an error that the handler reports is stored for the
 * Idempotency-Key.
 */
export const apiKey =
  (scope: KeyScope): GuardFor<ApiKeyContext> =>
  (context, route) => {
    const { body, maxBodyBytes = 0 } = route.input ?? {};
    // Whether a key exists is known with the admission, which comes after the input.
    if (maxBodyBytes > BODY_BYTES && route.form === undefined && !(body !== undefined && 'stream' in body))
      throw new TypeError(`${route.path}: a large body of a route with an API key is read as a stream.`);
    const idempotencyRef = idempotencyOf(route);
    return async (request, read, serve) => {
      const { hash, reading } = await keyAndInput(context, route, request, read);
      const idempotency = idempotencyRef(request, reading);
      const credentials = { keyHash: hash, scope, ip: request.ip, invalid: reading.problem !== null, idempotency };
      const hasDisconnected = () => isDisconnected(request.reply);
      const admission = requireAdmission(
        context,
        request,
        await context.admission.admit({ ...credentials, hasDisconnected }),
      );
      if (admission.outcome === 'replay') return replayed(admission.reply);
      const { caller, window } = admission;
      try {
        return await serve({ ...request, caller, window, idempotency }, complete(reading));
      } catch (error) {
        const apiError = toApiError(error);
        if (idempotency === null) throw apiError;
        return await storedError(context, request, caller, idempotency, apiError);
      }
    };
  };

async function storedError(
  { admission }: HttpContext,
  { request }: RequestContext,
  caller: Caller,
  idempotency: IdempotencyRef,
  apiError: ApiError,
): Promise<Answer> {
  noteError(request, apiError);
  const reply = errorReply(apiError, request.id);
  await admission.keep(caller, idempotency, reply);
  return reply;
}

/**
 * Leaves the admission to the service, which charges in the same transaction; a request it cannot use is admitted here.
 */
export const chargedApiKey: GuardFor<ChargedKeyContext> = (context, route) => {
  const idempotencyRef = idempotencyOf(route);
  const refuse = apiKey('verify')(context, route);
  return async (request, read, serve) => {
    const { hash, test, reading } = await keyAndInput(context, route, request, read);
    if (reading.problem !== null) return refuse(request, () => Promise.resolve(reading), neverServed);
    const idempotency = idempotencyRef(request, reading);
    const refused = async (problem: ApiError) => {
      const stored = await refuse(request, () => Promise.resolve({ ...reading, problem }), neverServed);
      if (!isStored(stored)) throw new TypeError('A request with a problem has only a stored reply.');
      return stored;
    };
    const via = route.via ?? null;
    return serve({ ...request, keyHash: hash, test, idempotency, via, refuse: refused }, reading.input);
  };
};

const isStored = (answer: Answer): answer is StoredJson<never> => answer instanceof StoredJson;
const neverServed = () => Promise.reject(new TypeError('A request with a problem is not served.'));
