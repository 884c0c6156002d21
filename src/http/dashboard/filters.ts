import * as C from '../../contract/filters.ts';
import { FILTER_ORDERS, sortingOf } from '../../kernel/facts/sort-orders.ts';
import { type Filter, type FilterService, filterExists } from '../../service/filters.ts';
import { type Route, route } from '../route.ts';
import {
  changedFilter,
  FILTER_FILE_INPUT,
  filterRemoved,
  filterReply,
  filtersFile,
  filtersReply,
  importedFile,
  newFilter,
} from '../v1/filters.ts';

const DASHBOARD_FILTERS_PATH = '/dashboard/accounts/:account/filters';

const filterWithWarnings = (filters: FilterService, filter: Filter) => ({
  ...filterReply(filter),
  warnings: [...filters.warnings(filter)],
});

export const DASHBOARD_FILTER_ROUTES: readonly Route[] = [
  route({
    method: 'GET',
    path: DASHBOARD_FILTERS_PATH,
    access: 'viewer',
    cost: 'query',
    input: { query: C.FiltersHereQuery },
    output: { content: C.FiltersReply },
    doc: { operationId: 'listFiltersHere', summary: 'Filters, newest first or sorted' },
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
    path: DASHBOARD_FILTERS_PATH,
    access: 'member',
    input: { body: C.FlatFilterRequest },
    output: { status: 201, content: C.FilterAddedReply },
    doc: { operationId: 'addFilterHere', summary: 'Add a filter', errors: [422] },
    serve:
      ({ filters }) =>
      async ({ account, actor }, { body }) => {
        const outcome = await filters.add(account, newFilter(body), actor);
        if (outcome.added) return { body: filterWithWarnings(filters, outcome.filter) };
        throw filterExists(outcome.existingId);
      },
  }),
  route({
    method: 'POST',
    path: `${DASHBOARD_FILTERS_PATH}/import`,
    access: 'member',
    cost: null,
    input: FILTER_FILE_INPUT,
    output: { content: C.FilterImportReply },
    doc: { operationId: 'importFiltersHere', summary: 'Add the filters of a file', errors: [422] },
    serve:
      ({ filters }) =>
      async ({ account, actor, request }, { query, body, warnings }) => ({
        body: await importedFile(filters, account, { request, query, body, warnings }, actor),
      }),
  }),
  route({
    method: 'GET',
    path: `${DASHBOARD_FILTERS_PATH}.csv`,
    access: 'viewer',
    cost: null,
    output: { content: 'text/csv' },
    doc: { operationId: 'filtersCsv', summary: 'All filters as CSV' },
    serve:
      ({ filters, costs }) =>
      async ({ account }) =>
        filtersFile(await costs.read('export', account, filters.all(account))),
  }),
  route({
    method: 'PATCH',
    path: `${DASHBOARD_FILTERS_PATH}/:id`,
    access: 'member',
    input: { params: C.FilterParams, body: C.FilterChangeRequest },
    output: { content: C.FilterDetailsReply },
    doc: { operationId: 'changeFilterHere', summary: 'Change a filter', errors: [422] },
    serve:
      ({ filters }) =>
      async ({ account, actor }, { params: { id }, body }) => ({
        body: filterWithWarnings(filters, await filters.change(account, id, changedFilter(body), actor)),
      }),
  }),
  route({
    method: 'DELETE',
    path: `${DASHBOARD_FILTERS_PATH}/:id`,
    access: 'member',
    input: { params: C.FilterParams },
    output: { content: C.FilterRemoved },
    doc: { operationId: 'removeFilterHere', summary: 'Remove a filter' },
    serve:
      ({ filters }) =>
      async ({ account, actor }, { params: { id } }) => {
        await filters.remove(account, id, actor);
        return { body: filterRemoved(id) };
      },
  }),
];
