import { ApiError, toApiError } from '../../kernel/errors.ts';
import type { OperatorScope } from '../../kernel/facts/scopes.ts';
import { isOperatorKey, keyModeOf } from '../../kernel/ids.ts';
import type { HttpContext } from '../context.ts';
import { errorReply, noteError, replayed, replyAnswer, storedFormOf } from '../reply.ts';
import type { OperatorKeyContext, RequestContext, Route } from '../route.ts';
import { bearerOf, idempotencyOf } from './api-key.ts';
import { complete, type GuardFor } from './guard.ts';

/** The operator key that the request carries; a 401 counts against the caller's network. */
function sentOperatorKey({ failedAuth }: HttpContext, { request, ip }: RequestContext): string {
  const sent = bearerOf(request.raw);
  if (!sent.ok) throw failedAuth.refuse(ip, sent.error);
  if (isOperatorKey(sent.value)) return sent.value;
  const code = keyModeOf(sent.value) === null ? 'invalid_api_key' : 'operator_key_required';
  throw failedAuth.refuse(ip, new ApiError(code));
}

/**
 * The order of errors: key, allowlist, scope, number of requests, input, stored reply; then the handler. What changes
 * something in its own transaction stores its reply in it; any other reply is stored here.
 */
export const operatorKey =
  (scope: OperatorScope): GuardFor<OperatorKeyContext> =>
  (context: HttpContext, route: Route) => {
    const { operatorKeys, failedAuth, operatorLimiter } = context;
    const refOf = idempotencyOf(route);
    const status = route.output?.status ?? 200;
    return async (request, read, serve) => {
      const value = sentOperatorKey(context, request);
      const key = await operatorKeys.admit(value, { ip: request.ip, scope }).catch((error: unknown) => {
        const apiError = toApiError(error);
        throw apiError.status === 401 ? failedAuth.refuse(request.ip, apiError) : apiError;
      });
      request.request.user = key.id;
      operatorLimiter.admit(key.id);
      const reading = await read();
      const input = complete(reading);
      const ref = refOf(request, reading);
      const actor = { kind: 'operator_key', id: key.id, name: key.name, ip: request.ip } as const;
      const granted = { ...request, actor, idempotency: ref && { owner: key.id, ref } };
      if (ref === null) return serve(granted, input);
      const earlier = await operatorKeys.reserve(key, ref);
      if (earlier !== null) return replayed(earlier);
      try {
        const answer = await serve(granted, input);
        await operatorKeys.keep(key, ref, storedFormOf(answer, status));
        return answer;
      } catch (error) {
        const apiError = toApiError(error);
        noteError(request.request, apiError);
        const reply = errorReply(apiError, request.request.id);
        await operatorKeys.keep(key, ref, reply);
        return replyAnswer(reply);
      }
    };
  };
