import * as C from '../../contract/lists.ts';
import { IdempotencyHeader, type Read } from '../../contract/schema.ts';
import type { PublicCode } from '../../kernel/errors.ts';
import { LIST_BYTES, LIST_UPLOAD_EXTRA_BYTES } from '../../kernel/facts/limits.ts';
import { delimiterOf, hasEnded, type ListAction, type ResultFormat } from '../../kernel/facts/lists.ts';
import type { HeldPlace } from '../../kernel/fair-queue.ts';
import { type List, type ListService, listObject } from '../../service/lists/service.ts';
import { listReading } from '../input/read-choice.ts';
import { readUpload, UPLOAD_TYPES } from '../input/upload.ts';
import { PacedBody } from '../paced-body.ts';
import { linkHeader, paginationOf, REPLAYED } from '../reply.ts';

import { CREDIT_ERRORS, type RawAnswer, type Route, route } from '../route.ts';

const LISTS_PATH = '/v1/lists';
/** Reading a file of addresses may fail with these. */
const FILE_ERRORS = ['unreadable_file', 'no_address_column', 'no_addresses', 'few_addresses'] as const;

/** `said` are warnings of the request. */
export const listReply = (list: List, said: readonly string[] = []): C.ListReply => {
  const object = listObject(list);
  const ofRequest = said.map((message) => ({ code: 'unknown_field' as const, message }));
  return { ...object, warnings: [...object.warnings, ...ofRequest] };
};

const actionRoute = (action: Exclude<ListAction, 'delete'>, summary: string, errors: readonly PublicCode[]): Route =>
  route({
    method: 'POST',
    path: `${LISTS_PATH}/:id/${action}`,
    access: 'api-key:lists',
    output: { content: C.ListReply, description: 'The list.' },
    doc: { operationId: `${action}List`, tag: 'Lists', summary, errors },
    serve:
      ({ lists }) =>
      async (
        { caller, ip },
        { params: { id = '' }, warnings }: { params: { readonly id?: string }; warnings: readonly string[] },
      ) => ({ body: listReply(await lists.change(caller.accountId, id, action, { caller, ip }), warnings) }),
  });

const RESULT_TYPES: Readonly<Record<ResultFormat, string>> = {
  csv: 'text/csv',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  jsonl: 'application/jsonl; charset=utf-8',
};

/** The download is named by it: letters, digits and some marks of the list's name, without its ending. */
type WantedResults = ReturnType<typeof resultsWanted>;

/** Returns `June.results.csv`, or for a part of the rows `June.mailbox_full.csv`. */
function fileName({ name }: List, { format, filter }: WantedResults, isPartial: boolean): string {
  const stem = name.replace(/\.(csv|tsv|txt|xlsx|ndjson|jsonl|json)$/i, '').replaceAll(/[^\w.-]+/g, '_');
  const { status, deliverability, reason, query } = filter;
  const part = [status, deliverability?.join('-') ?? null, reason, query === null ? null : 'search'];
  const what = part.filter((one) => one !== null).join('.') || 'results';
  return `${stem.slice(0, 100)}.${what}${isPartial ? '-partial' : ''}.${format}`;
}

/** Answers with the download. */
export const resultsAnswer = (
  { list, encoding, file }: Awaited<ReturnType<ListService['results']>>,
  wanted: WantedResults,
): RawAnswer => {
  const { format } = wanted;
  const isPartial = !hasEnded(list.status);
  const named = { 'content-disposition': `attachment; filename="${fileName(list, wanted, isPartial)}"` };
  return {
    body: new PacedBody(file),
    type: format === 'csv' ? `${RESULT_TYPES.csv}; charset=${encoding}` : RESULT_TYPES[format],
    headers: isPartial ? { ...named, 'x-mailvet-partial': 'true' } : named,
  };
};

/** What a query of a download asks for. */
export function resultsWanted({ query = '', ...asked }: Read<typeof C.ListResultsQuery>) {
  const { format = 'csv', status = null, deliverability = null, reason = null } = asked;
  const { delimiter, encoding = null, bom } = asked;
  const dialect = {
    delimiter: delimiter === undefined ? null : delimiterOf(delimiter),
    encoding,
    byteOrderMark: bom === undefined ? null : bom === 'true',
  };
  return { format, dialect, filter: { status, deliverability, reason, query: query || null } };
}

export const LIST_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: LISTS_PATH,
    access: 'api-key:lists',
    cost: null,
    input: {
      query: C.ListUpload,
      headers: IdempotencyHeader,
      body: { cost: 'list_upload', stream: UPLOAD_TYPES, anyType: true, tooLarge: 'list_too_large' },
      maxBodyBytes: LIST_BYTES + LIST_UPLOAD_EXTRA_BYTES,
    },
    output: {
      status: 201,
      content: C.ListReply,
      description: 'The list, when every row is stored. What prevents its start is its `error`.',
      headers: { Location: 'Path of the list.', ...REPLAYED },
    },
    doc: {
      operationId: 'createList',
      tag: 'Lists',
      summary: 'Upload addresses and verify them as one job',
      description:
        'The file as the body, whatever its type, or as the part `file` of a form, or `{"emails": […]}`. The other fields go in the query, the form or the object. With an `Idempotency-Key`, the same upload again returns the list of the first one, as it is now.',
      errors: [
        ...CREDIT_ERRORS,
        'invalid_validation_type',
        'policy_not_found',
        'too_many_lists',
        'list_storage_full',
        ...FILE_ERRORS,
      ],
    },
    serve:
      ({ lists }) =>
      async ({ caller, ip, request }, { query, body, headers, warnings }) => {
        const { accountId: account, plan, keyId } = caller;
        const uploader = { account, plan, keyId, ip };
        const found = [...warnings];
        const read = (place: HeldPlace) => readUpload(request, body.held(place), query, (more) => found.push(...more));
        const key = headers['idempotency-key'] ?? null;
        const once = key === null ? null : { route: `POST ${LISTS_PATH}`, key };
        const { list, isFirst } = await lists.upload(uploader, { caller, ip }, read, once);
        const location = { location: `${LISTS_PATH}/${list.id}` };
        const replyHeaders = isFirst ? location : { ...location, 'idempotency-replayed': 'true' };
        return { body: listReply(list, found), headers: replyHeaders };
      },
  }),
  route({
    method: 'GET',
    path: LISTS_PATH,
    access: 'api-key:lists',
    cost: 'query',
    input: { query: C.ListsQuery },
    output: {
      content: C.ListsReply,
      description: 'One page of lists.',
      headers: { Link: 'first, prev, next and last page (RFC 8288).' },
    },
    doc: { operationId: 'lists', tag: 'Lists', summary: 'Lists, newest first' },
    serve:
      ({ lists }) =>
      async ({ caller, request }, { query: { status = null, query: text, page, per_page: perPage } }) => {
        const search = { status, query: text || null, page, perPage };
        const { items, total } = await lists.list(caller.accountId, search);
        return {
          body: { lists: items.map((list) => listReply(list)), pagination: paginationOf(total, page, perPage) },
          headers: linkHeader(request.url, total, page, perPage),
        };
      },
  }),
  route({
    method: 'GET',
    path: `${LISTS_PATH}/:id`,
    access: 'api-key:lists',
    cost: null,
    output: { content: C.ListReply, description: 'The list.' },
    doc: { operationId: 'getList', tag: 'Lists', summary: 'A list with its progress' },
    serve:
      ({ lists }) =>
      async ({ caller }, { params: { id }, warnings }) => ({
        body: listReply(await lists.get(caller.accountId, id), warnings),
      }),
  }),
  route({
    method: 'PATCH',
    path: `${LISTS_PATH}/:id`,
    access: 'api-key:lists',
    input: { body: C.ListPatch },
    output: { content: C.ListReply, description: 'The list, with its new rows and price.' },
    doc: {
      operationId: 'readList',
      tag: 'Lists',
      summary: 'Read the file of a list that is not started in another way',
      errors: ['list_state', ...FILE_ERRORS],
    },
    serve:
      ({ lists }) =>
      async ({ caller }, { params: { id }, body, warnings }) => ({
        body: listReply(await lists.read(caller.accountId, id, listReading(body)), warnings),
      }),
  }),
  actionRoute('start', 'Hold the price of a list and begin to verify it', [
    ...CREDIT_ERRORS,
    'list_state',
    'no_addresses',
  ]),
  actionRoute('pause', 'Pause a list', ['list_state']),
  actionRoute('resume', 'Resume a paused list', ['list_state']),
  actionRoute('cancel', 'Cancel a list and release what is held for it', ['list_state']),
  route({
    method: 'GET',
    path: `${LISTS_PATH}/:id/rows`,
    access: 'api-key:lists',
    cost: 'query',
    input: { query: C.ListRowsQuery },
    output: { content: C.ListRowsReply, description: 'Rows in the order of the file.' },
    doc: { operationId: 'listRows', tag: 'Lists', summary: 'Rows of a list with their results' },
    serve:
      ({ lists }) =>
      async ({ caller }, { params: { id }, query }) => {
        const { status = null, deliverability = null, reason = null, query: text, after, limit } = query;
        const filter = { status, deliverability, reason, query: text || null };
        const { entries, next } = await lists.rows(caller.accountId, id, { ...filter, after, limit });
        return { body: { rows: entries.map(({ view }) => view), next } };
      },
  }),
  route({
    method: 'GET',
    path: `${LISTS_PATH}/:id/results`,
    access: 'api-key:lists',
    cost: null,
    input: { query: C.ListResultsQuery },
    output: {
      content: 'text/csv',
      description: 'The file with results; `format` chooses CSV, XLSX or JSON Lines.',
      headers: { 'X-Mailvet-Partial': '`true` while results are still to come; their rows are marked `pending`.' },
    },
    doc: {
      operationId: 'listResults',
      tag: 'Lists',
      summary: 'Download the results of a list, also while it runs',
    },
    serve:
      ({ lists }) =>
      async ({ caller }, { params: { id }, query }) => {
        const wanted = resultsWanted(query);
        return resultsAnswer(await lists.results(caller.accountId, id, wanted), wanted);
      },
  }),
  route({
    method: 'DELETE',
    path: `${LISTS_PATH}/:id`,
    access: 'api-key:lists',
    output: { content: C.ListRemovedReply, description: 'Removed.' },
    doc: {
      operationId: 'removeList',
      tag: 'Lists',
      summary: 'Erase a list with its rows and results',
      errors: ['list_state'],
    },
    serve:
      ({ lists }) =>
      async ({ caller, ip }, { params: { id } }) => {
        await lists.change(caller.accountId, id, 'delete', { caller, ip });
        return { body: { status: 'success', message: `List ${id} was removed.` } };
      },
  }),
];
