import * as D from '../../contract/dashboard/lists.ts';
import * as C from '../../contract/lists.ts';
import { toIso, toIsoOrNull } from '../../kernel/clock.ts';
import { LIST_BYTES, LIST_UPLOAD_EXTRA_BYTES } from '../../kernel/facts/limits.ts';
import type { ListAction, ReadChoice } from '../../kernel/facts/lists.ts';
import { LIST_ORDERS, sortingOf } from '../../kernel/facts/sort-orders.ts';
import { DASHBOARD_KEY } from '../../kernel/log-origins.ts';
import type { ListDetail } from '../../service/lists/service.ts';
import { done } from '../access/session.ts';
import { listReading } from '../input/read-choice.ts';
import { readUpload, UPLOAD_TYPES } from '../input/upload.ts';
import { paginationOf } from '../reply.ts';
import { type Route, route } from '../route.ts';
import { listReply, resultsAnswer, resultsWanted } from '../v1/lists.ts';

const DASHBOARD_LISTS_PATH = '/dashboard/accounts/:account/lists';
const DASHBOARD_LIST_PATH = `${DASHBOARD_LISTS_PATH}/:id` as const;
/** So much of a cell is shown. */
const SHOWN_CELL_CHARACTERS = 100;
const shownCells = ({ cells }: { readonly cells: readonly string[] }) =>
  cells.map((cell) => cell.slice(0, SHOWN_CELL_CHARACTERS).toWellFormed());

const chosenReply = ({ columns = null, headerRow = null, ...of }: ReadChoice): D.ListHere['chosen'] => ({
  columns: columns === null || columns === 'all' ? columns : [...columns],
  header_row: headerRow,
  delimiter: of.delimiter ?? null,
  encoding: of.encoding ?? null,
  sheet: of.sheet ?? null,
  entry: of.entry ?? null,
});

const detailReply = ({ list, key, nextRetryAt, rest }: ListDetail): D.ListHere => {
  const { columns, addressColumn, addressColumns = [addressColumn], chosen = {} } = list.layout;
  return {
    ...listReply(list),
    key,
    columns: [...columns],
    address_columns: addressColumns.map((column) => column + 1),
    has_file: list.hasFile,
    chosen: chosenReply(chosen),
    next_retry_at: toIsoOrNull(nextRetryAt),
    rest_list: rest,
  };
};

const dashboardActionRoute = (action: Exclude<ListAction, 'start' | 'delete'>, summary: string): Route =>
  route({
    method: 'POST',
    path: `${DASHBOARD_LIST_PATH}/${action}`,
    access: 'member',
    output: { content: C.ListReply },
    doc: { operationId: `${action}ListHere`, summary, errors: [409] },
    serve:
      ({ lists }) =>
      async ({ account, actor }, { params: { id = '' } }: { params: { readonly id?: string } }) => ({
        body: listReply(await lists.change(account, id, action, actor)),
      }),
  });

export const DASHBOARD_LIST_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: DASHBOARD_LISTS_PATH,
    access: 'viewer',
    cost: 'query',
    input: { query: D.ListsHereQuery },
    output: { content: D.ListsHereReply },
    doc: { operationId: 'listsHere', summary: 'Lists, newest first' },
    serve:
      ({ lists }) =>
      async ({ account }, { query }) => {
        const { status = null, query: text, page, per_page: perPage } = query;
        const sort = sortingOf(LIST_ORDERS, query);
        const { items, total } = await lists.list(account, { status, query: text || null, sort, page, perPage });
        return {
          body: { lists: items.map((list) => listReply(list)), pagination: paginationOf(total, page, perPage) },
        };
      },
  }),
  route({
    method: 'POST',
    path: DASHBOARD_LISTS_PATH,
    access: 'member',
    cost: null,
    input: {
      query: C.ListUpload,
      body: { cost: 'list_upload', stream: UPLOAD_TYPES, anyType: true, tooLarge: 'list_too_large' },
      maxBodyBytes: LIST_BYTES + LIST_UPLOAD_EXTRA_BYTES,
    },
    output: { status: 201, content: C.ListReply },
    doc: { operationId: 'createListHere', summary: 'Upload a file of addresses', errors: [402, 422] },
    serve:
      ({ lists }) =>
      async ({ account, actor, ip, request }, { query, body }) => {
        const uploader = { account, plan: null, keyId: DASHBOARD_KEY, ip };
        const { list } = await lists.upload(uploader, actor, (place) => readUpload(request, body.held(place), query));
        return { body: listReply(list) };
      },
  }),
  route({
    method: 'GET',
    path: DASHBOARD_LIST_PATH,
    access: 'viewer',
    cost: null,
    output: { content: D.ListHere },
    doc: { operationId: 'getListHere', summary: 'A list with its progress' },
    serve:
      ({ lists }) =>
      async ({ account }, { params: { id } }) => ({ body: detailReply(await lists.describe(account, id)) }),
  }),
  route({
    method: 'GET',
    path: `${DASHBOARD_LIST_PATH}/preview`,
    access: 'viewer',
    cost: 'query',
    output: { content: D.ListPreviewReply },
    doc: { operationId: 'previewListHere', summary: 'The first rows of the file' },
    serve:
      ({ lists }) =>
      async ({ account }, { params: { id } }) => {
        const rows = (await lists.firstRows(account, id)).map(({ row, cells, problem }) => ({
          row,
          cells: shownCells({ cells }),
          problem: problem?.code ?? null,
        }));
        return { body: { rows } };
      },
  }),
  route({
    method: 'PATCH',
    path: DASHBOARD_LIST_PATH,
    access: 'member',
    input: { body: C.ListPatch },
    output: { content: C.ListReply, description: 'The list, with its new rows and price.' },
    doc: {
      operationId: 'readListHere',
      summary: 'Read the file of a list that is not started in another way',
      errors: [409, 422],
    },
    serve:
      ({ lists }) =>
      async ({ account }, { params: { id }, body }) => ({
        body: listReply(await lists.read(account, id, listReading(body))),
      }),
  }),
  route({
    method: 'POST',
    path: `${DASHBOARD_LIST_PATH}/start`,
    access: 'member',
    input: { body: D.ListLevelRequest },
    output: { content: C.ListReply },
    doc: {
      operationId: 'startListHere',
      summary: 'Start a list at a level; its price is held',
      errors: [402, 409, 422],
    },
    serve:
      ({ lists }) =>
      async ({ account, actor }, { params: { id }, body: { validation_type: level } }) => ({
        body: listReply(await lists.change(account, id, 'start', actor, level)),
      }),
  }),
  dashboardActionRoute('pause', 'Pause a list'),
  dashboardActionRoute('resume', 'Resume a paused list'),
  dashboardActionRoute('cancel', 'End a list and release what is held for it'),
  route({
    method: 'POST',
    path: `${DASHBOARD_LIST_PATH}/retry`,
    access: 'member',
    input: { body: D.ListLevelRequest },
    output: { status: 201, content: C.ListReply, description: 'The new list.' },
    doc: {
      operationId: 'retryListHere',
      summary: 'Start a new list of the rows whose address is unknown',
      errors: [402, 409, 422],
    },
    serve:
      ({ lists }) =>
      async ({ account, actor }, { params: { id }, body: { validation_type: level } }) => ({
        body: listReply(await lists.retryUnknown(account, id, level, actor)),
      }),
  }),
  route({
    method: 'POST',
    path: `${DASHBOARD_LIST_PATH}/rest`,
    access: 'member',
    output: { status: 201, content: C.ListReply, description: 'The new list.' },
    doc: {
      operationId: 'verifyRestHere',
      summary: 'Start a new list of what a canceled or failed one did not verify',
      errors: [402, 409, 422],
    },
    serve:
      ({ lists }) =>
      async ({ account, actor }, { params: { id } }) => ({
        body: listReply(await lists.verifyRest(account, id, actor)),
      }),
  }),
  route({
    method: 'GET',
    path: `${DASHBOARD_LIST_PATH}/rows`,
    access: 'viewer',
    cost: 'query',
    input: { query: D.ListRowsHereQuery },
    output: { content: D.ListRowsHereReply },
    doc: { operationId: 'listRowsHere', summary: 'Rows in the order of the file' },
    serve:
      ({ lists }) =>
      async ({ account }, { params: { id }, query }) => {
        const { status = null, deliverability = null, reason = null, kind = null, query: text, after, limit } = query;
        const filter = { status, deliverability, reason, kind, query: text || null };
        const { entries, next } = await lists.rows(account, id, { ...filter, after, limit });
        const rows = entries.map(({ row, view, kind, verification }) => ({
          ...view,
          kind,
          verification_id: verification,
          ...(query.cells === 'true' ? { cells: shownCells(row) } : {}),
        }));
        return { body: { rows, next } };
      },
  }),
  route({
    method: 'GET',
    path: `${DASHBOARD_LIST_PATH}/deferred`,
    access: 'viewer',
    cost: 'query',
    output: { content: D.ListDeferredReply },
    doc: { operationId: 'listDeferredHere', summary: 'Addresses that are asked about again' },
    serve:
      ({ lists }) =>
      async ({ account }, { params: { id } }) => {
        const deferred = (await lists.deferred(account, id)).map(({ email, attempts, firstAt, retryAt }) => ({
          email,
          attempts,
          first_at: toIso(firstAt),
          retry_at: toIso(retryAt),
        }));
        return { body: { deferred } };
      },
  }),
  route({
    method: 'GET',
    path: `${DASHBOARD_LIST_PATH}/results`,
    access: 'viewer',
    cost: null,
    input: { query: C.ListResultsQuery },
    output: { content: 'text/csv' },
    doc: { operationId: 'listResultsHere', summary: 'The file with its results' },
    serve:
      ({ lists }) =>
      async ({ account }, { params: { id }, query }) => {
        const wanted = resultsWanted(query);
        return resultsAnswer(await lists.results(account, id, wanted), wanted);
      },
  }),
  route({
    method: 'DELETE',
    path: DASHBOARD_LIST_PATH,
    access: 'member',
    output: { content: C.ListRemoved },
    doc: { operationId: 'removeListHere', summary: 'Delete a list with its rows and results', errors: [409] },
    serve:
      ({ lists }) =>
      async ({ account, actor }, { params: { id } }) => {
        await lists.change(account, id, 'delete', actor);
        return done(`List ${id} was removed.`);
      },
  }),
];
