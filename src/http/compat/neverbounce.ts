/**
 * The contract is API v4 of NeverBounce. Sources are https://developers.neverbounce.com/reference/single-check and the
 * npm package neverbounce 5.0.5 (https://www.npmjs.com/package/neverbounce), which calls v4.2; both as of 2026-11-22.
 */
import Type from 'typebox';
import type { ApiError, ErrorCode } from '../../kernel/errors.ts';
import { type ForeignForm, type Route, route } from '../route.ts';
import { type CompatResult, type CompatVerdict, keyIn, partsOf, timeLimit, verdictOf } from './vendor.ts';

import { verifyForVendor } from './verify.ts';

type NeverBounceJudgment = 'valid' | 'invalid' | 'disposable' | 'catchall' | 'unknown';

export const NEVERBOUNCE: Readonly<Record<CompatVerdict, NeverBounceJudgment>> = {
  mailbox_exists: 'valid',
  domain_accepts_mail: 'unknown',
  catch_all: 'catchall',
  disposable_domain: 'disposable',
  mailbox_full_for_now: 'unknown',
  mailbox_full_permanently: 'invalid',
  mailbox_not_found: 'invalid',
  mailbox_disabled: 'invalid',
  relay_denied: 'invalid',
  blocked_by_filter: 'invalid',
  bounced_before: 'invalid',
  invalid_format: 'invalid',
  domain_not_found: 'invalid',
  no_mx_records: 'invalid',
  null_mx: 'invalid',
  mx_unusable: 'invalid',
  dns_failure: 'unknown',
  greylisted: 'unknown',
  smtp_temporary_failure: 'unknown',
  smtp_timeout: 'unknown',
  smtp_unreachable: 'unknown',
  smtp_blocked: 'unknown',
  smtp_unverifiable: 'unknown',
};

/** Only flags that we know something about. */
function neverbounceFlags(result: CompatResult & { readonly tag: string | null }): string[] {
  const { checks, reason } = result;
  const hasRecords = (checks.mx.records ?? []).length > 0;
  const flags = {
    bad_syntax: checks.syntax.result === 'fail',
    has_dns: checks.domain.result === 'pass',
    has_dns_mx: hasRecords,
    bad_dns: checks.domain.result === 'fail' || checks.mx.result === 'fail',
    temporary_dns_error: reason === 'dns_failure',
    smtp_connectable: checks.smtp.code !== undefined && checks.smtp.code !== null,
    connect_fails: reason === 'smtp_unreachable',
    accepts_all: result.is_catch_all === true,
    free_email_host: result.is_free === true,
    role_account: result.is_role === true,
    disposable_email: result.is_disposable,
    spelling_mistake: result.did_you_mean !== null,
    contains_alias: result.tag !== null,
  };
  return Object.entries(flags).flatMap(([flag, isSet]) => (isSet ? [flag] : []));
}

const neverbounceReply = (result: CompatResult & { readonly tag: string | null; readonly duration_ms: number }) => ({
  status: 'success',
  result: NEVERBOUNCE[verdictOf(result)],
  flags: neverbounceFlags(result),
  suggested_correction: result.did_you_mean ?? '',
  execution_time: result.duration_ms,
});

/** What `address_info` adds; parts of the name that we do not split are null. */
function addressInfo(result: CompatResult & { readonly tag: string | null }) {
  const { user, domain } = partsOf(result);
  return {
    original: result.email,
    normalized: user === null ? null : `${user}@${domain}`.toLowerCase(),
    addr: user,
    alias: result.tag,
    host: domain,
    fqdn: domain,
    domain: null,
    subdomain: null,
    tld: domain === null ? null : domain.slice(domain.lastIndexOf('.') + 1),
  };
}

const creditsInfo = (used: number | null, remaining: number) => ({
  paid_credits_used: used,
  free_credits_used: 0,
  paid_credits_remaining: remaining,
  free_credits_remaining: 0,
});

const THROTTLED: readonly ErrorCode[] = ['rate_limit_exceeded', 'overloaded'];
const statusOf = ({ code, status }: ApiError): string => {
  if (status === 401 || status === 403) return 'auth_failure';
  if (THROTTLED.includes(code)) return 'throttle_triggered';
  return status === 503 ? 'temp_unavail' : 'general_failure';
};

/** Errors have the status 200: their clients look at the field. */
const NEVERBOUNCE_FORM: ForeignForm = {
  ...keyIn({ query: 'key', body: 'key' }),
  error: (apiError) => ({
    status: 200,
    body: { status: statusOf(apiError), message: apiError.message, execution_time: 0 },
  }),
};

const anything = Type.Optional(Type.Unknown());
const NeverBounceRequest = Type.Object({
  email: anything,
  address_info: anything,
  credits_info: anything,
  timeout: anything,
});
const isFlagSet = (value: unknown): boolean => value === true || value === 1 || value === '1' || value === 'true';

const batchRows = (version: 'v4' | 'v4.2', method: 'GET' | 'POST'): readonly Route[] => [
  route({
    method,
    path: `/${version}/single/check`,
    access: 'charged-api-key:verify',
    cost: null,
    form: NEVERBOUNCE_FORM,
    input:
      method === 'GET'
        ? { query: NeverBounceRequest }
        : { query: NeverBounceRequest, body: NeverBounceRequest, lenient: true },
    serve: (context) => {
      const verify = verifyForVendor(context);
      return async (granted, { query, body }) => {
        const { email, timeout, address_info, credits_info } = { ...query, ...Object(body) };
        const timeoutMs = timeLimit(timeout, 'seconds');
        const { report, balance } = await verify(granted, { email, field: 'email', timeoutMs });
        const more = {
          ...(isFlagSet(address_info) ? { address_info: addressInfo(report) } : {}),
          ...(isFlagSet(credits_info) ? { credits_info: creditsInfo(report.credits_used, balance) } : {}),
        };
        return { body: { ...neverbounceReply(report), ...more } };
      };
    },
  }),
  route({
    method,
    path: `/${version}/account/info`,
    access: 'api-key:usage',
    form: NEVERBOUNCE_FORM,
    input: method === 'GET' ? {} : { body: Type.Object({}), lenient: true },
    serve:
      ({ usage }) =>
      async ({ caller, window }) => {
        const { credits } = await usage(caller, window, { groupBy: null, from: null, to: null });
        const jobs = { completed: 0, under_review: 0, queued: 0, processing: 0 };
        const body = {
          status: 'success',
          credits_info: creditsInfo(credits.used, credits.remaining),
          job_counts: jobs,
        };
        return { body: { ...body, execution_time: 0 } };
      },
  }),
];

export const NEVERBOUNCE_ROUTES: readonly Route[] = [
  ...batchRows('v4', 'POST'),
  ...batchRows('v4', 'GET'),
  ...batchRows('v4.2', 'POST'),
];
