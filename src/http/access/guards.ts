import { ApiError, toApiError } from '../../kernel/errors.ts';
import { isHookKind } from '../../kernel/facts/hooks.ts';
import type { OperatorScope } from '../../kernel/facts/scopes.ts';
import { isOperatorKey, keyModeOf, sha256Hex } from '../../kernel/ids.ts';
import { isSameSecret } from '../../kernel/signatures.ts';
import type { StoredReply } from '../../service/admission.ts';
import type { HttpContext } from '../context.ts';
import { HOOK_CALLERS } from '../hooks/callers.ts';
import { bodyArrived, objectBody, rawBody } from '../input/reader.ts';
import { PROVIDER_FORMS, SIGNED_AHEAD_MS } from '../outcomes/providers.ts';
import { errorReply, noteError, replayed } from '../reply.ts';
import {
  type Access,
  type Answer,
  type AnyInput,
  type Contexts,
  type HookCallContext,
  JSON_TYPE,
  type MetricsContext,
  type OperatorKeyContext,
  type OutcomeSourceContext,
  type ProviderProof,
  type RequestContext,
  type Route,
} from '../route.ts';
import { apiKey, bearerOf, chargedApiKey, idempotencyOf } from './api-key.ts';
import { complete, type GuardFor } from './guard.ts';
import { createGuessLimiter } from './limiters.ts';
import { anybody, member, operator, signedIn } from './session.ts';

/** Everybody may. */
const openToAll: GuardFor<RequestContext> = () => async (request, read, serve) =>
  serve(request, complete(await read()));

/** `/metrics` exists only where it was switched on; where it has a token, only for requests that carry it. */
const metricsToken: GuardFor<MetricsContext> = ({ metrics, clock }) => {
  const guesses = createGuessLimiter(clock);
  function checkToken({ request, ip }: RequestContext, token: string): void {
    const wrong = new ApiError('invalid_api_key', 'The metrics token is missing or wrong.');
    const sent = request.headers.authorization;
    if (sent === undefined) throw wrong;
    guesses.admit(ip);
    if (isSameSecret(Buffer.from(sent), Buffer.from(`Bearer ${token}`))) {
      guesses.succeeded(ip);
      return;
    }
    guesses.failed(ip);
    throw wrong;
  }
  return async (context, read, serve) => {
    if (metrics === null) throw new ApiError('not_found');
    if (metrics.token !== null) checkToken(context, metrics.token);
    return serve({ ...context, metrics: metrics.text }, complete(await read()));
  };
};

const NO_INPUT: AnyInput = { params: undefined, query: undefined, headers: undefined, body: undefined, warnings: [] };

/**
 * The order of errors of a hook: signature as far as headers show it, hook, size of the body, signature, JSON. Nothing
 * is read on after the first, and whoever does not know the secret does not learn whether the hook exists.
 */
const hook: GuardFor<HookCallContext> = (context, { via, input = {} }) => {
  if (!isHookKind(via)) throw new TypeError('A route of a hook has the kind of its caller.');
  const { clock, failedAuth, hooks } = context;
  const { claimOf, toleranceMs, signUpOf } = HOOK_CALLERS[via];
  return async (granted, _read, serve) => {
    const { request, ip } = granted;
    const began = clock.elapsed();
    const refused = (why: string) => failedAuth.refuse(ip, new ApiError('invalid_signature', why));
    const claim = claimOf(request.headers);
    if (claim === null) throw refused('The request has no signature, or a malformed one.');
    if (claim.at !== null && Math.abs(clock.now() - claim.at) > toleranceMs)
      throw refused('The signature is too old, or its time is in the future. Check the clock of the caller.');
    const called = await hooks.called(request.params.id ?? '');
    if (called?.kind !== via) throw refused(NO_FIT);
    const arriving = bodyArrived(request, input);
    if (arriving !== null) await arriving;
    const raw = rawBody(request);
    const secret = raw && (called.secrets.find((one) => claim.fits(one, raw)) ?? null);
    if (raw !== null && secret === null) throw refused(NO_FIT);
    const json = objectBody(request, input);
    if (secret === null || raw === null) throw json.ok ? new TypeError('A body that is read is there.') : json.error;
    // From here on, the account sees errors in its log.
    const { accountId, id: keyId, plan, test } = called;
    request.caller = { accountId, keyId, plan, test };
    if (!json.ok) throw json.error;
    const eventId = signUpOf(json.value).eventId ?? claim.eventId;
    const event = eventId === null ? null : `${eventId}\n${sha256Hex(raw)}`;
    return serve({ ...granted, hook: called, secret, sent: json.value, event, began }, NO_INPUT);
  };
};

const NO_FIT = 'The signature does not fit the secret of this hook.';

/**
 * The order of errors of a provider's request: connection, size of the body, proof, its age. Whoever cannot prove to be
 * the provider does not learn whether the connection exists.
 */
const outcomeSource: GuardFor<OutcomeSourceContext> = (context, { provider, input = {} }) => {
  if (provider === undefined) throw new TypeError('A route of a provider names it.');
  const { clock, failedAuth, outcomeSources } = context;
  const { prove, maxAgeMs } = PROVIDER_FORMS[provider];
  return async (granted, _read, serve) => {
    const { request, ip } = granted;
    const refused = (why: string) => failedAuth.refuse(ip, new ApiError('invalid_signature', why));
    const source = await outcomeSources.called(request.params.id ?? '');
    if (source?.provider !== provider) throw refused(NO_PROOF);
    const arriving = bodyArrived(request, input);
    if (arriving !== null) await arriving;
    const raw = rawBody(request);
    const read = objectBody(request, input);
    if (raw === null) throw read.ok ? new TypeError('A body that is read is there.') : read.error;
    const sent = { headers: request.headers, raw, json: read.ok ? read.value : undefined };
    let proof: ProviderProof | null = null;
    for (const secret of source.secrets) proof ??= await prove(sent, secret, outcomeSources.sns);
    if (proof === null) throw refused(NO_PROOF);
    const ageMs = proof.at === null ? 0 : clock.now() - proof.at;
    if (ageMs > maxAgeMs || -ageMs > SIGNED_AHEAD_MS)
      throw refused('The signature is too old, or its time is in the future. Check the clock of this service.');
    const { accountId, id: keyId, plan, test } = source;
    request.caller = { accountId, keyId, plan, test };
    if (source.suspended) throw new ApiError('account_suspended');
    if (!read.ok) throw read.error;
    return serve({ ...granted, source, sent, proof }, NO_INPUT);
  };
};

const NO_PROOF = 'The signature or the credentials do not fit this connection.';

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
const operatorKey =
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
        return reply;
      }
    };
  };

/** There is one guard for each access rule. */
export const GUARDS = {
  'api-key:verify': apiKey('verify'),
  'api-key:lists': apiKey('lists'),
  'api-key:filters': apiKey('filters'),
  'api-key:usage': apiKey('usage'),
  'api-key:webhooks': apiKey('webhooks'),
  'api-key:policies': apiKey('policies'),
  'api-key:outcomes': apiKey('outcomes'),
  'api-key:log': apiKey('log'),
  'api-key:privacy': apiKey('privacy'),
  'charged-api-key:verify': chargedApiKey,
  hook,
  'outcome-source': outcomeSource,
  anybody,
  'signed-in': signedIn,
  viewer: member('viewer'),
  member: member('member'),
  admin: member('admin'),
  owner: member('owner'),
  operator,
  'operator-key:accounts:read': operatorKey('accounts:read'),
  'operator-key:accounts:write': operatorKey('accounts:write'),
  'operator-key:credits': operatorKey('credits'),
  'operator-key:usage': operatorKey('usage'),
  page: openToAll,
  open: openToAll,
  'metrics-token': metricsToken,
} as const satisfies { readonly [A in Access]: GuardFor<Contexts[A]> };

/** A JSON answer of a handler as it is stored for an Idempotency-Key. `usual`: the status of its row. */
function storedFormOf(answer: Answer, usual: number): StoredReply {
  const { status = usual, headers = {} } = answer;
  const named = Object.entries(headers).filter((header): header is [string, string] => typeof header[1] === 'string');
  const body = answer.type === undefined ? JSON.stringify(answer.body) : answer.body;
  if (typeof body !== 'string') throw new TypeError('Only a reply of JSON can be stored.');
  return { status, body, headers: { ...Object.fromEntries(named), 'content-type': JSON_TYPE } };
}
