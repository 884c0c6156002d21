import { toIso } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { PLAN_WITH_SMTP, WINDOW_SECONDS } from '../../kernel/facts/plans.ts';
import { counted, grouped } from '../../kernel/format.ts';
import type { Admission } from '../../service/admission.ts';
import type { HttpContext } from '../context.ts';
import { rateHeaders, secondsLeft } from '../reply.ts';
import type { RequestContext } from '../route.ts';

/** `test` on every reply to a test key. */
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
        upgrade_required: PLAN_WITH_SMTP,
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
    case 'idempotency_in_progress':
      return new ApiError(code, undefined, { retry_after: 1 });
    case 'invalid_api_key':
    case 'revoked_api_key':
    case 'ip_not_allowed':
    case 'idempotency_key_reused':
      return new ApiError(code);
  }
}
