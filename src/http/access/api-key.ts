import { type ApiError, toApiError } from '../../kernel/errors.ts';
import { BODY_BYTES } from '../../kernel/facts/limits.ts';
import type { KeyScope } from '../../kernel/facts/scopes.ts';
import { sha256Hex } from '../../kernel/ids.ts';
import type { Caller, IdempotencyRef } from '../../service/admission.ts';
import type { HttpContext } from '../context.ts';
import { isGone } from '../disconnect.ts';
import { objectBody, rawBody } from '../input/body.ts';
import type { Reading } from '../input/reader.ts';
import { errorReply, noteError, replayed, replyAnswer } from '../reply.ts';
import type { Answer, ApiKeyContext, ChargedKeyContext, RequestContext, Route } from '../route.ts';
import { MODE, requireAdmission } from './admission.ts';
import { foreignKeyOf, sentKeyOf } from './credentials.ts';
import { complete, type GuardFor } from './guard.ts';

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
  read: () => Promise<Reading>,
): Promise<{ hash: string; test: boolean; reading: Reading }> {
  if (form === undefined) {
    const key = sentKey(context, request);
    return { ...key, reading: await read() };
  }
  const keyGiven = (body: unknown) => sentKey(context, request, foreignKeyOf(form.keyOf(request.request, body)));
  if (!form.inBody) return { ...keyGiven(undefined), reading: await read() };
  const reading = await read();
  if (reading.problem === null) return { ...keyGiven(reading.input.body), reading };
  // What is wrong is told to whom the key belongs, so it is looked for in what was sent.
  const sent = objectBody(request.request, input);
  return { ...keyGiven(sent.ok ? sent.value : undefined), reading };
}

/** draft-ietf-httpapi-idempotency-key-header; the hash of body and query tells a repeated request from a reused key. */
const idempotencyOf =
  ({ method, path, input: { body } = {} }: Route) =>
  ({ request }: RequestContext, { input, headers, problem }: Reading): IdempotencyRef | null => {
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
 * Admits the request of a key with the scope, then serves it; an error that the handler reports is stored for the
 * Idempotency-Key.
 */
export const apiKey =
  (scope: KeyScope): GuardFor<ApiKeyContext> =>
  (context, route) => {
    const { body, bodyLimit = 0 } = route.input ?? {};
    // Whether a key exists is known with the admission, which comes after the input.
    if (bodyLimit > BODY_BYTES && route.form === undefined && !(body !== undefined && 'stream' in body))
      throw new TypeError(`${route.path}: a large body of a route with an API key is read as a stream.`);
    const idempotencyRef = idempotencyOf(route);
    return async (request, read, serve) => {
      const { hash, reading } = await keyAndInput(context, route, request, read);
      const idempotency = idempotencyRef(request, reading);
      const credentials = { keyHash: hash, scope, ip: request.ip, invalid: reading.problem !== null, idempotency };
      const gone = () => isGone(request.reply);
      const admission = requireAdmission(context, request, await context.admission.admit({ ...credentials, gone }));
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
  return replyAnswer(reply);
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
    return serve({ ...request, keyHash: hash, test, idempotency, via: route.via ?? null }, reading.input);
  };
};

const neverServed = () => Promise.reject(new TypeError('A request with a problem is not served.'));
