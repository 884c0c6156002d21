/** Reacher's bulk jobs, as lists. Source: see reacher.ts. */
import Type from 'typebox';
import type { VerifyReply } from '../../contract/verify.ts';
import { ApiError, isErrorCode } from '../../kernel/errors.ts';
import { LIST_JSON_BYTES, LIST_ROWS, LIST_ROWS_PER_PAGE, LIST_UPLOAD_EXTRA_BYTES } from '../../kernel/facts/limits.ts';
import type { ListStatus } from '../../kernel/facts/lists.ts';
import { DEFAULT_LEVEL, PLANS } from '../../kernel/facts/plans.ts';
import type { RowView } from '../../service/lists/results.ts';
import { listObject } from '../../service/lists/service.ts';
import { spooled } from '../../service/lists/spooled.ts';
import { JsonList } from '../input/json-list.ts';
import { type Route, route } from '../route.ts';
import { REACHER_FORM, reacherReply } from './reacher.ts';

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
      bodyLimit: LIST_JSON_BYTES,
    },
    serve:
      ({ lists }) =>
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
          const level = PLANS[plan].smtp ? 'smtp' : DEFAULT_LEVEL;
          return { level, fileName: null, form: 'json', input, close };
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
      async ({ caller }, { params: { id = '' }, query: { limit = DEFAULT_RESULTS, offset = 0 } }: Asked) => {
        const { status } = listObject(await lists.get(caller.accountId, id));
        if (JOB_STATUS[status] === 'Running')
          throw new ApiError('invalid_parameter', `Job ${id} is still running, please try again later`);
        const { entries } = await lists.rows(caller.accountId, id, { ...UNFILTERED, after: offset, limit });
        return { body: { results: entries.map(({ view }) => resultOf(view)) } };
      },
  }),
];

interface Asked {
  readonly params: { readonly id?: string };
  readonly query: { readonly limit?: number; readonly offset?: number };
}
/** A row without a result, such as a blank one, is an invalid address. */
const resultOf = (row: RowView) =>
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
