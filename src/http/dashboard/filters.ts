import * as D from '../../contract/dashboard/filters.ts';
import * as C from '../../contract/filters.ts';
import { toIso } from '../../kernel/clock.ts';
import type { ApiError } from '../../kernel/errors.ts';
import { IMPORT_BODY_BYTES } from '../../kernel/facts/limits.ts';
import { FILTER_ORDERS, sortingOf } from '../../kernel/facts/sort-orders.ts';
import {
  type Filter,
  type FilterService,
  filterExists,
  type ImportOutcome,
  type NewFilter,
} from '../../service/filters.ts';
import { jsonReader } from '../input/reader.ts';
import { type Route, route } from '../route.ts';
import { changedFilter, filterRemoved, filterReply, filtersReply, newFilter } from '../v1/filters.ts';
import { csvFile } from './csv.ts';

const FILTERS = '/dashboard/accounts/:account/filters';

const readLine = jsonReader(C.FlatFilterRequest);
const lineRead = (line: unknown): NewFilter | ApiError => {
  const read = readLine(line);
  return read.ok ? newFilter(read.value) : read.error;
};

const importedReply = (imported: ImportOutcome): D.FilterImportReply['results'][number] => ({
  outcome: imported.outcome,
  filter: imported.outcome === 'added' ? filterReply(imported.filter) : null,
  error: imported.outcome === 'invalid' ? imported.error : null,
});

/** Those of a file of before come first. */
const CELLS = {
  filter_type: (f) => f.filterType,
  value: (f) => f.value,
  reason: (f) => f.reason,
  created_at: (f) => toIso(f.createdAt),
  action: (f) => f.action,
  match: (f) => f.match,
  expires_at: (f) => (f.expiresAt === null ? null : toIso(f.expiresAt)),
  hits: (f) => f.hits,
  last_hit_at: (f) => (f.lastHitAt === null ? null : toIso(f.lastHitAt)),
} as const satisfies Record<string, (filter: Filter) => string | number | null>;
const COLUMNS = Object.keys(CELLS);
const cellsOf = (f: Filter) => Object.values(CELLS).map((cell) => cell(f));

const withWarnings = (filters: FilterService, filter: Filter) => ({
  ...filterReply(filter),
  warnings: [...filters.warnings(filter)],
});

/** The account's filters. */
export const FILTER_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: FILTERS,
    access: 'member',
    cost: 'query',
    input: { query: D.FiltersHereQuery },
    output: { content: C.FiltersReply },
    doc: { operationId: 'listFiltersHere', tag: 'Dashboard', summary: 'Filters, newest first or sorted' },
    serve:
      ({ filters }) =>
      async ({ account }, { query }) => {
        const { filter_type: filterType = null, query: text = null, page, per_page: perPage } = query;
        const search = { filterType, query: text || null, sort: sortingOf(FILTER_ORDERS, query), page, perPage };
        const { items, total } = await filters.list(account, search);
        return { body: filtersReply(items, total, page, perPage) };
      },
  }),
  route({
    method: 'POST',
    path: FILTERS,
    access: 'member',
    input: { body: C.FlatFilterRequest },
    output: { status: 201, content: C.FilterAddedReply },
    doc: { operationId: 'addFilterHere', tag: 'Dashboard', summary: 'Add a filter', errors: [422] },
    serve:
      ({ filters }) =>
      async ({ account, actor }, { body }) => {
        const outcome = await filters.add(account, newFilter(body), actor);
        if (outcome.added) return { body: withWarnings(filters, outcome.filter) };
        throw filterExists(outcome.existingId);
      },
  }),
  route({
    method: 'POST',
    path: `${FILTERS}/import`,
    access: 'member',
    input: { body: D.FilterImportRequest, bodyLimit: IMPORT_BODY_BYTES },
    output: { content: D.FilterImportReply },
    doc: {
      operationId: 'importFilters',
      tag: 'Dashboard',
      summary: 'Add many filters; each line gets its own result',
      errors: [422],
    },
    serve:
      ({ filters }) =>
      async ({ account, actor }, { body: { lines } }) => ({
        body: { results: (await filters.addMany(account, lines.map(lineRead), actor)).map(importedReply) },
      }),
  }),
  route({
    method: 'GET',
    path: `${FILTERS}.csv`,
    access: 'member',
    cost: null,
    output: { content: 'text/csv' },
    doc: { operationId: 'filtersCsv', tag: 'Dashboard', summary: 'All filters as CSV' },
    serve:
      ({ filters, costs }) =>
      async ({ account }) =>
        csvFile('filters', COLUMNS, await costs.read('export', account, filters.all(account)), cellsOf),
  }),
  route({
    method: 'PATCH',
    path: `${FILTERS}/:id`,
    access: 'member',
    input: { params: C.FilterParams, body: C.FilterChangeRequest },
    output: { content: C.FilterDetailsReply },
    doc: { operationId: 'changeFilterHere', tag: 'Dashboard', summary: 'Change a filter', errors: [422] },
    serve:
      ({ filters }) =>
      async ({ account, actor }, { params: { id }, body }) => ({
        body: withWarnings(filters, await filters.change(account, id, changedFilter(body), actor)),
      }),
  }),
  route({
    method: 'DELETE',
    path: `${FILTERS}/:id`,
    access: 'member',
    input: { params: C.FilterParams },
    output: { content: C.FilterRemoved },
    doc: { operationId: 'removeFilterHere', tag: 'Dashboard', summary: 'Remove a filter' },
    serve:
      ({ filters }) =>
      async ({ account, actor }, { params: { id } }) => {
        await filters.remove(account, id, actor);
        return { body: filterRemoved(id) };
      },
  }),
];
