import { Readable } from 'node:stream';
import * as D from '../../contract/dashboard/filters.ts';
import * as C from '../../contract/filters.ts';
import { toIso } from '../../kernel/clock.ts';
import { Refusal } from '../../kernel/errors.ts';
import type { Filter, FilterService, Imported, NewFilter } from '../../service/filters.ts';
import type { AccountId } from '../../service/members.ts';
import { filterReply, PAGE_MAX } from '../routes/filters.ts';
import { asDownload, CSV_TYPE, csvLine } from './csv.ts';
import { type DashboardRow, row } from './row.ts';

const FILTERS = '/dashboard/accounts/:account/filters';

/** Lines of the greatest import that people paste, each with an address and a short reason. */
const IMPORT_BYTES = 256 * 1024;

function readFilter(body: unknown): NewFilter | Refusal {
  const read = C.readFilterRequest(body);
  if (!read.ok) return read.refusal;
  const { filter_type, value, reason } = read.value;
  return { filterType: filter_type ?? null, value, reason: reason ?? null };
}

const importedReply = (imported: Imported): D.FilterImportReply['results'][number] => ({
  outcome: imported.outcome,
  filter: imported.outcome === 'added' ? filterReply(imported.filter) : null,
  error: imported.outcome === 'invalid' ? imported.error : null,
});

const lineOf = (f: Filter): string => csvLine([f.filterType, f.value, f.reason, toIso(f.createdAt)]);

async function* csvOf(filters: FilterService, account: AccountId): AsyncGenerator<string> {
  yield 'filter_type,value,reason,created_at\r\n';
  for await (const portion of filters.all(account)) yield portion.map(lineOf).join('');
}

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
    serve:
      ({ filters }) =>
      async ({ account }, { query }) => {
        const { filter_type: filterType = null, query: text, page = 1, per_page: perPage = 25 } = query;
        if (page > PAGE_MAX)
          throw new Refusal('invalid_parameter', `page must be at most ${PAGE_MAX}; search instead.`, {
            field: 'page',
          });
        const { items, total } = await filters.list(account, { filterType, query: text || null, page, perPage });
        const pages = Math.max(1, Math.ceil(total / perPage));
        const pagination = { current_page: page, per_page: perPage, total_pages: pages, total_count: total };
        return { body: { filters: items.map(filterReply), pagination } };
      },
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
    serve:
      ({ filters }) =>
      async ({ account, actor }, { body }) => {
        const input = readFilter(body);
        if (input instanceof Refusal) throw input;
        return { body: filterReply(await filters.add(account, input, actor)) };
      },
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
    bodyLimit: IMPORT_BYTES,
    serve:
      ({ filters }) =>
      async ({ account, actor }, { body: { lines } }) => ({
        body: { results: (await filters.addMany(account, lines.map(readFilter), actor)).map(importedReply) },
      }),
  }),
  row({
    method: 'GET',
    path: `${FILTERS}.csv`,
    who: 'member',
    doc: { operationId: 'filtersCsv', summary: 'All filters as CSV', reply: { schema: 'text/csv' } },
    serve:
      ({ filters }) =>
      async ({ account }) => ({
        body: Readable.from(csvOf(filters, account)),
        type: CSV_TYPE,
        headers: asDownload('filters.csv'),
      }),
  }),
  row({
    method: 'DELETE',
    path: `${FILTERS}/:id`,
    who: 'member',
    doc: { operationId: 'removeFilterHere', summary: 'Remove a filter', reply: { schema: C.FilterRemoved } },
    serve:
      ({ filters }) =>
      async ({ account, actor }, { params }) => {
        const id = params.id!;
        // What cannot be an id is as little there as an id that is not.
        if (!/^[1-9]\d{0,14}$/.test(id)) throw new Refusal('not_found', 'There is no such filter.');
        await filters.remove(account, Number(id), actor);
        return { body: { status: 'success', message: `Filter ${id} was removed.` } };
      },
  }),
];
