import type { Static } from 'typebox';
import type { DashboardVerifyReply, DashboardVerifyRequest } from '../../contract/dashboard/log.ts';
import type { Read } from '../../contract/schema.ts';
import { ApiError } from '../../kernel/errors.ts';
import { TIMEOUT_MS } from '../../kernel/facts/limits.ts';
import { refusalOf } from '../access/admission.ts';
import type { HttpContext } from '../context.ts';
import { disconnectSignal, isGone } from '../disconnect.ts';
import type { AccountContext, JsonAnswer } from '../route.ts';

/** Verifies one address with evidence, charged like `/v1/verify`. */
export const verifyHere =
  ({ verify, clock }: HttpContext) =>
  async (
    { account, test, ip, request, reply }: AccountContext,
    { body }: { body: Read<typeof DashboardVerifyRequest> },
  ): Promise<JsonAnswer<Static<typeof DashboardVerifyReply>>> => {
    const outcome = await verify.verify({
      keyHash: { account },
      test,
      ip,
      idempotency: null,
      email: body.email,
      level: body.validation_type,
      clientIp: ip,
      timeoutMs: TIMEOUT_MS.default,
      withEvidence: true,
      signal: () => disconnectSignal(reply),
      gone: () => isGone(reply),
    });
    const { caller } = 'admission' in outcome ? outcome.admission : outcome;
    if (caller !== null) request.caller = caller;
    switch (outcome.outcome) {
      case 'answered':
        return { body: { result: JSON.parse(outcome.record.body), credits_remaining: outcome.balance } };
      case 'failed':
        throw outcome.error;
      case 'refused':
        // The guard found the account, so if the charge does not, it has been suspended meanwhile.
        if (outcome.code === 'invalid_api_key') throw new ApiError('account_suspended');
        throw refusalOf(outcome, clock.now());
      case 'replay':
        throw new TypeError('Stored reply without an Idempotency-Key.');
    }
  };
