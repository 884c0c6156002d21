import * as C from '../../contract/filters.ts';
import { IdempotencyHeader, type Read } from '../../contract/schema.ts';
import { toIso } from '../../kernel/clock.ts';
import {
  type ChangedFilter,
  type Filter,
  type FilterAdded,
  filterExists,
  type NewFilter,
} from '../../service/filters.ts';
import { errorReply, jsonReply, linkHeader, nothingToChange, paginationOf, REPLAYED, replyAnswer } from '../reply.ts';
import { type Route, route } from '../route.ts';

const FILTERS = '/v1/filters';

export const filterReply = (f: Filter): C.FilterReply => ({
  id: f.id,
  filter_type: f.filterType,
  value: f.value,
  reason: f.reason,
  action: f.action,
  match: f.match,
  expires_at: f.expiresAt === null ? null : toIso(f.expiresAt),
  expired: f.expired,
  hits: f.hits,
  last_hit_at: f.lastHitAt === null ? null : toIso(f.lastHitAt),
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
  const change = {
    ...(reason === undefined ? {} : { reason }),
    ...(action === undefined ? {} : { action }),
    ...(match === undefined ? {} : { match }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  if (Object.keys(change).length === 0) throw nothingToChange('reason, action, match or expires_at');
  return change;
}

/** Of an outcome, as it is sent and stored. */
const addedReply = (outcome: FilterAdded, requestId: string, warnings: readonly string[]) =>
  outcome.added
    ? jsonReply<typeof C.FilterAddedReply>(
        201,
        { ...filterReply(outcome.filter), warnings },
        { location: `${FILTERS}/${outcome.filter.id}` },
      )
    : errorReply(filterExists(outcome.existingId), requestId);

/** What the account itself blocks and allows. */
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
        const replyTo = (outcome: FilterAdded) => {
          const ofFilter = outcome.added ? filters.warnings(outcome.filter) : [];
          return addedReply(outcome, request.id, [...warnings, ...ofFilter]);
        };
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
    method: 'GET',
    path: `${FILTERS}/:id`,
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
    path: `${FILTERS}/:id`,
    access: 'api-key:filters',
    input: { params: C.FilterParams, body: C.FilterChangeRequest },
    output: { content: C.FilterDetailsReply, description: 'The filter as it is now, in force for the next request.' },
    doc: { operationId: 'changeFilter', tag: 'Filters', summary: 'Change a filter', errors: [422] },
    serve:
      ({ filters }) =>
      async ({ caller, ip }, { params: { id }, body, warnings }) => {
        const filter = await filters.change(caller.accountId, id, changedFilter(body), { caller, ip });
        return { body: { ...filterReply(filter), warnings: [...warnings, ...filters.warnings(filter)] } };
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
