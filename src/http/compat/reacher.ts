/**
 * The contract is that of Reacher, the HTTP backend of check-if-email-exists 0.10. The source is
 * https://github.com/reacherhq/check-if-email-exists/blob/master/backend/openapi.json, as of 2026-11-22.
 */

import Type from 'typebox';
import type { VerifyReply } from '../../contract/verify.ts';
import { ApiError, isErrorCode } from '../../kernel/errors.ts';
import {
  LIST_JSON_BYTES,
  LIST_ROWS,
  LIST_ROWS_PER_PAGE,
  LIST_UPLOAD_EXTRA_BYTES,
  TIMEOUT_MS,
} from '../../kernel/facts/limits.ts';
import type { ListStatus } from '../../kernel/facts/lists.ts';
import { DEFAULT_LEVEL, termsOf } from '../../kernel/facts/plans.ts';
import type { RowView } from '../../service/lists/results.ts';
import { listObject } from '../../service/lists/service.ts';
import { spooled } from '../../service/lists/spooled.ts';
import { JsonList } from '../input/json-list.ts';
import { type ForeignForm, type Route, route } from '../route.ts';
import { type CompatResult, type CompatVerdict, keyIn, partsOf, verdictOf } from './vendor.ts';
import { verifyForVendor } from './verify.ts';

interface Smtp {
  readonly can_connect_smtp: boolean;
  readonly has_full_inbox: boolean;
  readonly is_catch_all: boolean;
  readonly is_deliverable: boolean;
  readonly is_disabled: boolean;
}
interface ReacherJudgment {
  readonly is_reachable: 'safe' | 'risky' | 'invalid' | 'unknown';
  /** Null: the server gave no answer, which Reacher reports as an error in the place of the details. */
  readonly smtp: Smtp | null;
}

const NOT_ASKED: Smtp = {
  can_connect_smtp: false,
  has_full_inbox: false,
  is_catch_all: false,
  is_deliverable: false,
  is_disabled: false,
};
const ASKED: Smtp = { ...NOT_ASKED, can_connect_smtp: true };
const reacherJudgment = (is_reachable: ReacherJudgment['is_reachable'], smtp: Smtp | null): ReacherJudgment => ({
  is_reachable,
  smtp,
});

export const REACHER: Readonly<Record<CompatVerdict, ReacherJudgment>> = {
  mailbox_exists: reacherJudgment('safe', { ...ASKED, is_deliverable: true }),
  domain_accepts_mail: reacherJudgment('unknown', null),
  catch_all: reacherJudgment('risky', { ...ASKED, is_catch_all: true, is_deliverable: true }),
  disposable_domain: reacherJudgment('risky', null),
  mailbox_full_for_now: reacherJudgment('risky', { ...ASKED, has_full_inbox: true }),
  mailbox_full_permanently: reacherJudgment('risky', { ...ASKED, has_full_inbox: true }),
  mailbox_not_found: reacherJudgment('invalid', ASKED),
  mailbox_disabled: reacherJudgment('invalid', { ...ASKED, is_disabled: true }),
  relay_denied: reacherJudgment('invalid', ASKED),
  blocked_by_filter: reacherJudgment('invalid', NOT_ASKED),
  bounced_before: reacherJudgment('invalid', NOT_ASKED),
  invalid_format: reacherJudgment('invalid', NOT_ASKED),
  domain_not_found: reacherJudgment('invalid', NOT_ASKED),
  no_mx_records: reacherJudgment('invalid', NOT_ASKED),
  null_mx: reacherJudgment('invalid', NOT_ASKED),
  mx_unusable: reacherJudgment('invalid', NOT_ASKED),
  dns_failure: reacherJudgment('unknown', null),
  greylisted: reacherJudgment('unknown', null),
  smtp_temporary_failure: reacherJudgment('unknown', null),
  smtp_timeout: reacherJudgment('unknown', null),
  smtp_unreachable: reacherJudgment('unknown', null),
  smtp_blocked: reacherJudgment('unknown', null),
  smtp_unverifiable: reacherJudgment('unknown', null),
};

const reacherError = (type: string, message: string) => ({ error: { type, message } });

/** Reacher calls a role address, such as sales@, risky whatever its server says. */
function reacherReply(result: CompatResult) {
  const { is_reachable, smtp } = REACHER[verdictOf(result)];
  const { user, domain } = partsOf(result);
  const { checks, reason } = result;
  const valid = checks.syntax.result !== 'fail';
  return {
    input: result.email,
    is_reachable: is_reachable === 'safe' && result.is_role === true ? 'risky' : is_reachable,
    misc: {
      is_disposable: result.is_disposable,
      is_role_account: result.is_role ?? false,
      is_b2c: result.is_free ?? false,
      gravatar_url: null,
      haveibeenpwned: null,
    },
    mx:
      reason === 'dns_failure'
        ? reacherError('ResolveError', 'The name servers of the domain are failing.')
        : {
            accepts_mail: checks.mx.result === 'pass',
            records: (checks.mx.records ?? []).map(({ host }) => `${host}.`),
          },
    smtp: smtp ?? reacherError('SmtpError', `The mailbox was not verified: ${reason ?? 'the plan has no smtp level'}.`),
    syntax: {
      address: valid ? result.email.trim() : null,
      domain: domain ?? '',
      is_valid_syntax: valid,
      username: user ?? '',
      normalized_email: user === null ? null : `${user}@${domain}`,
      suggestion: result.did_you_mean,
    },
  };
}

const REACHER_FORM: ForeignForm = {
  ...keyIn({ header: 'x-reacher-secret', schemes: [''] }),
  error: (apiError) => ({ status: apiError.status, body: { error: apiError.message } }),
};

const checkRoute = (version: 'v0' | 'v1'): Route =>
  route({
    method: 'POST',
    path: `/${version}/check_email`,
    access: 'charged-api-key:verify',
    form: REACHER_FORM,
    input: { body: Type.Object({ to_email: Type.Unknown() }), lenient: true },
    serve: (context) => {
      const verify = verifyForVendor(context);
      return async (granted, { body: { to_email: sent } }) => {
        // Versions before 0.9 took a list of one.
        const email: unknown = Array.isArray(sent) ? sent[0] : sent;
        const { report } = await verify(granted, { email, field: 'to_email', timeoutMs: TIMEOUT_MS.max });
        return { body: reacherReply(report) };
      };
    },
  });

export const REACHER_CHECK_ROUTES: readonly Route[] = [checkRoute('v0'), checkRoute('v1')];

// Reacher's bulk jobs, as lists. Source: see reacher.ts.

/** Reacher has two. */
const JOB_STATUS: Readonly<Record<ListStatus, 'Running' | 'Completed'>> = {
  ready: 'Running',
  running: 'Running',
  paused: 'Running',
  completed: 'Completed',
  cancelled: 'Completed',
  failed: 'Completed',
};

const SKIPPED: VerifyReply['checks'] = {
  syntax: { result: 'fail' },
  filter: { result: 'skipped' },
  disposable: { result: 'skipped', list_version: '' },
  domain: { result: 'skipped' },
  mx: { result: 'skipped' },
  smtp: { result: 'skipped' },
  catch_all: { result: 'skipped' },
};

const ResultsQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIST_ROWS_PER_PAGE.max })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: LIST_ROWS.max })),
});
const DEFAULT_RESULTS = 50;
const UNFILTERED = { status: null, deliverability: null, reason: null, query: null };

export const REACHER_BULK_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/bulk',
    access: 'api-key:lists',
    form: REACHER_FORM,
    input: {
      body: { cost: 'list_upload', stream: ['application/json'] },
      maxBodyBytes: LIST_JSON_BYTES,
    },
    serve:
      ({ lists, plans }) =>
      async ({ caller, ip }, { body }) => {
        const { accountId: account, plan, keyId } = caller;
        const { list } = await lists.upload({ account, plan, keyId, ip }, { caller, ip }, async (place) => {
          const json = new JsonList('input', LIST_UPLOAD_EXTRA_BYTES);
          const { input, close } = await spooled(json.array(body.held(place)), LIST_JSON_BYTES);
          try {
            if (json.fields() === null)
              throw new ApiError('missing_parameter', 'input is missing, or not an array.', { field: 'input' });
          } catch (error) {
            await close();
            throw error;
          }
          const level = termsOf(plans, plan).levels.includes('smtp') ? 'smtp' : DEFAULT_LEVEL;
          return { level, fileName: null, sentAs: { form: 'json', charset: null }, input, close };
        });
        const { error } = listObject(list);
        if (error !== null) {
          // The contract has no way to start it later.
          await lists.change(account, list.id, 'delete', { caller, ip });
          throw new ApiError(isErrorCode(error.code) ? error.code : 'list_state', error.error);
        }
        return { body: { job_id: list.id } };
      },
  }),
  route({
    method: 'GET',
    path: '/v1/bulk/:id',
    access: 'api-key:lists',
    cost: null,
    form: REACHER_FORM,
    serve:
      ({ lists }) =>
      async ({ caller }, { params: { id } }) => {
        const { status, rows, progress, deliverability, created_at, finished_at } = listObject(
          await lists.get(caller.accountId, id),
        );
        return {
          body: {
            job_id: id,
            created_at,
            finished_at,
            total_records: rows.addresses,
            total_processed: progress.done,
            summary: {
              total_safe: deliverability.deliverable,
              total_risky: deliverability.risky,
              total_invalid: deliverability.undeliverable,
              total_unknown: deliverability.unknown,
            },
            job_status: JOB_STATUS[status],
          },
        };
      },
  }),
  route({
    method: 'GET',
    path: '/v1/bulk/:id/results',
    access: 'api-key:lists',
    cost: 'query',
    form: REACHER_FORM,
    input: { query: ResultsQuery },
    serve:
      ({ lists }) =>
      async ({ caller }, { params: { id = '' }, query: { limit = DEFAULT_RESULTS, offset = 0 } }: ReacherInput) => {
        const { status } = listObject(await lists.get(caller.accountId, id));
        if (JOB_STATUS[status] === 'Running')
          throw new ApiError('invalid_parameter', `Job ${id} is still running, please try again later`);
        const { entries } = await lists.rows(caller.accountId, id, { ...UNFILTERED, after: offset, limit });
        return { body: { results: entries.map(({ view }) => reacherResult(view)) } };
      },
  }),
];

interface ReacherInput {
  readonly params: { readonly id?: string };
  readonly query: { readonly limit?: number; readonly offset?: number };
}
/** A row without a result, such as a blank one, is an invalid address. */
const reacherResult = (row: RowView) =>
  reacherReply({
    email: row.email ?? '',
    status: row.status ?? 'bad',
    reason: row.status === null ? 'invalid_format' : row.reason,
    did_you_mean: row.did_you_mean,
    validation_type: row.validation_type ?? DEFAULT_LEVEL,
    is_disposable: row.is_disposable ?? false,
    is_role: row.is_role,
    is_free: row.is_free,
    is_catch_all: row.is_catch_all,
    checks: row.checks ?? SKIPPED,
  });
