import { Refusal } from '../../kernel/errors.ts';
import type { Level } from '../../kernel/plans.ts';
import { refusalOf } from '../guard.ts';
import { noted } from '../noted.ts';
import { DEFAULT_TIMEOUT_MS } from '../routes/verify.ts';
import type { DashboardContext } from './context.ts';
import type { AccountVisit, DashboardAnswer } from './row.ts';

/** One address, as `/v1/verify` would check and charge it, with its evidence. */
export const verifyHere =
  ({ verify, clock }: DashboardContext) =>
  async (
    { account, ip, request, signal }: AccountVisit,
    { body }: { body: { email: string; validation_type: Level } },
  ): Promise<DashboardAnswer> => {
    const outcome = await verify.verify({
      keyHash: { account },
      ip,
      idempotency: null,
      email: body.email,
      level: body.validation_type,
      clientIp: ip,
      timeoutMs: DEFAULT_TIMEOUT_MS,
      withEvidence: true,
      // Asked for only by a check that has to wait.
      get signal() {
        return signal();
      },
    });
    const { caller } = 'admission' in outcome ? outcome.admission : outcome;
    if (caller !== null) noted(request).caller = caller;
    switch (outcome.outcome) {
      case 'answered':
        return { body: { result: JSON.parse(outcome.record.body), credits_remaining: outcome.balance } };
      case 'failed':
        throw outcome.error;
      case 'refused':
        // What no key opens is a suspended account: that it is there, and theirs, the guard has seen.
        if (outcome.code === 'invalid_api_key') throw new Refusal('account_suspended');
        throw refusalOf(outcome, clock.now());
      case 'replay':
        throw new TypeError('without an Idempotency-Key there is no reply to give again');
    }
  };
