/**
 * The contract is Kickbox's. Sources are https://docs.kickbox.com/docs/using-the-api and the README of the npm package
 * kickbox 2.0.4 (https://www.npmjs.com/package/kickbox), both as of 2026-11-22.
 */
import Type from 'typebox';
import type { ApiError } from '../../kernel/errors.ts';
import type { Deliverability } from '../../kernel/facts/reasons.ts';
import { type Route, route } from '../route.ts';
import { type CompatVerdict, keyIn, partsOf, type ScoredResult, timeLimit, verdictOf } from './vendor.ts';

import { verifyForVendor } from './verify.ts';

interface KickboxJudgment {
  readonly result: Deliverability;
  readonly reason:
    | 'invalid_email'
    | 'invalid_domain'
    | 'rejected_email'
    | 'accepted_email'
    | 'low_quality'
    | 'low_deliverability'
    | 'no_connect'
    | 'timeout'
    | 'invalid_smtp'
    | 'unavailable_smtp'
    | 'unexpected_error';
}
const kickboxJudgment = (result: KickboxJudgment['result'], reason: KickboxJudgment['reason']): KickboxJudgment => ({
  result,
  reason,
});

/** Emailable, which has the same words, uses this table too. */
export const KICKBOX: Readonly<Record<CompatVerdict, KickboxJudgment>> = {
  mailbox_exists: kickboxJudgment('deliverable', 'accepted_email'),
  domain_accepts_mail: kickboxJudgment('unknown', 'no_connect'),
  catch_all: kickboxJudgment('risky', 'low_deliverability'),
  disposable_domain: kickboxJudgment('risky', 'low_quality'),
  mailbox_full_for_now: kickboxJudgment('risky', 'low_deliverability'),
  mailbox_full_permanently: kickboxJudgment('undeliverable', 'rejected_email'),
  mailbox_not_found: kickboxJudgment('undeliverable', 'rejected_email'),
  mailbox_disabled: kickboxJudgment('undeliverable', 'rejected_email'),
  relay_denied: kickboxJudgment('undeliverable', 'rejected_email'),
  blocked_by_filter: kickboxJudgment('undeliverable', 'rejected_email'),
  bounced_before: kickboxJudgment('undeliverable', 'rejected_email'),
  invalid_format: kickboxJudgment('undeliverable', 'invalid_email'),
  domain_not_found: kickboxJudgment('undeliverable', 'invalid_domain'),
  no_mx_records: kickboxJudgment('undeliverable', 'invalid_domain'),
  null_mx: kickboxJudgment('undeliverable', 'invalid_domain'),
  mx_unusable: kickboxJudgment('undeliverable', 'invalid_domain'),
  dns_failure: kickboxJudgment('unknown', 'timeout'),
  greylisted: kickboxJudgment('unknown', 'unavailable_smtp'),
  smtp_temporary_failure: kickboxJudgment('unknown', 'unavailable_smtp'),
  smtp_timeout: kickboxJudgment('unknown', 'timeout'),
  smtp_unreachable: kickboxJudgment('unknown', 'no_connect'),
  smtp_blocked: kickboxJudgment('unknown', 'unavailable_smtp'),
  smtp_unverifiable: kickboxJudgment('unknown', 'unavailable_smtp'),
};

/** `sendex`, Kickbox's own score, is what the account's own mail has shown. */
function kickboxReply(result: ScoredResult) {
  const { user, domain } = partsOf(result);
  return {
    ...KICKBOX[verdictOf(result)],
    role: result.is_role,
    free: result.is_free,
    disposable: result.is_disposable,
    accept_all: result.is_catch_all,
    did_you_mean: result.did_you_mean,
    sendex: result.confidence?.p ?? null,
    email: user === null ? result.email : `${user}@${domain}`.toLowerCase(),
    user,
    domain,
    success: true,
    message: null,
  };
}

const KICKBOX_FORM = {
  ...keyIn({ query: 'apikey', schemes: ['token'] }),
  error: (apiError: ApiError) => ({
    // Kickbox has no 402: a spent balance is 403.
    status: apiError.status === 402 ? 403 : apiError.status,
    body: { success: false, message: apiError.message },
  }),
};

const balanceHeader = (balance: number) => ({ 'x-kickbox-balance': String(balance) });

export const KICKBOX_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v2/verify',
    access: 'charged-api-key:verify',
    cost: null,
    form: KICKBOX_FORM,
    input: { query: Type.Object({ email: Type.String(), timeout: Type.Optional(Type.String()) }) },
    serve: (context) => {
      const verify = verifyForVendor(context);
      return async (granted, { query: { email, timeout } }) => {
        const timeoutMs = timeLimit(timeout, 'milliseconds');
        const { report, balance } = await verify(granted, { email, field: 'email', timeoutMs });
        const headers = { ...balanceHeader(balance), 'x-kickbox-response-time': String(report.duration_ms) };
        return { body: kickboxReply(report), headers };
      };
    },
  }),
  route({
    method: 'GET',
    path: '/v2/balance',
    access: 'api-key:usage',
    cost: null,
    form: KICKBOX_FORM,
    serve:
      ({ usage }) =>
      async ({ caller, window }) => {
        const { credits } = await usage(caller, window, { groupBy: null, from: null, to: null });
        const body = { balance: credits.remaining, success: true, message: null };
        return { body, headers: balanceHeader(credits.remaining) };
      },
  }),
  route({
    // Open, as at open.kickbox.com: a lookup in the list, which needs no key and costs nothing.
    method: 'GET',
    path: '/v1/disposable/:domain',
    access: 'anybody',
    form: KICKBOX_FORM,
    serve:
      ({ isDisposable }) =>
      async (_, { params: { domain } }) => ({
        body: { disposable: isDisposable(domain.slice(domain.lastIndexOf('@') + 1).toLowerCase()) },
      }),
  }),
];
