import * as C from '../../contract/filters.ts';
import { IdempotencyHeader, type Read } from '../../contract/schema.ts';

import { toIso } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { FilterAction } from '../../kernel/facts/filter-types.ts';
import type { Filter, FilterAdded, NewFilter } from '../../service/filters.ts';
import { errorReply, jsonReply, linkHeader, paginationOf, REPLAYED, replyAnswer } from '../reply.ts';

import { type Route, route } from '../route.ts';

const FILTERS = '/v1/filters';

export const filterReply = (f: Filter): C.FilterReply => ({
  id: f.id,
  filter_type: f.filterType,
  value: f.value,
  reason: f.reason,
  created_at: toIso(f.createdAt),
});

export const filtersReply = (items: readonly Filter[], total: number, page: number, perPage: number) => ({
  filters: items.map(filterReply),
  pagination: paginationOf(total, page, perPage),
});

/** What the filter of a request does; a row of the store can do nothing else. */
const STORED_AS = { block: {} } as const satisfies Record<FilterAction, Partial<NewFilter>>;

export const newFilter = ({
  filter_type,
  value,
  reason,
  action = 'block',
}: Read<typeof C.FilterRequest>): NewFilter => ({
  filterType: filter_type ?? null,
  value,
  reason: reason ?? null,
  ...STORED_AS[action],
});

export const filterExists = (id: number): ApiError =>
  new ApiError('filter_exists', undefined, { field: 'value', existing_id: id });

/** Of an outcome, as it is sent and stored. */
const addedReply = (outcome: FilterAdded, requestId: string, warnings: readonly string[]) =>
  outcome.added
    ? jsonReply<typeof C.FilterAddedReply>(
        201,
        { ...filterReply(outcome.filter), warnings },
        { location: `${FILTERS}/${outcome.filter.id}` },
      )
    : errorReply(filterExists(outcome.existingId), requestId);

/** The account's own blocklist. */
export const FILTER_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: FILTERS,
    access: 'api-key:filters',
    input: { body: C.FilterRequest, headers: IdempotencyHeader },
    output: {
      status: 201,
      content: C.FilterAddedReply,
      description: 'The filter, in force for the next request.',
      headers: { Location: 'Path of the filter.', ...REPLAYED },
    },
    doc: { operationId: 'addFilter', tag: 'Filters', summary: 'Add a filter', errors: [409, 422] },
    serve:
      ({ filters }) =>
      async ({ caller, ip, request, idempotency }, { body, warnings }) => {
        const replyTo = (outcome: FilterAdded) => addedReply(outcome, request.id, warnings);
        const stored = idempotency && { ref: idempotency, replyTo };
        return replyAnswer(replyTo(await filters.add(caller.accountId, newFilter(body), { caller, ip }, stored)));
      },
  }),
  route({
    method: 'GET',
    path: FILTERS,
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
    method: 'DELETE',
    path: `${FILTERS}/:id`,
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
