/**
 * The contract is API v2 of ZeroBounce. Sources are https://www.zerobounce.net/docs/email-validation-api-quickstart and
 * the npm package @zerobounce/zero-bounce-sdk 1.2.2 (https://www.npmjs.com/package/@zerobounce/zero-bounce-sdk), both
 * as of 2026-11-22.
 */
import Type from 'typebox';
import { type ApiError, toApiError } from '../../kernel/errors.ts';
import { COMPAT_BATCH, COMPAT_BATCH_AT_ONCE, COMPAT_BATCH_BYTES } from '../../kernel/facts/limits.ts';
import { canonicalIp } from '../../kernel/ip.ts';
import { mapConcurrently } from '../map-concurrently.ts';
import { noteError } from '../reply.ts';
import { type ChargedKeyContext, type ForeignForm, type Route, route } from '../route.ts';
import {
  type CompatResult,
  type CompatVerdict,
  isAboutKey,
  keyIn,
  mailHostOf,
  partsOf,
  timeLimit,
  verdictOf,
} from './vendor.ts';

import { type VerifyForVendor, verifyForVendor } from './verify.ts';

interface ZeroBounceJudgment {
  readonly status: 'valid' | 'invalid' | 'catch-all' | 'unknown' | 'spamtrap' | 'abuse' | 'do_not_mail';
  readonly sub_status: string;
}
const zeroBounceJudgment = (status: ZeroBounceJudgment['status'], sub_status: string): ZeroBounceJudgment => ({
  status,
  sub_status,
});

export const ZEROBOUNCE: Readonly<Record<CompatVerdict, ZeroBounceJudgment>> = {
  mailbox_exists: zeroBounceJudgment('valid', ''),
  domain_accepts_mail: zeroBounceJudgment('unknown', ''),
  catch_all: zeroBounceJudgment('catch-all', ''),
  disposable_domain: zeroBounceJudgment('do_not_mail', 'disposable'),
  mailbox_full_for_now: zeroBounceJudgment('unknown', 'mail_server_temporary_error'),
  mailbox_full_permanently: zeroBounceJudgment('invalid', 'mailbox_quota_exceeded'),
  mailbox_not_found: zeroBounceJudgment('invalid', 'mailbox_not_found'),
  mailbox_disabled: zeroBounceJudgment('invalid', 'mailbox_not_found'),
  relay_denied: zeroBounceJudgment('invalid', 'does_not_accept_mail'),
  blocked_by_filter: zeroBounceJudgment('do_not_mail', 'global_suppression'),
  bounced_before: zeroBounceJudgment('invalid', 'mailbox_not_found'),
  invalid_format: zeroBounceJudgment('invalid', 'failed_syntax_check'),
  domain_not_found: zeroBounceJudgment('invalid', 'no_dns_entries'),
  no_mx_records: zeroBounceJudgment('invalid', 'no_dns_entries'),
  null_mx: zeroBounceJudgment('invalid', 'does_not_accept_mail'),
  mx_unusable: zeroBounceJudgment('invalid', 'unroutable_ip_address'),
  dns_failure: zeroBounceJudgment('unknown', 'failed_smtp_connection'),
  greylisted: zeroBounceJudgment('unknown', 'greylisted'),
  smtp_temporary_failure: zeroBounceJudgment('unknown', 'mail_server_temporary_error'),
  smtp_timeout: zeroBounceJudgment('unknown', 'timeout_exceeded'),
  smtp_unreachable: zeroBounceJudgment('unknown', 'failed_smtp_connection'),
  smtp_blocked: zeroBounceJudgment('unknown', 'antispam_system'),
  smtp_unverifiable: zeroBounceJudgment('unknown', 'antispam_system'),
};

/** ZeroBounce advises against role addresses, whatever their server says. */
function judgmentOf(result: CompatResult): ZeroBounceJudgment {
  const found = ZEROBOUNCE[verdictOf(result)];
  if (result.is_role !== true) return found;
  if (found.status === 'valid') return zeroBounceJudgment('do_not_mail', 'role_based');
  return found.status === 'catch-all' ? zeroBounceJudgment('do_not_mail', 'role_based_catch_all') : found;
}

/** A text, there. The MX records of an address that is decided without them are not looked up. */
const mxFoundOf = ({ checks: { mx } }: CompatResult): string | null =>
  mx.result === 'pass' || mx.result === 'fail' ? String((mx.records ?? []).length > 0) : null;

/** Age of the domain, names, gender and places have no counterpart. */
function zerobounceReply(result: CompatResult & { readonly verified_at: string }) {
  const { user, domain } = partsOf(result);
  return {
    address: result.email,
    ...judgmentOf(result),
    free_email: result.is_free,
    did_you_mean: result.did_you_mean,
    account: user,
    domain,
    domain_age_days: null,
    active_in_days: null,
    smtp_provider: result.checks.mx.provider ?? null,
    mx_found: mxFoundOf(result),
    mx_record: mailHostOf(result) ?? '',
    firstname: null,
    lastname: null,
    gender: null,
    country: null,
    region: null,
    city: null,
    zipcode: null,
    processed_at: result.verified_at.replace('T', ' ').replace('Z', ''),
  };
}

const ZEROBOUNCE_KEY = keyIn({ query: 'api_key', body: 'api_key' });
/** A wrong key and an empty balance are one error there. */
const KEY_OR_CREDITS = 'Invalid API key or your account ran out of credits';
const errorSentence = ({ status, message }: ApiError): string =>
  status === 401 || status === 402 ? KEY_OR_CREDITS : message;

const zeroBounceError = (apiError: ApiError) => ({
  status: apiError.status === 401 || apiError.status === 402 ? 400 : apiError.status,
  body: { error: errorSentence(apiError) },
});
const ZEROBOUNCE_FORM: ForeignForm = { ...ZEROBOUNCE_KEY, error: zeroBounceError };
const CREDITS_FORM: ForeignForm = {
  ...ZEROBOUNCE_KEY,
  error: (apiError) => (isAboutKey(apiError) ? { status: 200, body: { Credits: '-1' } } : zeroBounceError(apiError)),
};
const BATCH_FORM: ForeignForm = {
  ...ZEROBOUNCE_KEY,
  error: (apiError) => ({
    status: apiError.status === 401 || apiError.status === 402 ? 200 : apiError.status,
    body: { email_batch: [], errors: [{ error: errorSentence(apiError), email_address: 'all' }] },
  }),
};

/** The end user's address; one that is none is no reason to refuse the email address. */
const ipOf = (text: unknown): string | null => (typeof text === 'string' ? canonicalIp(text.trim()) : null);

/** Anything else is not sent back: JSON that is nested deeply can be read, but not written. */
const sentText = (sent: unknown): string => (typeof sent === 'string' ? sent : '');

async function verifyBatch(
  verify: VerifyForVendor,
  granted: ChargedKeyContext,
  batch: readonly { readonly email_address: unknown; readonly ip_address?: unknown }[],
  timeoutMs: number,
) {
  const one = async ({ email_address: email, ip_address }: (typeof batch)[number]) => {
    const asked = { email, field: 'email_address', timeoutMs, clientIp: ipOf(ip_address) };
    return zerobounceReply((await verify(granted, asked)).report);
  };
  const [first, ...rest] = batch;
  if (first === undefined) throw new TypeError('The schema lets no empty batch pass.');
  const head = await settled(one(first));
  // The key is wrong for all of them.
  if ('error' in head && isAboutKey(head.error)) throw head.error;
  const done = [head, ...(await mapConcurrently(rest, COMPAT_BATCH_AT_ONCE, (item) => settled(one(item))))];
  // Nothing of the batch was verified: the account's log has it as a rejected request.
  if ('error' in head && done.every((outcome) => 'error' in outcome)) noteError(granted.request, head.error);
  return {
    email_batch: done.flatMap((outcome) => ('value' in outcome ? [outcome.value] : [])),
    errors: done.flatMap((outcome, i) =>
      'error' in outcome
        ? [{ error: errorSentence(outcome.error), email_address: sentText(batch[i]?.email_address) }]
        : [],
    ),
  };
}

const settled = <T>(promise: Promise<T>) =>
  promise.then(
    (value) => ({ value }) as const,
    (error: unknown) => ({ error: toApiError(error) }) as const,
  );

export const ZEROBOUNCE_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v2/validate',
    access: 'charged-api-key:verify',
    cost: null,
    form: ZEROBOUNCE_FORM,
    input: {
      query: Type.Object({
        email: Type.String(),
        ip_address: Type.Optional(Type.String()),
        timeout: Type.Optional(Type.String()),
      }),
    },
    serve: (context) => {
      const verify = verifyForVendor(context);
      return async (granted, { query: { email, ip_address, timeout } }) => {
        const timeoutMs = timeLimit(timeout, 'seconds');
        const { report } = await verify(granted, { email, field: 'email', timeoutMs, clientIp: ipOf(ip_address) });
        return { body: zerobounceReply(report) };
      };
    },
  }),
  route({
    method: 'GET',
    path: '/v2/getcredits',
    access: 'api-key:usage',
    cost: null,
    form: CREDITS_FORM,
    serve:
      ({ usage }) =>
      async ({ caller, window }) => {
        const { credits } = await usage(caller, window, { groupBy: null, from: null, to: null });
        return { body: { Credits: String(credits.remaining) } };
      },
  }),
  route({
    method: 'POST',
    path: '/v2/validatebatch',
    access: 'charged-api-key:verify',
    form: BATCH_FORM,
    input: {
      body: Type.Object({
        email_batch: Type.Array(
          Type.Object({ email_address: Type.Unknown(), ip_address: Type.Optional(Type.Unknown()) }),
          {
            minItems: 1,
            maxItems: COMPAT_BATCH,
            'x-error': `email_batch must have 1 to ${COMPAT_BATCH} addresses.`,
          },
        ),
        timeout: Type.Optional(Type.Unknown()),
      }),
      maxBodyBytes: COMPAT_BATCH_BYTES,
      lenient: true,
    },
    serve: (context) => {
      const verify = verifyForVendor(context);
      return async (granted, { body: { email_batch, timeout } }) => {
        const timeoutMs = timeLimit(timeout, 'seconds');
        return { body: await verifyBatch(verify, granted, email_batch, timeoutMs) };
      };
    },
  }),
];
