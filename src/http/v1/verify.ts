import { IdempotencyHeader, type Read } from '../../contract/schema.ts';
import {
  EMAIL_ERROR,
  ForgottenReply,
  SeenQuery,
  VerifyQuery,
  VerifyReply,
  VerifyRequest,
} from '../../contract/verify.ts';
import { ApiError } from '../../kernel/errors.ts';
import { TIMEOUT_MS, UNKNOWN_NAME_SHOWN } from '../../kernel/facts/limits.ts';
import { DEFAULT_LEVEL } from '../../kernel/facts/plans.ts';
import type { Policy } from '../../kernel/facts/policies.ts';
import { withOutageDecision } from '../../service/policies.ts';
import type { VerificationReply } from '../../service/verify.ts';
import { requireAdmission } from '../access/api-key.ts';
import type { HttpContext } from '../context.ts';
import { disconnectSignal, type HttpRequest, isDisconnected } from '../exchange.ts';
import { REPLAYED, replayed } from '../reply.ts';
import { type ChargedKeyContext, CREDIT_ERRORS, type Route, route, StoredJson } from '../route.ts';

const CREDITS_HEADER = 'x-credits-remaining';

interface VerifyInputs {
  readonly query: Read<typeof VerifyQuery>;
  readonly body: Read<typeof VerifyRequest>;
  readonly warnings: readonly string[];
}

async function answer(
  context: HttpContext,
  request: ChargedKeyContext,
  { query, body, warnings }: VerifyInputs,
  policy: Policy | null,
): Promise<StoredJson<VerificationReply>> {
  const { ip, reply, keyHash, test, idempotency } = request;
  const outcome = await context.verify.verify({
    keyHash,
    test,
    ip,
    idempotency,
    email: body.email,
    level: body.validation_type ?? policy?.level ?? DEFAULT_LEVEL,
    clientIp: body.client_ip ?? ip,
    timeoutMs: body.timeout_ms ?? policy?.timeoutMs ?? TIMEOUT_MS.default,
    withEvidence: query.evidence === '1',
    policy,
    language: body.language ?? null,
    scope: body.scope ?? null,
    warnings,
    hasDisconnected: () => isDisconnected(reply),
    // A client with an Idempotency-Key will send the request again, and is to find the whole outcome then.
    signal: () => (idempotency === null ? disconnectSignal(reply) : new AbortController().signal),
  });
  const admission = requireAdmission(context, request, 'admission' in outcome ? outcome.admission : outcome);
  if (outcome.outcome === 'failed') throw outcome.error;
  const headers = { [CREDITS_HEADER]: String(outcome.outcome === 'answered' ? outcome.balance : admission.balance) };
  if (outcome.outcome === 'answered') return new StoredJson(200, outcome.record.body, headers);
  if (admission.outcome !== 'replay') throw new TypeError('A refused admission has no reply.');
  return replayed(admission.reply, headers);
}

/** An address that is empty or has another name is not there; whoever meant one would lose the whole scope. */
function assertWholeScope({ query }: HttpRequest): void {
  const unknown = Object.keys(query).find((name) => !Object.hasOwn(SeenQuery.properties, name));
  if (query.email === undefined && unknown === undefined) return;
  const problem =
    unknown === undefined ? EMAIL_ERROR : `Unknown parameter ${JSON.stringify(unknown.slice(0, UNKNOWN_NAME_SHOWN))}.`;
  throw new ApiError('invalid_parameter', `${problem} Nothing was forgotten.`, { field: 'email' });
}

export const VERIFY_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/verify',
    access: 'charged-api-key:verify',
    cost: null,
    input: { query: VerifyQuery, body: VerifyRequest, headers: IdempotencyHeader },
    output: {
      content: VerifyReply,
      description: 'The verdict.',
      headers: { 'X-Credits-Remaining': 'What can still be spent.', ...REPLAYED },
    },
    doc: {
      operationId: 'verify',
      tag: 'Verification',
      summary: 'Verify one address',
      description: 'A malformed or dead address is a verdict (200), not an error.',
      errors: [...CREDIT_ERRORS, 'invalid_validation_type', 'policy_not_found', 'too_many_mailboxes', 'seen_disabled'],
    },
    serve: (context) => async (request, asked) => {
      const { policy: name, language = null } = asked.body;
      const policy = name === undefined ? null : await context.policies.ofKey(request.keyHash, name);
      if (policy instanceof ApiError) return request.refuse(policy);
      try {
        return await answer(context, request, asked, policy);
      } catch (thrown) {
        throw withOutageDecision(thrown, policy, language);
      }
    },
  }),
  route({
    method: 'DELETE',
    path: '/v1/seen',
    access: 'api-key:verify',
    cost: 'query',
    input: { query: SeenQuery },
    output: { content: ForgottenReply, description: 'Forgotten, or not known.' },
    doc: {
      operationId: 'forgetSeen',
      tag: 'Verification',
      summary: 'Forget mailboxes that were seen',
      description: 'One mailbox of a scope, or all of it. What is forgotten counts as new when it is seen again.',
    },
    serve:
      ({ seen }) =>
      async ({ caller, ip, request }, { query: { scope, email = null } }) => {
        if (email === null) assertWholeScope(request);
        return { body: { forgotten: await seen.forget(caller.accountId, { scope, email }, { caller, ip }) } };
      },
  }),
];
