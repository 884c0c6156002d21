import * as C from '../../contract/filters.ts';
import { IdempotencyHeader, type Read } from '../../contract/schema.ts';
import { toIso, toIsoOrNull } from '../../kernel/clock.ts';
import type { ApiError } from '../../kernel/errors.ts';
import { given } from '../../kernel/facts/given.ts';
import { FILTER_FILE_BYTES, LIST_UPLOAD_EXTRA_BYTES } from '../../kernel/facts/limits.ts';
import type { HeldPlace } from '../../kernel/fair-queue.ts';
import type { ChangedBy } from '../../service/audit-log.ts';
import type { PacedReading } from '../../service/costs.ts';
import {
  type ChangedFilter,
  type Filter,
  type FilterAdded,
  type FilterFields,
  type FilterService,
  filterExists,
  type NewFilter,
} from '../../service/filters.ts';
import type { AccountId } from '../../service/members.ts';
import { type CsvColumns, csvFile } from '../csv.ts';
import type { HttpRequest } from '../exchange.ts';
import type { ArrivingBody } from '../input/arrival.ts';
import { readChoiceOf } from '../input/read-choice.ts';
import { fieldsReader, jsonReader } from '../input/reader.ts';
import { readFileUpload, UPLOAD_TYPES } from '../input/upload.ts';
import { errorReply, jsonReply, linkHeader, nothingToChange, paginationOf, REPLAYED } from '../reply.ts';
import { type RawAnswer, type Route, route } from '../route.ts';

const FILTERS_PATH = '/v1/filters';

export const filterReply = (f: Filter): C.FilterReply => ({
  id: f.id,
  filter_type: f.filterType,
  value: f.value,
  reason: f.reason,
  action: f.action,
  match: f.match,
  expires_at: toIsoOrNull(f.expiresAt),
  expired: f.expired,
  hits: f.hits,
  last_hit_at: toIsoOrNull(f.lastHitAt),
  created_at: toIso(f.createdAt),
});

export const filtersReply = (items: readonly Filter[], total: number, page: number, perPage: number) => ({
  filters: items.map(filterReply),
  pagination: paginationOf(total, page, perPage),
});

export const newFilter = (body: Read<typeof C.FilterRequest>): NewFilter => ({
  filterType: body.filter_type ?? null,
  value: body.value,
  reason: body.reason ?? null,
  action: body.action ?? 'block',
  match: body.match ?? 'exact',
  expiresAt: body.expires_at ?? null,
});

/** Throws ApiError if nothing is to be changed. */
export function changedFilter(body: Read<typeof C.FilterChangeRequest>): ChangedFilter {
  const { reason, action, match, expires_at: expiresAt } = body;
  const change = given({ reason, action, match, expiresAt });
  if (Object.keys(change).length === 0) throw nothingToChange('reason, action, match or expires_at');
  return change;
}

/** The outcome is sent and stored so. */
const addedReply = (outcome: FilterAdded, requestId: string, warnings: readonly string[]) =>
  outcome.added
    ? jsonReply<typeof C.FilterAddedReply>(
        201,
        { ...filterReply(outcome.filter), warnings },
        { location: `${FILTERS_PATH}/${outcome.filter.id}` },
      )
    : errorReply(filterExists(outcome.existingId), requestId);

// Files

/** Those of a file of before come first. */
const FILTER_FILE_COLUMNS: CsvColumns<Filter> = {
  filter_type: (f) => f.filterType,
  value: (f) => f.value,
  reason: (f) => f.reason,
  created_at: (f) => toIso(f.createdAt),
  action: (f) => f.action,
  match: (f) => f.match,
  expires_at: (f) => toIsoOrNull(f.expiresAt),
  hits: (f) => f.hits,
  last_hit_at: (f) => toIsoOrNull(f.lastHitAt),
};

/** All filters as CSV. */
export const filtersFile = (pages: PacedReading<readonly Filter[]>): RawAnswer =>
  csvFile('filters', FILTER_FILE_COLUMNS, pages, (filter) => filter);

/** A row that takes a file of filters has this input. */
export const FILTER_FILE_INPUT = {
  query: C.FilterUpload,
  body: { cost: 'list_upload', stream: UPLOAD_TYPES, anyType: true, tooLarge: 'list_too_large' },
  maxBodyBytes: FILTER_FILE_BYTES + LIST_UPLOAD_EXTRA_BYTES,
} as const;

const readFilterFields = fieldsReader(C.FilterUpload);
const readFilterRow = jsonReader(C.FlatFilterRequest);
function filterOfRow(fields: FilterFields): NewFilter | ApiError {
  const read = readFilterRow({ ...fields });
  return read.ok ? newFilter(read.value) : read.error;
}

interface FileRequest {
  readonly request: HttpRequest;
  readonly query: Read<typeof C.FilterUpload>;
  readonly body: ArrivingBody;
  readonly warnings: readonly string[];
}

/** Reads and imports a file of filters. */
export async function importedFile(
  filters: FilterService,
  account: AccountId,
  { request, query, body, warnings }: FileRequest,
  by: ChangedBy,
) {
  const said = [...warnings];
  let dryRun = false;
  const receive = async (place: HeldPlace) => {
    const rules = { query, readFields: readFilterFields, maxBytes: FILTER_FILE_BYTES };
    const { fields, charset, ...file } = await readFileUpload(request, body.held(place), rules, (more) =>
      said.push(...more),
    );
    const { dry_run, ...read } = fields;
    dryRun = dry_run === 'true';
    return { ...file, read: readChoiceOf(read), charset, dryRun };
  };
  const imported = await filters.importFile(account, receive, filterOfRow, by);
  const { reading, shown, rows, added, existing, invalid, errors } = imported;
  const { headerRow, columns, format, delimiter, encoding, sheet, entry } = reading;
  return {
    dry_run: dryRun,
    rows,
    added,
    existing,
    invalid,
    errors,
    filters: shown.map(({ row, filterType, value, reason, action, match, expiresAt }) => ({
      row,
      filter_type: filterType,
      value,
      reason,
      action,
      match,
      expires_at: toIsoOrNull(expiresAt),
    })),
    read: { format, delimiter, encoding, sheet, entry, header_row: headerRow, columns },
    warnings: [...said, ...imported.warnings],
  };
}

/** What the account itself blocks and allows. */
export const FILTER_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: FILTERS_PATH,
    access: 'api-key:filters',
    input: { body: C.FilterRequest, headers: IdempotencyHeader },
    output: {
      status: 201,
      content: C.FilterAddedReply,
      description: 'The filter, in force for the next request.',
      headers: { Location: 'Path of the filter.', ...REPLAYED },
    },
    doc: {
      operationId: 'addFilter',
      tag: 'Filters',
      summary: 'Add a filter',
      errors: ['invalid_filter', 'filter_exists', 'too_many_filters'],
    },
    serve:
      ({ filters }) =>
      async ({ caller, ip, request, idempotency }, { body, warnings }) => {
        const replyTo = (outcome: FilterAdded) => {
          const ofFilter = outcome.added ? filters.warnings(outcome.filter) : [];
          return addedReply(outcome, request.id, [...warnings, ...ofFilter]);
        };
        const stored = idempotency && { ref: idempotency, replyTo };
        return replyTo(await filters.add(caller.accountId, newFilter(body), { caller, ip }, stored));
      },
  }),
  route({
    method: 'GET',
    path: FILTERS_PATH,
    access: 'api-key:filters',
    cost: 'query',
    input: { query: C.FiltersQuery },
    output: {
      content: C.FilterPageReply,
      description: 'One page of filters.',
      headers: { Link: 'first, prev, next and last page (RFC 8288).' },
    },
    doc: { operationId: 'listFilters', tag: 'Filters', summary: 'List filters, newest first' },
    serve:
      ({ filters }) =>
      async (
        { caller, request },
        { query: { filter_type: filterType = null, query: text, page, per_page: perPage } },
      ) => {
        const search = { filterType, query: text || null, page, perPage };
        const { items, total } = await filters.list(caller.accountId, search);
        return {
          body: filtersReply(items, total, page, perPage),
          headers: linkHeader(request.url, total, page, perPage),
        };
      },
  }),
  route({
    method: 'POST',
    path: `${FILTERS_PATH}/import`,
    access: 'api-key:filters',
    cost: null,
    input: FILTER_FILE_INPUT,
    output: { content: C.FilterImportReply, description: 'What was added, and why what was not.' },
    doc: {
      operationId: 'importFilters',
      tag: 'Filters',
      summary: 'Add the filters of a file',
      description:
        'The file as the body, whatever its type, or as the part `file` of a form. The other fields go in the query or the form. A row that cannot be used is named in `errors`, and changes nothing; the others are added. The same file again adds nothing.',
      errors: ['unreadable_file', 'too_many_filters'],
    },
    serve:
      ({ filters }) =>
      async ({ caller, ip, request }, { query, body, warnings }) => ({
        body: await importedFile(filters, caller.accountId, { request, query, body, warnings }, { caller, ip }),
      }),
  }),
  route({
    method: 'GET',
    path: `${FILTERS_PATH}/export`,
    access: 'api-key:filters',
    cost: null,
    output: { content: 'text/csv', description: 'All filters, oldest first, as a file that can be imported.' },
    doc: { operationId: 'exportFilters', tag: 'Filters', summary: 'All filters as CSV' },
    serve:
      ({ filters, costs }) =>
      async ({ caller }) =>
        filtersFile(await costs.read('export', caller.accountId, filters.all(caller.accountId))),
  }),
  route({
    method: 'GET',
    path: `${FILTERS_PATH}/:id`,
    access: 'api-key:filters',
    cost: null,
    input: { params: C.FilterParams },
    output: { content: C.FilterDetailsReply, description: 'The filter.' },
    doc: { operationId: 'getFilter', tag: 'Filters', summary: 'Get a filter' },
    serve:
      ({ filters }) =>
      async ({ caller }, { params: { id } }) => ({ body: filterReply(await filters.get(caller.accountId, id)) }),
  }),
  route({
    method: 'PATCH',
    path: `${FILTERS_PATH}/:id`,
    access: 'api-key:filters',
    input: { params: C.FilterParams, body: C.FilterChangeRequest },
    output: { content: C.FilterDetailsReply, description: 'The filter as it is now, in force for the next request.' },
    doc: {
      operationId: 'changeFilter',
      tag: 'Filters',
      summary: 'Change a filter',
      errors: ['invalid_filter', 'filter_exists'],
    },
    serve:
      ({ filters }) =>
      async ({ caller, ip }, { params: { id }, body, warnings }) => {
        const filter = await filters.change(caller.accountId, id, changedFilter(body), { caller, ip });
        return { body: { ...filterReply(filter), warnings: [...warnings, ...filters.warnings(filter)] } };
      },
  }),
  route({
    method: 'DELETE',
    path: `${FILTERS_PATH}/:id`,
    access: 'api-key:filters',
    input: { params: C.FilterParams },
    output: { content: C.FilterRemovedReply, description: 'Removed.' },
    doc: { operationId: 'removeFilter', tag: 'Filters', summary: 'Remove a filter' },
    serve:
      ({ filters }) =>
      async ({ caller, ip }, { params: { id } }) => {
        await filters.remove(caller.accountId, id, { caller, ip });
        return { body: filterRemoved(id) };
      },
  }),
];

export const filterRemoved = (id: number) => ({ status: 'success', message: `Filter ${id} was removed.` });
