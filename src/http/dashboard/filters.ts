import * as D from '../../contract/dashboard/filters.ts';
import * as C from '../../contract/filters.ts';
import { pending } from './pending.ts';
import { type DashboardRow, row } from './row.ts';

const FILTERS = '/dashboard/accounts/:account/filters';

/** The account's own blacklist. */
export const FILTER_ROWS: readonly DashboardRow[] = [
  row({
    method: 'GET',
    path: FILTERS,
    who: 'member',
    doc: {
      operationId: 'listFiltersHere',
      summary: 'One page, newest first',
      query: C.FiltersQuery,
      reply: { schema: C.FiltersReply },
    },
    serve: pending,
  }),
  row({
    method: 'POST',
    path: FILTERS,
    who: 'member',
    doc: {
      operationId: 'addFilterHere',
      summary: 'Add a filter',
      body: C.FilterRequest,
      reply: { status: 201, schema: C.FilterReply },
      errors: [422],
    },
    serve: pending,
  }),
  row({
    method: 'POST',
    path: `${FILTERS}/import`,
    who: 'member',
    doc: {
      operationId: 'importFilters',
      summary: 'Add many; each line has its own result',
      body: D.FilterImportRequest,
      reply: { schema: D.FilterImportReply },
    },
    serve: pending,
  }),
  row({
    method: 'GET',
    path: `${FILTERS}.csv`,
    who: 'member',
    doc: { operationId: 'filtersCsv', summary: 'All filters as CSV', reply: { schema: 'text/csv' } },
    serve: pending,
  }),
  row({
    method: 'DELETE',
    path: `${FILTERS}/:id`,
    who: 'member',
    doc: { operationId: 'removeFilterHere', summary: 'Remove a filter', reply: { schema: C.FilterRemoved } },
    serve: pending,
  }),
];
