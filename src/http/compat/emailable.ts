/**
 * The contract is Emailable's. Sources are https://emailable.com/docs/api/emails.md and the npm package emailable 3.1.1
 * (https://www.npmjs.com/package/emailable), both as of 2026-11-22.
 */
import Type from 'typebox';
import type { ApiError } from '../../kernel/errors.ts';
import { type Route, route } from '../route.ts';
import { KICKBOX } from './kickbox.ts';
import { keyIn, mailHostOf, partsOf, type ScoredResult, timeLimit, verdictOf } from './vendor.ts';

import { verifyForVendor } from './verify.ts';

/** The words are those of Kickbox. Names and gender have no counterpart; the score is what mail has shown. */
function emailableReply(result: ScoredResult & { readonly tag: string | null; readonly duration_ms: number }) {
  const verdict = verdictOf(result);
  const { result: state, reason } = KICKBOX[verdict];
  const { user, domain } = partsOf(result);
  const isFull = verdict === 'mailbox_full_for_now' || verdict === 'mailbox_full_permanently';
  return {
    accept_all: result.is_catch_all,
    did_you_mean: result.did_you_mean,
    disposable: result.is_disposable,
    domain,
    duration: result.duration_ms / 1000,
    email: result.email,
    first_name: null,
    free: result.is_free,
    full_name: null,
    gender: null,
    last_name: null,
    mailbox_full: isFull ? true : verdict === 'mailbox_exists' ? false : null,
    mx_record: mailHostOf(result),
    no_reply: null,
    reason,
    role: result.is_role,
    score: result.confidence === null ? null : Math.round(result.confidence.p * 100),
    smtp_provider: result.checks.mx.provider ?? null,
    state,
    tag: result.tag,
    user,
  };
}

const EMAILABLE_FORM = {
  ...keyIn({ query: 'api_key', body: 'api_key' }),
  error: (apiError: ApiError) => ({ status: apiError.status, body: { message: apiError.message } }),
};

const EmailableQuery = Type.Object({
  email: Type.String(),
  timeout: Type.Optional(Type.Union([Type.String(), Type.Number()])),
});
interface EmailableInput {
  readonly email: string;
  readonly timeout?: string | number;
}

/** The documentation has GET, the client sends POST. */
const verifyRoute = (method: 'GET' | 'POST'): Route =>
  route({
    method,
    path: '/v1/verify',
    access: 'charged-api-key:verify',
    cost: null,
    form: EMAILABLE_FORM,
    input: method === 'GET' ? { query: EmailableQuery } : { body: EmailableQuery, lenient: true },
    serve: (context) => {
      const verify = verifyForVendor(context);
      return async (granted, input) => {
        const { email, timeout }: EmailableInput = Object(input.body ?? input.query);
        const timeoutMs = timeLimit(timeout, 'seconds');
        const { report } = await verify(granted, { email, field: 'email', timeoutMs });
        return { body: emailableReply(report) };
      };
    },
  });

export const EMAILABLE_ROUTES: readonly Route[] = [
  verifyRoute('GET'),
  verifyRoute('POST'),
  route({
    method: 'GET',
    path: '/v1/account',
    access: 'api-key:usage',
    cost: null,
    form: EMAILABLE_FORM,
    serve:
      ({ usage }) =>
      async ({ caller, window }) => {
        const { credits } = await usage(caller, window, { groupBy: null, from: null, to: null });
        return { body: { owner_email: null, available_credits: credits.remaining } };
      },
  }),
];
